// SPDX-License-Identifier: Apache-2.0
/// \file
/// The primitives that every backend offers, with the same results bit for bit.
///
/// Common rules. Pointers lie in the backend's memory and are aligned to the size of their type; inputs and outputs
/// must not overlap unless a function says so. A null pointer is taken only where a function says so. Each function
/// says how many items it takes. Calls only enqueue on the stream (on the CPU the work is done on return); counts that
/// they produce stay in backend memory. Scratch comes from the workspace, which must have room for what the function's
/// `_scratch` twin says, with anything in it; what is enough for some number of items is enough for fewer. Nothing else
/// is allocated. Output beyond a produced count is unspecified. Errors: InvalidArgument for arguments out of range,
/// DeviceError from a device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sluice/kernels/stream.hpp"

namespace sluice::kernels {

/// Two buffers each for keys and values that a sort goes back and forth between.
struct SortBuffers {
  void* keys[2] = {nullptr, nullptr};             ///< unsigned keys of key_bytes each
  std::uint32_t* values[2] = {nullptr, nullptr};  ///< null: keys only
};

class Primitives {
 public:
  virtual ~Primitives() = default;

  /// Exclusive sum: out[i] = in[0] + ... + in[i-1]; 64-bit, so it cannot overflow.
  /// \param n      at most 2^32 - 1
  /// \param total  receives the sum of all n values; may be null
  virtual void exclusive_scan(const std::uint32_t* in, std::uint64_t n, std::uint64_t* out, std::uint64_t* total,
                              Workspace& workspace, StreamView stream) = 0;
  [[nodiscard]] virtual std::size_t exclusive_scan_scratch(std::uint64_t n) const = 0;

  /// Exclusive sum modulo 2^32: out[i] = (in[0] + ... + in[i-1]) mod 2^32; scratch as for `exclusive_scan`.
  /// \param n      at most 2^32 - 1
  /// \param total  receives the sum of all n values in 64 bits, which does not wrap; may be null
  virtual void exclusive_scan_wrapping(const std::uint32_t* in, std::uint64_t n, std::uint32_t* out,
                                       std::uint64_t* total, Workspace& workspace, StreamView stream) = 0;

  /// Stable compaction of items whose flag byte is not zero.
  /// \param item_bytes  4, 8, 16 or 32
  /// \param n           at most 2^32 - 1
  /// \param out         room for all n items
  /// \param count       receives the number kept; not null
  virtual void compact(const void* items, std::uint32_t item_bytes, const std::uint8_t* flags, std::uint64_t n,
                       void* out, std::uint64_t* count, Workspace& workspace, StreamView stream) = 0;
  [[nodiscard]] virtual std::size_t compact_scratch(std::uint64_t n) const = 0;

  /// Ascending indices of the flags that equal `wanted`; scratch as for `compact`.
  /// \param n      at most 2^32 - 1
  /// \param out    room for all n indices
  /// \param count  receives their number; not null
  virtual void compact_indices(const std::uint8_t* flags, std::uint8_t wanted, std::uint64_t n, std::uint32_t* out,
                               std::uint64_t* count, Workspace& workspace, StreamView stream) = 0;

  /// Items whose flag is not zero, then the others, each in input order; item sizes, limit of n and scratch as for
  /// `compact`.
  /// \param count  receives how many come first; not null
  virtual void partition(const void* items, std::uint32_t item_bytes, const std::uint8_t* flags, std::uint64_t n,
                         void* out, std::uint64_t* count, Workspace& workspace, StreamView stream) = 0;

  /// How often each value of the digit of `bits` (1 to 16) bits from `begin_bit` occurs among n keys.
  /// \param key_bytes  4 or 8
  /// \param n          at most 2^32 - 1
  /// \param counts     2^bits totals, overwritten
  virtual void histogram(const void* keys, std::uint32_t key_bytes, std::uint64_t n, unsigned begin_bit, unsigned bits,
                         std::uint64_t* counts, Workspace& workspace, StreamView stream) = 0;
  [[nodiscard]] virtual std::size_t histogram_scratch(std::uint64_t n, unsigned bits) const = 0;

  /// Stable ascending sort of unsigned keys by the bits [begin_bit, end_bit), least significant digit first (Knuth,
  /// TAOCP 3, 5.2.5). Starts from keys[0] and values[0]; all four buffers are overwritten.
  /// \param n  at most 2^40 for keys alone; at most 2^32 - 1 with values, which could not number more items
  /// \return which of the two buffers holds the result
  virtual int sort(const SortBuffers& buffers, std::uint32_t key_bytes, std::uint64_t n, unsigned begin_bit,
                   unsigned end_bit, Workspace& workspace, StreamView stream) = 0;
  [[nodiscard]] virtual std::size_t sort_scratch(std::uint32_t key_bytes, std::uint64_t n) const = 0;

  /// out[i] = items[indices[i]] for n indices.
  /// \param item_bytes  1 to 65535; `items` and `out` need no alignment
  /// \param n           at most 2^32 - 1; `items` may be more
  virtual void gather(const void* items, std::uint32_t item_bytes, const std::uint32_t* indices, std::uint64_t n,
                      void* out, StreamView stream) = 0;

  /// Runs of equal keys in sorted keys: each run's key, and the index of its first item.
  /// \param n          at most 2^32 - 1
  /// \param run_keys   room for n keys, widened to 64 bits
  /// \param run_first  room for n indices
  /// \param runs       receives the number of runs; not null
  virtual void find_runs(const void* keys, std::uint32_t key_bytes, std::uint64_t n, std::uint64_t* run_keys,
                         std::uint32_t* run_first, std::uint64_t* runs, Workspace& workspace, StreamView stream) = 0;
  [[nodiscard]] virtual std::size_t find_runs_scratch(std::uint64_t n) const = 0;

  /// Sum of values over each run of equal neighbouring keys; wraps modulo 2^64.
  /// \param n         at most 2^32 - 1
  /// \param run_keys  room for n keys, widened to 64 bits
  /// \param sums      room for n sums
  /// \param runs      receives the number of runs; not null
  virtual void reduce_by_key(const void* keys, std::uint32_t key_bytes, const std::int64_t* values, std::uint64_t n,
                             std::uint64_t* run_keys, std::int64_t* sums, std::uint64_t* runs, Workspace& workspace,
                             StreamView stream) = 0;
  [[nodiscard]] virtual std::size_t reduce_by_key_scratch(std::uint64_t n) const = 0;
};

}  // namespace sluice::kernels
