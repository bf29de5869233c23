// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/linear/linear_cpu.h"

#include <algorithm>
#include <cstring>

#include "tilewright/base/error.h"
#include "tilewright/base/parallel.h"
#include "tilewright/ops/_core/rows.h"
#include "tilewright/ops/linear/linear_rows.h"
#include "tilewright/ops/linear/linear_schedule.h"
#include "tilewright/ops/linear/linear_tables.h"

namespace tilewright {
namespace {

// Work of a task: enough to hide the cost of handing it out.
constexpr std::int64_t kTaskBytes = 16 << 10;
// Tokens that a task should have at least, since it packs its rows anew.
constexpr std::int64_t kTaskTokens = 64;

std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::int64_t groups_of(const LinearPart& part) {
  return (part.rows + kLinearRows - 1) / kLinearRows;
}

// Where in a worker's scratch its pieces are, in bytes.
struct TaskScratch {
  std::int64_t rows, first, second, bytes;

  TaskScratch(const LinearCall& call, std::int64_t tokens) {
    const std::int64_t tables =
        std::max(linear_block_table().scratch_bytes, linear_plain_table().scratch_bytes);
    std::int64_t row_bytes = 0;
    for (int i = 0; i < call.part_count; ++i)
      row_bytes = std::max(row_bytes, linear_row_bytes(call.parts[i].dtype, call.k));
    const std::int64_t tile = tokens * kLinearRows * std::int64_t(sizeof(float));
    rows = round_up(tables, 64);
    first = rows + round_up(kLinearRows * row_bytes, 64);
    second = first + tile;
    bytes = second + (call.silu_pairs ? tile : 0);
  }
};

// Products of one token block: groups of 16 rows times spans of tokens.
class Products {
 public:
  Products(const LinearCall& call, const LinearRows& x)
      : call_(call), x_(x), scratch_(call, x.tokens) {
    const int parts = call.silu_pairs ? 1 : call.part_count;
    for (int i = 0; i < parts; ++i) groups_ += groups_of(call.parts[i]);
    const std::int64_t wanted = 4 * std::int64_t(thread_count());
    const std::int64_t spans = std::clamp<std::int64_t>(
        (wanted + groups_ - 1) / groups_, 1, std::max<std::int64_t>(x.tokens / kTaskTokens, 1));
    span_ = (x.tokens + spans - 1) / spans;
    spans_ = (x.tokens + span_ - 1) / span_;
  }

  void run() const {
    const std::int64_t row_bytes =
        std::max<std::int64_t>(linear_row_bytes(call_.parts[0].dtype, call_.k), 1);
    const std::int64_t group_bytes = row_bytes * kLinearRows * span_;
    const std::int64_t step = std::max<std::int64_t>(kTaskBytes / group_bytes, 1);
    parallel_stream(groups_ * spans_, step, [this](std::int64_t begin, std::int64_t end) {
      for (std::int64_t task = begin; task < end; ++task) run_task(task);
    });
  }

 private:
  void run_task(std::int64_t task) const {
    std::int64_t group = task % groups_, column = 0;
    const std::int64_t token = task / groups_ * span_;
    const std::int64_t tokens = std::min(span_, x_.tokens - token);
    char* scratch = reinterpret_cast<char*>(thread_scratch(1, (scratch_.bytes + 3) / 4));
    float* out = reinterpret_cast<float*>(scratch + scratch_.first);
    int part = 0;
    if (call_.silu_pairs) {
      float* up = reinterpret_cast<float*>(scratch + scratch_.second);
      multiply(call_.parts[0], group, token, tokens, out, scratch);
      multiply(call_.parts[1], group, token, tokens, up, scratch);
      linear_row_table().silu_mul(out, up, out, tokens * kLinearRows);
    } else {
      for (; group >= groups_of(call_.parts[part]); ++part) {
        group -= groups_of(call_.parts[part]);
        column += call_.parts[part].rows;
      }
      multiply(call_.parts[part], group, token, tokens, out, scratch);
    }
    const std::int64_t first = group * kLinearRows;
    finish_linear(call_, x_.first + token, tokens, column + first,
                  std::min(kLinearRows, call_.parts[part].rows - first), out);
  }

  // A group that starts at `first`; the last of a part is filled up with zeros.
  LinearGroup group_at(const LinearPart& part, std::int64_t first, char* scratch) const {
    const char* rows = static_cast<const char*>(part.data) + first * part.row_bytes;
    const std::int64_t left = part.rows - first;
    if (left >= kLinearRows) return {rows, part.row_bytes};
    const std::int64_t bytes = linear_row_bytes(part.dtype, call_.k);
    char* copy = scratch + scratch_.rows;
    std::memset(copy, 0, std::size_t(kLinearRows * bytes));
    for (std::int64_t i = 0; i < left; ++i)
      std::memcpy(copy + i * bytes, rows + i * part.row_bytes, std::size_t(bytes));
    return {copy, bytes};
  }

  void multiply(const LinearPart& part, std::int64_t group, std::int64_t token, std::int64_t tokens,
                float* out, char* scratch) const {
    const LinearGroup rows = group_at(part, group * kLinearRows, scratch);
    if (is_block_type(part.dtype)) {
      linear_block_table().multiply(linear_block_format(part.dtype), rows, x_.rounded, token,
                                    tokens, out, scratch);
    } else {
      linear_plain_table().multiply(linear_plain_format(part.dtype), rows,
                                    x_.plain + token * x_.plain_stride, x_.plain_stride, call_.k,
                                    tokens, out, scratch);
    }
  }

  const LinearCall& call_;
  const LinearRows& x_;
  TaskScratch scratch_;
  std::int64_t groups_ = 0, span_ = 0, spans_ = 0;
};

}  // namespace

void linear_cpu(const LinearCall& call) {
  if (call.m == 0 || call.n == 0) return;
  const std::int64_t step = linear_tokens_at_once(call);
  for (std::int64_t first = 0; first < call.m; first += step) {
    const LinearRows x = prepare_linear_rows(call, first, std::min(step, call.m - first));
    Products(call, x).run();
  }
}

}  // namespace tilewright
