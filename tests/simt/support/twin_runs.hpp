// SPDX-License-Identifier: Apache-2.0
/// \file
/// Every primitive and operation on small inputs, on a backend by choice: what two backends give must have the same
/// bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cpu/host_backend.hpp"
#include "sluice/core/cell_grid.hpp"
#include "sluice/core/predicate_program.hpp"
#include "sluice/core/random.hpp"
#include "sluice/kernels/backend.hpp"
#include "support/predicates.hpp"
#include "support/slow_operations.hpp"

namespace sluice::test {

using Bytes = std::vector<std::byte>;

/// A backend, a stream, and arrays that live as long as this.
class TwinRun {
 public:
  explicit TwinRun(kernels::Backend& backend) : backend_(backend), stream_(backend.make_stream()) {}

  [[nodiscard]] kernels::StreamView stream() const { return stream_->view(); }
  [[nodiscard]] kernels::Primitives& primitives() const { return backend_.primitives(); }
  [[nodiscard]] kernels::Operations& operations() const { return backend_.operations(); }
  [[nodiscard]] kernels::Workspace scratch(std::size_t bytes) const {
    return kernels::Workspace(backend_.memory(), bytes);
  }

  template <typename T>
  T* room(std::uint64_t count) {
    blocks_.push_back(std::make_unique<MemoryBlock>(backend_.memory(), count * sizeof(T), "a test"));
    return blocks_.back()->as<T>();
  }
  template <typename T>
  T* put(const std::vector<T>& values) {
    T* const out = room<T>(values.size());
    if (!values.empty()) backend_.upload(out, values.data(), values.size() * sizeof(T), stream());
    backend_.wait(stream());
    return out;
  }
  template <typename T>
  std::vector<T> get(const T* from, std::uint64_t count) {
    std::vector<T> out(count);
    if (count != 0) backend_.download(out.data(), from, count * sizeof(T), stream());
    backend_.wait(stream());
    return out;
  }

  /// Adds values to what is compared.
  template <typename T>
  void add(const std::vector<T>& values) {
    const std::uint64_t count = values.size();
    const auto* const head = reinterpret_cast<const std::byte*>(&count);
    const auto* const body = reinterpret_cast<const std::byte*>(values.data());
    bytes_.insert(bytes_.end(), head, head + sizeof count);
    bytes_.insert(bytes_.end(), body, body + count * sizeof(T));
  }
  template <typename T>
  void add(const T* from, std::uint64_t count) {
    add(get(from, count));
  }
  /// A count that a launch has left; no more than `most`, so that a wrong one is a difference and nothing worse.
  std::uint64_t add_count(const std::uint64_t* from, std::uint64_t most) {
    const std::uint64_t count = get(from, 1)[0];
    add(std::vector<std::uint64_t>{count});
    return std::min(count, most);
  }
  [[nodiscard]] const Bytes& bytes() const { return bytes_; }

