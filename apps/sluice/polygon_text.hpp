// SPDX-License-Identifier: Apache-2.0
/// \file
/// Polygons as text: WKT and GeoJSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sluice/core/region.hpp"

namespace sluice::app {

/// Reads `POLYGON` or `MULTIPOLYGON` in WKT, any case and spacing, with or without Z, M, an `SRID=n;` in front, or
/// EMPTY; heights and measures are ignored. All rings go into one polygon (even-odd).
/// \throws InputError naming the column (from 1) and what was expected there
[[nodiscard]] Polygon parse_wkt_polygon(std::string_view text);

/// Reads a GeoJSON geometry (Polygon, MultiPolygon, GeometryCollection), Feature or FeatureCollection. Each geometry
/// becomes a polygon of its own, so that features that overlap add up instead of cutting holes into each other.
/// \throws InputError naming the place
[[nodiscard]] std::vector<Polygon> parse_geojson_polygons(std::string_view text);

/// True where a value of `--polygon` means a file.
[[nodiscard]] bool names_polygon_file(const std::string& value);

/// The value of `--polygon`: WKT, or the path of a file that holds WKT or GeoJSON. At least one polygon.
/// \throws UsageError where the value is WKT that cannot be read; InputError where a file cannot, or holds no polygon
[[nodiscard]] std::vector<Polygon> polygons_of_option(const std::string& value);

}  // namespace sluice::app
