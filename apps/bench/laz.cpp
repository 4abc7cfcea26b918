// SPDX-License-Identifier: Apache-2.0
#include "laz.hpp"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>

#include "io/laz/chunk_table.hpp"
#include "io/laz/layered.hpp"
#include "io/laz/pointwise.hpp"
#include "sluice/core/error.hpp"
#include "sluice/io/las.hpp"
#include "sluice/io/read.hpp"

namespace sluice::bench {

namespace {

/// A LAZ file in memory and where its chunks are.
struct ChunkedFile {
  std::string path;
  std::vector<std::byte> bytes;
  std::uint32_t point_format = 0;
  laz::RecordLayout layout;
  std::vector<laz::Chunk> chunks;

  [[nodiscard]] std::span<const std::byte> bytes_of(const laz::Chunk& chunk) const {
    return std::span(bytes).subspan(chunk.offset, chunk.bytes);
  }
  [[nodiscard]] std::uint64_t points() const { return chunks.back().first + chunks.back().points; }
};

ChunkedFile read_chunked_file(const std::string& path) {
  ChunkedFile out;
  out.path = path;
  const auto source = io::open_source(path);
  const auto* metadata = dynamic_cast<const io::LasMetadata*>(source->info().metadata.get());
  if (metadata == nullptr || !metadata->compressed) throw Unsupported(path + ": is no LAZ file");
  laz::LaszipVlr vlr;
  for (const io::Vlr& record : metadata->vlrs) {
    if (!record.is(laz::kLaszipUserId, laz::kLaszipRecordId)) continue;
    // The source has accepted the record already.
    if (const auto problem = laz::parse_laszip_vlr(record.payload, vlr)) throw Unsupported(path + ": " + problem->text);
  }
  if (vlr.compressor == laz::Compressor::kOneStream) throw Unsupported(path + ": its points are not in chunks");
  out.point_format = metadata->header.point_format;
  out.layout = laz::layout_of(vlr.items);

  std::ifstream file(path, std::ios::binary | std::ios::ate);
  out.bytes.resize(static_cast<std::size_t>(std::max<std::streamoff>(0, file.tellg())));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(out.bytes.data()), static_cast<std::streamsize>(out.bytes.size()));
  if (!file) throw IoError(path, "cannot be read");
  laz::PointBlock block;
  block.file = out.bytes;
  block.offset = metadata->header.offset_to_points;
  block.points = source->info().point_count;
  block.vlr = &vlr;
  block.layout = out.layout;
  laz::ChunkIndex index = laz::read_chunk_table(block);
  if (index.problem) throw Unsupported(path + ": " + index.problem->text);
  if (index.chunks.empty()) throw Unsupported(path + ": has no points");
  out.chunks = std::move(index.chunks);
  return out;
}

/// What one thread needs, kept from chunk to chunk.
struct Worker {
  laz::PointwiseWorkspace pointwise;
  laz::LayeredWorkspace layered;
  laz::Buffer encoded;
};

bool decode(Worker& worker, const laz::RecordLayout& layout, std::span<const std::byte> bytes, std::byte* records,
            std::uint64_t count) {
  if (layout.layered) {
    return laz::decode_layered_chunk(worker.layered, layout, bytes, laz::layer::kAll,
                                     laz::fields_of_records(layout, records, layout.record_bytes), count)
               .status == laz::Status::kOk;
  }
  return laz::decode_pointwise_chunk(worker.pointwise, layout, bytes, records, layout.record_bytes, count).status ==
         laz::Status::kOk;
}

void encode(Worker& worker, const laz::RecordLayout& layout, const std::byte* records, std::uint64_t count) {
  worker.encoded.clear();
  if (layout.layered) {
    laz::encode_layered_chunk(worker.layered, layout, laz::fields_of_records(layout, records, layout.record_bytes),
                              count, worker.encoded);
  } else {
    laz::encode_pointwise_chunk(worker.pointwise, layout, records, layout.record_bytes, count, worker.encoded);
  }
}

struct Timing {
  double median_s = 0.0;
  double best_s = 0.0;
  double cpu_s = 0.0;  ///< of all threads, median
};

struct LazRow {
  const ChunkedFile* file = nullptr;
  std::uint64_t encoded_bytes = 0;
  std::uint64_t identical_chunks = 0;
  bool sound = false;
  Timing decode;
  Timing encode;
};

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Runs both sides of the codec over the chunks of one file.
class Bench {
 public:
  Bench(const ChunkedFile& file, int threads)
      : file_(file),
        // Old versions are read only.
        encoding_(file.layout.is_old() ? laz::layout_of(laz::items_of(file.point_format, file.layout.extra_bytes))
                                       : file.layout),
        records_(file.points() * file.layout.record_bytes),
        arena_(threads) {}

  /// Decodes and encodes everything once, which also warms up, and compares.
  void compare(LazRow& row) {
    std::atomic<std::uint64_t> identical{0};
    std::atomic<std::uint64_t> sound{0};
    std::atomic<std::uint64_t> bytes{0};
    for_each_chunk([&](Worker& worker, const laz::Chunk& chunk, std::byte* records) {
      if (!decode(worker, file_.layout, file_.bytes_of(chunk), records, chunk.points)) return;
      encode(worker, encoding_, records, chunk.points);
      bytes += worker.encoded.size();
      if (std::ranges::equal(worker.encoded.bytes(), file_.bytes_of(chunk))) {
        ++identical;
        ++sound;
        return;
      }
      std::vector<std::byte> again(chunk.points * encoding_.record_bytes);
      if (decode(worker, encoding_, worker.encoded.bytes(), again.data(), chunk.points) &&
          std::equal(again.begin(), again.end(), records)) {
        ++sound;
      }
    });
    row.identical_chunks = identical;
    row.encoded_bytes = bytes;
    row.sound = sound == file_.chunks.size();
  }

