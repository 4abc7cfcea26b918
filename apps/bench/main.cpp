// SPDX-License-Identifier: Apache-2.0
/// \file
/// sluice-bench: times this project's GPU kernels against Thrust and CUB, its LAZ codec, and its readers and writers.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "laz.hpp"
#include "rows.hpp"
#ifdef SLUICE_BENCH_GPU
#include "gpu_works.hpp"
#endif

namespace {

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
#else
  app.require_subcommand(1);
#endif
  CLI11_PARSE(app, argc, argv);
  if (rows_command.parsed()) return bench_rows(rows);
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
