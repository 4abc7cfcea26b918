// SPDX-License-Identifier: Apache-2.0
#include "laz_points.hpp"

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "sluice/core/error.hpp"

namespace sluice::io::las {
namespace {

// A symbol that has been all there was for long costs 0.0014 bits or more, as its model has many others, and a point
// takes at least four, or three of which one costs 0.0056: 0.007 bits, so no byte holds more points than this.
constexpr std::uint64_t kMostPointsPerByte = 1200;
constexpr std::uint64_t kPart = 1024;

std::string number(std::uint64_t value) { return std::to_string(value); }

std::string name_of(const LazPoints& points, const laz::Chunk& chunk) {
  return "chunk " + number(static_cast<std::uint64_t>(&chunk - points.chunks.data()));
}

/// In a whole file the table follows, so that such a chunk is cut.
bool ends_with_file(const LazPoints& points, const laz::Chunk& chunk) {
  return chunk.offset + chunk.bytes == points.file.size();
}

/// Whether what follows the points that were decoded is more points, to the chunk's last byte.
bool holds_more(laz::PointwiseDecoder& decoder, std::uint64_t record_bytes) {
  // A header that is not up to date lacks a chunk's worth at most.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 24;
  const auto record = std::make_unique_for_overwrite<std::byte[]>(record_bytes);
  for (std::uint64_t i = 0; i < kMost; ++i) {
    if (decoder.decode(record.get(), record_bytes, 1).status != laz::Status::kOk) return false;
    if (decoder.may_end()) return true;
  }
  return false;
}

}  // namespace

LazResult end_of_stream(const LazPoints& points, const laz::Chunk& chunk, laz::PointwiseDecoder& decoder,
                        const laz::PointwiseResult& last, std::uint64_t sound) {
  LazResult out{last.status, sound, chunk.surplus};
  if (chunk.surplus && sound == chunk.points) {
    out.status = laz::Status::kOk;
  } else if (last.status == laz::Status::kTruncated) {
    // Where the file ends in the chunk, all points before are right. Otherwise damage lies somewhere among its bytes,
    // and nobody knows which points precede it.
    out.is_certain = points.one_stream || ends_with_file(points, chunk);
  } else if (last.status == laz::Status::kOk && last.consumed != chunk.bytes && !points.one_stream &&
             !ends_with_file(points, chunk)) {
    out.surplus = points.may_have_more(chunk) && holds_more(decoder, points.layout.record_bytes);
    if (!out.surplus) out.status = laz::Status::kLeftOver;
  }
  return out;
}

namespace {

LazResult judge(const LazPoints& points, const laz::Chunk& chunk, const laz::LayeredResult& result) {
  LazResult out{result.status, result.points, result.stored > chunk.points};
  if (out.status == laz::Status::kOk && out.surplus && !points.may_have_more(chunk)) out.status = laz::Status::kCorrupt;
  if (chunk.surplus && out.points == chunk.points) out.status = laz::Status::kOk;
  // All that is stored is right, and only fewer than the file counts; or the file ends in the chunk.
  out.is_certain = (result.damaged == 0 && out.points == result.stored) ||
                   (out.status == laz::Status::kTruncated && ends_with_file(points, chunk));
  return out;
}

/// Decodes a chunk for nothing but to know how much of it is sound.
LazResult check_chunk(const LazPoints& points, const laz::Chunk& chunk, LazWorkspace& workspace) {
  const std::uint64_t record_bytes = points.layout.record_bytes;
  if (points.layout.layered) {
    // All points go to one place: nobody wants them, and a chunk may claim more than memory has room for.
    const auto record = std::make_unique_for_overwrite<std::byte[]>(record_bytes);
    return judge(points, chunk,
                 laz::decode_layered_chunk(workspace.layered, points.layout, points.bytes_of(chunk), laz::layer::kAll,
                                           laz::fields_of_records(points.layout, record.get(), 0), chunk.points));
  }
  laz::PointwiseDecoder decoder(workspace.pointwise, points.layout, points.bytes_of(chunk));
  const auto records = std::make_unique_for_overwrite<std::byte[]>(kPart * record_bytes);
  std::uint64_t sound = 0;
  laz::PointwiseResult part;
  while (sound < chunk.points && part.status == laz::Status::kOk) {
    part = decoder.decode(records.get(), record_bytes, std::min(kPart, chunk.points - sound));
    sound += part.points;
  }
  return end_of_stream(points, chunk, decoder, part, sound);
}

std::uint64_t end_of_chunks(const LazPoints& points) {
  return points.chunks.empty() ? 0 : points.chunks.back().offset + points.chunks.back().bytes;
}

/// Leaves out what is not sound of the chunks from `first` on.
/// \return the first problem
std::optional<laz::Problem> drop_unsound(LazPoints& points, std::size_t first, const ReadOptions& limits) {
  std::uint64_t most_points = 0;
  for (std::size_t i = first; i < points.chunks.size(); ++i) {
    most_points = std::max(most_points, points.chunks[i].points);
  }
  // What is claimed may be much, in few bytes; nobody has looked at it before.
  const std::uint64_t needed = workspace_bytes(points.layout, most_points);
  int threads = limits.threads > 0 ? limits.threads : tbb::this_task_arena::max_concurrency();
  if (limits.memory_bytes != 0) {
    if (needed > limits.memory_bytes) {
      throw OutOfMemory(needed, limits.memory_bytes, "checking a chunk of " + number(most_points) + " points");
    }
    threads =
        static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(threads), limits.memory_bytes / needed));
  }

