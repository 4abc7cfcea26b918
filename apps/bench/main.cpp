// SPDX-License-Identifier: Apache-2.0
/// \file
/// sluice-bench: times this project's GPU kernels against Thrust and CUB, in one process, on the same data.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <map>

#include "gpu.hpp"
#include "report.hpp"

namespace {

using Work = void (*)(sluice::bench::Gpu&, std::uint64_t, std::vector<sluice::bench::Row>&);

int run(int argc, char** argv) {
  const std::map<std::string, Work> known = {{"scan", sluice::bench::bench_scan},
                                             {"compact", sluice::bench::bench_compact},
                                             {"sort", sluice::bench::bench_sort},
                                             {"bin", sluice::bench::bench_bin}};
  CLI::App app("Times GPU kernels against Thrust and CUB; compares outputs first. Exits with 1 where they differ.");
  std::vector<std::string> works = {"compact", "sort", "bin", "scan"};
  std::vector<double> millions = {1, 10, 100};
  unsigned repeats = 20;
  int device = 0;
  std::string json_path;
  app.add_option("work", works, "compact, sort, bin, scan; all of them unless given")
      ->check(CLI::IsMember({"compact", "sort", "bin", "scan"}));
  app.add_option("--millions", millions, "Numbers of items, in millions")->check(CLI::PositiveNumber);
  app.add_option("--repeats", repeats, "Timed calls of each row")->check(CLI::Range(1U, 10000U));
  app.add_option("--device", device, "Index of the GPU");
  app.add_option("--json", json_path, "Also write the results to this file");
  CLI11_PARSE(app, argc, argv);

  sluice::bench::Gpu gpu(device, repeats);
  const sluice::bench::Machine machine = gpu.machine();
  std::vector<sluice::bench::Row> rows;
  for (const std::string& work : works) {
    for (const double count : millions) known.at(work)(gpu, static_cast<std::uint64_t>(count * 1e6), rows);
  }
  fmt::print("{}", table(machine, rows));
  if (!json_path.empty()) {
    std::ofstream file(json_path);
    file << json(machine, rows);
    file.close();
    if (!file) throw std::runtime_error(json_path + ": cannot be written");
  }
  for (const sluice::bench::Row& row : rows) {
    if (!row.equal) return 1;
  }
  return 0;
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
