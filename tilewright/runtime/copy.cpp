// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/runtime/backend.h"
#include "tilewright/runtime/tensor.h"
#include "tilewright/runtime/tensor_layout.h"

namespace tilewright {
namespace {

using detail::RowCopy;
using detail::StridedCopy;

void make_reachable(Device to, Device from) {
  if (!to.is_cuda() || !from.is_cuda() || to == from) return;
  detail::backend(to).reach(from);
  detail::backend(from).reach(to);
}

// A cpu stream cannot reach a GPU: its copies go through a stream of that GPU, and wait.
template <class Work>
void on_reaching_stream(const Stream& stream, Device to, Device from, const char* what,
                        const Work& work) {
  if (!stream.device().is_cpu() || (to.is_cpu() && from.is_cpu())) return work(stream);
  TW_CHECK(!stream.capturing(), InvalidArgument, what, ": a copy between ", from, " and ", to,
           " cannot be captured by a cpu stream; use a stream of the GPU");
  const Stream reaching(to.is_cpu() ? from : to);
  work(reaching);
  reaching.synchronize();
}

bool is_packed(const Shape& extents, const Shape& strides, std::int64_t unit) {
  return extents.rank() == 0 || (extents.rank() == 1 && strides[0] == unit);
}

std::int64_t units(const Shape& extents) { return element_count(extents); }

Shape packed_strides(const Shape& extents, std::int64_t unit) {
  Shape strides = contiguous_strides(extents);
  for (int axis = 0; axis < strides.rank(); ++axis) strides[axis] *= unit;
  return strides;
}

// Both sides are rows of bytes: one 2-D copy, between any devices.
bool as_rows(const StridedCopy& copy, Device to, Device from, RowCopy& rows) {
  if (copy.extents.rank() > 2) return false;
  const bool inner = copy.extents.rank() == 2;
  if (inner && (copy.to_strides[1] != copy.unit || copy.from_strides[1] != copy.unit)) return false;
  rows = {copy.to,
          copy.from,
          copy.to_strides[0],
          copy.from_strides[0],
          inner ? copy.extents[1] * copy.unit : copy.unit,
          copy.extents[0],
          to.is_cpu(),
          from.is_cpu()};
  // The driver takes pitches that cover a row; anything else goes element by element.
  constexpr std::int64_t kMaxPitch = INT32_MAX;
  return rows.to_pitch >= rows.width && rows.from_pitch >= rows.width &&
         rows.to_pitch <= kMaxPitch && rows.from_pitch <= kMaxPitch;
}

// Gather on the source's side, one straight copy, scatter on the other side.
void copy_through_packed(const StridedCopy& copy, Device to, Device from, const Stream& stream) {
  TW_CHECK(!stream.capturing(), InvalidArgument, "copy: a strided copy from ", from, " to ", to,
           " needs memory, which a graph capture does not allow; copy before the capture");
  const std::size_t bytes = std::size_t(units(copy.extents) * copy.unit);
  const Stream from_stream = from == stream.device() ? stream : Stream(from);
  const Stream to_stream = to == stream.device() ? stream : Stream(to);
  const Shape packed = packed_strides(copy.extents, copy.unit);
  const Buffer gathered = Buffer::allocate(from_stream, bytes);
  const Buffer arrived = Buffer::allocate(to_stream, bytes);
  // Work that the stream was given earlier may still write the source or read the target.
  stream.synchronize();
  from_stream.state()->backend->copy_strided(
      {copy.extents, packed, copy.from_strides, copy.unit, gathered.data(), copy.from},
      from_stream);
  from_stream.synchronize();
  copy_bytes(arrived.data(), to, gathered.data(), from, bytes, stream);
  stream.synchronize();
  to_stream.state()->backend->copy_strided(
      {copy.extents, copy.to_strides, packed, copy.unit, copy.to, arrived.data()}, to_stream);
  to_stream.synchronize();
}

void copy_elements(StridedCopy copy, Device to, Device from, const Stream& stream) {
  detail::Backend& backend = *stream.state()->backend;
  make_reachable(to, from);
  const bool packed = is_packed(copy.extents, copy.to_strides, copy.unit) &&
                      is_packed(copy.extents, copy.from_strides, copy.unit);
  if (packed) {
    const std::size_t bytes = std::size_t(units(copy.extents) * copy.unit);
    return backend.copy(copy.to, copy.from, bytes, *stream.state());
  }
  RowCopy rows;
  const bool two_gpus = to.is_cuda() && from.is_cuda() && to != from;
  const bool same = to == from && to == stream.device();
  // Many short rows are slow as a 2-D copy on a GPU, and fine as one kernel.
  const bool by_rows =
      as_rows(copy, to, from, rows) && !two_gpus && (!same || to.is_cpu() || rows.width >= 64);
  if (by_rows) return backend.copy_rows(rows, *stream.state());
  if (same) return backend.copy_strided(copy, stream);
  copy_through_packed(copy, to, from, stream);
}

}  // namespace

void copy(const Tensor& destination, const Tensor& source, const Stream& stream) {
  TW_CHECK(destination.defined() && source.defined(), InvalidArgument, "copy: the ",
           destination.defined() ? "source" : "destination", " is undefined");
  TW_CHECK(destination.shape() == source.shape() && destination.dtype() == source.dtype(),
           InvalidArgument, "copy: destination is ", destination.describe(), " and source is ",
           source.describe(), "; wants equal shapes and dtypes");
  if (source.numel() == 0) return;
  StridedCopy elements =
      merged(source.shape(), destination.strides(), source.strides(), source.dtype());
  elements.to = destination.data();
  elements.from = source.data();
  const Device to = destination.device(), from = source.device();
  on_reaching_stream(stream, to, from, "copy", [&](const Stream& reaching) {
    copy_elements(elements, to, from, reaching);
    source.buffer().record_use(reaching);
    destination.buffer().record_use(reaching);
  });
}

void copy_bytes(void* destination, Device to, const void* source, Device from, std::size_t bytes,
                const Stream& stream) {
  if (bytes == 0) return;
  on_reaching_stream(stream, to, from, "copy_bytes", [&](const Stream& reaching) {
    make_reachable(to, from);
    reaching.state()->backend->copy(destination, source, bytes, *reaching.state());
  });
}

void fill_bytes(void* destination, Device device, int value, std::size_t bytes,
                const Stream& stream) {
  if (bytes == 0) return;
  on_reaching_stream(stream, device, device, "fill_bytes", [&](const Stream& reaching) {
    // Host memory is filled by the host, once the GPU's stream has come this far.
    if (device.is_cpu() && !reaching.device().is_cpu()) {
      reaching.synchronize();
      return detail::cpu_backend().fill(destination, value, bytes, *Stream(device).state());
    }
    reaching.state()->backend->fill(destination, value, bytes, *reaching.state());
  });
}

}  // namespace tilewright
