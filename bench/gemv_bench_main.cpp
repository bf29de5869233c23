// SPDX-License-Identifier: Apache-2.0
// gemv_bench [ROWS.json]: the few-row products of linear on cuda:0, in one process: every setting
// of linear_stream beside the plain kernel and cuBLASLt, in captured graphs, with the weights
// rotated over more than 640 MB, as a fraction of the copy bandwidth measured first.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/device/core/types.h"
#include "tilewright/harness/bench_row.h"
#include "tilewright/harness/limits.h"
#include "tilewright/ops/linear/linear_cuda.h"
#include "tilewright/ops/linear/linear_cuda_internal.h"
#include "tilewright/runtime/graph.h"
#include "tilewright/runtime/jit/kernel.h"
#include "tilewright/runtime/tensor.h"

namespace tilewright {
namespace {

constexpr std::size_t kRotated = std::size_t(640) << 20;
constexpr int kReplays = 25;

struct Size {
  std::int64_t n, k;
  bool pairs;  // silu_pairs: two weights of n rows
};

struct Setting {
  const char* name;
  StreamTuning tuning;
};

const Setting kPlain[] = {
    {"stream", {}},
    {"stream.serial", {.programmatic = false}},
    {"stream.u16", {.stage_units = 16, .shared_budget = 112 << 10}},
    {"stream.u64", {.stage_units = 64}},
    {"stream.w16", {.warps = 16}},
};
const Setting kBlocks[] = {
    {"stream", {}},
    {"stream.serial", {.programmatic = false}},
    {"stream.w8", {.warps = 8}},
    {"stream.u64", {.stage_units = 64}},
};

struct Weights {
  Tensor bytes;
  std::size_t copy_bytes = 0;
  int copies = 0;

  Weights(DType dtype, const Size& size, const Stream& stream) {
    copy_bytes = bytes_of(dtype, size.n * size.k) * (size.pairs ? 2 : 1);
    copies = std::max<int>(2, int(kRotated / copy_bytes) + 1);
    bytes = Tensor::empty({std::int64_t(copy_bytes * copies)}, DType::u8, stream);
    const std::vector<std::uint8_t> pattern = make_pattern(dtype);
    for (std::size_t at = 0; at < copy_bytes * copies; at += pattern.size()) {
      copy_bytes_in(at, pattern, stream);
    }
    stream.synchronize();
  }

  void copy_bytes_in(std::size_t at, const std::vector<std::uint8_t>& pattern,
                     const Stream& stream) {
    const std::size_t count = std::min(pattern.size(), copy_bytes * copies - at);
    tilewright::copy_bytes(bytes.data_as<char>() + at, stream.device(), pattern.data(),
                           Device::cpu(), count, stream);
  }

  static std::vector<std::uint8_t> make_pattern(DType dtype) {
    const DTypeInfo& type = info(dtype);
    std::vector<std::uint8_t> pattern(std::size_t(type.bytes) << (is_block_type(dtype) ? 18 : 22));
    std::mt19937 random(1);
    for (std::uint8_t& byte : pattern) byte = std::uint8_t(random());
    for (std::size_t at = 0; at < pattern.size(); at += std::size_t(type.bytes)) {
      // Sign and exponent of small numbers: plain elements, and the scales of blocks.
      const auto small = [&](std::size_t offset, int high) {
        pattern[at + offset + 1] = std::uint8_t((pattern[at + offset + 1] & 0x83) | high);
      };
      if (dtype == DType::bf16)
        small(0, 0x3c);
      else if (dtype == DType::f16)
        small(0, 0x28);
      else if (dtype == DType::q6_k)
        small(208, 0x10);
      else
        small(0, 0x20);
      if (dtype == DType::q4_1) small(2, 0x20);
    }
    return pattern;
  }

  const void* copy(int index) const {
    return bytes.data_as<char>() + copy_bytes * std::size_t(index % copies);
  }
};

struct Bench {
  Stream stream{Device::cuda()};
  double copy_gbps = copy_bandwidth(Device::cuda());
  std::ofstream json;
  Tensor x, y, check;

  LinearCall call_of(DType dtype, const Size& size, std::int64_t m, const void* weight) const {
    LinearCall call;
    const std::int64_t row = std::int64_t(bytes_of(dtype, size.k));
    call.parts[0] = {weight, dtype, size.n, row};
    call.parts[1] = {static_cast<const char*>(weight) + row * size.n, dtype, size.n, row};
    call.part_count = size.pairs ? 2 : 1;
    call.silu_pairs = size.pairs;
    call.m = m, call.n = size.n, call.k = size.k;
    const DType type = dtype == DType::f16 ? DType::f16 : DType::bf16;
    call.x = {x.data(), type};
    call.x_stride = size.k;
    call.y = y.data();
    call.y_dtype = type;
    call.y_stride = size.n;
    return call;
  }

