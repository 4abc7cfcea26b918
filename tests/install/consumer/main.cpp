// SPDX-License-Identifier: Apache-2.0
// usage: consumer IN OUT
// Uses the installed library as a stranger would: crops a file and checks the result with a loop of its own.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <vector>

#include "sluice/core/version.hpp"
#include "sluice/io/read.hpp"
#include "sluice/io/write.hpp"
#include "sluice/sluice.hpp"

namespace {

/// Whole records of all points, in order.
std::vector<std::byte> records_of(sluice::ChunkSource& source) {
  std::vector<std::byte> records;
  const std::uint32_t bytes = source.info().schema.record_bytes;
  sluice::ChunkRange range;
  sluice::RecordBuffer buffer;
  while (source.next(1000, range)) {
    const sluice::PointView view = source.load(range, buffer);
    for (std::uint64_t i = 0; i < view.count; ++i) {
      const std::byte* record = view.records + i * view.stride;
      records.insert(records.end(), record, record + bytes);
    }
    source.release(range);
  }
  source.rewind();
  return records;
}

int run(const char* in, const char* out) {
  const std::unique_ptr<sluice::ChunkSource> source = sluice::io::open_source(in);
  const sluice::CloudInfo& info = source->info();
  const std::vector<std::byte> all = records_of(*source);
  const std::uint32_t bytes = info.schema.record_bytes;

  // The left half of the cloud by lattice number, so that the bound is exact on both sides.
  std::int32_t least = INT32_MAX;
  std::int32_t most = INT32_MIN;
  const auto x_of = [&](std::size_t at) {
    std::int32_t x = 0;
    std::memcpy(&x, all.data() + at + info.frame.at[0], sizeof x);
    return x;
  };
  for (std::size_t at = 0; at < all.size(); at += bytes) {
    least = x_of(at) < least ? x_of(at) : least;
    most = x_of(at) > most ? x_of(at) : most;
  }
  const auto bound = static_cast<std::int32_t>((static_cast<std::int64_t>(least) + most) / 2);
  std::vector<std::byte> expected;
  for (std::size_t at = 0; at < all.size(); at += bytes) {
    if (x_of(at) <= bound) {
      const auto record = all.begin() + static_cast<std::ptrdiff_t>(at);
      expected.insert(expected.end(), record, record + bytes);
    }
  }

  sluice::Box box;
  box.max[0] = sluice::to_world(bound, info.frame.scale[0], info.frame.offset[0]);
  sluice::Selection selection;
  selection.regions.emplace_back(box);
  const std::unique_ptr<sluice::ChunkSink> sink = sluice::io::create_sink(out, info);
  sluice::ChunkSource* const sources[] = {source.get()};
  const sluice::Report report = sluice::filter(sources, selection, *sink, nullptr, sluice::Execution{});
  sink->seal();
  sink->finish();

  const std::unique_ptr<sluice::ChunkSource> written = sluice::io::open_source(out);
  const bool right = !expected.empty() && expected.size() < all.size() && records_of(*written) == expected &&
                     report.points_written * bytes == expected.size() && report.points_read * bytes == all.size();
  std::printf("sluice %s kept %llu of %llu points on %s: %s\n", sluice::kVersion,
              static_cast<unsigned long long>(report.points_written),
              static_cast<unsigned long long>(report.points_read), report.backend.c_str(), right ? "right" : "WRONG");
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    return run(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
