// SPDX-License-Identifier: Apache-2.0
#include "inputs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

#include "sluice/io/las.hpp"
#include "sluice/io/read.hpp"
#include "usage_error.hpp"

namespace sluice::app {

std::unique_ptr<ChunkSource> open_input(const std::string& path, const io::ReadOptions& options) {
  try {
    return io::open_source(path, options);
  } catch (const InvalidArgument& error) {
    throw UsageError(fmt::format("--fields: {}", error.what()));
  }
}

std::vector<ChunkSource*> Inputs::pointers() const {
  std::vector<ChunkSource*> out;
  out.reserve(sources.size());
  for (const auto& source : sources) out.push_back(source.get());
  return out;
}

std::uint64_t Inputs::points() const {
  std::uint64_t sum = 0;
  for (const auto& source : sources) sum += source->info().point_count;
  return sum;
}

void require_one_standard_input(const std::vector<std::string>& paths) {
  if (std::count(paths.begin(), paths.end(), "-") > 1) throw UsageError("-: standard input can be read only once");
}

Inputs open_inputs(const std::vector<std::string>& paths, const io::ReadOptions& options) {
  require_one_standard_input(paths);
  Inputs inputs;
  inputs.paths = paths;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    inputs.sources.push_back(open_input(paths[i], options));
    const ChunkSource& source = *inputs.sources.back();
    inputs.recovered = inputs.recovered || io::was_recovered(source);
    for (const std::string& warning : source.info().warnings) {
      inputs.warnings.push_back(fmt::format("{}: {}", paths[i], warning));
    }
    if (i == 0) continue;
    const auto* metadata = dynamic_cast<const io::LasMetadata*>(source.info().metadata.get());
    if (metadata != nullptr && metadata->has_waveforms()) {
      throw InputError(
          fmt::format("{} cannot be joined with {}: it has waveforms, and the output takes those of the "
                      "first input only",
                      paths[i], paths[0]));
    }
    if (const auto difference = io::layout_difference(inputs.layout(), source.info())) {
      throw InputError(fmt::format("{} cannot be joined with {}: {}", paths[i], paths[0], *difference));
    }
  }
  return inputs;
}

}  // namespace sluice::app
