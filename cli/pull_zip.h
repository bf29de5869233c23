// SPDX-License-Identifier: Apache-2.0
// Reads one member of a ZIP archive (stored or deflated; no ZIP64, no encryption). Every offset of
// the archive is checked. Source: PKWARE APPNOTE 6.3, sections 4.3 to 4.5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace tilewright::cli {

struct ZipMember {
  std::uint16_t method = 0;
  std::uint32_t crc = 0;
  std::uint32_t size = 0;  // unpacked
  std::span<const std::byte> packed;
};

// `archive` names the file in messages. Throws FormatError (damaged), NotFound (no such member),
// Unsupported (ZIP64, encryption).
ZipMember find_zip_member(std::span<const std::byte> bytes, std::string_view member,
                          const std::string& archive);
// Hands the unpacked bytes to `sink` piece by piece. Throws FormatError when they do not have the
// recorded size and CRC, and Unsupported for another method than stored and deflated.
void unpack_zip_member(const ZipMember& member, const std::string& archive,
                       const std::function<void(std::span<const std::byte>)>& sink);

}  // namespace tilewright::cli
