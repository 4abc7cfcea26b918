// SPDX-License-Identifier: Apache-2.0
#include "raw_file.hpp"

#include <charconv>
#include <utility>

#include "../columns/sinks.hpp"
#include "../columns/sources.hpp"
#include "../lower.hpp"
#include "sluice/core/error.hpp"
#include "sluice/io/raw.hpp"

namespace sluice::io::raw {
namespace {

constexpr std::uint64_t kKittiColumns = 4;
constexpr std::uint64_t kNuscenesColumns = 5;

std::vector<std::string> usual_names(std::uint64_t count) {
  static const char* const kUsual[] = {"x", "y", "z", "intensity", "ring"};
  std::vector<std::string> out;
  for (std::uint64_t i = 0; i < count; ++i) out.push_back(i < 5 ? kUsual[i] : "c" + std::to_string(i));
  return out;
}

std::uint64_t usual_count(const std::string& path) {
  return lower(path).ends_with(".pcd.bin") ? kNuscenesColumns : kKittiColumns;
}

/// The columns that somebody named or counted; else those that files of such a name have.
std::vector<std::string> names_of(const std::string& path, const std::vector<std::string>& given) {
  if (given.empty()) return usual_names(usual_count(path));
  std::uint64_t count = 0;
  const std::string& first = given.front();
  const auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), count);
  if (given.size() > 1 || error != std::errc() || end != first.data() + first.size()) return given;
  if (count < 3 || count > columns::kMostRecordBytes / sizeof(float)) {
    throw InvalidArgument(path + ": a point cannot have " + first + " columns");
  }
  return usual_names(count);
}

}  // namespace

std::unique_ptr<ChunkSource> open(std::shared_ptr<const InputBytes> bytes, const ReadOptions& options) {
  auto metadata = std::make_shared<RawMetadata>();
  for (std::string& name : names_of(bytes->path(), options.fields)) {
    metadata->columns.push_back({std::move(name), FieldType::kFloat32, 1});
  }
  const std::uint64_t row = metadata->columns.size() * sizeof(float);
  const std::uint64_t size = bytes->size();
  bool recovered = false;
  std::vector<std::string> warnings;
  if (size % row != 0) {
    std::string problem = "the file has " + std::to_string(size) + " bytes, which is no multiple of the " +
                          std::to_string(row) + " of a point (" + std::to_string(metadata->columns.size()) +
                          " float32 columns)";
    if (!options.recover) {
      const std::uint64_t other = metadata->columns.size() == kKittiColumns ? kNuscenesColumns : kKittiColumns;
      if (size % (other * sizeof(float)) == 0) problem += "; it is one of " + std::to_string(other) + " columns";
      throw FormatError(bytes->path(), size - size % row, "size", problem + "; the fields can be given");
    }
    recovered = true;
    warnings.push_back(problem + "; the whole points were read");
  }
  const columns::Layout layout = [&] {
    try {
      return columns::Layout(metadata->columns);
    } catch (const InvalidArgument& error) {
      throw InvalidArgument(bytes->path() + ": " + error.what());
    }
  }();
  CloudInfo info;
  info.name = bytes->path();
  info.schema = layout.schema();
  info.frame = layout.frame();
  info.point_count = size / row;
  info.metadata = std::move(metadata);
  info.warnings = std::move(warnings);
  return columns::make_binary_source({std::move(bytes), std::move(info), layout, 0, false, recovered});
}

std::unique_ptr<ChunkSink> create(const std::string& path, const CloudInfo& like, const WriteOptions& options) {
  const auto* metadata = dynamic_cast<const RawMetadata*>(like.metadata.get());
  if (metadata == nullptr) {
    throw Unsupported(path + ": only points of a raw file can be written to one; convert makes them so");
  }
  const columns::Layout layout = columns::layout_for(path, *metadata, like);
  const auto no_header = [](std::uint64_t /*points*/) { return std::string(); };
  std::vector<std::string> warnings;
  if (metadata->columns.size() != usual_count(path)) {
    std::string names;
    for (const ColumnField& column : metadata->columns) names += (names.empty() ? "" : ",") + column.name;
    warnings.push_back("nothing in the file says that its columns are " + names + ", so that whoever reads it must");
  }
  return columns::make_binary_sink({path, options.overwrite, layout, no_header, std::move(warnings)}, false);
}

}  // namespace sluice::io::raw
