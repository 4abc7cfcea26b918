// SPDX-License-Identifier: Apache-2.0
#include "polygon_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "numbers.hpp"
#include "usage_error.hpp"

namespace sluice::app {

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
bool is_letter(char c) { return upper(c) >= 'A' && upper(c) <= 'Z'; }

std::string_view without_mark(std::string_view text) {
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) text.remove_prefix(kByteOrderMark.size());
  return text;
}

/// A ring that encloses anything has three corners.
bool is_ring(const std::vector<Polygon::Vertex>& ring) {
  const auto same = [](const Polygon::Vertex& a, const Polygon::Vertex& b) { return a.x == b.x && a.y == b.y; };
  return ring.size() > 3 || (ring.size() == 3 && !same(ring.front(), ring.back()));
}

class WktReader {
 public:
  explicit WktReader(std::string_view text) : text_(text) {}

  Polygon read() {
    Polygon polygon;
    if (word() == "SRID") {
      take_word();
      expect('=');
      number();
      expect(';');
    }
    const std::string type = take_word();
    std::string kind = type;
    // Some writers join the letters of the dimension to the type.
    for (const char* suffix : {"ZM", "Z", "M"}) {
      const std::string_view letters = suffix;
      if (kind.size() > letters.size() && kind.ends_with(letters) && kind.ends_with("N" + std::string(letters))) {
        kind.erase(kind.size() - letters.size());
        break;
      }
    }
    if (kind != "POLYGON" && kind != "MULTIPOLYGON") {
      at_ -= type.size();
      fail("POLYGON or MULTIPOLYGON");
    }
    if (const std::string dimension = word(); dimension == "Z" || dimension == "M" || dimension == "ZM") take_word();
    if (kind == "POLYGON") {
      rings(polygon);
    } else if (!empty()) {
      expect('(');
      do rings(polygon);
      while (accept(','));
      expect(')');
    }
    skip_blanks();
    if (at_ != text_.size()) fail("the end");
    return polygon;
  }

