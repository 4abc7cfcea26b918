// SPDX-License-Identifier: Apache-2.0
#include "selection_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>

#include "numbers.hpp"
#include "polygon_text.hpp"
#include "sluice/core/predicate_builder.hpp"
#include "sluice/where.hpp"
#include "usage_error.hpp"

namespace sluice::app {

namespace {

void require_ordered(double low, double high, const char* option, const char* what) {
  if (low > high) {
    throw UsageError(
        fmt::format("{}: the smallest {} is {}, the largest {}", option, what, text_of(low), text_of(high)));
  }
}

void require_finite(double value, const char* option, const char* what) {
  if (!std::isfinite(value)) throw UsageError(fmt::format("{}: {} must be finite", option, what));
}

double require_not_negative(double value, const char* option, const char* what) {
  require_finite(value, option, what);
  if (value < 0.0) throw UsageError(fmt::format("{}: {} is {}; it must not be negative", option, what, text_of(value)));
  return value;
}

template <std::size_t Size>
void copy_finite(const std::vector<double>& values, std::size_t from, double (&to)[Size], const char* option,
                 const char* what) {
  for (std::size_t i = 0; i < Size; ++i) {
    require_finite(values[from + i], option, what);
    to[i] = values[from + i];
  }
}

CLI::Validator not_empty() {
  return {[](const std::string& value) { return value.empty() ? std::string("the value is empty") : std::string(); },
          ""};
}

}  // namespace

Box parse_box(const std::string& text) {
  const auto v = parse_bounds(text, "--box", {4, 6}, "xmin,ymin,xmax,ymax or xmin,ymin,zmin,xmax,ymax,zmax");
  Box box;
  const std::size_t axes = v.size() / 2;
  for (std::size_t d = 0; d < axes; ++d) {
    static constexpr const char* kNames[] = {"x", "y", "z"};
    box.min[d] = v[d];
    box.max[d] = v[axes + d];
    require_ordered(box.min[d], box.max[d], "--box", kNames[d]);
  }
  return box;
}

OrientedBox parse_oriented_box(const std::string& text) {
  const auto v = parse_bounds(text, "--obb", {7, 9}, "cx,cy,cz,lx,ly,lz,yaw[,pitch,roll]");
  OrientedBox box;
  copy_finite(v, 0, box.center, "--obb", "the centre");
  for (std::size_t d = 0; d < 3; ++d) box.length[d] = require_not_negative(v[3 + d], "--obb", "a length");
  double* const angles[] = {&box.yaw, &box.pitch, &box.roll};
  for (std::size_t i = 6; i < v.size(); ++i) {
    require_finite(v[i], "--obb", "an angle");
    *angles[i - 6] = v[i];
  }
  return box;
}

Sphere parse_sphere(const std::string& text) {
  const auto v = parse_bounds(text, "--sphere", {4}, "cx,cy,cz,r");
  Sphere sphere;
  copy_finite(v, 0, sphere.center, "--sphere", "the centre");
  sphere.radius = require_not_negative(v[3], "--sphere", "the radius");
  return sphere;
}

Cylinder parse_cylinder(const std::string& text) {
  const auto v = parse_bounds(text, "--cylinder", {3, 5}, "cx,cy,r[,zmin,zmax]");
  Cylinder cylinder;
  copy_finite(v, 0, cylinder.center, "--cylinder", "the centre");
  cylinder.radius = require_not_negative(v[2], "--cylinder", "the radius");
  if (v.size() == 5) {
    cylinder.z_min = v[3];
    cylinder.z_max = v[4];
    require_ordered(v[3], v[4], "--cylinder", "z");
  }
  return cylinder;
}

HalfSpace parse_half_space(const std::string& text) {
  const auto v = parse_bounds(text, "--halfspace", {4}, "nx,ny,nz,d");
  HalfSpace half_space;
  copy_finite(v, 0, half_space.normal, "--halfspace", "the normal");
  require_finite(v[3], "--halfspace", "d");
  half_space.offset = v[3];
  if (v[0] == 0.0 && v[1] == 0.0 && v[2] == 0.0) throw UsageError("--halfspace: the normal must not be 0,0,0");
  return half_space;
}

RangeRing parse_range(const std::string& text) {
  const auto v = parse_bounds(text, "--range", {2, 5}, "min,max[,cx,cy,cz]");
  RangeRing ring;
  ring.min = require_not_negative(v[0], "--range", "the smallest distance");
  ring.max = v[1];
  require_ordered(v[0], v[1], "--range", "distance");
  if (v.size() == 5) copy_finite(v, 2, ring.center, "--range", "the centre");
  return ring;
}

Sector parse_sector(const std::string& text) {
  const auto v = parse_bounds(text, "--sector", {2, 4, 7}, "az0,az1[,el0,el1[,cx,cy,cz]]");
  Sector sector;
  double* const angles[] = {&sector.az0, &sector.az1, &sector.el0, &sector.el1};
  for (std::size_t i = 0; i < v.size() && i < 4; ++i) {
    require_finite(v[i], "--sector", "an angle");
    *angles[i] = v[i];
  }
  require_ordered(sector.el0, sector.el1, "--sector", "elevation");
  if (sector.el0 < -90.0 || sector.el1 > 90.0) throw UsageError("--sector: elevations lie between -90 and 90 degrees");
  if (v.size() == 7) copy_finite(v, 4, sector.center, "--sector", "the centre");
  return sector;
}

CLI::Option* add_repeated(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                          const std::string& form, const std::string& help) {
  // One value each time, whatever it begins with: CLI11 takes the values that an option must have unseen.
  return command.add_option(name, values, help)
      ->type_name(form)
      ->expected(1)
      ->allow_extra_args(false)
      ->take_all()
      ->check(not_empty());
}

CLI::Option* add_files(CLI::App& command, std::vector<std::string>& values, const std::string& form,
                       const std::string& help) {
  // The form is the name already; a type would repeat it.
  return command.add_option(form, values, help)->required()->type_name("")->check(not_empty());
}

CLI::Option* add_single(CLI::App& command, const std::string& name, std::string& value, const std::string& form,
                        const std::string& help) {
  return command.add_option(name, value, help)->type_name(form)->expected(1)->check(not_empty());
}

void SelectionOptions::add_to(CLI::App& command) {
  const std::string group = "Regions (each may be given many times; a point in any of them is kept)";
  add_repeated(command, "--box", boxes_, "xmin,ymin,[zmin,]xmax,ymax[,zmax]", "closed box")->group(group);
  add_repeated(command, "--obb", oriented_boxes_, "cx,cy,cz,lx,ly,lz,yaw[,pitch,roll]", "turned box, degrees")
      ->group(group);
  add_repeated(command, "--sphere", spheres_, "cx,cy,cz,r", "closed ball")->group(group);
  add_repeated(command, "--cylinder", cylinders_, "cx,cy,r[,zmin,zmax]", "closed upright cylinder")->group(group);
  add_repeated(command, "--polygon", polygons_, "WKT|FILE", "polygon, or a file of WKT or GeoJSON")->group(group);
  add_repeated(command, "--halfspace", half_spaces_, "nx,ny,nz,d", "where n.p + d >= 0")->group(group);
  add_repeated(command, "--range", ranges_, "min,max[,cx,cy,cz]", "distance from a sensor")->group(group);
  add_repeated(command, "--sector", sectors_, "az0,az1[,el0,el1[,cx,cy,cz]]",
               "directions from a sensor, degrees counter-clockwise from +x")
      ->group(group);

  const std::string attributes = "Attributes";
  add_repeated(command, "--where", where_, "EXPRESSION",
               "condition on fields, e.g. 'classification in (2,6) && z < 5'; several must all hold")
      ->group(attributes);
  add_single(command, "--every", every_, "N", "of the points that pass the rest every N-th, the first one included")
      ->group(attributes);
  add_single(command, "--fraction", fraction_, "F", "a random share of the points, 0 to 1")->group(attributes);
  add_single(command, "--seed", seed_, "N", "seed of random choices (0)")->group(attributes);
  command.add_flag("--invert", invert_, "keep what regions and conditions refuse")->group(attributes);
  command.add_flag("--drop-zero", drop_zero_, "drop points at exactly 0,0,0 as if they were not finite")
      ->group(attributes);
}

Selection SelectionOptions::build() const {
  Selection selection;
  for (const std::string& text : boxes_) selection.regions.emplace_back(parse_box(text));
  for (const std::string& text : oriented_boxes_) selection.regions.emplace_back(parse_oriented_box(text));
  for (const std::string& text : spheres_) selection.regions.emplace_back(parse_sphere(text));
  for (const std::string& text : cylinders_) selection.regions.emplace_back(parse_cylinder(text));
  for (const std::string& text : polygons_) {
    for (Polygon& polygon : polygons_of_option(text)) selection.regions.emplace_back(std::move(polygon));
  }
  for (const std::string& text : half_spaces_) selection.regions.emplace_back(parse_half_space(text));
  for (const std::string& text : ranges_) selection.regions.emplace_back(parse_range(text));
  for (const std::string& text : sectors_) selection.regions.emplace_back(parse_sector(text));
  for (const std::string& text : where_) {
    try {
      selection.where.push_back(parse_where(text));
    } catch (const InvalidArgument& error) {
      throw UsageError(fmt::format("--where: {}", error.what()));
    }
  }
  if (invert_ && selection.regions.empty() && selection.where.empty()) {
    throw UsageError("--invert: there is no region and no --where that it could turn round");
  }
  selection.invert = invert_;
  selection.drop_zero = drop_zero_;
  if (!fraction_.empty()) {
    selection.fraction = parse_real(fraction_, "--fraction");
    if (!(selection.fraction >= 0.0 && selection.fraction <= 1.0)) {
      throw UsageError(fmt::format("--fraction: {} is not between 0 and 1", fraction_));
    }
  }
  if (!every_.empty()) selection.every = parse_whole(every_, "--every", 1, std::numeric_limits<std::uint64_t>::max());
  selection.seed = seed();
  return selection;
}

void SelectionOptions::check(const CloudInfo& layout) const {
  for (const std::string& text : where_) {
    Selection one;
    one.where.push_back(parse_where(text));
    try {
      (void)build_predicate(one, layout.schema, layout.frame);
    } catch (const InvalidArgument& error) {
      throw UsageError(fmt::format("--where: {}", error.what()));
    }
  }
}

std::vector<std::string> SelectionOptions::files() const {
  std::vector<std::string> out;
  std::copy_if(polygons_.begin(), polygons_.end(), std::back_inserter(out), names_polygon_file);
  return out;
}

std::uint64_t SelectionOptions::seed() const {
  return seed_.empty() ? 0 : parse_whole(seed_, "--seed", 0, std::numeric_limits<std::uint64_t>::max());
}

}  // namespace sluice::app
