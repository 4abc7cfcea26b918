// SPDX-License-Identifier: Apache-2.0
/// \file
/// Clouds in the memory of a backend, as packed records or as columns.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sluice/core/types.hpp"
#include "sluice/kernels/operations.hpp"
#include "support/backend_test.hpp"
#include "support/slow_operations.hpp"

namespace sluice::test {

enum class Layout { kPacked, kColumns };

inline const char* name_of(Layout layout) { return layout == Layout::kPacked ? "packed" : "columns"; }

inline std::uint64_t coordinate_bytes(const Cloud& cloud) {
  return cloud.frame.kind == CoordinateKind::kFloat64 ? sizeof(double) : sizeof(float);
}

/// One axis of some points, as it is stored.
inline std::vector<std::byte> coordinates_of(const Cloud& cloud, std::uint64_t axis,
                                             const std::vector<std::uint32_t>& points) {
  const std::uint64_t bytes = coordinate_bytes(cloud);
  std::vector<std::byte> out;
  for (const std::uint32_t i : points) {
    const std::byte* at = cloud.records.data() + i * cloud.record_bytes() + axis * bytes;
    out.insert(out.end(), at, at + bytes);
  }
  return out;
}

/// A cloud and its attribute as an operation reads them. Not movable: the input points to the column in it.
class BoundCloud {
 public:
  /// \param offset  items between an aligned address and each column; records are aligned
  BoundCloud(kernels::Backend& backend, kernels::StreamView stream, const Cloud& cloud, Layout layout,
             std::uint64_t offset = 0)
      : attribute_(backend, stream, cloud.attribute) {
    if (layout == Layout::kPacked) {
      arrays_[0] = std::make_unique<Array>(backend, stream, cloud.records);
      input_.positions = cloud.positions(arrays_[0]->data());
    } else {
      std::vector<std::uint32_t> all(cloud.count);
      for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = i;
      const std::uint64_t bytes = coordinate_bytes(cloud);
      for (std::uint64_t axis = 0; axis < 3; ++axis) {
        // Each begins elsewhere, so that none has the alignment of another.
        arrays_[axis] =
            std::make_unique<Array>(backend, stream, coordinates_of(cloud, axis, all), (offset * (axis + 1)) * bytes);
      }
      input_.positions = cloud.positions(nullptr);  // for the scales
      input_.positions.x = arrays_[0]->data();
      input_.positions.y = arrays_[1]->data();
      input_.positions.z = arrays_[2]->data();
      input_.positions.stride = bytes;
    }
    column_ = Column{reinterpret_cast<const std::byte*>(attribute_.data()), 1, FieldType::kUint8, 0, 0};
    input_.columns = &column_;
    input_.column_count = 1;
    input_.count = cloud.count;
    input_.first_index = kFirstIndex;
  }
  BoundCloud(const BoundCloud&) = delete;
  BoundCloud& operator=(const BoundCloud&) = delete;

  [[nodiscard]] const kernels::PointInput& input() const { return input_; }

 private:
  using Array = BackendArray<std::byte>;

  std::array<std::unique_ptr<Array>, 3> arrays_;
  BackendArray<std::uint8_t> attribute_;
  Column column_;
  kernels::PointInput input_;
};

}  // namespace sluice::test
