// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

namespace sluice::bench {

namespace {

/// Time of a row divided by ours for the same work and size; 0 where ours was not measured.
double times_ours(const Row& row, const std::vector<Row>& rows) {
  for (const Row& other : rows) {
    if (other.ours && other.work == row.work && other.items == row.items) return row.median_ms / other.median_ms;
  }
  return 0.0;
}

double gb_per_s(const Row& row) { return static_cast<double>(row.bytes) / row.median_ms * 1e-6; }

}  // namespace

std::string table(const Machine& machine, const std::vector<Row>& rows) {
  std::string out;
  auto to = std::back_inserter(out);
  fmt::format_to(to, "{}, {}, copy {:.0f} GB/s counting both ways\n\n", machine.device, machine.date,
                 machine.copy_gb_per_s);
  fmt::format_to(to, "{:<34} {:>11}  {:<34} {:>9} {:>9} {:>8} {:>7}  {}\n", "work", "items", "by", "median ms",
                 "least ms", "of copy", "x ours", "equal");
  for (const Row& row : rows) {
    const std::string share =
        row.bytes == 0 ? "" : fmt::format("{:.0f} %", 100.0 * gb_per_s(row) / machine.copy_gb_per_s);
    fmt::format_to(to, "{:<34} {:>11}  {:<34} {:>9.4f} {:>9.4f} {:>8} {:>7.2f}  {}\n", row.work, row.items, row.by,
                   row.median_ms, row.least_ms, share, times_ours(row, rows), row.equal ? "yes" : "NO");
  }
  return out;
}

std::string json(const Machine& machine, const std::vector<Row>& rows) {
  nlohmann::ordered_json out;
  out["device"] = machine.device;
  out["date"] = machine.date;
  out["driver"] = machine.driver;
  out["runtime"] = machine.runtime;
  out["copy_gb_per_s"] = machine.copy_gb_per_s;
  out["rows"] = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
    nlohmann::ordered_json one;
    one["work"] = row.work;
    one["by"] = row.by;
    one["items"] = row.items;
    one["median_ms"] = row.median_ms;
    one["least_ms"] = row.least_ms;
    one["least_bytes"] = row.bytes;
    one["gb_per_s"] = row.bytes == 0 ? 0.0 : gb_per_s(row);
    one["times_ours"] = times_ours(row, rows);
    one["equal"] = row.equal;
    out["rows"].push_back(one);
  }
  return out.dump(2) + "\n";
}

}  // namespace sluice::bench
