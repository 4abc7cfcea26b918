// SPDX-License-Identifier: Apache-2.0
/// \file
/// Any bytes at all go through the LAS reader; what it accepts must survive writing, reading again and conversion.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fuzz_files.hpp"
#include "sluice/core/error.hpp"
#include "sluice/io/las.hpp"
#include "sluice/io/las_convert.hpp"
#include "sluice/io/read.hpp"
#include "sluice/io/write.hpp"

namespace {

using sluice::fuzz::folder;
using sluice::fuzz::read_all;
using sluice::fuzz::Remover;
using sluice::fuzz::require;
using sluice::fuzz::store;
using sluice::io::LasMetadata;

/// Writes records and gives back what a reader finds in the file.
std::unique_ptr<sluice::ChunkSource> rewrite(const sluice::CloudInfo& like, const std::vector<std::byte>& records) {
  const Remover file{folder() + "/out.las"};
  store(*sluice::io::create_sink(file.path, like), records, like.schema.record_bytes);
  return sluice::io::open_source(file.path);
}

void exercise(const std::vector<std::byte>& input, bool recover) {
  std::unique_ptr<sluice::ChunkSource> source;
  try {
    source = sluice::io::open_source_from_memory("input", input, {.recover = recover});
  } catch (const sluice::Error&) {
    return;
  }
  require(recover || !sluice::io::was_recovered(*source), "nothing is recovered unasked");
  const auto& metadata = dynamic_cast<const LasMetadata&>(*source->info().metadata);
  (void)metadata.wkt();
  (void)metadata.gps_time_type();
  require(metadata.has_waveforms() || !sluice::io::layout_difference(source->info(), source->info()),
          "a file has the layout of itself");
  const std::uint8_t choice = input.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(input.back());
  // Few bytes may hold many points.
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 28;
  if (source->info().point_count > kMostBytes / source->info().schema.record_bytes) return;
  std::vector<std::byte> records;
  try {
    records = read_all(*source, 1U + choice);
  } catch (const sluice::FormatError&) {
    require(metadata.compressed && !recover, "only damaged chunks are refused late");
    return;
  }

  const auto again = rewrite(source->info(), records);
  require(read_all(*again, 1U + choice) == records, "records survive writing");
  const auto& kept = dynamic_cast<const LasMetadata&>(*again->info().metadata);
  require(kept.vlrs.size() <= metadata.vlrs.size() && kept.evlrs.size() <= metadata.evlrs.size(),
          "writing adds no records");

  sluice::io::LasTarget target;
  target.point_format = choice % 11;
  target.strict = (choice & 64U) != 0;
  if ((choice & 16U) != 0) target.scale = {0.001, 0.02, 1.0};
  if ((choice & 32U) != 0) target.offset = {100.0, -7.5, 0.0};
  try {
    const sluice::io::LasConverter converter(source->info(), target);
    const std::uint64_t bytes = converter.info().schema.record_bytes;
    const std::uint64_t from_bytes = source->info().schema.record_bytes;
    const std::uint64_t count = records.size() / from_bytes;
    std::vector<std::byte> converted(count * bytes);
    converter.convert({records.data(), count, from_bytes}, 0, converted.data());
    (void)converter.warnings();
    const auto third = rewrite(converter.info(), converted);
    require(read_all(*third, 1000) == converted, "converted records survive writing");
  } catch (const sluice::Unsupported&) {
    // What does not fit the target is refused.
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