  void decode_all() {
    for_each_chunk([&](Worker& worker, const laz::Chunk& chunk, std::byte* records) {
      decode(worker, file_.layout, file_.bytes_of(chunk), records, chunk.points);
    });
  }

  void encode_all() {
    for_each_chunk([&](Worker& worker, const laz::Chunk& chunk, const std::byte* records) {
      encode(worker, encoding_, records, chunk.points);
    });
  }

 private:
  template <typename Work>
  void for_each_chunk(const Work& work) {
    arena_.execute([&] {
      tbb::parallel_for(
          tbb::blocked_range<std::size_t>(0, file_.chunks.size(), 1),
          [&](const tbb::blocked_range<std::size_t>& range) {
            Worker& worker = workers_.local();
            for (std::size_t i = range.begin(); i < range.end(); ++i) {
              const laz::Chunk& chunk = file_.chunks[i];
              work(worker, chunk, records_.data() + chunk.first * file_.layout.record_bytes);
            }
          },
          tbb::simple_partitioner());
    });
  }

  const ChunkedFile& file_;
  laz::RecordLayout encoding_;
  std::vector<std::byte> records_;
  tbb::task_arena arena_;
  tbb::enumerable_thread_specific<Worker> workers_;
};

template <typename Work>
void time_once(const Work& work, std::vector<double>& wall, std::vector<double>& cpu) {
  const std::clock_t cpu_start = std::clock();
  const auto start = std::chrono::steady_clock::now();
  work();
  wall.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  cpu.push_back(static_cast<double>(std::clock() - cpu_start) / static_cast<double>(CLOCKS_PER_SEC));
}

Timing timing_of(const std::vector<double>& wall, const std::vector<double>& cpu) {
  return {median_of(wall), *std::min_element(wall.begin(), wall.end()), median_of(cpu)};
}

LazRow measure(const ChunkedFile& file, const LazOptions& options) {
  LazRow row;
  row.file = &file;
  Bench bench(file, options.threads);
  bench.compare(row);
  std::vector<double> decode_wall;
  std::vector<double> decode_cpu;
  std::vector<double> encode_wall;
  std::vector<double> encode_cpu;
  for (unsigned run = 0; run < options.runs; ++run) {
    time_once([&] { bench.decode_all(); }, decode_wall, decode_cpu);
    time_once([&] { bench.encode_all(); }, encode_wall, encode_cpu);
  }
  row.decode = timing_of(decode_wall, decode_cpu);
  row.encode = timing_of(encode_wall, encode_cpu);
  return row;
}

double millions_per_s(const LazRow& row, const Timing& timing) {
  return static_cast<double>(row.file->points()) / timing.median_s * 1e-6;
}

void print_table(const std::vector<LazRow>& rows, const LazOptions& options) {
  fmt::print("{} threads, {} runs; M points/s of the median\n\n", options.threads, options.runs);
  fmt::print("{:<32} {:>6} {:>10} {:>6} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}  {}\n", "file", "format", "points",
             "chunks", "decode ms", "least ms", "M/s", "encode ms", "least ms", "M/s", "identical", "sound");
  for (const LazRow& row : rows) {
    const std::string name = row.file->path.substr(row.file->path.find_last_of('/') + 1);
    fmt::print("{:<32} {:>6} {:>10} {:>6} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9}  {}\n", name,
               row.file->point_format, row.file->points(), row.file->chunks.size(), 1e3 * row.decode.median_s,
               1e3 * row.decode.best_s, millions_per_s(row, row.decode), 1e3 * row.encode.median_s,
               1e3 * row.encode.best_s, millions_per_s(row, row.encode), row.identical_chunks,
               row.sound ? "yes" : "NO");
  }
}

nlohmann::ordered_json json_of(const LazRow& row, const Timing& timing) {
  nlohmann::ordered_json out;
  out["median_s"] = timing.median_s;
  out["best_s"] = timing.best_s;
  out["cpu_median_s"] = timing.cpu_s;
  out["points_per_s"] = 1e6 * millions_per_s(row, timing);
  return out;
}

void write_json(const std::vector<LazRow>& rows, const LazOptions& options) {
  nlohmann::ordered_json out;
  out["threads"] = options.threads;
  out["runs"] = options.runs;
  out["files"] = nlohmann::ordered_json::array();
  for (const LazRow& row : rows) {
    nlohmann::ordered_json one;
    one["file"] = row.file->path;
    one["point_format"] = row.file->point_format;
    one["record_bytes"] = row.file->layout.record_bytes;
    one["points"] = row.file->points();
    one["chunks"] = row.file->chunks.size();
    one["encoded_bytes"] = row.encoded_bytes;
    one["identical_chunks"] = row.identical_chunks;
    one["sound"] = row.sound;
    one["decode"] = json_of(row, row.decode);
    one["encode"] = json_of(row, row.encode);
    out["files"].push_back(std::move(one));
  }
  std::ofstream file(options.json_path);
  file << out.dump(2) << '\n';
  file.close();
  if (!file) throw std::runtime_error(options.json_path + ": cannot be written");
}

}  // namespace

int bench_laz(const LazOptions& options) {
  std::vector<ChunkedFile> files;
  files.reserve(options.files.size());
  for (const std::string& path : options.files) files.push_back(read_chunked_file(path));
  std::vector<LazRow> rows;
  rows.reserve(files.size());
  for (const ChunkedFile& file : files) rows.push_back(measure(file, options));
  print_table(rows, options);
  if (!options.json_path.empty()) write_json(rows, options);
  return std::ranges::all_of(rows, &LazRow::sound) ? 0 : 1;
}

}  // namespace sluice::bench