  std::vector<LazResult> results(points.chunks.size());
  tbb::enumerable_thread_specific<LazWorkspace> workspaces;
  tbb::task_arena arena(threads);
  arena.execute([&] {
    tbb::parallel_for(tbb::blocked_range<std::size_t>(first, points.chunks.size(), 1), [&](const auto& range) {
      for (std::size_t i = range.begin(); i < range.end(); ++i) {
        results[i] = check_chunk(points, points.chunks[i], workspaces.local());
      }
    });
  });

  std::optional<laz::Problem> problem;
  std::uint64_t damaged = 0;
  for (std::size_t i = first; i < points.chunks.size(); ++i) {
    laz::Chunk& chunk = points.chunks[i];
    const LazResult& result = results[i];
    if (result.status == laz::Status::kOk) continue;
    if (++damaged == 1) problem = chunk_problem(points, chunk, result);
    chunk.points = result.is_certain ? result.points : 0;
    chunk.surplus = true;  // what follows the sound points is ignored from now on
  }
  if (damaged > 1) problem->text += ", and " + number(damaged - 1) + " more chunks are damaged";
  std::erase_if(points.chunks, [](const laz::Chunk& chunk) { return chunk.points == 0; });
  std::uint64_t count = 0;
  for (laz::Chunk& chunk : points.chunks) {
    chunk.first = count;
    count += chunk.points;
  }
  return problem;
}

/// Leaves out chunks from the first one on that claims more points than so many bytes can hold.
std::optional<laz::Problem> drop_incredible(LazPoints& points) {
  for (const laz::Chunk& chunk : points.chunks) {
    if (chunk.points / kMostPointsPerByte <= chunk.bytes) continue;
    laz::Problem problem{
        chunk.offset, name_of(points, chunk),
        number(chunk.points) + " points are counted, which " + number(chunk.bytes) + " bytes cannot hold"};
    points.chunks.resize(static_cast<std::size_t>(&chunk - points.chunks.data()));
    return problem;
  }
  return std::nullopt;
}

void take(laz::ChunkIndex index, LazFinding& finding) {
  finding.points.chunks = std::move(index.chunks);
  finding.points.end = index.end;
  finding.problem = std::move(index.problem);
  finding.warnings.insert(finding.warnings.end(), index.warnings.begin(), index.warnings.end());
}

/// Takes the chunks as they follow each other, without the table.
void walk(const laz::PointBlock& block, const laz::Problem& table, LazFinding& finding) {
  finding.warnings.push_back("byte " + number(table.offset) + ": " + table.field + ": " + table.text +
                             "; the chunks are found without the table");
  take(laz::walk_chunks(block), finding);
}

}  // namespace

std::uint64_t workspace_bytes(const laz::RecordLayout& layout, std::uint64_t points) {
  return layout.layered ? sizeof(laz::LayerModels) + points * sizeof(std::uint16_t)
                        : sizeof(laz::PointwiseModels) + layout.extra_bytes * sizeof(laz::ByteModels);
}

LazResult decode_chunk(const LazPoints& points, const laz::Chunk& chunk, LazWorkspace& workspace, std::byte* records) {
  const laz::RecordLayout& layout = points.layout;
  if (layout.layered) return decode_layers(points, chunk, workspace, records, laz::layer::kAll, nullptr);
  laz::PointwiseDecoder decoder(workspace.pointwise, layout, points.bytes_of(chunk));
  const laz::PointwiseResult result = decoder.decode(records, layout.record_bytes, chunk.points);
  return end_of_stream(points, chunk, decoder, result, result.points);
}

