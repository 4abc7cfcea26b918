// SPDX-License-Identifier: Apache-2.0
#include "gpu_works.hpp"

#include <fmt/format.h>

#include <fstream>
#include <map>

#include "gpu.hpp"
#include "report.hpp"

namespace sluice::bench {

void add_gpu_options(CLI::App& app, GpuOptions& options) {
  app.add_option("work", options.works, "compact, sort, bin, scan; all of them unless given")
      ->check(CLI::IsMember({"compact", "sort", "bin", "scan"}));
  app.add_option("--millions", options.millions, "Numbers of items, in millions")->check(CLI::PositiveNumber);
  app.add_option("--repeats", options.repeats, "Timed calls of each row")->check(CLI::Range(1U, 10000U));
  app.add_option("--device", options.device, "Index of the GPU");
  app.add_option("--json", options.json_path, "Also write the results to this file");
}

int bench_gpu(const GpuOptions& options) {
  using Work = void (*)(Gpu&, std::uint64_t, std::vector<Row>&);
  const std::map<std::string, Work> known = {
      {"scan", bench_scan}, {"compact", bench_compact}, {"sort", bench_sort}, {"bin", bench_bin}};
  Gpu gpu(options.device, options.repeats);
  const Machine machine = gpu.machine();
  std::vector<Row> rows;
  for (const std::string& work : options.works) {
    for (const double count : options.millions) known.at(work)(gpu, static_cast<std::uint64_t>(count * 1e6), rows);
  }
  fmt::print("{}", table(machine, rows));
  if (!options.json_path.empty()) {
    std::ofstream file(options.json_path);
    file << json(machine, rows);
    file.close();
    if (!file) throw std::runtime_error(options.json_path + ": cannot be written");
  }
  for (const Row& row : rows) {
    if (!row.equal) return 1;
  }
  return 0;
}

}  // namespace sluice::bench
