// SPDX-License-Identifier: Apache-2.0
#include "sluice/pipeline.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <cstring>
#include <string>
#include <utility>

#include "sluice/core/copy_values.hpp"
#include "sluice/core/error.hpp"
#include "sluice/core/predicate_builder.hpp"

namespace sluice {

namespace {

using kernels::Backend;
using kernels::Workspace;

GridSpec grid_spec(const GridOptions& options) {
  GridSpec spec;
  spec.use_z = options.use_z;
  for (int d = 0; d < 3; ++d) {
    spec.size[d] = options.size[static_cast<std::size_t>(d)];
    spec.origin[d] = options.origin[static_cast<std::size_t>(d)];
  }
  return spec;
}

std::uint64_t position_bytes(CoordinateKind kind) {
  return kind == CoordinateKind::kFloat64 ? sizeof(Record32) : sizeof(Record16);
}

/// A centroid of a float32 cloud is a double, unlike its points.
std::uint64_t centroid_bytes(CoordinateKind kind) {
  return kind == CoordinateKind::kLattice ? sizeof(Record16) : sizeof(Record32);
}

/// Bytes of the buffers that a worker holds in backend memory, each rounded up as the workspace does.
struct BackendSizes {
  std::uint64_t inputs = 0;  ///< packed positions and columns; device only
  std::uint64_t outputs = 0;
  std::uint64_t scratch = 0;
  [[nodiscard]] std::uint64_t total() const { return inputs + outputs + scratch; }
};

bool is_centroid(const Plan& plan) {
  return plan.kind() == Plan::Kind::kThin && plan.reduce_spec().policy == kernels::KeepPolicy::kCentroid;
}

BackendSizes backend_sizes(const Plan& plan, Backend& backend, std::uint64_t n) {
  BackendSizes sizes;
  if (backend.is_device()) {
    sizes.inputs += Workspace::bytes_for<std::byte>(n * position_bytes(plan.layout().frame.kind));
    for (const Field& field : plan.columns()) {
      sizes.inputs += Workspace::bytes_for<std::byte>(n * field_bytes(field.type));
    }
  }
  const std::uint64_t indices = Workspace::bytes_for<std::uint32_t>(n);
  kernels::Operations& operations = backend.operations();
  switch (plan.kind()) {
    case Plan::Kind::kSelect:
      sizes.outputs = 2 * indices + Workspace::bytes_for<kernels::SelectCounts>(1);
      sizes.scratch = operations.select_scratch(n);
      break;
    case Plan::Kind::kBin:
      sizes.outputs = 2 * indices + Workspace::bytes_for<std::uint64_t>(n);
      sizes.scratch = operations.bin_scratch(plan.bin_spec(), n);
      break;
    case Plan::Kind::kThin:
      sizes.outputs = indices;
      if (is_centroid(plan)) {
        sizes.outputs += Workspace::bytes_for<std::byte>(n * centroid_bytes(plan.layout().frame.kind));
      }
      if (plan.wants_members()) sizes.outputs += 2 * indices + Workspace::bytes_for<std::uint32_t>(n + 1);
      sizes.scratch = operations.reduce_cells_scratch(plan.reduce_spec(), n);
      break;
  }
  return sizes;
}

/// Bytes of host memory through which a worker's inputs and outputs pass to and from a device.
std::uint64_t staging_size(const Plan& plan, std::uint64_t n) {
  std::uint64_t bytes = Workspace::bytes_for<std::byte>(n * position_bytes(plan.layout().frame.kind));
  for (const Field& field : plan.columns()) bytes += Workspace::bytes_for<std::byte>(n * field_bytes(field.type));
  // Room for the largest set of outputs that any plan has beside its positions.
  bytes += 3 * Workspace::bytes_for<std::uint32_t>(n) + Workspace::bytes_for<std::uint32_t>(n + 1);
  bytes += Workspace::bytes_for<kernels::SelectCounts>(1);
  if (plan.kind() == Plan::Kind::kBin) bytes += Workspace::bytes_for<std::uint64_t>(n);
  if (is_centroid(plan)) bytes += Workspace::bytes_for<std::byte>(n * centroid_bytes(plan.layout().frame.kind));
  return bytes;
}

}  // namespace

std::shared_ptr<Plan> Plan::base(const CloudInfo& layout, const Selection& selection) {
  std::shared_ptr<Plan> plan(new Plan);
  plan->layout_ = layout;
  plan->predicate_ = build_predicate(selection, layout.schema, layout.frame);
  for (const std::string& name : plan->predicate_.columns) {
    const Field* field = layout.schema.find(name);
    if (field == nullptr) throw InvalidArgument("there is no field '" + name + "'");
    plan->columns_.push_back(*field);
  }
  return plan;
}

std::shared_ptr<const Plan> Plan::select(const CloudInfo& layout, const Selection& selection) {
  return base(layout, selection);
}

std::shared_ptr<const Plan> Plan::thin(const CloudInfo& layout, const Selection& selection,
                                       const ThinOptions& options) {
  if (options.max_per_cell == 0) throw InvalidArgument("at least one point per cell must stay");
  if (options.policy == kernels::KeepPolicy::kCentroid && options.max_per_cell != 1) {
    throw InvalidArgument("a cell has one centroid; more points per cell need another policy");
  }
  const std::shared_ptr<Plan> plan = base(layout, selection);
  plan->kind_ = Kind::kThin;
  plan->reduce_.grid = make_cell_grid(grid_spec(options.grid), layout.frame);
  plan->reduce_.policy = options.policy;
  plan->reduce_.max_per_cell = options.max_per_cell;
  plan->reduce_.seed = options.seed;
  plan->wants_members_ = !options.attributes.empty();
  return plan;
}

std::shared_ptr<const Plan> Plan::bin(const CloudInfo& layout, const Selection& selection, const BinOptions& options) {
  const std::shared_ptr<Plan> plan = base(layout, selection);
  plan->kind_ = Kind::kBin;
  plan->bin_.grid = make_cell_grid(grid_spec(options.grid), layout.frame);
  plan->bin_.order = options.order;
  return plan;
}

std::uint64_t Plan::backend_bytes(Backend& backend, std::uint64_t max_points) const {
  return backend_sizes(*this, backend, max_points).total();
}

std::uint64_t Plan::staging_bytes(const Backend& backend, std::uint64_t max_points) const {
  return backend.is_device() ? staging_size(*this, max_points) : 0;
}

/// Everything that a worker holds. On the CPU the backend's memory is the host's: outputs are read where they are, and
/// inputs are the caller's records themselves.
struct Worker::Memory {
  Memory(const Plan& plan, Backend& backend, std::uint64_t n)
      : device(backend.is_device()),
        predicate(backend.operations().prepare(plan.predicate())),
        stream(backend.make_stream()),
        workspace(backend.memory(), backend_sizes(plan, backend, n).total(), "a worker's buffers") {
    if (device) {
      positions = workspace.take<std::byte>(n * position_bytes(plan.layout().frame.kind));
      for (const Field& field : plan.columns()) {
        columns.push_back(workspace.take<std::byte>(n * field_bytes(field.type)));
      }
      // One block: pinning memory is dear, and a worker lives long.
      staging = MemoryBlock(backend.staging_memory(), staging_size(plan, n), "staging for the GPU");
    }
    first.data = workspace.take<std::uint32_t>(n);
    if (plan.kind() == Plan::Kind::kSelect) {
      second.data = workspace.take<std::uint32_t>(n);
      counts = workspace.take<kernels::SelectCounts>(1);
    } else if (plan.kind() == Plan::Kind::kBin) {
      second.data = workspace.take<std::uint32_t>(n);
      keys.data = workspace.take<std::uint64_t>(n);
    } else if (is_centroid(plan)) {
      points.data = workspace.take<std::byte>(n * centroid_bytes(plan.layout().frame.kind));
      if (plan.wants_members()) {
        second.data = workspace.take<std::uint32_t>(n);
        third.data = workspace.take<std::uint32_t>(n + 1);
        fourth.data = workspace.take<std::uint32_t>(n);
      }
    }
    if (device) place_staging(plan, n);
  }

