// SPDX-License-Identifier: Apache-2.0
#include "tilewright/base/hash.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tilewright {
namespace {

// Fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2).
constexpr std::array<std::uint32_t, 64> kRound{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | bytes[3];
}

std::uint64_t load(const std::byte* bytes, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i)
    value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  return value;
}

// Both halves of the 128-bit product, folded.
std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

constexpr std::uint64_t kMixA = 0x9e3779b97f4a7c15, kMixB = 0xd1342543de82ef95;

// The finaliser of splitmix64: a bijection, so that no two words collide.
std::uint64_t avalanche(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

}  // namespace

void Sha256::compress(const std::uint8_t* block) {
  std::array<std::uint32_t, 64> w;
  for (std::size_t t = 0; t < 16; ++t) w[t] = big_endian(block + 4 * t);
  for (std::size_t t = 16; t < 64; ++t) {
    const std::uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
    const std::uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t t = 0; t < 64; ++t) {
    const std::uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t t1 = h + sum1 + ((e & f) ^ (~e & g)) + kRound[t] + w[t];
    const std::uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t t2 = sum0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1;
    d = c, c = b, b = a, a = t1 + t2;
  }
  const std::array<std::uint32_t, 8> step{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state_[i] += step[i];
}

void Sha256::update(std::span<const std::byte> bytes) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  std::size_t left = bytes.size();
  while (left > 0) {
    const std::size_t filled = length_ % 64;
    const std::size_t take = std::min(left, 64 - filled);
    if (take == 64) {
      compress(data);
    } else {
      std::memcpy(block_.data() + filled, data, take);
      if (filled + take == 64) compress(block_.data());
    }
    length_ += take, data += take, left -= take;
  }
}

void Sha256::finish() {
  const std::uint64_t bits = length_ * 8;
  std::size_t filled = length_ % 64;
  block_[filled++] = 0x80;
  if (filled > 56) {
    std::fill(block_.begin() + static_cast<std::ptrdiff_t>(filled), block_.end(), 0);
    compress(block_.data());
    filled = 0;
  }
  std::fill(block_.begin() + static_cast<std::ptrdiff_t>(filled), block_.end(), 0);
  for (std::size_t i = 0; i < 8; ++i)
    block_[56 + i] = static_cast<std::uint8_t>(bits >> (56 - 8 * i));
  compress(block_.data());
}

Sha256::Digest Sha256::digest() const {
  Sha256 copy = *this;
  copy.finish();
  Digest digest;
  for (std::size_t i = 0; i < digest.size(); ++i)
    digest[i] = static_cast<std::uint8_t>(copy.state_[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

std::string Sha256::hex_digest() const { return to_hex(digest()); }

std::string sha256_hex(std::span<const std::byte> bytes) {
  Sha256 sha;
  sha.update(bytes);
  return sha.hex_digest();
}

std::string sha256_hex(std::string_view text) { return sha256_hex(std::as_bytes(std::span(text))); }

std::uint64_t hash64(std::span<const std::byte> bytes, std::uint64_t seed) {
  std::uint64_t state = avalanche(seed + kMixA) ^ bytes.size();
  const std::byte* data = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 16; data += 16, left -= 16)
    state = fold(load(data, 8) ^ kMixA ^ state, load(data + 8, 8) ^ kMixB ^ std::rotl(state, 32));
  const std::size_t low = std::min<std::size_t>(left, 8);
  const std::uint64_t first = load(data, low), second = load(data + low, left - low);
  state = avalanche(state + kMixB) ^ avalanche(first + kMixA);
  return avalanche(std::rotl(state, 23) * kMixB + avalanche(second ^ kMixB));
}

std::uint64_t hash64(std::string_view text, std::uint64_t seed) {
  return hash64(std::as_bytes(std::span(text)), seed);
}

std::uint64_t hash_combine(std::uint64_t left, std::uint64_t right) {
  return avalanche(avalanche(left + kMixA) * kMixB + right);
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string to_hex(std::uint64_t value) {
  std::array<std::uint8_t, 8> bytes;
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<std::uint8_t>(value >> (56 - 8 * i));
  return to_hex(bytes);
}

}  // namespace tilewright