LazResult decode_layers(const LazPoints& points, const laz::Chunk& chunk, LazWorkspace& workspace, std::byte* records,
                        std::uint64_t wanted, std::uint16_t* control_words) {
  const laz::RecordLayout& layout = points.layout;
  return judge(points, chunk,
               laz::decode_layered_chunk(workspace.layered, layout, points.bytes_of(chunk), wanted,
                                         laz::fields_of_records(layout, records, layout.record_bytes), chunk.points,
                                         control_words));
}

LazResult decode_further_layers(const LazPoints& points, const laz::Chunk& chunk, LazWorkspace& workspace,
                                std::byte* records, std::uint64_t wanted, std::uint16_t* control_words) {
  const laz::RecordLayout& layout = points.layout;
  return judge(points, chunk,
               laz::decode_further_layers(workspace.layered, layout, points.bytes_of(chunk), wanted,
                                          laz::fields_of_records(layout, records, layout.record_bytes), chunk.points,
                                          control_words));
}

laz::Problem chunk_problem(const LazPoints& points, const laz::Chunk& chunk, const LazResult& result) {
  laz::Problem out{chunk.offset, name_of(points, chunk), {}};
  if (result.is_certain) {
    out.text = "it is cut short behind " + number(result.points) + " of its " + number(chunk.points) + " points; " +
               number(chunk.first + result.points) + " points of the file precede the damage";
  } else {
    const std::string what = result.status == laz::Status::kTruncated
                                 ? "its points take more bytes than it has"
                                 : std::string("it ") + laz::text_of(result.status);
    out.text = what + "; " + number(chunk.first) + " points of the file precede it, and none of its " +
               number(chunk.points) + " is sure to be right";
  }
  return out;
}

/// Notes where the last chunk says itself that it has more points than the header counts.
void note_surplus(const laz::PointBlock& block, LazFinding& finding) {
  LazPoints& points = finding.points;
  if (!points.layout.layered || points.chunks.empty() || points.chunks.back().surplus) return;
  laz::Chunk& last = points.chunks.back();
  laz::LayeredHeader header;
  if (laz::read_layered_header(points.layout, points.bytes_of(last), header) != laz::Status::kOk) return;
  if (header.points <= last.points) return;
  last.surplus = true;
  finding.warnings.push_back(laz::surplus_text(block.points));
}

LazFinding find_laz_points(const laz::PointBlock& block, const ReadOptions& options) {
  LazFinding finding;
  LazPoints& points = finding.points;
  points.file = block.file;
  points.layout = block.layout;
  points.one_stream = block.vlr->compressor == laz::Compressor::kOneStream;
  bool walked = false;
  if (points.one_stream) {
    take(laz::whole_block(block), finding);
    points.end = std::min<std::uint64_t>(block.offset, block.file.size());
  } else {
    take(laz::read_chunk_table(block), finding);
    if (finding.problem && points.chunks.empty()) {
      walk(block, laz::Problem(*finding.problem), finding);
      walked = true;
    }
  }
  if (auto problem = drop_incredible(points)) finding.problem = std::move(problem);
  if (!finding.problem) note_surplus(block, finding);
  if (options.recover) {
    const std::uint64_t end = end_of_chunks(points);
    std::optional<laz::Problem> problem = drop_unsound(points, 0, options);
    if (problem && !walked && !points.one_stream) {
      // The chunks may be sound and the table wrong. It stands where it stands, though: damaged points may seem to go
      // on into it.
      LazFinding other;
      other.points.file = block.file;
      other.points.layout = block.layout;
      walk(block, *problem, other);
      if (!other.problem && end_of_chunks(other.points) == end && !drop_incredible(other.points) &&
          !drop_unsound(other.points, 0, options)) {
        other.warnings.insert(other.warnings.begin(), finding.warnings.begin(), finding.warnings.end());
        return other;
      }
    }
    if (problem && !finding.problem) finding.problem = std::move(problem);
  } else if (finding.problem && !points.chunks.empty()) {
    // The file ends in the last chunk, or the points do.
    (void)drop_unsound(points, points.chunks.size() - 1, options);
  }
  return finding;
}

}  // namespace sluice::io::las
