// SPDX-License-Identifier: Apache-2.0
#include "result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "json_text.hpp"
#include "messages.hpp"
#include "numbers.hpp"
#include "sluice/core/error.hpp"

namespace sluice::app {

namespace {

Json result_object(const Report& report, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs, bool has_key_bits) {
  Json out;
  out["points_read"] = report.points_read;
  out["points_written"] = report.points_written;
  out["points_rejected"] = report.points_rejected;
  out["points_nonfinite"] = report.points_nonfinite;
  out["points_merged"] = report.points_merged;
  out["backend"] = report.backend;
  out["backend_reason"] = report.backend_reason;
  out["device"] = report.device.empty() ? Json(nullptr) : Json(report.device);
  out["threads"] = report.threads;
  out["seconds"] = {{"total", report.seconds_total},
                    {"read", report.seconds_read},
                    {"compute", report.seconds_compute},
                    {"write", report.seconds_write}};
  out["inputs"] = inputs;
  out["outputs"] = outputs;
  out["warnings"] = report.warnings;
  if (report.has_cells) {
    out["cells"] = report.cells;
    Json origin = Json::array();
    for (const Decimal& axis : report.origin) origin.push_back(exact_number(axis));
    out["origin"] = std::move(origin);
  }
  if (has_key_bits) out["key_bits"] = report.key_bits;
  return out;
}

std::string result_lines(const Report& report, const std::vector<std::string>& outputs) {
  std::string out =
      fmt::format("{} of {} points written to {}", report.points_written, report.points_read, fmt::join(outputs, ", "));
  if (report.points_rejected != 0) out += fmt::format("; {} rejected", report.points_rejected);
  if (report.points_nonfinite != 0) out += fmt::format("; {} not finite", report.points_nonfinite);
  if (report.points_merged != 0) out += fmt::format("; {} thinned away", report.points_merged);
  out += '\n';
  if (report.has_cells) {
    out += fmt::format("{} occupied cells, origin {},{},{}\n", report.cells, text_of(report.origin[0]),
                       text_of(report.origin[1]), text_of(report.origin[2]));
  }
  out +=
      fmt::format("{:.3f} s on {}{}{}, {} thread{}", report.seconds_total, report.backend,
                  report.device.empty() ? "" : " on ", report.device, report.threads, report.threads == 1 ? "" : "s");
  if (!report.backend_reason.empty()) out += fmt::format(" ({})", report.backend_reason);
  out += '\n';
  return out;
}

bool to_stdout(const std::vector<std::string>& outputs) {
  return std::find(outputs.begin(), outputs.end(), "-") != outputs.end();
}

/// The outputs are in place; a result that nobody takes does not undo that.
void print_after_commit(const std::string& text, bool on_stderr) {
  if (on_stderr) {
    std::fputs(text.c_str(), stderr);
    return;
  }
  try {
    print_result(text);
  } catch (const Error& error) {
    say_warning(error.what());
  }
}

}  // namespace

void print_result(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw IoError("standard output", "cannot be written");
  }
}

void finish_job(const CommonOptions& common, const std::vector<std::string>& inputs, Outputs& outputs, Report report,
                bool has_key_bits) {
  outputs.commit();
  for (const std::string& warning : outputs.warnings()) {
    if (std::find(report.warnings.begin(), report.warnings.end(), warning) == report.warnings.end()) {
      report.warnings.push_back(warning);
    }
  }
  for (const std::string& warning : report.warnings) say_warning(warning);
  if (common.json()) {
    print_after_commit(json_text(result_object(report, inputs, outputs.paths(), has_key_bits)), false);
  } else if (!common.quiet()) {
    print_after_commit(result_lines(report, outputs.paths()), to_stdout(outputs.paths()));
  }
}

void print_plan(const CommonOptions& common, const Inputs& inputs, const std::vector<std::string>& outputs,
                const std::string& work) {
  for (const std::string& warning : inputs.warnings) say_warning(warning);
  if (common.json()) {
    Json out;
    out["dry_run"] = true;
    out["points"] = inputs.points();
    out["backend"] = common.backend();
    out["inputs"] = inputs.paths;
    out["outputs"] = outputs;
    out["warnings"] = inputs.warnings;
    print_result(json_text(out));
  } else if (!common.quiet()) {
    const std::string text =
        fmt::format("{}: {} points of {} to {}; backend {}; nothing was written\n", work, inputs.points(),
                    fmt::join(inputs.paths, ", "), fmt::join(outputs, ", "), common.backend());
    if (to_stdout(outputs)) {
      std::fputs(text.c_str(), stderr);
    } else {
      print_result(text);
    }
  }
}

int exit_status(const Inputs& inputs) { return inputs.recovered ? 4 : 0; }

}  // namespace sluice::app
