// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>

namespace tilewright {

inline constexpr int kMaxRank = 8;

// A short list of extents or strides, held in place. Used for both.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> extents);
  explicit Shape(std::span<const std::int64_t> extents);

  int rank() const { return rank_; }
  // Counts from the end when negative; throws when out of range.
  std::int64_t operator[](int axis) const { return extents_[index(axis)]; }
  std::int64_t& operator[](int axis) { return extents_[index(axis)]; }
  const std::int64_t* begin() const { return extents_.data(); }
  const std::int64_t* end() const { return extents_.data() + rank_; }
  void push_back(std::int64_t extent);
  bool operator==(const Shape& other) const;

 private:
  std::size_t index(int axis) const;
  std::array<std::int64_t, kMaxRank> extents_{};
  int rank_ = 0;
};

// Product of the extents (1 for rank 0); throws on a negative extent or overflow.
std::int64_t element_count(const Shape& shape);
// Row-major strides in elements.
Shape contiguous_strides(const Shape& shape);
std::ostream& operator<<(std::ostream& out, const Shape& shape);  // [2, 3]

}  // namespace tilewright
