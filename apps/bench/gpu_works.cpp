// SPDX-License-Identifier: Apache-2.0
#include "gpu_works.hpp"

#include <fmt/format.h>

#include <charconv>
#include <new>

#include "gpu.hpp"
#include "points.hpp"
#include "report.hpp"
#include "sluice/core/error.hpp"
#include "works.hpp"

namespace sluice::bench {

namespace {

struct Work {
  const char* name;
  void (*run)(const Setting&);
  std::vector<std::string> items;  ///< unless told otherwise
};

const std::vector<Work>& known_works() {
  const std::vector<std::string> large = {"1M", "10M", "100M"};
  static const std::vector<Work> works = {{"compact", bench_compact, large},
                                          {"sort", bench_sort, large},
                                          {"bin", bench_bin, large},
                                          {"frame", bench_frame, {"16k", "64k", "120k", "300k"}},
                                          {"centroids", bench_centroids, large},
                                          {"scan", bench_scan, large}};
  return works;
}

/// 0 where it is no number of items.
std::uint64_t parse_items(const std::string& text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return 0;
  const std::string unit(end, text.data() + text.size());
  const double factor = unit.empty() ? 1.0 : unit == "k" ? 1e3 : unit == "M" ? 1e6 : unit == "G" ? 1e9 : 0.0;
  const double items = value * factor + 0.5;
  const bool possible = items >= 1.0 && items < static_cast<double>(kernels::kMaxPoints);
  return possible ? static_cast<std::uint64_t>(items) : 0;
}

/// Reports a case that memory does not hold; the others go on.
void run_work(const Work& work, const Setting& setting) {
  const auto too_large = [&](const std::string& reason) {
    static_cast<void>(cudaGetLastError());
    setting.report.leave_out(
        setting.named(work.name), "",
        fmt::format("{}; {} bytes of the device are free", reason, setting.gpu.cuda().free_bytes()), false);
  };
  try {
    work.run(setting);
  } catch (const OutOfMemory& error) {
    too_large(error.what());
  } catch (const std::bad_alloc& error) {
    too_large(error.what());
  }
}

}  // namespace

void add_gpu_options(CLI::App& app, GpuOptions& options) {
  app.add_option(
         "work", options.works,
         "compact: crop; sort: keys and pairs; bin: crop and points in the order of their cells; frame: the same "
         "for a LiDAR frame, replayed from a CUDA graph; centroids: crop and a mean per cell; scan: exclusive "
         "sums. All unless given")
      ->check(CLI::IsMember({"compact", "sort", "bin", "frame", "centroids", "scan"}));
  const auto add_list = [&app](const char* name, auto& values, const char* text) {
    return app.add_option(name, values, text)->delimiter(',')->allow_extra_args(false);
  };
  add_list("--items", options.items,
           "Numbers of items, e.g. 10k,1.5M,256M (1M,10M,100M; frame: 16k,64k,120k,300k). What does not fit into the "
           "device's memory is reported")
      ->check(CLI::Validator(
          [](const std::string& text) { return parse_items(text) == 0 ? "no number of items: " + text : ""; },
          "COUNT"));
  add_list("--distribution", options.distributions,
           "Where the data lie: uniform; scan, in the order of a made scan; sorted by cell; one-cell, all kept ones in "
           "one; zipf, the k-th fullest cell with 1/k of the points of the first")
      ->check(CLI::IsMember({"uniform", "scan", "sorted", "one-cell", "zipf"}));
  add_list("--kept", options.kept, "Fractions of the points that compact keeps (0.5)")->check(CLI::Range(0.0, 1.0));
  app.add_option("--rounds", options.rounds, "Timed calls of each contender")->check(CLI::Range(1U, 10000U));
  app.add_option("--device", options.device, "Index of the GPU");
  app.add_option("--json", options.json_path, "Also write the results to this file, after each case");
  app.footer(
      "Each round calls every contender once: cuda and thrust are this project's backends; cub and thrust with steps "
      "are "
      "compositions as most people write them; cub expert those of somebody who knows its insides. Times are those of "
      "the device, medians; 'of copy' is the fewest bytes that the work moves by that time, relative to a plain copy.\n"
      "  sluice-bench compact --kept 0,0.01,0.1,0.5,0.9,1 --distribution uniform,scan,sorted --json crop.json\n"
      "  sluice-bench bin frame --distribution uniform,scan,sorted,one-cell,zipf --json bin.json");
}

int bench_gpu(const GpuOptions& options) {
  Gpu gpu(options.device);
  Report report(gpu.machine(), options.json_path);
  for (const Work& work : known_works()) {
    if (std::find(options.works.begin(), options.works.end(), work.name) == options.works.end()) continue;
    for (const std::string& distribution : options.distributions) {
      for (const std::string& items : options.items.empty() ? work.items : options.items) {
        run_work(work, {gpu, report, options.rounds, distribution_of(distribution), parse_items(items), options.kept});
      }
    }
  }
  return report.good() ? 0 : 1;
}

}  // namespace sluice::bench
