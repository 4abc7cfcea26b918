// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the fuzz targets of whole files share: where outputs go, and how all points are read.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "sluice/core/chunk_stream.hpp"

namespace sluice::fuzz {

inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "property violated: %s\n", what);
  std::abort();
}

/// A folder of this process for outputs, in memory where there is such a place.
inline const std::string& folder() {
  static const std::string made = [] {
    std::string name = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm/sluice-fuzz-XXXXXX" : "/tmp/sluice-fuzz-XXXXXX";
    require(::mkdtemp(name.data()) != nullptr, "a folder for outputs");
    std::atexit([] { ::rmdir(folder().c_str()); });
    return name;
  }();
  return made;
}

/// Removes a file at the end of a scope.
struct Remover {
  std::string path;
  ~Remover() { ::unlink(path.c_str()); }
};

/// All records, read in chunks of so many points.
inline std::vector<std::byte> read_all(ChunkSource& source, std::uint64_t chunk) {
  std::vector<std::byte> out;
  const std::uint64_t bytes = source.info().schema.record_bytes;
  RecordBuffer buffer;
  ChunkRange range;
  std::uint64_t expected = 0;
  source.rewind();
  while (source.next(chunk, range)) {
    require(range.first == expected && range.count > 0 && range.count <= chunk, "ranges follow each other");
    expected += range.count;
    const PointView view = source.load(range, buffer);
    require(view.count == range.count, "a view has as many points as its range");
    for (std::uint64_t i = 0; i < view.count; ++i) {
      const std::byte* record = view.records + i * view.stride;
      out.insert(out.end(), record, record + bytes);
    }
    // Every field must lie inside the record; the sanitizer watches.
    std::uint64_t touched = 0;
    for (const Field& field : source.info().schema.fields) {
      touched += field.column(view.records, view.stride).at(view.count - 1).u;
    }
    volatile std::uint64_t used = touched;
    (void)used;
    source.release(range);
  }
  require(expected == source.info().point_count, "all points are handed out");
  return out;
}

/// Stores records, the second half first, and completes the file.
inline void store(ChunkSink& sink, const std::vector<std::byte>& records, std::uint64_t bytes) {
  const std::uint64_t count = records.size() / bytes;
  const std::uint64_t first = sink.reserve(count);
  const std::uint64_t half = count / 2;
  sink.store(first + half, {records.data() + half * bytes, count - half, bytes});
  sink.store(first, {records.data(), half, bytes});
  sink.seal();
  sink.finish();
}

}  // namespace sluice::fuzz
