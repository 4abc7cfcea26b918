// SPDX-License-Identifier: Apache-2.0
#include "share.hpp"

#include <algorithm>

#include "gather.hpp"

namespace sluice::detail {

void Share::place(ChunkSink& sink, std::span<const std::uint32_t> indices, Runs& runs, bool copies) {
  pieces_.clear();
  std::size_t taken = 0;   // of the indices: those that have places
  std::size_t before = 0;  // those in runs before this one
  std::uint64_t end = 0;   // of this run
  for (std::size_t r = 0; r < runs.runs.size(); ++r) {
    const EncodedRun& run = runs.runs[r];
    end += run.points;
    const auto after = std::lower_bound(indices.begin() + static_cast<std::ptrdiff_t>(before), indices.end(), end);
    const auto until = static_cast<std::size_t>(after - indices.begin());
    const std::size_t size = until - before;
    bool copied = false;
    if (copies && size != 0 && size == run.points && !run.bytes.empty()) {
      place_records(sink, indices.subspan(taken, before - taken));
      taken = before;
      std::uint64_t place = 0;
      copied = sink.reserve_encoded(run.points, place);
      if (copied) {
        pieces_.push_back({place, indices.subspan(before, size), &run});
        taken = until;
      }
    }
    if (size != 0 && !copied) runs.as_records[r] = 1;
    before = until;
  }
  place_records(sink, indices.subspan(taken));
}

void Share::place_records(ChunkSink& sink, std::span<const std::uint32_t> indices) {
  if (indices.empty()) return;
  const std::uint64_t place = sink.reserve(indices.size());
  if (!pieces_.empty() && pieces_.back().run == nullptr) {
    // A run that was refused lies between; it has the places next to it.
    Piece& last = pieces_.back();
    last.indices = {last.indices.data(), last.indices.size() + indices.size()};
    return;
  }
  pieces_.push_back({place, indices, nullptr});
}

void Share::store(ChunkSink& sink, const PointView& view, std::uint64_t record_bytes,
                  std::vector<std::byte>& gathered) const {
  for (const Piece& piece : pieces_) {
    const std::span<const std::uint32_t> indices = piece.indices;
    const PointView stretch{view.records + indices.front() * view.stride, indices.size(), view.stride};
    if (piece.run != nullptr) {
      sink.store_encoded(piece.place, *piece.run, stretch);
      continue;
    }
    if (indices.back() - indices.front() + std::size_t{1} == indices.size()) {
      sink.store(piece.place, stretch);
      continue;
    }
    gathered.resize(kGatheredRecords * record_bytes);
    for (std::uint64_t first = 0; first < indices.size(); first += kGatheredRecords) {
      const std::uint64_t size = std::min<std::uint64_t>(kGatheredRecords, indices.size() - first);
      gather_records(view, record_bytes, indices.subspan(first, size), gathered.data());
      sink.store(piece.place + first, PointView{gathered.data(), size, record_bytes});
    }
  }
}

void complete_records(ChunkSource& source, const ChunkRange& range, const Runs& runs, RecordBuffer& buffer) {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  for (std::size_t r = 0; r < runs.runs.size(); ++r) {
    if (runs.as_records[r] != 0) {
      count += runs.runs[r].points;
      continue;
    }
    if (count != 0) source.complete(range, first, count, buffer);
    first += count + runs.runs[r].points;
    count = 0;
  }
  if (count != 0) source.complete(range, first, count, buffer);
}

}  // namespace sluice::detail
