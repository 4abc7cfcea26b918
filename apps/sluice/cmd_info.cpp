// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "common_options.hpp"
#include "inputs.hpp"
#include "json_text.hpp"
#include "messages.hpp"
#include "numbers.hpp"
#include "result.hpp"
#include "selection_options.hpp"
#include "sluice/in_flight.hpp"
#include "sluice/io/las.hpp"
#include "sluice/io/pcd.hpp"
#include "sluice/io/ply.hpp"
#include "sluice/io/read.hpp"
#include "statistics.hpp"

namespace sluice::app {

namespace {

struct Options {
  std::vector<std::string> files;
  std::string threads, fields;
  bool json = false, stats = false, recover = false;
};

std::string_view type_name(FieldType type) {
  switch (type) {
    case FieldType::kInt8:
      return "int8";
    case FieldType::kUint8:
      return "uint8";
    case FieldType::kInt16:
      return "int16";
    case FieldType::kUint16:
      return "uint16";
    case FieldType::kInt32:
      return "int32";
    case FieldType::kUint32:
      return "uint32";
    case FieldType::kInt64:
      return "int64";
    case FieldType::kUint64:
      return "uint64";
    case FieldType::kFloat32:
      return "float32";
    case FieldType::kFloat64:
      return "float64";
  }
  return "";
}

template <typename Three>
Json three(const Three& values) {
  return Json::array({values[0], values[1], values[2]});
}

Json record_entry(const io::RecordHeader& record, std::uint64_t bytes) {
  Json entry;
  entry["user_id"] = record.user_text();
  entry["record_id"] = record.record_id;
  entry["description"] = record.description_text();
  entry["bytes"] = bytes;
  return entry;
}

Json copc_entry(const io::CopcInfo& copc) {
  Json entry;
  entry["center"] = three(copc.center);
  entry["halfsize"] = copc.halfsize;
  entry["spacing"] = copc.spacing;
  entry["root_hierarchy"]["offset"] = copc.root_offset;
  entry["root_hierarchy"]["bytes"] = copc.root_bytes;
  entry["nodes"] = copc.nodes;
  entry["levels"] = copc.levels;
  entry["gps_time"]["min"] = copc.min_gps_time;
  entry["gps_time"]["max"] = copc.max_gps_time;
  return entry;
}

Json field_entry(const Field& field) {
  Json entry;
  entry["name"] = field.name;
  entry["type"] = type_name(field.type);
  entry["offset"] = field.offset;
  if (field.bit_count != 0) {
    entry["bit_shift"] = field.bit_shift;
    entry["bit_count"] = field.bit_count;
  }
  if (field.scaled) {
    entry["scale"] = field.scale;
    entry["shift"] = field.shift;
  }
  if (!field.description.empty()) entry["description"] = field.description;
  return entry;
}

Json whole_number(std::uint64_t bits, bool is_signed) {
  return is_signed ? Json(static_cast<std::int64_t>(bits)) : Json(bits);
}

Json statistics_entry(const FieldStatistics& field) {
  Json entry;
  if (field.count == 0) {
    entry["min"] = entry["max"] = entry["mean"] = nullptr;
  } else {
    entry["min"] = field.whole ? whole_number(field.whole_min, field.is_signed) : Json(field.min);
    entry["max"] = field.whole ? whole_number(field.whole_max, field.is_signed) : Json(field.max);
    entry["mean"] = field.mean;
  }
  if (field.non_finite != 0) entry["nonfinite"] = field.non_finite;
  if (field.has_counts) {
    entry["counts"] = Json::object();
    for (const auto& [value, count] : field.counts) entry["counts"][std::to_string(value)] = count;
  }
  return entry;
}

/// A text of the header up to its terminator, which a full one lacks.
std::string header_text(const std::array<char, 32>& text) { return {text.data(), ::strnlen(text.data(), text.size())}; }

Json description_of(const std::string& path, ChunkSource& source, const std::optional<CloudStatistics>& statistics) {
  const CloudInfo& info = source.info();
  Json out;
  out["file"] = path;
  const auto* las = dynamic_cast<const io::LasMetadata*>(info.metadata.get());
  out["format"] = info.metadata != nullptr ? Json(info.metadata->format()) : Json(nullptr);
  if (las != nullptr) {
    out["version"] = las->header.version();
    out["point_format"] = las->header.point_format;
  }
  out["point_record_length"] = info.schema.record_bytes;
  out["points"] = info.point_count;
  if (info.frame.kind == CoordinateKind::kLattice) {
    out["scale"] = three(info.frame.scale);
    out["offset"] = three(info.frame.offset);
  }
  if (las != nullptr) {
    out["bounds"]["min"] = three(las->header.min);
    out["bounds"]["max"] = three(las->header.max);
  } else {
    out["bounds"] = nullptr;
  }
  if (const auto* pcd = dynamic_cast<const io::PcdMetadata*>(info.metadata.get())) {
    out["data"] = io::name_of(pcd->data);
    out["width"] = pcd->width;
    out["height"] = pcd->height;
    out["viewpoint"] = pcd->viewpoint;
  }
  if (const auto* ply = dynamic_cast<const io::PlyMetadata*>(info.metadata.get())) {
    out["data"] = io::name_of(ply->data);
    out["comments"] = ply->comments;
  }
  out["fields"] = Json::array();
  for (const Field& field : info.schema.fields) out["fields"].push_back(field_entry(field));
  if (las != nullptr) {
    out["vlrs"] = Json::array();
    for (const io::Vlr& vlr : las->vlrs) out["vlrs"].push_back(record_entry(vlr, vlr.payload.size()));
    out["evlrs"] = Json::array();
    for (const io::Evlr& evlr : las->evlrs) out["evlrs"].push_back(record_entry(evlr, evlr.payload.size()));
    out["crs_wkt"] = las->wkt();
    out["compressed"] = las->compressed;
    if (las->copc) out["copc"] = copc_entry(*las->copc);
    out["gps_time_type"] = io::name_of(las->gps_time_type());
    out["system_identifier"] = header_text(las->header.system_identifier);
    out["generating_software"] = header_text(las->header.generating_software);
    out["creation_year"] = las->header.creation_year;
    out["creation_day"] = las->header.creation_day;
  }
  out["warnings"] = info.warnings;
  for (const std::string& warning : source.late_warnings()) out["warnings"].push_back(warning);
  if (statistics) {
    if (statistics->bounds.empty()) {
      out["point_bounds"] = nullptr;
    } else {
      out["point_bounds"]["min"] = three(statistics->bounds.min);
      out["point_bounds"]["max"] = three(statistics->bounds.max);
    }
    out["statistics"] = Json::object();
    for (const FieldStatistics& field : statistics->fields) out["statistics"][field.name] = statistics_entry(field);
  }
  return out;
}

std::string joined(const Json& list) {
  std::string out;
  for (const Json& value : list) out += (out.empty() ? "" : ", ") + text_of(value.get<double>());
  return out;
}

/// The same facts for people.
std::string text_of_description(const Json& facts) {
  std::string out = fmt::format("{}\n", facts["file"].get<std::string>());
  const auto line = [&](std::string_view label, const std::string& value) {
    out += fmt::format("  {:<15}{}\n", label, value);
  };
  std::string format = facts["format"].is_null() ? "" : facts["format"].get<std::string>();
  if (facts.contains("version")) {
    format += fmt::format(" {}, point format {}, {} bytes a point", facts["version"].get<std::string>(),
                          facts["point_format"].get<int>(), facts["point_record_length"].get<std::uint32_t>());
  }
  line("format", format);
  if (facts.contains("copc")) {
    const Json& copc = facts["copc"];
    line("COPC", fmt::format("{} nodes in {} levels, spacing {} at the root", copc["nodes"].get<std::uint64_t>(),
                             copc["levels"].get<int>(), text_of(copc["spacing"].get<double>())));
    line("COPC cube",
         fmt::format("centre {}, half size {}", joined(copc["center"]), text_of(copc["halfsize"].get<double>())));
  }
  line("points", std::to_string(facts["points"].get<std::uint64_t>()));
  if (facts.contains("scale")) {
    line("scale", joined(facts["scale"]));
    line("offset", joined(facts["offset"]));
  }
  if (facts.contains("data")) line("data", facts["data"].get<std::string>());
  if (facts.contains("viewpoint")) {
    line("rows",
         fmt::format("{} of {} points", facts["height"].get<std::uint64_t>(), facts["width"].get<std::uint64_t>()));
    line("viewpoint", facts["viewpoint"].get<std::string>());
  }
  if (!facts["bounds"].is_null()) {
    line("header min", joined(facts["bounds"]["min"]));
    line("header max", joined(facts["bounds"]["max"]));
  }
  if (facts.contains("point_bounds") && !facts["point_bounds"].is_null()) {
    line("point min", joined(facts["point_bounds"]["min"]));
    line("point max", joined(facts["point_bounds"]["max"]));
  }
  if (facts.contains("vlrs")) {
    line("GPS time", facts["gps_time_type"].get<std::string>());
    line("software", facts["generating_software"].get<std::string>());
    line("system", facts["system_identifier"].get<std::string>());
    line("created", fmt::format("day {} of {}", facts["creation_day"].get<int>(), facts["creation_year"].get<int>()));
    for (const char* list : {"vlrs", "evlrs"}) {
      for (const Json& record : facts[list]) {
        line(list == std::string_view("vlrs") ? "VLR" : "EVLR",
             fmt::format("{}/{}, {} bytes, {}", record["user_id"].get<std::string>(), record["record_id"].get<int>(),
                         record["bytes"].get<std::uint64_t>(), record["description"].get<std::string>()));
      }
    }
    const auto wkt = facts["crs_wkt"].get<std::string>();
    line("CRS", wkt.empty() ? "no WKT" : wkt);
  }
  for (const Json& field : facts["fields"]) {
    const auto name = field["name"].get<std::string>();
    std::string text = fmt::format("{:<22}{:<8} byte {}", name, field["type"].get<std::string>(),
                                   field["offset"].get<std::uint32_t>());
    if (field.contains("bit_count")) {
      const int shift = field["bit_shift"].get<int>();
      text += fmt::format(", bits {} to {}", shift, shift + field["bit_count"].get<int>() - 1);
    }
    if (facts.contains("statistics") && !facts["statistics"][name]["mean"].is_null()) {
      const Json& statistics = facts["statistics"][name];
      text += fmt::format("; min {}, max {}, mean {}", text_of(statistics["min"].get<double>()),
                          text_of(statistics["max"].get<double>()), text_of(statistics["mean"].get<double>()));
      if (statistics.contains("counts")) {
        std::string counts;
        for (const auto& [value, count] : statistics["counts"].items()) {
          counts += fmt::format("{}{}: {}", counts.empty() ? "" : ", ", value, count.get<std::uint64_t>());
        }
        text += fmt::format(" ({})", counts);
      }
    }
    line("field", text);
  }
  for (const Json& warning : facts["warnings"]) line("warning", warning.get<std::string>());
  return out;
}

int run(const Options& options) {
  const int threads = parse_threads(options.threads);
  const std::vector<std::string> fields = parse_fields(options.fields);
  require_one_standard_input(options.files);
  Json all = Json::array();
  bool failed = false;
  bool recovered = false;
  for (const std::string& path : options.files) {
    Json facts;
    try {
      const auto source = open_input(
          path, {.recover = options.recover, .threads = threads, .memory_bytes = memory_limit({}), .fields = fields});
      std::optional<CloudStatistics> statistics;
      if (options.stats) statistics = compute_statistics(*source, threads);
      recovered = recovered || io::was_recovered(*source);
      facts = description_of(path, *source, statistics);
    } catch (const Error& error) {
      // The other files are still shown.
      say_error(error.what());
      failed = true;
      continue;
    }
    if (options.json) {
      all.push_back(std::move(facts));
    } else {
      print_result(text_of_description(facts));
    }
  }
  if (options.json && !all.empty()) print_result(json_text(options.files.size() == 1 ? all.front() : all));
  return failed ? 1 : recovered ? 4 : 0;
}

}  // namespace

DeclaredCommand declare_info(CLI::App& program) {
  CLI::App* command = program.add_subcommand("info", "Show what point files hold");
  auto options = std::make_shared<Options>();
  add_files(*command, options->files, "FILE", "point files; - is standard input");
  command->add_flag("--json", options->json, "print one JSON object, or an array for several files");
  command->add_flag("--stats", options->stats, "read all points: bounds, and min, max and mean of each field");
  add_single(*command, "--threads", options->threads, "N", "most threads (all)");
  command->add_flag("--recover", options->recover,
                    "read what is sound of a damaged file; exit status 4 if there was any");
  add_single(*command, "--fields", options->fields, "NAME,...|N", "columns of text and .bin files");
  return {command, [options] { return run(*options); }};
}

}  // namespace sluice::app