 private:
  kernels::Backend& backend_;
  std::unique_ptr<kernels::Stream> stream_;
  std::vector<std::unique_ptr<MemoryBlock>> blocks_;
  Bytes bytes_;
};

/// Values that depend on a seed; `kinds` of keys follow those that sorts stumble over.
template <typename T>
std::vector<T> random_values(std::uint64_t seed, std::uint64_t n, int kind = 0) {
  std::vector<T> out(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t r = counter_random(seed, i);
    const std::uint64_t kinds[] = {r, 0x4242424242424242ULL, i * 0x100000001ULL, (r & 1) * 0x8000000080000000ULL,
                                   r % 10 == 0 ? r : 0x0707070707070707ULL};
    out[i] = static_cast<T>(kinds[kind]);
  }
  return out;
}
inline constexpr int kKeyKinds = 5;

inline void run_scans(TwinRun& run, std::uint64_t seed, std::uint64_t n) {
  const std::uint32_t* const in = run.put(random_values<std::uint32_t>(seed, n));
  auto* const wide = run.room<std::uint64_t>(n);
  auto* const narrow = run.room<std::uint32_t>(n + 1);
  auto* const total = run.room<std::uint64_t>(1);
  kernels::Workspace scratch = run.scratch(run.primitives().exclusive_scan_scratch(n));
  run.primitives().exclusive_scan(in, n, wide, total, scratch, run.stream());
  run.add(wide, n);
  run.add(total, 1);
  // One place in, so that nothing is aligned to 16 bytes.
  run.primitives().exclusive_scan_wrapping(in, n, narrow + 1, nullptr, scratch, run.stream());
  run.add(narrow + 1, n);
}

inline void run_compactions(TwinRun& run, std::uint64_t seed, std::uint64_t n, std::uint32_t item_bytes) {
  const std::uint8_t* const flags = [&] {
    std::vector<std::uint8_t> out = random_values<std::uint8_t>(seed, n);
    for (std::uint8_t& flag : out) flag = static_cast<std::uint8_t>(flag % 3);
    return run.put(out);
  }();
  const std::uint8_t* const items = run.put(random_values<std::uint8_t>(seed + 1, n * item_bytes));
  auto* const out = run.room<std::uint8_t>(n * item_bytes);
  auto* const indices = run.room<std::uint32_t>(n);
  auto* const count = run.room<std::uint64_t>(1);
  kernels::Workspace scratch = run.scratch(run.primitives().compact_scratch(n));
  run.primitives().compact(items, item_bytes, flags, n, out, count, scratch, run.stream());
  run.add(out, run.add_count(count, n) * item_bytes);
  run.primitives().partition(items, item_bytes, flags, n, out, count, scratch, run.stream());
  run.add_count(count, n);
  run.add(out, n * item_bytes);
  run.primitives().compact_indices(flags, 1, n, indices, count, scratch, run.stream());
  run.add(indices, run.add_count(count, n));
}

template <typename KeyT>
void run_sort(TwinRun& run, std::uint64_t seed, std::uint64_t n, int kind, unsigned begin_bit, unsigned end_bit,
              bool pairs) {
  kernels::SortBuffers buffers{{run.put(random_values<KeyT>(seed, n, kind)), run.room<KeyT>(n)}, {nullptr, nullptr}};
  if (pairs) {
    buffers.values[0] = run.put(random_values<std::uint32_t>(seed, n, 2));
    buffers.values[1] = run.room<std::uint32_t>(n);
  }
  kernels::Workspace scratch = run.scratch(run.primitives().sort_scratch(sizeof(KeyT), n));
  const int at = run.primitives().sort(buffers, sizeof(KeyT), n, begin_bit, end_bit, scratch, run.stream());
  run.add(static_cast<const KeyT*>(buffers.keys[at]), n);
  if (pairs) run.add(buffers.values[at], n);
}

template <typename KeyT>
void run_histogram(TwinRun& run, std::uint64_t seed, std::uint64_t n, unsigned begin_bit, unsigned bits) {
  const KeyT* const keys = run.put(random_values<KeyT>(seed, n, static_cast<int>(seed % kKeyKinds)));
  auto* const counts = run.room<std::uint64_t>(std::uint64_t{1} << bits);
  kernels::Workspace scratch = run.scratch(run.primitives().histogram_scratch(n, bits));
  run.primitives().histogram(keys, sizeof(KeyT), n, begin_bit, bits, counts, scratch, run.stream());
  run.add(counts, std::uint64_t{1} << bits);
}

inline void run_gather(TwinRun& run, std::uint64_t seed, std::uint64_t n, std::uint32_t item_bytes) {
  const std::uint8_t* const items = run.put(random_values<std::uint8_t>(seed, (n + 1) * item_bytes));
  std::vector<std::uint32_t> indices = random_values<std::uint32_t>(seed + 1, n);
  for (std::uint32_t& index : indices) index = static_cast<std::uint32_t>(index % (n + 1));
  auto* const out = run.room<std::uint8_t>(n * item_bytes);
  run.primitives().gather(items, item_bytes, run.put(indices), n, out, run.stream());
  run.add(out, n * item_bytes);
}

template <typename KeyT>
void run_runs(TwinRun& run, std::uint64_t seed, std::uint64_t n) {
  std::vector<KeyT> keys(n);
  for (std::uint64_t i = 1; i < n; ++i) keys[i] = keys[i - 1] + (counter_random(seed, i) % 7 == 0 ? 1 : 0);
  const KeyT* const on = run.put(keys);
  const std::int64_t* const values = run.put(random_values<std::int64_t>(seed + 1, n));
  auto* const run_keys = run.room<std::uint64_t>(n);
  auto* const first = run.room<std::uint32_t>(n);
  auto* const sums = run.room<std::int64_t>(n);
  auto* const count = run.room<std::uint64_t>(1);
  {
    kernels::Workspace scratch = run.scratch(run.primitives().find_runs_scratch(n));
    run.primitives().find_runs(on, sizeof(KeyT), n, run_keys, first, count, scratch, run.stream());
    const std::uint64_t runs = run.add_count(count, n);
    run.add(run_keys, runs);
    run.add(first, runs);
  }
  kernels::Workspace scratch = run.scratch(run.primitives().reduce_by_key_scratch(n));
  run.primitives().reduce_by_key(on, sizeof(KeyT), values, n, run_keys, sums, count, scratch, run.stream());
  const std::uint64_t runs = run.add_count(count, n);
  run.add(run_keys, runs);
  run.add(sums, runs);
}

inline void run_primitives(TwinRun& run, std::uint64_t seed, std::uint64_t n) {
  run_scans(run, seed, n);
  for (const std::uint32_t bytes : {4U, 8U, 16U, 32U}) run_compactions(run, seed, n, bytes);
  const int kind = static_cast<int>(seed % kKeyKinds);
  run_sort<std::uint32_t>(run, seed, n, kind, 0, 32, true);
  run_sort<std::uint32_t>(run, seed, n, kind, 3, 21, false);
  run_sort<std::uint64_t>(run, seed, n, kind, 20, 47, true);
  run_sort<std::uint64_t>(run, seed, n, kind, 0, 17, false);
  run_histogram<std::uint32_t>(run, seed, n, 7, 8);
  run_histogram<std::uint32_t>(run, seed, n, 3, 15);
  run_histogram<std::uint64_t>(run, seed, n, 40, 12);
  run_histogram<std::uint64_t>(run, seed, n, 20, 14);
  for (const std::uint32_t bytes : {1U, 2U, 4U, 8U, 16U, 34U, 48U}) run_gather(run, seed, n, bytes);
  run_runs<std::uint32_t>(run, seed, n);
  run_runs<std::uint64_t>(run, seed, n);
}

/// A predicate of some shape: everything, one box, or a program with a column.
inline PredicateProgram predicate_of(CoordinateKind kind, std::uint64_t choice) {
  PredicateProgram out;
  if (choice % 3 == 0) return out;
  if (kind == CoordinateKind::kLattice) {
    out.ops = {lattice_box({-900, -1200, -30000, 1100, 1000, 30000})};
  } else {
    out.ops = {real_op(Code::kWorldBox, {-9.0, -12.0, -30.0, 11.0, 10.0, 30.0})};
  }
  if (choice % 3 == 1) return out;
  out.ops.push_back(compare_op(column_operand(0), Comparison::kLess, constant_operand(Value::of_unsigned(6))));
  out.ops.push_back(op_of(Code::kAnd));
  out.columns = {"attribute"};
  return out;
}

/// A cloud in the memory of a run, with its predicate.
class TwinCloud {
 public:
  TwinCloud(TwinRun& run, const Cloud& cloud, const PredicateProgram& program)
      : predicate_(run.operations().prepare(program)) {
    column_ = Column{reinterpret_cast<const std::byte*>(run.put(cloud.attribute)), 1, FieldType::kUint8, 0, 0};
    input_.positions = cloud.positions(run.put(cloud.records));
    input_.columns = &column_;
    input_.column_count = 1;
    input_.count = cloud.count;
    input_.first_index = kFirstIndex;
  }
  TwinCloud(const TwinCloud&) = delete;
  TwinCloud& operator=(const TwinCloud&) = delete;