  /// A buffer in backend memory and its image in host memory.
  template <typename T>
  struct Output {
    T* data = nullptr;
    T* image = nullptr;

    /// Enqueues the copy of `count` values to the host; valid after a wait.
    std::span<const T> fetch(const Memory& memory, Backend& backend, std::uint64_t count) const {
      if (!memory.device) return {data, static_cast<std::size_t>(count)};
      if (count != 0) backend.download(image, data, count * sizeof(T), memory.stream->view());
      return {image, static_cast<std::size_t>(count)};
    }
  };

  void place_staging(const Plan& plan, std::uint64_t n) {
    std::byte* at = staging.data();
    const auto take = [&at](std::uint64_t bytes) {
      std::byte* out = at;
      at += Workspace::bytes_for<std::byte>(bytes);
      return out;
    };
    staged_positions = take(n * position_bytes(plan.layout().frame.kind));
    for (const Field& field : plan.columns()) staged_columns.push_back(take(n * field_bytes(field.type)));
    first.image = reinterpret_cast<std::uint32_t*>(take(n * sizeof(std::uint32_t)));
    second.image = reinterpret_cast<std::uint32_t*>(take(n * sizeof(std::uint32_t)));
    third.image = reinterpret_cast<std::uint32_t*>(take((n + 1) * sizeof(std::uint32_t)));
    fourth.image = reinterpret_cast<std::uint32_t*>(take(n * sizeof(std::uint32_t)));
    counts_image = reinterpret_cast<kernels::SelectCounts*>(take(sizeof(kernels::SelectCounts)));
    if (plan.kind() == Plan::Kind::kBin) keys.image = reinterpret_cast<std::uint64_t*>(take(n * sizeof(std::uint64_t)));
    if (is_centroid(plan)) points.image = take(n * centroid_bytes(plan.layout().frame.kind));
  }

