// SPDX-License-Identifier: Apache-2.0
#include "job.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "messages.hpp"
#include "sluice/core/chunk_stream.hpp"
#include "sluice/in_flight.hpp"
#include "sluice/io/convert.hpp"
#include "usage_error.hpp"

namespace sluice::app {

namespace {

struct ReadingBegins {};

/// A source that describes its points and gives none.
class ClosedSource final : public ChunkSource {
 public:
  explicit ClosedSource(std::unique_ptr<ChunkSource> source) : source_(std::move(source)) {}

  [[nodiscard]] const CloudInfo& info() const override { return source_->info(); }
  bool next(std::uint64_t /*max_points*/, ChunkRange& /*range*/) override { throw ReadingBegins(); }
  PointView load(const ChunkRange& /*range*/, RecordBuffer& /*buffer*/) override { throw ReadingBegins(); }
  void release(const ChunkRange& /*range*/) override {}
  [[nodiscard]] std::uint64_t chunk_bytes(std::uint64_t points) const override { return source_->chunk_bytes(points); }
  [[nodiscard]] std::uint64_t held_bytes() const override { return source_->held_bytes(); }
  [[nodiscard]] std::uint64_t decoded_together() const override { return source_->decoded_together(); }
  std::uint64_t skip_unwanted(const std::function<bool(const Box&)>& wanted) override {
    return source_->skip_unwanted(wanted);
  }
  void rewind() override {}

 private:
  std::unique_ptr<ChunkSource> source_;
};

}  // namespace

JobFrame::JobFrame(const CommonOptions& common, std::vector<std::string> inputs, const std::string& output)
    : common_(common), inputs_(std::move(inputs)), execution_(common.execution()), bar_(common.progress()) {
  set_quiet(common.quiet());
  (void)common.write_options();
  require_free_standard_output({output});
}

void JobFrame::require_free_standard_output(const std::vector<std::string>& outputs) const {
  if (common_.json() && std::find(outputs.begin(), outputs.end(), "-") != outputs.end()) {
    throw UsageError("-: an output and the result of --json cannot both go to standard output");
  }
}

Inputs JobFrame::open(const std::vector<std::string>& points, const std::vector<std::string>& tables,
                      const std::vector<std::string>& read_by_options) const {
  require_free_standard_output(points);
  require_free_standard_output(tables);
  std::vector<std::string> read = inputs_;
  read.insert(read.end(), read_by_options.begin(), read_by_options.end());
  check_outputs(read, points, tables, common_.overwrite());
  Inputs inputs = open_inputs(inputs_, {.recover = common_.recover(),
                                        .threads = execution_.threads,
                                        .memory_bytes = memory_limit(execution_),
                                        .fields = common_.fields()});
  common_.check_format_options(points, inputs.layout());
  return inputs;
}

ChunkSink& JobFrame::add_points(Outputs& files, const Inputs& inputs, const std::string& path,
                                const CloudInfo& like) const {
  if (io::keeps_format(like, path)) return files.add_points(path, like);
  const std::vector<ChunkSource*> sources = inputs.pointers();
  return files.add_points(
      path, io::make_converter(like, {.path = path}, [&] { return io::summarize(sources, execution_.threads); }));
}

void JobFrame::rehearse(Inputs& inputs, const std::function<Report(const Execution&)>& job) const {
  for (auto& source : inputs.sources) source = std::make_unique<ClosedSource>(std::move(source));
  try {
    (void)job(execution_);
  } catch (const ReadingBegins&) {
    // All that can be known beforehand was checked.
  }
}

Report JobFrame::run(const Inputs& inputs, const std::function<Report(const Execution&)>& job) {
  execution_.progress = bar_.callback();
  Report report = job(execution_);
  bar_.clear();
  report.warnings.insert(report.warnings.begin(), inputs.warnings.begin(), inputs.warnings.end());
  for (std::size_t i = 0; i < inputs.sources.size(); ++i) {
    for (const std::string& warning : inputs.sources[i]->late_warnings()) {
      report.warnings.push_back(fmt::format("{}: {}", inputs.paths[i], warning));
    }
  }
  return report;
}

}  // namespace sluice::app
