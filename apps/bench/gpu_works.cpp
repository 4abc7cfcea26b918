// SPDX-License-Identifier: Apache-2.0
#include "gpu_works.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "gpu.hpp"
#include "items.hpp"
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
                                          {"compact", bench_compact_columns, large},
                                          {"sort", bench_sort, large},
                                          {"bin", bench_bin, large},
                                          {"frame", bench_frame, {"16k", "64k", "120k", "300k"}},
                                          {"centroids", bench_centroids, large},
                                          {"thin", bench_thin, large},
                                          {"scan", bench_scan, large}};
  return works;
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
  app.add_option("work", options.works, "What to time; everything unless given")
      ->check(CLI::IsMember({"compact", "sort", "bin", "frame", "centroids", "thin", "scan", "histogram", "reduce"}));
  app.add_option("--variant", options.variants,
                 "Instead time ways to do scan, compact, sort, histogram or reduce against each other, by name or all")
      ->delimiter(',')
      ->allow_extra_args(false);
  const auto add_list = [&app](const char* name, auto& values, const char* text) {
    return app.add_option(name, values, text)->delimiter(',')->allow_extra_args(false);
  };
  const CLI::Validator is_count(
      [](const std::string& text) {
        return parse_items(text, kernels::kMaxPoints) == 0 ? "no number of items: " + text : std::string();
      },
      "COUNT");
  add_list("--items", options.items, "Numbers of items, e.g. 10k,1.5M,256M")->check(is_count);
  add_list("--distribution", options.distributions, "How the data lie (uniform)")
      ->check(CLI::IsMember({"uniform", "scan", "sorted", "one-cell", "zipf"}));
  add_list("--kept", options.kept, "Fractions of the points that compact keeps (0.5)")->check(CLI::Range(0.0, 1.0));
  app.add_option("--rounds", options.rounds, "Timed calls of each contender (20)")->check(CLI::Range(1U, 10000U));
  app.add_option("--device", options.device, "Index of the GPU");
  app.add_option("--json", options.json_path, "Also write the results to this file, anew after each case");
  app.footer(R"(Works, on 16-byte points, of which a box keeps half, or on plain numbers:
  compact    crop, also of points in three columns of float32 or lattice coordinates, 12 bytes a point
  bin        crop, and the points in the order of their cells with a table of the cells
  frame      the same for one LiDAR frame, replayed from a CUDA graph, with warm and with cold caches
  centroids  crop, and the mean of each cell
  thin       crop, and the first or the lowest point of each cell
  sort       32- and 64-bit keys, alone and with 32-bit values
  scan       exclusive sums of 32-bit numbers
Items: 1M,10M,100M, for frame 16k,64k,120k,300k. What the device's memory does not hold is reported.
Variants (--variant all, or names): every way to do scan, compact, sort, histogram and reduce, on the CPU and the GPU, with
items 1k,100k,1M,10M,100M; quadratic ones stop where they would take longer than 2 s. 'waited ms' is what a caller sees who
launches and waits, 'x serial' and 'x cub' how many times as fast a variant is as the first one and as CUB, 'error' the
largest of floats against sums in long double (of scans, up to 10M items).
Distributions:
  uniform    in the box; keys of all values
  scan       in the order of a made scan, a spinning sensor's up to 300k points, above an airborne one of up to 4.2 M,
             then repeated; keys are cells of its points
  sorted     uniform, in the order of cells; ascending keys
  one-cell   all kept points in one cell; equal keys
  zipf       the k-th fullest cell has 1/k of the points of the first; keys likewise

Each round calls every contender once. 'cuda' and 'thrust' are this project's backends, 'cub' and 'thrust' with steps are
compositions as most people write them, 'cub expert' those of somebody who knows its insides. Times are the device's,
medians; 'of copy' is the bandwidth for the fewest bytes that the work must move, by that of a plain copy; 'x ours' is
the time by that of 'cuda'.
  sluice-bench compact --kept 0,0.01,0.1,0.5,0.9,1 --distribution uniform,scan,sorted --json crop.json
  sluice-bench bin frame --distribution uniform,scan,sorted,one-cell,zipf --json bin.json
  sluice-bench scan --variant hillis-steele,lookback,cub --items 1M)");
}

int bench_gpu(const GpuOptions& options) {
  Gpu gpu(options.device);
  Report report(gpu.machine(), options.json_path);
  for (const Work& work : known_works()) {
    if (std::find(options.works.begin(), options.works.end(), work.name) == options.works.end()) continue;
    for (const std::string& distribution : options.distributions) {
      for (const std::string& items : options.items.empty() ? work.items : options.items) {
        run_work(work, {gpu, report, options.rounds, distribution_of(distribution),
                        parse_items(items, kernels::kMaxPoints), options.kept});
      }
    }
  }
  return report.good() ? 0 : 1;
}

}  // namespace sluice::bench