  // Microseconds of one product: the median of graph replays, over the products of a graph.
  double time(const Weights& weights, const std::function<void(const void*)>& product) const {
    product(weights.copy(0));
    stream.synchronize();
    const int count = std::clamp(int(std::size_t(4) * kRotated / weights.copy_bytes), 8, 200);
    const Graph graph = Graph::capture(stream, [&] {
      for (int i = 0; i < count; ++i) product(weights.copy(i));
    });
    for (int i = 0; i < 3; ++i) graph.replay(stream);
    std::vector<double> times;
    for (int i = 0; i < kReplays; ++i) {
      const Event start(stream.device(), true), end(stream.device(), true);
      start.record(stream);
      graph.replay(stream);
      end.record(stream);
      end.synchronize();
      times.push_back(end.microseconds_since(start) / count);
    }
    std::nth_element(times.begin(), times.begin() + kReplays / 2, times.end());
    return times[kReplays / 2];
  }

  std::vector<float> result(std::int64_t count, DType dtype) const {
    std::vector<float> values;
    std::vector<std::uint16_t> bits(static_cast<std::size_t>(count));
    copy_bytes(bits.data(), Device::cpu(), y.data(), stream.device(), bits.size() * 2, stream);
    stream.synchronize();
    for (const std::uint16_t b : bits) {
      values.push_back(dtype == DType::f16 ? to_float(half{b}) : to_float(bf16{b}));
    }
    return values;
  }

  // The largest difference from the plain kernel, over the largest value.
  double difference(const LinearCall& call, const std::function<void()>& product) {
    LinearArgs args = linear_args(call, 0, call.part_count, 0);
    fill_bytes(y.data(), stream.device(), 0xff, std::size_t(call.m * call.n) * 2, stream);
    launch_rows_for_check(args, call);
    const std::vector<float> expected = result(call.m * call.n, call.y_dtype);
    fill_bytes(y.data(), stream.device(), 0xff, std::size_t(call.m * call.n) * 2, stream);
    product();
    const std::vector<float> got = result(call.m * call.n, call.y_dtype);
    double worst = 0, largest = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double gap = std::fabs(double(got[i]) - double(expected[i]));
      worst = gap <= worst ? worst : gap;  // NaN stays
      largest = std::max(largest, std::fabs(double(expected[i])));
    }
    return worst / largest;
  }

  void launch_rows_for_check(const LinearArgs& args, const LinearCall& call) {
    launch_rows(args, call.parts[0].dtype, linear_gpu(stream), stream);
  }

  void report(const char* variant, const char* impl, DType dtype, const Size& size, std::int64_t m,
              std::size_t weight_bytes, double us, double gap) {
    BenchRow row;
    row.op = "gemv", row.variant = variant, row.impl = impl;
    row.device = properties(Device::cuda()).name;
    row.dtype = name(dtype);
    row.size = str(m, "x", size.n, "x", size.k, size.pairs ? " silu=1" : "");
    row.us = us;
    row.gbps = double(weight_bytes + std::size_t(m * (size.k + size.n) * 2)) / us / 1e3;
    row.tflops = 2.0 * double(m * size.n * size.k) * (size.pairs ? 2 : 1) / us / 1e6;
    row.peak_gbps = copy_gbps;
    row.frac = row.gbps / copy_gbps;
    row.mode = "graph";
    if (json.is_open()) json << to_json(row) << "\n";
    std::printf("%-5s %-22s %-11s %-13s %9.2f us %7.0f GB/s %6.1f %%  differs %.1e%s\n",
                std::string(name(dtype)).c_str(), row.size.c_str(), impl, variant, us, row.gbps,
                100 * row.frac, gap, gap < 0.02 ? "" : "  WRONG");
    std::fflush(stdout);
  }

  void run(DType dtype, const Size& size, std::int64_t m, const std::vector<Setting>& settings,
           bool peers) {
    const Weights weights(dtype, size, stream);
    const auto call = [&](const void* weight) { return call_of(dtype, size, m, weight); };
    for (const Setting& setting : settings) {
      const auto product = [&](const void* weight) {
        linear_stream_cuda(call(weight), setting.tuning, stream);
      };
      try {
        const double gap = difference(call(weights.copy(0)), [&] { product(weights.copy(0)); });
        report(setting.name, "tilewright", dtype, size, m, weights.copy_bytes,
               time(weights, product), gap);
      } catch (const InvalidArgument& error) {
        std::printf("%s: %s\n", setting.name, error.what());
      }
    }
    if (!peers) return;
    const auto rows = [&](const void* weight) {
      const LinearCall c = call(weight);
      launch_rows(linear_args(c, 0, c.part_count, 0), dtype, linear_gpu(stream), stream);
    };
    report("rows", "tilewright", dtype, size, m, weights.copy_bytes, time(weights, rows), 0);
    const LinearCall one = call(weights.copy(0));
    if (direct_possible(linear_args(one, 0, one.part_count, 0), one.part_count, dtype,
                        linear_gpu(stream))) {
      const auto direct = [&](const void* weight) {
        const LinearCall c = call(weight);
        launch_direct(linear_args(c, 0, c.part_count, 0), dtype, linear_gpu(stream), stream);
      };
      const double gap = difference(one, [&] { direct(weights.copy(0)); });
      report("direct", "tilewright", dtype, size, m, weights.copy_bytes, time(weights, direct),
             gap);
    }
    if (is_block_type(dtype) || size.pairs) return;
    const auto library = [&](const void* weight) {
      const LinearCall c = call(weight);
      return library_product({c.x.data, weight, c.y, c.y, m, size.n, size.k, size.k, size.k, size.n,
                              size.n, dtype, dtype, 0.0f},
                             stream);
    };
    if (!library(weights.copy(0))) return;
    const double gap = difference(call(weights.copy(0)), [&] { library(weights.copy(0)); });
    report("", "cublaslt", dtype, size, m, weights.copy_bytes,
           time(weights, [&](const void* w) { library(w); }), gap);
  }

