// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/rope/rope_cpu.h"

#include <algorithm>
#include <cmath>

#include "tilewright/base/parallel.h"
#include "tilewright/ops/_core/rows.h"

namespace tilewright {
namespace {

// cos and sin of one position, shared by all heads of a token.
struct Angles {
  float* cosines;
  float* sines;
};

Angles angles_of(std::int32_t position, const float* frequencies, std::int64_t pairs,
                 float* scratch) {
  const Angles angles = {scratch, scratch + pairs};
  for (std::int64_t i = 0; i < pairs; ++i) {
    const float angle = float(position) * frequencies[i];
    angles.cosines[i] = std::cos(angle);
    angles.sines[i] = std::sin(angle);
  }
  return angles;
}

void rotate(float* head, const Angles& angles, std::int64_t pairs, bool interleaved) {
  const std::int64_t step = interleaved ? 2 : 1;
  const std::int64_t partner = interleaved ? 1 : pairs;
  for (std::int64_t i = 0; i < pairs; ++i) {
    float& first = head[i * step];
    float& second = head[i * step + partner];
    const float a = first, b = second;
    first = a * angles.cosines[i] - b * angles.sines[i];
    second = b * angles.cosines[i] + a * angles.sines[i];
  }
}

void rotate_head(DType dtype, void* head, const Angles& angles, std::int64_t pairs,
                 bool interleaved, float* scratch) {
  if (dtype == DType::f32) {
    return rotate(static_cast<float*>(head), angles, pairs, interleaved);
  }
  read_floats(dtype, head, scratch, 2 * pairs);
  rotate(scratch, angles, pairs, interleaved);
  write_floats(dtype, scratch, head, 2 * pairs);
}

void append_token(const RopeAppendArgs& args, DType qkv, DType cache, std::int64_t token) {
  float* scratch = thread_scratch(1, 2 * args.pairs + args.head_dim);
  float* values = scratch + 2 * args.pairs;
  const std::int32_t position = args.positions[token], sequence = args.sequences[token];
  const Angles angles = angles_of(position, args.frequencies, args.pairs, scratch);
  const auto head_at = [&](std::int64_t head) {
    return at(args.qkv, token * args.qkv_stride + head * args.head_dim, qkv);
  };
  for (std::int64_t h = 0; h < args.heads && args.pairs > 0; ++h) {
    rotate_head(qkv, head_at(h), angles, args.pairs, args.interleaved != 0, values);
  }
  if (position < 0 || position >= args.capacity) return;
  if (sequence < 0 || sequence >= args.sequence_count) return;
  for (std::int64_t h = 0; h < args.kv_heads; ++h) {
    read_floats(qkv, head_at(args.heads + h), values, args.head_dim);
    rotate(values, angles, args.pairs, args.interleaved != 0);
    const std::int64_t key =
        sequence * args.key_sequence_stride + h * args.key_head_stride + position * args.key_stride;
    write_floats(cache, values, at(args.keys, key, cache), args.head_dim);
    read_floats(qkv, head_at(args.heads + args.kv_heads + h), values, args.head_dim);
    const std::int64_t value = sequence * args.value_sequence_stride + h * args.value_head_stride +
                               position * args.value_stride;
    write_floats(cache, values, at(args.values, value, cache), args.head_dim);
  }
}

}  // namespace

void rope_cpu(const RopeArgs& args, DType x) {
  const std::int64_t grain = std::max<std::int64_t>(1, 16384 / (args.heads * args.head_dim));
  parallel_for(args.tokens, grain, [&](std::int64_t begin, std::int64_t end) {
    float* scratch = thread_scratch(1, 4 * args.pairs);
    for (std::int64_t token = begin; token < end; ++token) {
      const Angles angles = angles_of(args.positions[token], args.frequencies, args.pairs, scratch);
      for (std::int64_t h = 0; h < args.heads; ++h) {
        void* head = at(args.x, token * args.token_stride + h * args.head_stride, x);
        rotate_head(x, head, angles, args.pairs, args.interleaved != 0, scratch + 2 * args.pairs);
      }
    }
  });
}

void rope_append_cpu(const RopeAppendArgs& args, DType qkv, DType cache) {
  const std::int64_t width = (args.heads + 2 * args.kv_heads) * args.head_dim;
  const std::int64_t grain = std::max<std::int64_t>(1, 16384 / width);
  parallel_for(args.tokens, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t token = begin; token < end; ++token) append_token(args, qkv, cache, token);
  });
}

}  // namespace tilewright