 private:
  [[noreturn]] void fail(const std::string& expected) {
    skip_blanks();
    const std::string found = at_ < text_.size() ? in_quotes(text_.substr(at_, 12)) : "the end";
    throw InputError(fmt::format("WKT, column {}: {} expected, found {}", at_ + 1, expected, found));
  }
  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  bool accept(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(fmt::format("'{}'", c));
  }
  /// The word that follows, in upper case, without taking it.
  std::string word() {
    skip_blanks();
    std::string out;
    for (std::size_t i = at_; i < text_.size() && is_letter(text_[i]); ++i) out += upper(text_[i]);
    return out;
  }
  std::string take_word() {
    std::string out = word();
    at_ += out.size();
    return out;
  }
  bool empty() {
    if (word() != "EMPTY") return false;
    take_word();
    return true;
  }
  double number() {
    skip_blanks();
    const char* from = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    if (from != end && *from == '+') ++from;
    double value = 0.0;
    const auto [after, error] = std::from_chars(from, end, value);
    if (error != std::errc() || !std::isfinite(value)) fail("a finite number");
    at_ = static_cast<std::size_t>(after - text_.data());
    return value;
  }
  bool number_follows() {
    skip_blanks();
    if (at_ >= text_.size()) return false;
    const char c = text_[at_];
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.';
  }
  void rings(Polygon& polygon) {
    if (empty()) return;
    expect('(');
    do {
      if (empty()) continue;
      expect('(');
      const std::size_t start = at_;
      std::vector<Polygon::Vertex> ring;
      do {
        const double x = number();
        const double y = number();
        ring.push_back({x, y});
        for (int extra = 0; extra < 2 && number_follows(); ++extra) number();
      } while (accept(','));
      expect(')');
      if (!is_ring(ring)) {
        at_ = start;
        fail("a ring of at least three corners");
      }
      polygon.rings.push_back(std::move(ring));
    } while (accept(','));
    expect(')');
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

using Json = nlohmann::json;

[[noreturn]] void fail_json(const std::string& place, const std::string& problem) {
  throw InputError(fmt::format("GeoJSON, {}: {}", place.empty() ? "the document" : place, problem));
}

const Json& member(const Json& object, const char* name, const std::string& place) {
  if (!object.is_object()) fail_json(place, "an object expected");
  const auto found = object.find(name);
  if (found == object.end()) fail_json(place, fmt::format("the member \"{}\" is missing", name));
  return *found;
}

const Json& array_at(const Json& value, const std::string& place) {
  if (!value.is_array()) fail_json(place, "an array expected");
  return value;
}

std::string inside(const std::string& place, const char* name) {
  return place.empty() ? std::string(name) : place + "." + name;
}

std::string item(const std::string& place, std::size_t index) { return fmt::format("{}[{}]", place, index); }

void read_rings(const Json& coordinates, const std::string& place, Polygon& polygon) {
  for (std::size_t r = 0; r < array_at(coordinates, place).size(); ++r) {
    const std::string ring_place = item(place, r);
    std::vector<Polygon::Vertex> ring;
    for (std::size_t v = 0; v < array_at(coordinates[r], ring_place).size(); ++v) {
      const Json& vertex = coordinates[r][v];
      if (!vertex.is_array() || vertex.size() < 2 || !vertex[0].is_number() || !vertex[1].is_number()) {
        fail_json(item(ring_place, v), "a position of at least two numbers expected");
      }
      ring.push_back({vertex[0].get<double>(), vertex[1].get<double>()});
    }
    if (!is_ring(ring)) fail_json(ring_place, "a ring of at least three corners expected");
    polygon.rings.push_back(std::move(ring));
  }
}

void read_object(const Json& object, const std::string& place, std::vector<Polygon>& polygons) {
  const Json& type_value = member(object, "type", place);
  const std::string type = type_value.is_string() ? type_value.get<std::string>() : type_value.dump();
  if (type == "FeatureCollection" || type == "GeometryCollection") {
    const char* name = type == "FeatureCollection" ? "features" : "geometries";
    const std::string list_place = inside(place, name);
    const Json& list = array_at(member(object, name, place), list_place);
    for (std::size_t i = 0; i < list.size(); ++i) read_object(list[i], item(list_place, i), polygons);
  } else if (type == "Feature") {
    const Json& geometry = member(object, "geometry", place);
    if (!geometry.is_null()) read_object(geometry, inside(place, "geometry"), polygons);
  } else if (type == "Polygon" || type == "MultiPolygon") {
    const std::string list_place = inside(place, "coordinates");
    const Json& coordinates = array_at(member(object, "coordinates", place), list_place);
    Polygon polygon;
    if (type == "Polygon") {
      read_rings(coordinates, list_place, polygon);
    } else {
      for (std::size_t i = 0; i < coordinates.size(); ++i) read_rings(coordinates[i], item(list_place, i), polygon);
    }
    polygons.push_back(std::move(polygon));
  } else {
    fail_json(place, fmt::format("\"{}\" is no polygon", type));
  }
}

}  // namespace

Polygon parse_wkt_polygon(std::string_view text) { return WktReader(text).read(); }

std::vector<Polygon> parse_geojson_polygons(std::string_view text) {
  // Collections within collections are followed by recursion, which no file may drive to the end of the stack.
  static constexpr int kDeepest = 100;
  const auto limit = [](int depth, Json::parse_event_t /*event*/, Json& /*parsed*/) {
    if (depth > kDeepest) throw InputError(fmt::format("GeoJSON: nested more than {} levels deep", kDeepest));
    return true;
  };
  Json document;
  try {
    document = Json::parse(text, limit);
  } catch (const Json::exception& error) {
    throw InputError(fmt::format("GeoJSON: {}", error.what()));
  }
  std::vector<Polygon> polygons;
  read_object(document, "", polygons);
  return polygons;
}

bool names_polygon_file(const std::string& value) {
  std::error_code ignored;
  if (std::filesystem::exists(value, ignored)) return true;
  std::string_view head = value;
  while (!head.empty() && is_blank(head.front())) head.remove_prefix(1);
  std::string start;
  for (const char c : head.substr(0, 12)) start += upper(c);
  return !start.starts_with("POLYGON") && !start.starts_with("MULTIPOLYGON") && !start.starts_with("SRID") &&
         value.find('(') == std::string::npos;
}

std::vector<Polygon> polygons_of_option(const std::string& value) {
  if (!names_polygon_file(value)) {
    try {
      return {parse_wkt_polygon(value)};
    } catch (const InputError& error) {
      throw UsageError(fmt::format("--polygon: {}", error.what()));
    }
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(value, ignored)) {
    throw InputError(fmt::format("--polygon: {}: is a folder; a file of WKT or GeoJSON is expected", value));
  }
  std::ifstream file(value, std::ios::binary);
  if (!file) {
    throw InputError(fmt::format("--polygon: {} is neither WKT nor a file that can be read", in_quotes(value)));
  }
  const std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) throw InputError(fmt::format("--polygon: {}: cannot be read", value));
  const std::string_view text = without_mark(content);
  std::size_t first = 0;
  while (first < text.size() && is_blank(text[first])) ++first;
  std::vector<Polygon> polygons;
  try {
    if (first == text.size()) throw InputError("the file is empty; WKT or GeoJSON is expected");
    if (text[first] == '{') {
      polygons = parse_geojson_polygons(text);
    } else {
      polygons.push_back(parse_wkt_polygon(text));
    }
    // Nothing would be kept, which nobody writes a file for.
    if (std::all_of(polygons.begin(), polygons.end(), [](const Polygon& polygon) { return polygon.rings.empty(); })) {
      throw InputError("there is no polygon in this file");
    }
  } catch (const InputError& error) {
    throw InputError(fmt::format("--polygon: {}: {}", value, error.what()));
  }
  return polygons;
}

}  // namespace sluice::app
