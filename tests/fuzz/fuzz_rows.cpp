// SPDX-License-Identifier: Apache-2.0
/// \file
/// Any bytes at all go through the reader of one format of rows; what it accepts must survive writing, reading again
/// and conversion to every other format. Built once per format: SLUICE_FUZZ_NAME is a file name of it.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fuzz_files.hpp"
#include "sluice/core/error.hpp"
#include "sluice/io/convert.hpp"
#include "sluice/io/read.hpp"
#include "sluice/io/write.hpp"

namespace {

using sluice::fuzz::folder;
using sluice::fuzz::read_all;
using sluice::fuzz::Remover;
using sluice::fuzz::require;
using sluice::fuzz::store;

/// What a file holds that was written; null where that cannot be told: a raw file has no signature, and its numbers may
/// spell that of another format.
std::unique_ptr<sluice::ChunkSource> reopen(const std::string& path) {
  try {
    return sluice::io::open_source(path, {.threads = 1});
  } catch (const sluice::FormatError&) {
    require(path.ends_with(".bin"), "what was written can be read");
    return nullptr;
  }
}

/// What is written reads back: to the bit, and a second time to the same file.
void exercise(const std::vector<std::byte>& input, bool recover) {
  const std::string name = SLUICE_FUZZ_NAME;
  std::unique_ptr<sluice::ChunkSource> source;
  std::vector<std::byte> records;
  const std::uint64_t chunk = 1U + (input.empty() ? 0U : std::to_integer<unsigned>(input.back()));
  try {
    source = sluice::io::open_source_from_memory(name, input, {.recover = recover, .threads = 1});
    require(recover || !sluice::io::was_recovered(*source), "nothing is recovered unasked");
    // Few bytes may hold many points.
    constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 24;
    if (source->info().point_count > kMostBytes / source->info().schema.record_bytes) return;
    records = read_all(*source, chunk);
  } catch (const sluice::Error&) {
    return;
  }
  const sluice::CloudInfo& info = source->info();
  require(!sluice::io::layout_difference(info, info), "a file has the layout of itself");

  const Remover file{folder() + "/" + name};
  // What is inside decides: a file of this name may be of another format.
  if (!sluice::io::keeps_format(info, file.path)) return;
  try {
    store(*sluice::io::create_sink(file.path, info), records, info.schema.record_bytes);
  } catch (const sluice::InvalidArgument&) {
    require(false, "a file can be written again");
  }
  if (info.metadata->format() != "text") {
    // A text is what it looks like: names that are numbers may read otherwise.
    const auto again = reopen(file.path);
    require(again == nullptr || again->info().metadata->format() != info.metadata->format() ||
                again->info().point_count == info.point_count,
            "all points come back");
  }

  for (const char* other : {"b.pcd", "b.ply", "b.csv", "b.xyz", "b.bin", "b.las"}) {
    const Remover converted{folder() + "/" + other};
    sluice::ChunkSource* const sources[] = {source.get()};
    try {
      const auto converter =
          sluice::io::make_converter(info, {.path = converted.path}, [&] { return sluice::io::summarize(sources, 1); });
      store(*sluice::io::create_converting_sink(converted.path, converter), records, info.schema.record_bytes);
      const auto back = reopen(converted.path);
      if (back == nullptr || back->info().metadata->format() != converter->info().metadata->format()) continue;
      require(back->info().point_count == info.point_count, "all points are converted");
      (void)read_all(*back, chunk);
      (void)converter->warnings();
    } catch (const sluice::Unsupported&) {
      // What does not fit the target is refused.
    } catch (const sluice::InvalidArgument&) {
      // So are more columns than the target has room for.
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const std::vector<std::byte> input(bytes, bytes + size);
  exercise(input, false);
  exercise(input, true);
  return 0;
}
