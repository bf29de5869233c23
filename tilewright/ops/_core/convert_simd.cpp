// SPDX-License-Identifier: Apache-2.0
#include "tilewright/ops/_core/convert_table.h"
#include "tilewright/ops/_core/simd.h"

namespace tilewright::TW_ISA {
namespace {

using Narrow = hn::Rebind<std::uint16_t, FloatTag>;

template <Storage kStorage>
void widen(const void* source, float* destination, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreU(load_floats<kStorage>(source, i), kFloats, destination + i);
  }
  if (i == n) return;
  store_some_floats(load_some_floats<kStorage>(source, i, n - i), destination + i, n - i);
}

template <class Function>
void narrow(const float* source, void* destination, std::int64_t n, const Function& function) {
  auto* out = static_cast<std::uint16_t*>(destination);
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreU(function(hn::LoadU(kFloats, source + i)), Narrow(), out + i);
  }
  if (i == n) return;
  alignas(64) std::uint16_t padded[kLanes];
  hn::Store(function(load_some_floats<Storage::kF32>(source, i, n - i)), Narrow(), padded);
  std::memcpy(out + i, padded, std::size_t(n - i) * sizeof(std::uint16_t));
}

void float_to_bf16(const float* source, void* destination, std::int64_t n) {
  narrow(source, destination, n, [](Floats values) HWY_ATTR {
    const hn::RebindToUnsigned<FloatTag> du;
    const auto bits = hn::BitCast(du, values);
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
    const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fffu))));
    const auto is_nan = hn::RebindMask(du, hn::IsNaN(values));
    return hn::DemoteTo(Narrow(),
                        hn::BitCast(hn::RebindToSigned<FloatTag>(),
                                    hn::IfThenElse(is_nan, hn::Set(du, 0x7fffu), rounded)));
  });
}

#if defined(__F16C__)
void float_to_half(const float* source, void* destination, std::int64_t n) {
  narrow(source, destination, n, [](Floats values) HWY_ATTR {
    return hn::BitCast(Narrow(), hn::DemoteTo(hn::Rebind<hwy::float16_t, FloatTag>(), values));
  });
}
constexpr auto kFloatToHalf = float_to_half;
#else
constexpr void (*kFloatToHalf)(const float*, void*, std::int64_t) = nullptr;
#endif

}  // namespace

const ConvertTable& convert_table() {
  static const ConvertTable table = {widen<Storage::kF16>, kFloatToHalf, widen<Storage::kBf16>,
                                     float_to_bf16};
  return table;
}

}  // namespace tilewright::TW_ISA
