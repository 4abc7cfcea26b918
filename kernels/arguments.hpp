// SPDX-License-Identifier: Apache-2.0
/// \file
/// Checks of the arguments of primitives and operations, the same for every backend.
#pragma once

#include <cstdint>
#include <string>

#include "sluice/core/error.hpp"
#include "sluice/core/predicate_program.hpp"
#include "sluice/kernels/operations.hpp"

namespace sluice::kernels {

/// Whether n items can be counted and numbered in 32 bits.
inline constexpr bool fits_32_bits(std::uint64_t n) { return n <= 0xffffffffULL; }

inline void check_count(std::uint64_t n) {
  if (!fits_32_bits(n)) throw InvalidArgument("a primitive takes at most 2^32 - 1 items, not " + std::to_string(n));
}

/// Most keys that a sort without values takes.
inline constexpr std::uint64_t kMaxSortKeys = std::uint64_t{1} << 40;

/// \param values  whether there are any: 32 bits each, which could not number more items than `check_count` allows
inline void check_sort_count(std::uint64_t n, bool values) {
  if (values) return check_count(n);
  if (n > kMaxSortKeys) throw InvalidArgument("a sort takes at most 2^40 keys, not " + std::to_string(n));
}

inline void check_item_bytes(std::uint32_t bytes) {
  if (bytes != 4 && bytes != 8 && bytes != 16 && bytes != 32) {
    throw InvalidArgument("items must have 4, 8, 16 or 32 bytes, not " + std::to_string(bytes));
  }
}

inline void check_key_bytes(std::uint32_t bytes) {
  if (bytes != 4 && bytes != 8) throw InvalidArgument("keys must have 4 or 8 bytes, not " + std::to_string(bytes));
}

inline void check_digit(std::uint32_t key_bytes, unsigned begin_bit, unsigned bits) {
  check_key_bytes(key_bytes);
  if (bits < 1 || bits > 16 || begin_bit + bits > 8 * key_bytes) {
    throw InvalidArgument("a digit must have 1 to 16 bits within its key");
  }
}

inline void check_bit_range(std::uint32_t key_bytes, unsigned begin_bit, unsigned end_bit) {
  check_key_bytes(key_bytes);
  if (begin_bit > end_bit || end_bit > 8 * key_bytes) {
    throw InvalidArgument("the bits to sort by must lie within the key");
  }
}

inline void check_gather_bytes(std::uint32_t bytes) {
  if (bytes < 1 || bytes > 65535) throw InvalidArgument("items to gather must have 1 to 65535 bytes");
}

/// \param columns  how many the predicate reads
inline void check_input(std::uint64_t columns, const PointInput& input) {
  if (input.count > kMaxPoints) {
    throw InvalidArgument("an operation takes at most 2^31 - 1 points, not " + std::to_string(input.count));
  }
  if (input.column_count < columns) {
    throw InvalidArgument("the predicate reads " + std::to_string(columns) + " columns, " +
                          std::to_string(input.column_count) + " were given");
  }
}

inline void check_input(const PredicateProgram& program, const PointInput& input) {
  check_input(program.columns.size(), input);
}

/// \param records  of an operation's outputs
inline void check_records(const PointInput& input, const void* records) {
  if (records != nullptr && !input.positions.is_packed()) {
    throw InvalidArgument("records can only be kept of packed positions, not of columns");
  }
}

/// What `bin` can refuse before it sees a point.
inline void check_bin(const PointInput& input, const BinSpec& spec, const BinOutputs& outputs) {
  check_records(input, outputs.records);
  if (!spec.range.has_value()) return;
  for (int d = 0; d < 3; ++d) {
    if (spec.range->min[d] > spec.range->max[d]) throw InvalidArgument("a range of cells must not be empty");
    if (spec.range->min[d] < -kMaxCell || spec.range->max[d] > kMaxCell) {
      throw InvalidArgument("the cells of a range must be numbers of at most 62 bits");
    }
  }
}

inline void check_enqueue_bin(const PointInput& input, const BinSpec& spec, const BinOutputs& outputs,
                              const BinCounts* counts) {
  if (!spec.range.has_value()) throw InvalidArgument("only for a given range of cells can binning be enqueued");
  if (counts == nullptr) throw InvalidArgument("binning that is enqueued needs room for its counts");
  check_bin(input, spec, outputs);
}

/// The result of `bin` from the counts of the way that it shares with `enqueue_bin`.
inline BinResult bin_result(const BinCounts& counts, const KeyLayout& layout) {
  if (counts.outside != 0) {
    throw InvalidArgument(std::to_string(counts.outside) + " of the kept points are outside the range of cells");
  }
  return BinResult{counts.counts, counts.cells, layout};
}

inline void check_reduce(const ReduceSpec& spec) {
  if (spec.max_per_cell == 0) throw InvalidArgument("a cell must keep at least one point");
  if (spec.policy == KeepPolicy::kCentroid && spec.max_per_cell != 1) {
    throw InvalidArgument("a cell has one centroid only");
  }
}

[[noreturn]] inline void refuse_cell() {
  throw Unsupported("the number of a cell needs more than 62 bits; larger cells would fit");
}

}  // namespace sluice::kernels
