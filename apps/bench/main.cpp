// SPDX-License-Identifier: Apache-2.0
/// \file
/// sluice-bench: times this project's GPU kernels against Thrust and CUB, its LAZ codec, and its readers and writers.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "family.hpp"
#include "items.hpp"
#include "laz.hpp"
#include "rows.hpp"
#ifdef SLUICE_BENCH_GPU
#include "gpu_works.hpp"
#include "studies.hpp"
#endif

namespace {

#ifdef SLUICE_BENCH_GPU
CLI::App& add_study(CLI::App& app, const char* name, const char* text, sluice::bench::StudyOptions& options) {
  CLI::App& out = *app.add_subcommand(name, text);
  out.add_option("--rounds", options.rounds, "Timed calls of each (15)")->check(CLI::Range(1U, 10000U));
  out.add_option("--device", options.device, "Index of the GPU");
  out.add_option("--json", options.json_path, "Also write the results to this file");
  return out;
}
#else
/// What there is to time without a GPU: the variants of the CPU.
void add_family_options(CLI::App& app, sluice::bench::FamilyOptions& options) {
  app.add_option("work", options.works, "What to time")->check(CLI::IsMember(sluice::bench::family_works()));
  const auto add_list = [&app](const char* name, auto& values, const char* text) {
    return app.add_option(name, values, text)->delimiter(',')->allow_extra_args(false);
  };
  add_list("--variant", options.variants, "Ways to do it, by name, or all");
  const CLI::Validator is_count(
      [](const std::string& text) {
        return sluice::bench::parse_items(text, std::uint64_t{1} << 32) == 0 ? "no number of items: " + text
                                                                             : std::string();
      },
      "COUNT");
  add_list("--items", options.items, "Numbers of items, e.g. 10k,1.5M (1k,100k,1M,10M,100M)")->check(is_count);
  app.add_option("--rounds", options.rounds, "Timed calls of each (9)")->check(CLI::Range(1U, 10000U));
  app.add_option("--json", options.json_path, "Also write the results to this file, anew after each case");
}
#endif

int run(int argc, char** argv) {
  CLI::App app(
      "Times GPU kernels against Thrust and CUB, or the LAZ codec, and compares outputs first; exits with 1 where "
      "they differ. Or times a reader and a writer of files.");
  sluice::bench::LazOptions laz;
  CLI::App& laz_command =
      *app.add_subcommand("laz", "Decodes the chunks of LAZ files in memory and encodes them again");
  laz_command.add_option("files", laz.files, "LAZ files")->required();
  laz_command.add_option("--threads", laz.threads, "Threads that take a chunk each")->check(CLI::Range(1, 1024));
  laz_command.add_option("--runs", laz.runs, "Timed runs, after one that compares")->check(CLI::Range(1U, 10000U));
  laz_command.add_option("--json", laz.json_path, "Also write the results to this file");
  sluice::bench::RowsOptions rows;
  CLI::App& rows_command = *app.add_subcommand("rows", "Reads a file of points into memory and writes it again");
  rows_command.add_option("input", rows.input, "Point file of any format")->required();
  rows_command.add_option("output", rows.output, "Point file; replaced")->required();
  rows_command.add_option("--data", rows.data, "How a PCD or PLY output stores its points");
  rows_command.add_option("--threads", rows.threads, "Threads that take a chunk each")->check(CLI::Range(1, 1024));
#ifdef SLUICE_BENCH_GPU
  sluice::bench::GpuOptions gpu;
  add_gpu_options(app, gpu);
  sluice::bench::StudyOptions study;
  CLI::App& divergence = add_study(app, "divergence", "Times a branch by who takes which way", study);
  CLI::App& occupancy = add_study(app, "occupancy", "Times a copy by how many warps are resident", study);
#else
  sluice::bench::FamilyOptions family;
  add_family_options(app, family);
#endif
  CLI11_PARSE(app, argc, argv);
  if (rows_command.parsed()) return bench_rows(rows);
  if (laz_command.parsed()) return bench_laz(laz);
#ifdef SLUICE_BENCH_GPU
  if (divergence.parsed()) return bench_divergence(study);
  if (occupancy.parsed()) return bench_occupancy(study);
  if (gpu.variants.empty()) return bench_gpu(gpu);
  return sluice::bench::bench_family({gpu.works, gpu.variants, gpu.items, gpu.rounds, gpu.device, gpu.json_path});
#else
  if (family.works.empty() || family.variants.empty()) {
    fmt::print(stderr, "sluice-bench: without a GPU give laz, rows, or a work and --variant; see --help\n");
    return 2;
  }
  return sluice::bench::bench_family(family);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "sluice-bench: {}\n", error.what());
    return 1;
  }
}