  bool device;
  std::shared_ptr<const kernels::PreparedPredicate> predicate;
  std::unique_ptr<kernels::Stream> stream;
  Workspace workspace;
  MemoryBlock staging;
  std::byte* positions = nullptr;
  std::vector<std::byte*> columns;
  std::byte* staged_positions = nullptr;
  std::vector<std::byte*> staged_columns;
  std::vector<Column> bound;  ///< one per slot, reused from run to run
  Output<std::uint32_t> first, second, third, fourth;
  Output<std::uint64_t> keys;
  Output<std::byte> points;
  kernels::SelectCounts* counts = nullptr;
  kernels::SelectCounts* counts_image = nullptr;
};

Worker::Worker(std::shared_ptr<const Plan> plan, std::shared_ptr<Backend> backend, std::uint64_t max_points)
    : plan_(std::move(plan)),
      backend_(std::move(backend)),
      max_points_(max_points),
      memory_(std::make_unique<Memory>(*plan_, *backend_, max_points)) {
  memory_->bound.resize(plan_->columns().size());
}

Worker::~Worker() = default;

namespace {

/// Packs positions into the records that devices read, with the row in the spare word.
void pack_positions(const Positions& positions, std::uint64_t count, std::byte* out) {
  constexpr std::uint64_t kGrain = 16384;
  tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, count, kGrain), [&](const auto& range) {
    for (std::uint64_t i = range.begin(); i < range.end(); ++i) {
      const std::uint64_t at = i * positions.stride;
      if (positions.kind == CoordinateKind::kFloat64) {
        Record32 record{};
        std::memcpy(&record.x, positions.x + at, sizeof(double));
        std::memcpy(&record.y, positions.y + at, sizeof(double));
        std::memcpy(&record.z, positions.z + at, sizeof(double));
        record.w = i;
        std::memcpy(out + i * sizeof record, &record, sizeof record);
      } else {
        Record16 record{};
        std::memcpy(&record.x, positions.x + at, sizeof(std::int32_t));
        std::memcpy(&record.y, positions.y + at, sizeof(std::int32_t));
        std::memcpy(&record.z, positions.z + at, sizeof(std::int32_t));
        record.w = static_cast<std::uint32_t>(i);
        std::memcpy(out + i * sizeof record, &record, sizeof record);
      }
    }
  });
}

/// Packs one field of strided records.
void pack_column(const std::byte* from, std::uint64_t stride, std::uint32_t bytes, std::uint64_t count,
                 std::byte* out) {
  constexpr std::uint64_t kGrain = 65536;
  tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, count, kGrain), [&](const auto& range) {
    copy_values(from + range.begin() * stride, stride, out + range.begin() * bytes, bytes, bytes, range.size());
  });
}

}  // namespace

