// SPDX-License-Identifier: Apache-2.0
/// \file
/// The algorithm family: scans, compactions, sorts, histograms and reductions, each done in every way between the
/// plainest and the single pass. The pipeline uses none of them; they are there to be read, to be measured against each
/// other (`sluice-bench scan --variant all`), and to say which step broke when a faster one does. Templates for any
/// type and operator lie in `kernels/family/`; what is listed here is instantiated for the types below.
///
/// Common rules. Pointers are aligned to the size of their type and lie in host memory for a variant of the CPU, which
/// is done on return, and in memory of the current device for one of the GPU, which only enqueues on the stream. Inputs
/// and outputs do not overlap. Scratch comes from the workspace, which must have room for the bytes that `scratch` says
/// and lies where the pointers do; nothing else is allocated by a variant of the GPU. n may be 0 and is at most 2^32
/// - 1. Errors: InvalidArgument for arguments out of range, DeviceError from a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "sluice/kernels/stream.hpp"

namespace sluice::kernels::family {

enum class ItemType : std::uint8_t { kUint32, kUint64, kFloat32, kFloat64 };

/// Bytes of an item.
constexpr std::uint32_t size_of(ItemType type) {
  return type == ItemType::kUint32 || type == ItemType::kFloat32 ? 4 : 8;
}

/// Sums of integers wrap. Sums of floats are rounded in an order that the variant chooses. Without NaN.
enum class Operator : std::uint8_t { kSum, kMin, kMax };

/// One way to do something.
struct Variant {
  std::string_view name;   ///< unique in its family
  std::string_view how;    ///< in a few words
  bool on_gpu = false;     ///< else on the CPU
  bool quadratic = false;  ///< its work grows with the square of n
  bool ordered = true;     ///< false for compactions whose output is in any order
};

/// out[i] = in[0] op ... op in[i], or without in[i] and starting from the operator's identity.
struct ScanCall {
  ItemType type;
  Operator op;
  bool inclusive;
  const void* in;
  std::uint64_t n;
  void* out;
};
struct ScanVariant : Variant {
  std::size_t (*scratch)(ItemType type, std::uint64_t n);
  void (*run)(const ScanCall& call, Workspace& workspace, StreamView stream);
};

/// The items below `limit`, in their order unless the variant says otherwise.
struct CompactCall {
  ItemType type;
  const void* in;
  std::uint64_t n;
  double limit;          ///< a value of the type
  void* out;             ///< room for n
  std::uint64_t* count;  ///< receives how many there are
};
struct CompactVariant : Variant {
  std::size_t (*scratch)(ItemType type, std::uint64_t n);
  void (*run)(const CompactCall& call, Workspace& workspace, StreamView stream);
};

/// Stable ascending sort by all bits. Input is overwritten.
struct SortCall {
  ItemType type;             ///< of the keys: kUint32 or kUint64
  void* keys[2];             ///< starts from keys[0]
  std::uint32_t* values[2];  ///< likewise; null for keys alone
  std::uint64_t n;
};
struct SortVariant : Variant {
  std::size_t (*scratch)(ItemType type, std::uint64_t n);
  /// \return which of the two buffers holds the result
  int (*run)(const SortCall& call, Workspace& workspace, StreamView stream);
};

/// How often each value of the digit of `bits` bits from `begin_bit` on occurs.
struct HistogramCall {
  ItemType type;  ///< kUint32 or kUint64
  const void* in;
  std::uint64_t n;
  unsigned begin_bit;
  unsigned bits;          ///< 1 to 12
  std::uint64_t* counts;  ///< 2^bits, overwritten
};
struct HistogramVariant : Variant {
  std::size_t (*scratch)(ItemType type, std::uint64_t n, unsigned bits);
  void (*run)(const HistogramCall& call, Workspace& workspace, StreamView stream);
};

/// out[0] = in[0] op ... op in[n-1], or the operator's identity.
struct ReduceCall {
  ItemType type;
  Operator op;
  const void* in;
  std::uint64_t n;
  void* out;
};
struct ReduceVariant : Variant {
  std::size_t (*scratch)(ItemType type, std::uint64_t n);
  void (*run)(const ReduceCall& call, Workspace& workspace, StreamView stream);
};

/// Those that were built, the plainest of the CPU first; those of the GPU with CUDA only.
std::span<const ScanVariant> scan_variants();
std::span<const CompactVariant> compact_variants();
std::span<const SortVariant> sort_variants();
std::span<const HistogramVariant> histogram_variants();
std::span<const ReduceVariant> reduce_variants();

}  // namespace sluice::kernels::family