  // A chain whose products depend on one another: y of one is x of the next, as in decode.
  void prepare() {
    x = Tensor::empty({16 * 14336}, DType::bf16, stream);
    y = Tensor::empty({16 * 128256}, DType::bf16, stream);
    std::vector<std::uint16_t> values(16 * 14336);
    std::mt19937 random(2);
    for (std::uint16_t& v : values) v = std::uint16_t((random() & 0x83ff) | 0x3c00);
    copy_bytes(x.data(), stream.device(), values.data(), Device::cpu(), values.size() * 2, stream);
    stream.synchronize();
  }
};

// Compiled together first, on every core.
void compile_all(Bench& bench, const std::vector<DType>& dtypes) {
  const std::vector<KernelSpec> specs = collect_kernels([&] {
    for (const DType dtype : dtypes) {
      const bool blocks = is_block_type(dtype);
      for (const std::int64_t m : {1, 2, 4, 8, 16}) {
        const LinearCall call = bench.call_of(dtype, {4096, 4096, false}, m, bench.x.data());
        const LinearArgs args = linear_args(call, 0, 1, 0);
        const LinearGpu gpu = linear_gpu(bench.stream);
        launch_rows(args, dtype, gpu, bench.stream);
        if (direct_possible(args, 1, dtype, gpu)) launch_direct(args, dtype, gpu, bench.stream);
        for (const Setting& setting :
             blocks ? std::vector<Setting>(std::begin(kBlocks), std::end(kBlocks))
                    : std::vector<Setting>(std::begin(kPlain), std::end(kPlain))) {
          linear_stream_cuda(call, setting.tuning, bench.stream);
        }
      }
    }
  });
  const auto reports = compile_kernels(specs, properties(Device::cuda()).arch);
  for (const KernelReport& report : reports) {
    std::printf("%3d registers %4d spilled %6.0f ms  %s\n", report.registers, report.spill_bytes,
                report.compile_milliseconds, report.spec.expression.c_str());
  }
}

int main_of(int count, char** arguments) {
  Bench bench;
  if (count > 1) bench.json.open(arguments[1]);
  bench.prepare();
  std::printf("copy of 4 GiB: %.0f GB/s\n", bench.copy_gbps);
  std::vector<DType> dtypes = {DType::bf16, DType::f16,  DType::q8_0,
                               DType::q4_0, DType::q4_1, DType::q6_k};
  if (count > 2 && std::string(arguments[2]) == "quick") dtypes = {DType::bf16};
  compile_all(bench, dtypes);
  const std::vector<Setting> plain(std::begin(kPlain), std::end(kPlain));
  const std::vector<Setting> blocks(std::begin(kBlocks), std::end(kBlocks));
  const Size sizes[] = {{4096, 4096, false}, {28672, 4096, false},  {4096, 14336, false},
                        {6144, 4096, false}, {128256, 4096, false}, {2048, 2048, false},
                        {8192, 2048, true}};
  for (const Size& size : sizes) bench.run(DType::bf16, size, 1, plain, true);
  if (count > 2 && std::string(arguments[2]) == "quick") return 0;
  const std::vector<Setting> few_plain = {plain[0]};
  for (const Size& size : {sizes[0], sizes[1], sizes[2]}) {
    for (const std::int64_t m : {2, 4, 8, 16}) {
      bench.run(DType::bf16, size, m, few_plain, true);
    }
    bench.run(DType::f16, size, 1, few_plain, true);
  }
  for (const DType dtype : {DType::q8_0, DType::q4_0, DType::q4_1, DType::q6_k}) {
    for (const Size& size : {sizes[0], sizes[1], sizes[2]}) {
      bench.run(dtype, size, 1, blocks, size.n == size.k);
    }
    for (const std::int64_t m : {4, 8, 16}) {
      bench.run(dtype, sizes[1], m, {blocks[0]}, false);
    }
  }
  return 0;
}

}  // namespace
}  // namespace tilewright

int main(int count, char** arguments) {
  try {
    return tilewright::main_of(count, arguments);
  } catch (const tilewright::Error& error) {
    std::fprintf(stderr, "gemv_bench: %s\n", error.what());
    return 1;
  }
}