  [[nodiscard]] const kernels::PointInput& input() const { return input_; }
  [[nodiscard]] const kernels::PreparedPredicate& predicate() const { return *predicate_; }

 private:
  std::shared_ptr<const kernels::PreparedPredicate> predicate_;
  Column column_;
  kernels::PointInput input_;
};

inline void run_select(TwinRun& run, const Cloud& cloud, const PredicateProgram& program) {
  const TwinCloud on(run, cloud, program);
  const std::uint64_t n = cloud.count;
  auto* const counts = run.room<kernels::SelectCounts>(1);
  kernels::SelectOutputs all;
  all.kept = run.room<std::uint32_t>(n);
  all.rejected = run.room<std::uint32_t>(n);
  all.verdicts = run.room<std::uint8_t>(n);
  all.records = run.room<std::byte>(n * cloud.record_bytes());
  all.counts = counts;
  all.mask = run.room<std::uint32_t>((n + 31) / 32);
  const std::uint64_t coordinate_bytes = cloud.record_bytes() == sizeof(Record32) ? sizeof(double) : sizeof(float);
  for (void*& column : all.coordinates) column = run.room<std::byte>(n * coordinate_bytes);
  kernels::SelectOutputs few;
  few.records = all.records;
  few.counts = counts;
  for (const kernels::SelectOutputs& outputs : {all, few}) {
    kernels::Workspace scratch = run.scratch(run.operations().select_scratch(n));
    run.operations().select(on.predicate(), on.input(), outputs, scratch, run.stream());
    const kernels::SelectCounts found = run.get(counts, 1)[0];
    run.add(std::vector<std::uint64_t>{found.kept, found.rejected, found.nonfinite});
    const std::uint64_t kept = std::min(found.kept, n);
    run.add(static_cast<const std::byte*>(outputs.records), kept * cloud.record_bytes());
    if (outputs.kept == nullptr) continue;
    run.add(outputs.kept, kept);
    run.add(outputs.rejected, std::min(found.rejected, n));
    run.add(outputs.verdicts, n);
    run.add(outputs.mask, (n + 31) / 32);
    for (const void* column : outputs.coordinates) {
      run.add(static_cast<const std::byte*>(column), kept * coordinate_bytes);
    }
  }
}

inline CellGrid grid_of(const Cloud& cloud, double size) {
  GridSpec spec;
  std::fill_n(spec.size, 3, size);
  return make_cell_grid(spec, cloud.frame);
}

/// \param numbers  without, no permutation is asked for: points may then travel another way
inline void run_bin(TwinRun& run, const Cloud& cloud, const PredicateProgram& program, const kernels::BinSpec& spec,
                    bool numbers) {
  const TwinCloud on(run, cloud, program);
  const std::uint64_t n = cloud.count;
  kernels::BinOutputs outputs;
  if (numbers) outputs.permutation = run.room<std::uint32_t>(n);
  outputs.cell_keys = run.room<std::uint64_t>(n);
  outputs.cell_first = run.room<std::uint32_t>(n);
  outputs.records = run.room<std::byte>(n * cloud.record_bytes());
  kernels::Workspace scratch = run.scratch(run.operations().bin_scratch(spec, n));
  kernels::BinCounts found;
  if (spec.range.has_value()) {
    auto* const counts = run.room<kernels::BinCounts>(1);
    run.operations().enqueue_bin(on.predicate(), spec, on.input(), outputs, counts, scratch, run.stream());
    found = run.get(counts, 1)[0];
  } else {
    const kernels::BinResult result =
        run.operations().bin(on.predicate(), spec, on.input(), outputs, scratch, run.stream());
    found = {result.counts, result.cells, 0};
  }
  const kernels::SelectCounts& counts = found.counts;
  run.add(std::vector<std::uint64_t>{counts.kept, counts.rejected, counts.nonfinite, found.cells, found.outside});
  const std::uint64_t kept = std::min(counts.kept, n);
  const std::uint64_t cells = std::min(found.cells, n);
  if (numbers) run.add(outputs.permutation, kept);
  run.add(outputs.cell_keys, cells);
  run.add(outputs.cell_first, cells);
  run.add(static_cast<const std::byte*>(outputs.records), kept * cloud.record_bytes());
}

/// \param members  without, centroids come without the points of their cells, which may then be grouped another way
inline void run_reduce(TwinRun& run, const Cloud& cloud, const PredicateProgram& program,
                       const kernels::ReduceSpec& spec, bool members = true) {
  const TwinCloud on(run, cloud, program);
  const std::uint64_t n = cloud.count;
  const bool centroids = spec.policy == kernels::KeepPolicy::kCentroid;
  const std::uint64_t bytes = cloud.frame.kind == CoordinateKind::kLattice ? sizeof(Record16) : sizeof(Record32);
  kernels::ReduceOutputs outputs;
  outputs.kept = run.room<std::uint32_t>(n);
  if (centroids) {
    outputs.centroids = run.room<std::byte>(n * bytes);
  }
  if (centroids && members) {
    outputs.permutation = run.room<std::uint32_t>(n);
    outputs.cell_first = run.room<std::uint32_t>(n + 1);
    outputs.cell = run.room<std::uint32_t>(n);
  }
  kernels::Workspace scratch = run.scratch(run.operations().reduce_cells_scratch(spec, n));
  const kernels::ReduceResult found =
      run.operations().reduce_cells(on.predicate(), spec, on.input(), outputs, scratch, run.stream());
  run.add(std::vector<std::uint64_t>{found.counts.kept, found.counts.rejected, found.counts.nonfinite, found.cells,
                                     found.kept});
  const std::uint64_t kept = std::min(found.kept, n);
  run.add(outputs.kept, kept);
  if (!centroids) return;
  run.add(static_cast<const std::byte*>(outputs.centroids), kept * bytes);
  if (!members) return;
  // Cells are numbered as a backend likes; what belongs together is not.
  const auto permutation = run.get(outputs.permutation, found.counts.kept);
  const auto first = run.get(outputs.cell_first, found.cells + 1);
  for (const std::uint32_t cell : run.get(outputs.cell, kept)) {
    run.add(std::vector<std::uint32_t>(permutation.begin() + first[cell], permutation.begin() + first[cell + 1]));
  }
}

inline Cloud cloud_of_seed(CoordinateKind kind, std::uint64_t seed, std::uint64_t n) {
  constexpr Scene kScenes[] = {Scene::kScattered, Scene::kOnFaces, Scene::kOneCell, Scene::kScan};
  return cloud_of(kind, kScenes[seed % 4], n);
}

inline void run_selects(TwinRun& run, CoordinateKind kind, std::uint64_t seed, std::uint64_t n) {
  const Cloud cloud = cloud_of_seed(kind, seed, n);
  for (std::uint64_t choice = 0; choice < 3; ++choice) run_select(run, cloud, predicate_of(kind, choice));
}

inline void run_bins(TwinRun& run, CoordinateKind kind, std::uint64_t seed, std::uint64_t n) {
  const Cloud cloud = cloud_of_seed(kind, seed, n);
  kernels::BinSpec bin;
  bin.grid = grid_of(cloud, 1.0);
  for (const CellOrder order : {CellOrder::kRowMajor, CellOrder::kMorton}) {
    bin.order = order;
    for (const bool numbers : {true, false}) {
      bin.range.reset();
      run_bin(run, cloud, predicate_of(kind, seed), bin, numbers);
      // Some points are outside; the smaller range has a dense table.
      bin.range = seed % 2 == 0 ? CellRange{{-8, -8, -4}, {7, 7, 3}} : CellRange{{-300, -300, -20}, {299, 299, 19}};
      run_bin(run, cloud, predicate_of(kind, seed + 1), bin, numbers);
    }
  }
}

inline void run_reductions(TwinRun& run, CoordinateKind kind, std::uint64_t seed, std::uint64_t n) {
  const Cloud cloud = cloud_of_seed(kind, seed, n);
  kernels::ReduceSpec reduce;
  reduce.grid = grid_of(cloud, seed % 2 == 0 ? 0.5 : 3.0);
  reduce.seed = seed;
  for (const kernels::KeepPolicy policy :
       {kernels::KeepPolicy::kFirst, kernels::KeepPolicy::kCenter, kernels::KeepPolicy::kCentroid,
        kernels::KeepPolicy::kNearestCentroid, kernels::KeepPolicy::kLowest, kernels::KeepPolicy::kHighest,
        kernels::KeepPolicy::kRandom}) {
    const bool few = (static_cast<std::uint64_t>(policy) + seed) % 2 == 0 && policy != kernels::KeepPolicy::kCentroid;
    reduce.policy = policy;
    reduce.max_per_cell = few ? 3 : 1;
    run_reduce(run, cloud, predicate_of(kind, seed), reduce);
  }
}

/// A cell of more points than one warp takes, and keys that are a bit longer than the digits of a pass.
inline void run_uneven_reductions(TwinRun& run, std::uint64_t seed) {
  const std::uint64_t n = 5000 + seed;
  Cloud cloud;
  cloud.count = n;
  cloud.frame.kind = CoordinateKind::kLattice;
  cloud.attribute.resize(n);
  std::vector<Record16> points(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t r = counter_random(seed, i);
    const auto axis = [&](unsigned d) { return r % 2 == 0 ? 1 : static_cast<std::int32_t>(r >> (8 * d + 8) & 31); };
    points[i] = {axis(0), axis(1), axis(2), static_cast<std::uint32_t>(i)};
  }
  const auto* const bytes = reinterpret_cast<const std::byte*>(points.data());
  cloud.records.assign(bytes, bytes + n * sizeof(Record16));
  kernels::ReduceSpec reduce;
  reduce.grid = grid_of(cloud, 4.0);
  for (const kernels::KeepPolicy policy : {kernels::KeepPolicy::kCentroid, kernels::KeepPolicy::kNearestCentroid}) {
    reduce.policy = policy;
    run_reduce(run, cloud, PredicateProgram{}, reduce, false);
    reduce.max_per_cell = policy == kernels::KeepPolicy::kCentroid ? 1 : 3;
    run_reduce(run, cloud, PredicateProgram{}, reduce);
    reduce.max_per_cell = 1;
  }
}

inline void run_operations(TwinRun& run, CoordinateKind kind, std::uint64_t seed, std::uint64_t n) {
  run_selects(run, kind, seed, n);
  run_bins(run, kind, seed, n);
  run_reductions(run, kind, seed, n);
}

}  // namespace sluice::test
