// SPDX-License-Identifier: Apache-2.0
/// \file
/// Attributes of a new point from those of the points behind it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sluice/core/point_view.hpp"
#include "sluice/core/schema.hpp"
#include "sluice/operations.hpp"

namespace sluice::detail {

/// A rule and the field it fills.
struct BoundAttribute {
  Field field;
  AttributeRule rule;
};

/// Finds the fields of the rules.
/// \throws InvalidArgument for an unknown field, one named twice, or a coordinate, which is the centroid's own
std::vector<BoundAttribute> bind_attributes(std::span<const AttributeChoice> choices, const Schema& schema);

/// Fills one field of `record` from the same field of the members. Values are the stored ones; a mean of integers is
/// rounded half to even, a mean of floats is the sum in the order of the members over their number; minimum, maximum
/// and mode pass over NaN unless there is nothing else.
/// \param members  indices into `view`; at least one
/// \param scratch  memory reused from call to call
void reduce_attribute(const BoundAttribute& attribute, const PointView& view, std::span<const std::uint32_t> members,
                      std::byte* record, std::vector<Value>& scratch);

}  // namespace sluice::detail
