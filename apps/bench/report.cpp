// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace sluice::bench {

namespace {

const char* name_of(Role role) {
  switch (role) {
    case Role::kOurs:
      return "ours";
    case Role::kSecond:
      return "second";
    case Role::kUsual:
      return "usual";
    case Role::kExpert:
      return "expert";
  }
  return "";
}

/// The least median of a role, of those whose output is right; 0 where nobody has it.
double best_ms(const std::vector<Time>& times, Role role) {
  double best = 0.0;
  for (const Time& time : times) {
    if (time.role == role && time.equal && (best == 0.0 || time.median_ms < best)) best = time.median_ms;
  }
  return best;
}

double ratio(double ms, double ours_ms) { return ours_ms == 0.0 ? 0.0 : ms / ours_ms; }

double gb_per_s(const Case& what, const Time& time) { return static_cast<double>(what.bytes) / time.median_ms * 1e-6; }

std::string title(const Case& what) {
  return fmt::format("{}, {}, {} items, {} caches", what.work, what.distribution, what.items, what.caches);
}

nlohmann::ordered_json fields_of(const Case& what) {
  nlohmann::ordered_json out;
  out["work"] = what.work;
  out["distribution"] = what.distribution;
  out["items"] = what.items;
  out["kept_fraction"] = what.kept_fraction;
  out["caches"] = what.caches;
  out["least_bytes"] = what.bytes;
  return out;
}

}  // namespace

std::string percent(double fraction) { return fmt::format("{:g} %", 100.0 * fraction); }

Report::Report(Machine machine, std::string json_path)
    : machine_(std::move(machine)), json_path_(std::move(json_path)) {
  fmt::print("{}, {}, copy {:.0f} GB/s counting both ways\n", machine_.device, machine_.date, machine_.copy_gb_per_s);
  write();
}

void Report::add(const Case& what, const std::vector<Time>& times) {
  measured_.push_back({what, times});
  for (const Time& time : times) good_ = good_ && time.equal;
  print(measured_.back());
  write();
}

void Report::leave_out(const Case& what, const std::string& by, const std::string& reason, bool failed) {
  left_out_.push_back({what, by, reason});
  if (failed) good_ = false;
  fmt::print("\n{}{}{}: {}: {}\n", title(what), by.empty() ? "" : ", ", by, failed ? "FAILED" : "left out", reason);
  write();
}

void Report::note(const std::string& text) {
  if (notes_.insert(text).second) fmt::print("\nNote: {}\n", text);
}

void Report::print(const Measured& measured) const {
  const Case& what = measured.what;
  const double ours = best_ms(measured.times, Role::kOurs);
  fmt::print("\n{}, {:.2f} MB at least\n", title(what), static_cast<double>(what.bytes) * 1e-6);
  fmt::print("  {:<66} {:>10} {:>10} {:>8} {:>7}  {}\n", "by", "median ms", "least ms", "of copy", "x ours", "equal");
  for (const Time& time : measured.times) {
    fmt::print("  {:<66} {:>10.4f} {:>10.4f} {:>6.1f} % {:>7.2f}  {}\n", time.by, time.median_ms, time.least_ms,
               100.0 * gb_per_s(what, time) / machine_.copy_gb_per_s, ratio(time.median_ms, ours),
               time.equal ? "yes" : "NO");
  }
  const double expert = best_ms(measured.times, Role::kExpert);
  if (ours != 0.0 && expert != 0.0) fmt::print("  best expert / ours: {:.2f}\n", ratio(expert, ours));
  std::fflush(stdout);
}

void Report::write() const {
  if (json_path_.empty()) return;
  nlohmann::ordered_json out;
  out["device"] = machine_.device;
  out["date"] = machine_.date;
  out["driver"] = machine_.driver;
  out["runtime"] = machine_.runtime;
  out["copy_gb_per_s"] = machine_.copy_gb_per_s;
  out["notes"] = notes_;
  out["rows"] = nlohmann::ordered_json::array();
  for (const Measured& measured : measured_) {
    const double ours = best_ms(measured.times, Role::kOurs);
    for (const Time& time : measured.times) {
      nlohmann::ordered_json row = fields_of(measured.what);
      row["by"] = time.by;
      row["role"] = name_of(time.role);
      row["median_ms"] = time.median_ms;
      row["least_ms"] = time.least_ms;
      row["gb_per_s"] = gb_per_s(measured.what, time);
      row["share_of_copy"] = gb_per_s(measured.what, time) / machine_.copy_gb_per_s;
      row["times_ours"] = ratio(time.median_ms, ours);
      row["equal"] = time.equal;
      out["rows"].push_back(row);
    }
  }
  out["left_out"] = nlohmann::ordered_json::array();
  for (const LeftOut& one : left_out_) {
    nlohmann::ordered_json row = fields_of(one.what);
    row["by"] = one.by;
    row["reason"] = one.reason;
    out["left_out"].push_back(row);
  }
  std::ofstream file(json_path_);
  file << out.dump(2) << '\n';
  file.close();
  if (!file) throw std::runtime_error(json_path_ + ": cannot be written");
}

}  // namespace sluice::bench
