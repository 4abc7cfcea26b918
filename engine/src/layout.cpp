// SPDX-License-Identifier: Apache-2.0
#include <span>
#include <string>

#include "sluice/core/error.hpp"
#include "sluice/operations.hpp"

namespace sluice {

namespace {

/// What differs between two layouts, in a user's words; empty where nothing does.
std::string difference(const CloudInfo& a, const CloudInfo& b) {
  if (a.schema.record_bytes != b.schema.record_bytes) return "the length of a point record";
  if (a.frame.kind != b.frame.kind) return "the type of the coordinates";
  static constexpr const char* kAxes[3] = {"x", "y", "z"};
  for (int d = 0; d < 3; ++d) {
    if (a.frame.scale[d] != b.frame.scale[d]) return std::string("the scale of ") + kAxes[d];
    if (a.frame.offset[d] != b.frame.offset[d]) return std::string("the offset of ") + kAxes[d];
    if (a.frame.at[d] != b.frame.at[d]) return std::string("the place of ") + kAxes[d];
  }
  if (a.schema.fields.size() != b.schema.fields.size()) return "the number of fields";
  for (std::size_t i = 0; i < a.schema.fields.size(); ++i) {
    const Field& f = a.schema.fields[i];
    const Field& g = b.schema.fields[i];
    if (f.name != g.name || f.type != g.type || f.offset != g.offset || f.bit_shift != g.bit_shift ||
        f.bit_count != g.bit_count || f.scaled != g.scaled || f.scale != g.scale || f.shift != g.shift) {
      return "the field '" + f.name + "'";
    }
  }
  const bool a_has = a.metadata != nullptr;
  const bool b_has = b.metadata != nullptr;
  if (a_has != b_has) return "the file format";
  return a_has ? a.metadata->difference(*b.metadata) : std::string();
}

}  // namespace

void require_same_layout(std::span<ChunkSource* const> sources) {
  if (sources.empty()) throw InvalidArgument("there is no input");
  for (const ChunkSource* source : sources.subspan(1)) {
    const std::string what = difference(sources.front()->info(), source->info());
    if (!what.empty()) {
      throw InvalidArgument(source->info().name + " differs from " + sources.front()->info().name + " in " + what);
    }
  }
}

}  // namespace sluice