Worker::Result Worker::run(const PointView& points, std::uint64_t first_index, bool want_rejected) {
  if (points.count > max_points_) throw InvalidArgument("a cloud has more points than its worker was made for");
  Memory& m = *memory_;
  const kernels::StreamView stream = m.stream->view();
  const CoordinateFrame& frame = plan_->layout().frame;

  kernels::PointInput input;
  input.count = points.count;
  input.first_index = first_index;
  input.column_count = static_cast<std::uint32_t>(m.bound.size());
  input.columns = m.bound.data();
  const Positions host = frame.positions(points.records, points.stride);
  if (m.device) {
    pack_positions(host, points.count, m.staged_positions);
    const std::uint64_t bytes = points.count * position_bytes(frame.kind);
    if (bytes != 0) backend_->upload(m.positions, m.staged_positions, bytes, stream);
    input.positions = frame.kind == CoordinateKind::kFloat64
                          ? Positions::packed(reinterpret_cast<const Record32*>(m.positions))
                          : Positions::packed(reinterpret_cast<const Record16*>(m.positions), frame.kind);
    for (int d = 0; d < 3; ++d) {
      input.positions.scale[d] = frame.scale[d];
      input.positions.offset[d] = frame.offset[d];
    }
    for (std::size_t i = 0; i < m.bound.size(); ++i) {
      const Field& field = plan_->columns()[i];
      const std::uint32_t width = field_bytes(field.type);
      if (points.count != 0) {
        pack_column(points.records + field.offset, points.stride, width, points.count, m.staged_columns[i]);
        backend_->upload(m.columns[i], m.staged_columns[i], points.count * width, stream);
      }
      m.bound[i] = Column{m.columns[i], width, field.type, field.bit_shift, field.bit_count};
    }
  } else {
    input.positions = host;
    for (std::size_t i = 0; i < m.bound.size(); ++i) {
      m.bound[i] = plan_->columns()[i].column(points.records, points.stride);
    }
  }

  Result result;
  kernels::Operations& operations = backend_->operations();
  // Scratch goes back whatever happens, so that a worker survives a refused cloud.
  const kernels::WorkspaceScope scope(m.workspace);
  switch (plan_->kind()) {
    case Plan::Kind::kSelect: {
      kernels::SelectOutputs outputs;
      outputs.kept = m.first.data;
      outputs.rejected = want_rejected ? m.second.data : nullptr;
      outputs.counts = m.counts;
      operations.select(*m.predicate, input, outputs, m.workspace, stream);
      if (m.device) {
        backend_->download(m.counts_image, m.counts, sizeof(kernels::SelectCounts), stream);
        backend_->wait(stream);
        result.counts = *m.counts_image;
      } else {
        result.counts = *m.counts;
      }
      result.indices = m.first.fetch(m, *backend_, result.counts.kept);
      if (want_rejected) result.rejected = m.second.fetch(m, *backend_, result.counts.rejected);
      break;
    }
    case Plan::Kind::kBin: {
      kernels::BinOutputs outputs;
      outputs.permutation = m.first.data;
      outputs.cell_first = m.second.data;
      outputs.cell_keys = m.keys.data;
      const kernels::BinResult done =
          operations.bin(*m.predicate, plan_->bin_spec(), input, outputs, m.workspace, stream);
      result.counts = done.counts;
      result.cells = done.cells;
      result.key_layout = done.layout;
      result.indices = m.first.fetch(m, *backend_, done.counts.kept);
      result.cell_first = m.second.fetch(m, *backend_, done.cells);
      result.cell_keys = m.keys.fetch(m, *backend_, done.cells);
      break;
    }
    case Plan::Kind::kThin: {
      const bool centroids = is_centroid(*plan_);
      kernels::ReduceOutputs outputs;
      outputs.kept = m.first.data;
      if (centroids) outputs.centroids = m.points.data;
      if (plan_->wants_members()) {
        outputs.permutation = m.second.data;
        outputs.cell_first = m.third.data;
        outputs.cell = m.fourth.data;
      }
      const kernels::ReduceResult done =
          operations.reduce_cells(*m.predicate, plan_->reduce_spec(), input, outputs, m.workspace, stream);
      result.counts = done.counts;
      result.cells = done.cells;
      result.key_layout = done.layout;
      result.indices = m.first.fetch(m, *backend_, done.kept);
      if (plan_->wants_members()) {
        result.members = m.second.fetch(m, *backend_, done.counts.kept);
        result.member_first = m.third.fetch(m, *backend_, done.cells + 1);
        result.centroid_member = m.fourth.fetch(m, *backend_, done.kept);
      }
      if (centroids) {
        const std::uint64_t bytes = done.kept * centroid_bytes(frame.kind);
        const std::span<const std::byte> raw = m.points.fetch(m, *backend_, bytes);
        if (frame.kind == CoordinateKind::kLattice) {
          result.lattice_centroids = {reinterpret_cast<const Record16*>(raw.data()),
                                      static_cast<std::size_t>(done.kept)};
        } else {
          result.world_centroids = {reinterpret_cast<const Record32*>(raw.data()), static_cast<std::size_t>(done.kept)};
        }
      }
      break;
    }
  }
  if (m.device) backend_->wait(stream);
  return result;
}

}  // namespace sluice
