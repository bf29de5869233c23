// SPDX-License-Identifier: Apache-2.0
#include "tilewright/base/hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>

namespace tilewright {
namespace {

// Example values of FIPS 180-4 and of the NIST byte-oriented test vectors.
TEST(Sha256, StandardVectors) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesOfAnySizeGiveTheSameDigest) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 7);
  const std::string whole = sha256_hex(text);
  for (std::size_t piece = 1; piece < 140; ++piece) {
    Sha256 sha;
    for (std::size_t at = 0; at < text.size(); at += piece)
      sha.update(std::string_view(text).substr(at, piece));
    EXPECT_EQ(sha.hex_digest(), whole) << "pieces of " << piece;
  }
}

TEST(Sha256, DigestLeavesTheStateUsable) {
  Sha256 sha;
  sha.update("ab");
  sha.hex_digest();
  sha.update("c");
  EXPECT_EQ(sha.hex_digest(), sha256_hex("abc"));
}

TEST(Hash64, EveryInputBitChangesAboutHalfTheOutput) {
  for (const std::size_t size : {1, 7, 8, 9, 15, 16, 17, 40}) {
    std::string text(size, 'x');
    const std::uint64_t before = hash64(text);
    for (std::size_t bit = 0; bit < 8 * size; ++bit) {
      text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << (bit % 8)));
      const int changed = std::popcount(before ^ hash64(text));
      text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << (bit % 8)));
      // Binomial(64, 1/2) has sigma 4; 10 to 54 is 5.5 sigma either side.
      EXPECT_TRUE(changed >= 10 && changed <= 54) << "size " << size << " bit " << bit;
    }
  }
}

TEST(Hash64, NoCollisionsAmongShortAndZeroInputs) {
  std::set<std::uint64_t> seen;
  for (std::size_t size = 0; size < 100; ++size) seen.insert(hash64(std::string(size, '\0')));
  for (std::uint64_t seed = 1; seed < 100; ++seed) seen.insert(hash64("", seed));
  for (int a = 0; a < 256; ++a)
    for (int b = 0; b < 256; ++b)
      seen.insert(hash64(std::string{static_cast<char>(a), static_cast<char>(b), 'x'}));
  EXPECT_EQ(seen.size(), 100u + 99u + 65536u);
}

// Disk caches are keyed by these values: a change must come with a new cache format version.
TEST(Hash64, IsTheSameInEveryBuild) {
  EXPECT_EQ(to_hex(hash64("")), "4e69b019f830b7fc");
  EXPECT_EQ(to_hex(hash64("tilewright", 7)), "5d627821811cdf7b");
  EXPECT_EQ(to_hex(hash64("0123456789abcdef0123456789abcdef!")), "96bbcb683b36ff1b");
}

TEST(HashCombine, DependsOnTheOrder) {
  EXPECT_NE(hash_combine(1, 2), hash_combine(2, 1));
  EXPECT_NE(hash_combine(0, 0), 0u);
}

TEST(ToHex, KeepsLeadingZeros) { EXPECT_EQ(to_hex(std::uint64_t{0x1f}), "000000000000001f"); }

}  // namespace
}  // namespace tilewright
