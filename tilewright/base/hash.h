// SPDX-License-Identifier: Apache-2.0
// Sha256 for files that come from elsewhere; hash64 for keys and tables, where nobody attacks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tilewright {

// SHA-256 (FIPS 180-4), fed in pieces.
class Sha256 {
 public:
  using Digest = std::array<std::uint8_t, 32>;

  void update(std::span<const std::byte> bytes);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }
  // The digest of all bytes so far; more may be added afterwards.
  Digest digest() const;
  std::string hex_digest() const;  // 64 lower-case digits

 private:
  void compress(const std::uint8_t* block);
  void finish();

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> block_{};
  std::uint64_t length_ = 0;  // bytes so far
};

std::string sha256_hex(std::span<const std::byte> bytes);
std::string sha256_hex(std::string_view text);

// A fast 64-bit hash: the same on every machine and in every release that keeps the cache
// format. Every bit of the input and of the seed reaches every bit of the result.
std::uint64_t hash64(std::span<const std::byte> bytes, std::uint64_t seed = 0);
std::uint64_t hash64(std::string_view text, std::uint64_t seed = 0);
// Order matters: hash_combine(a, b) != hash_combine(b, a).
std::uint64_t hash_combine(std::uint64_t left, std::uint64_t right);

std::string to_hex(std::span<const std::uint8_t> bytes);
std::string to_hex(std::uint64_t value);  // 16 digits, most significant first

}  // namespace tilewright
