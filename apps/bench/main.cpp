// SPDX-License-Identifier: Apache-2.0
/// \file
/// sluice-bench: times this project's GPU kernels against Thrust and CUB, and its LAZ codec.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "laz.hpp"
#ifdef SLUICE_BENCH_GPU
#include "gpu_works.hpp"
#endif

namespace {

int run(int argc, char** argv) {
  CLI::App app(
      "Times GPU kernels against Thrust and CUB, or the LAZ codec; compares outputs first. Exits with 1 where "
      "they differ.");
  sluice::bench::LazOptions laz;
  CLI::App& laz_command =
      *app.add_subcommand("laz", "Decodes the chunks of LAZ files in memory and encodes them again");
  laz_command.add_option("files", laz.files, "LAZ files")->required();
  laz_command.add_option("--threads", laz.threads, "Threads that take a chunk each")->check(CLI::Range(1, 1024));
  laz_command.add_option("--runs", laz.runs, "Timed runs, after one that compares")->check(CLI::Range(1U, 10000U));
  laz_command.add_option("--json", laz.json_path, "Also write the results to this file");
#ifdef SLUICE_BENCH_GPU
  sluice::bench::GpuOptions gpu;
  add_gpu_options(app, gpu);
#else
  app.require_subcommand(1);
#endif
  CLI11_PARSE(app, argc, argv);
#ifdef SLUICE_BENCH_GPU
  if (!laz_command.parsed()) return bench_gpu(gpu);
#endif
  return bench_laz(laz);
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
