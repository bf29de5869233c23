// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/linear/linear_rows.h"

#include <algorithm>

#include "tilewright/base/error.h"
#include "tilewright/base/parallel.h"
#include "tilewright/ops/_core/rows.h"

namespace tilewright {
namespace {

constexpr std::int64_t kElementsAtOnce = 512 << 10;

struct Wants {
  bool plain = false, bytes = false, words = false;
};

Wants wants_of(const LinearCall& call, std::int64_t tokens) {
  Wants wants;
  for (int i = 0; i < call.part_count; ++i) {
    const DType dtype = call.parts[i].dtype;
    if (!is_block_type(dtype)) {
      wants.plain = true;
      continue;
    }
    if (call.activations == ActivationRounding::kSixteenBit) {
      wants.words = true;
      continue;
    }
    wants.bytes = true;
    wants.words |= linear_block_table().wants_words(linear_block_format(dtype), tokens);
  }
  return wants;
}

// Hands out 64-byte aligned pieces; with no memory it only counts.
class Carver {
 public:
  explicit Carver(char* memory) : memory_(memory) {}
  template <class T>
  T* take(bool wanted, std::int64_t count) {
    if (!wanted) return nullptr;
    T* piece = memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + used_);
    used_ += (count * std::int64_t(sizeof(T)) + 63) / 64 * 64;
    return piece;
  }
  std::int64_t used() const { return used_; }

 private:
  char* memory_;
  std::int64_t used_ = 0;
};

struct Pieces {
  RoundedX rounded;
  float* plain;
  float* norm;
};

Pieces carve(Carver& carver, const LinearCall& call, const Wants& wants, std::int64_t tokens) {
  const std::int64_t count = tokens * call.k, blocks = count / kLinearBlock;
  const bool changed = call.x.dtype != DType::f32 || call.norm_weight.data != nullptr;
  Pieces pieces{};
  pieces.norm = carver.take<float>(
      call.norm_weight.data != nullptr && call.norm_weight.dtype != DType::f32, call.k);
  pieces.plain = carver.take<float>(wants.plain && changed, count);
  const bool rounded = wants.bytes || wants.words;
  pieces.rounded.q = carver.take<std::int8_t>(wants.bytes, count);
  pieces.rounded.words = carver.take<std::int16_t>(wants.words, count);
  pieces.rounded.scale = carver.take<float>(rounded, blocks);
  pieces.rounded.offset = carver.take<float>(rounded, blocks);
  pieces.rounded.total = carver.take<std::int32_t>(rounded, blocks);
  pieces.rounded.k = call.k;
  return pieces;
}

// One row: to floats, normalised, rounded.
void prepare_row(const LinearCall& call, const Pieces& pieces, const float* norm,
                 std::int64_t first, std::int64_t token) {
  const bool normalised = norm != nullptr;
  const void* source = at(call.x.data, (first + token) * call.x_stride, call.x.dtype);
  const float* row = static_cast<const float*>(source);
  if (call.x.dtype != DType::f32 || normalised) {
    float* to = pieces.plain != nullptr ? pieces.plain + token * call.k : thread_scratch(1, call.k);
    row = row_floats(call.x.dtype, source, to, call.k);
    if (normalised) linear_row_table().rms_norm(row, norm, call.norm_eps, to, call.k);
    if (normalised) row = to;
  }
  if (pieces.rounded.scale != nullptr) linear_row_table().round(row, token, pieces.rounded);
}

}  // namespace

LinearBlockFormat linear_block_format(DType dtype) {
  switch (dtype) {
    case DType::q8_0: return LinearBlockFormat::kQ8_0;
    case DType::q4_0: return LinearBlockFormat::kQ4_0;
    case DType::q4_1: return LinearBlockFormat::kQ4_1;
    case DType::q6_k: return LinearBlockFormat::kQ6K;
    default: TW_FAIL(Internal, "linear: no block kernel for ", dtype);
  }
}

LinearPlainFormat linear_plain_format(DType dtype) {
  switch (dtype) {
    case DType::f32: return LinearPlainFormat::kF32;
    case DType::f16: return LinearPlainFormat::kF16;
    case DType::bf16: return LinearPlainFormat::kBf16;
    default: TW_FAIL(Internal, "linear: no plain kernel for ", dtype);
  }
}

std::int64_t linear_row_bytes(DType dtype, std::int64_t k) {
  return k / info(dtype).block * info(dtype).bytes;
}

std::int64_t linear_tokens_at_once(const LinearCall& call) {
  const std::int64_t fitting = kElementsAtOnce / std::max<std::int64_t>(call.k, 1);
  return std::clamp<std::int64_t>(fitting / 64 * 64, 64, 512);
}

LinearRows prepare_linear_rows(const LinearCall& call, std::int64_t first, std::int64_t tokens) {
  LinearRows rows;
  rows.first = first;
  rows.tokens = tokens;
  if (call.k == 0) return rows;
  const Wants wants = wants_of(call, tokens);
  Carver counter(nullptr);
  carve(counter, call, wants, tokens);
  Carver carver(reinterpret_cast<char*>(thread_scratch(0, (counter.used() + 3) / 4)));
  const Pieces pieces = carve(carver, call, wants, tokens);
  const float* norm = nullptr;
  if (call.norm_weight.data != nullptr)
    norm = row_floats(call.norm_weight.dtype, call.norm_weight.data, pieces.norm, call.k);
  if (pieces.plain != nullptr || pieces.rounded.scale != nullptr) {
    parallel_for(tokens, 4, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t t = begin; t < end; ++t) prepare_row(call, pieces, norm, first, t);
    });
  }
  rows.rounded = pieces.rounded;
  rows.plain = pieces.plain;
  rows.plain_stride = call.k;
  if (wants.plain && pieces.plain == nullptr) {
    rows.plain = static_cast<const float*>(call.x.data) + first * call.x_stride;
    rows.plain_stride = call.x_stride;
  }
  return rows;
}

void finish_linear(const LinearCall& call, std::int64_t first, std::int64_t tokens,
                   std::int64_t column, std::int64_t columns, float* out) {
  float bias[kLinearRows] = {}, other[kLinearRows] = {};
  if (call.bias.data != nullptr)
    read_floats(call.bias.dtype, at(call.bias.data, column, call.bias.dtype), bias, columns);
  for (std::int64_t t = 0; t < tokens; ++t, out += kLinearRows) {
    const std::int64_t row = first + t;
    if (call.residual.data != nullptr) {
      const void* source =
          at(call.residual.data, row * call.residual_stride + column, call.residual.dtype);
      const float* residual = row_floats(call.residual.dtype, source, other, columns);
      for (std::int64_t i = 0; i < columns; ++i) out[i] += bias[i] + residual[i];
    } else if (call.bias.data != nullptr) {
      for (std::int64_t i = 0; i < columns; ++i) out[i] += bias[i];
    }
    write_floats(call.y_dtype, out, at(call.y, row * call.y_stride + column, call.y_dtype),
                 columns);
  }
}

}  // namespace tilewright
