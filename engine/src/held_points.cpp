// SPDX-License-Identifier: Apache-2.0
#include "held_points.hpp"

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>

#include "gather.hpp"
#include "sluice/core/error.hpp"
#include "sluice/core/pool.hpp"
#include "sluice/core/predicate_builder.hpp"
#include "sluice/in_flight.hpp"

namespace sluice::detail {

namespace {
// Records gathered at a time: small enough to stay in a core's cache until they are written.
constexpr std::uint64_t kBlockRecords = 8192;
constexpr std::uint64_t kBlocksPerThread = 4;
constexpr std::uint64_t kCopyChunk = std::uint64_t{1} << 16;
constexpr std::uint64_t kLeastCopyChunk = std::uint64_t{1} << 12;
}  // namespace

std::uint64_t total_points(std::span<ChunkSource* const> sources) {
  std::uint64_t total = 0;
  for (const ChunkSource* source : sources) total += source->info().point_count;
  return total;
}

std::uint64_t held_by(std::span<ChunkSource* const> sources) {
  std::uint64_t total = 0;
  for (const ChunkSource* source : sources) total += source->held_bytes();
  return total;
}

HeldPoints::HeldPoints(std::span<ChunkSource* const> sources, std::uint64_t total, std::uint64_t spare_bytes,
                       JobClock& clock) {
  view_.stride = sources.front()->info().schema.record_bytes;
  if (sources.size() == 1 && borrow(*sources.front(), total)) return;
  copy(sources, total, spare_bytes, clock);
}

bool HeldPoints::borrow(ChunkSource& source, std::uint64_t total) {
  source.rewind();
  if (total == 0 || source.decoded_together() != 0 || !source.next(total, lent_)) return false;
  if (lent_.count != total) {
    source.release(lent_);
    return false;
  }
  view_ = source.load(lent_, lent_buffer_);
  lender_ = &source;
  return true;
}

void HeldPoints::copy(std::span<ChunkSource* const> sources, std::uint64_t total, std::uint64_t spare_bytes,
                      JobClock& clock) {
  const std::uint64_t record_bytes = view_.stride;
  std::uint64_t together = 0;
  for (ChunkSource* source : sources) {
    source->rewind();
    together = std::max(together, source->decoded_together());
  }
  const std::uint64_t chunk = std::max(kCopyChunk, together);
  // Pages of a mapped file are no burden; what decoding needs must fit.
  const auto bytes = [&](const InFlight& now) {
    std::uint64_t largest = 0;
    for (const ChunkSource* source : sources) {
      if (source->decoded_together() != 0) largest = std::max(largest, source->chunk_bytes(now.chunk_points));
    }
    return now.chunks * largest;
  };
  const auto threads = static_cast<std::uint64_t>(tbb::this_task_arena::max_concurrency());
  const InFlight fitting = fit_in_flight({chunk, threads}, together, kLeastCopyChunk, threads, spare_bytes, bytes,
                                         "decoding the smallest chunk beside the points that are held");

  struct Piece {
    ChunkSource* source;
    ChunkRange range;
    std::uint64_t place;
  };
  copied_ = std::make_unique_for_overwrite<std::byte[]>(total * record_bytes);
  std::size_t at = 0;
  std::uint64_t filled = 0;
  const auto next = [&](tbb::flow_control& flow) {
    clock.check_cancelled();
    Piece piece{nullptr, {}, filled};
    while (at < sources.size() && !sources[at]->next(fitting.chunk_points, piece.range)) ++at;
    if (at == sources.size()) {
      flow.stop();
      return piece;
    }
    piece.source = sources[at];
    filled += piece.range.count;
    if (filled > total) throw InvalidArgument("a source has more points than it said");
    return piece;
  };
  Pool<RecordBuffer> buffers;  // as many as chunks in flight, not as threads
  const auto move = [&](const Piece& piece) {
    const BusyTimer timer(clock.read_ns);
    RecordBuffer buffer = buffers.take();
    const PointView part = piece.source->load(piece.range, buffer);
    copy_records(part, record_bytes, copied_.get() + piece.place * record_bytes);
    piece.source->release(piece.range);
    buffers.give(std::move(buffer));
  };
  tbb::parallel_pipeline(fitting.chunks, tbb::make_filter<void, Piece>(tbb::filter_mode::serial_in_order, next) &
                                             tbb::make_filter<Piece, void>(tbb::filter_mode::parallel, move));
  view_.records = copied_.get();
  view_.count = filled;
}

HeldPoints::~HeldPoints() {
  if (lender_ != nullptr) lender_->release(lent_);
}

void smallest_coordinates(const CloudInfo& info, const PointView& view, bool drop_zero, Decimal out[3]) {
  struct Smallest {
    std::array<std::int64_t, 3> raw;
    std::array<double, 3> world;
    bool any = false;
  };
  Selection selection;
  selection.drop_zero = drop_zero;
  const PredicateProgram program = build_predicate(selection, info.schema, info.frame);
  const PredicateView predicate = program.view(nullptr);
  const Positions positions = info.frame.positions(view.records, view.stride);
  const bool lattice = info.frame.kind == CoordinateKind::kLattice;

  Smallest none{};
  none.raw.fill(std::numeric_limits<std::int64_t>::max());
  none.world.fill(std::numeric_limits<double>::infinity());
  const Smallest found = tbb::parallel_reduce(
      tbb::blocked_range<std::uint64_t>(0, view.count, 65536), none,
      [&](const auto& range, Smallest best) {
        for (std::uint64_t i = range.begin(); i < range.end(); ++i) {
          if (evaluate(predicate, positions, i, i) != Verdict::kKept) continue;
          const Position p = load_position(positions, i);
          best.any = true;
          for (std::size_t d = 0; d < 3; ++d) {
            if (lattice) {
              // With a negative scale the largest lattice number is the smallest coordinate.
              const std::int64_t raw = info.frame.scale[d] > 0.0 ? std::int64_t{p.raw[d]} : -std::int64_t{p.raw[d]};
              best.raw[d] = std::min(best.raw[d], raw);
            } else {
              best.world[d] = std::min(best.world[d], p.world[d]);
            }
          }
        }
        return best;
      },
      [](Smallest a, const Smallest& b) {
        for (std::size_t d = 0; d < 3; ++d) {
          a.raw[d] = std::min(a.raw[d], b.raw[d]);
          a.world[d] = std::min(a.world[d], b.world[d]);
        }
        a.any = a.any || b.any;
        return a;
      });
  for (std::size_t d = 0; d < 3; ++d) {
    out[d] = Decimal{};
    if (!found.any) continue;
    if (lattice) {
      const std::int64_t raw = info.frame.scale[d] > 0.0 ? found.raw[d] : -found.raw[d];
      out[d] = Decimal::of(info.frame.scale[d]) * Decimal{raw, 0}.normalized() + Decimal::of(info.frame.offset[d]);
    } else {
      out[d] = Decimal::of(found.world[d]);
    }
  }
}

std::uint64_t written_together(int threads) {
  return kBlocksPerThread * kBlockRecords * static_cast<std::uint64_t>(threads);
}

void write_made(std::uint64_t count, std::uint32_t record_bytes, ChunkSink& sink, JobClock& clock,
                const std::function<void(std::uint64_t first, std::uint64_t count, std::byte* out)>& fill) {
  const std::uint64_t place = sink.reserve(count);
  tbb::enumerable_thread_specific<std::vector<std::byte>> buffers;
  std::uint64_t handed_out = 0;
  const auto next = [&](tbb::flow_control& flow) {
    const std::uint64_t first = handed_out;
    if (first >= count) flow.stop();
    handed_out += kBlockRecords;
    return first;
  };
  const auto write = [&](std::uint64_t first) {
    clock.check_cancelled();
    const BusyTimer timer(clock.write_ns);
    std::vector<std::byte>& buffer = buffers.local();
    buffer.resize(kBlockRecords * record_bytes);
    const std::uint64_t size = std::min(kBlockRecords, count - first);
    fill(first, size, buffer.data());
    sink.store(place + first, PointView{buffer.data(), size, record_bytes});
    return first;
  };
  // A sink that encodes holds what cannot be written before earlier blocks are; so none may fall far behind.
  const auto let_go = [](std::uint64_t /*first*/) {};
  using tbb::filter_mode;
  tbb::parallel_pipeline(kBlocksPerThread * static_cast<std::size_t>(tbb::this_task_arena::max_concurrency()),
                         tbb::make_filter<void, std::uint64_t>(filter_mode::serial_in_order, next) &
                             tbb::make_filter<std::uint64_t, std::uint64_t>(filter_mode::parallel, write) &
                             tbb::make_filter<std::uint64_t, void>(filter_mode::serial_in_order, let_go));
}

void write_gathered(const PointView& view, std::uint32_t record_bytes, std::span<const std::uint32_t> indices,
                    ChunkSink& sink, JobClock& clock) {
  write_made(indices.size(), record_bytes, sink, clock, [&](std::uint64_t first, std::uint64_t count, std::byte* out) {
    gather_records(view, record_bytes, indices.subspan(first, count), out);
  });
}

std::uint64_t keep_every(std::span<std::uint32_t> indices, std::uint64_t n, std::uint64_t phase,
                         std::vector<std::uint32_t>* refused) {
  std::uint64_t kept = 0;
  std::uint64_t left = (n - phase % n) % n;
  for (const std::uint32_t index : indices) {
    if (left == 0) {
      indices[kept++] = index;
      left = n - 1;
    } else {
      if (refused != nullptr) refused->push_back(index);
      --left;
    }
  }
  return kept;
}

}  // namespace sluice::detail
