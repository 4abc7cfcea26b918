// SPDX-License-Identifier: Apache-2.0
/// \file
/// Clouds of PCL (and messages of the same shape) as clouds of this library, and back. Includes nothing of PCL: the
/// functions take any type with the members of `pcl::PCLPointCloud2` and `pcl::PointCloud`, which their caller
/// includes.
///
/// \code
/// const sluice::CloudInfo info = sluice::io::info_of_pcl(cloud);           // pcl::PCLPointCloud2
/// worker.run(sluice::io::view_of_pcl(cloud));                              // reads the points where they are
/// const auto typed = sluice::io::info_of_pcl(points, pcl::getFields<pcl::PointXYZI>());
/// \endcode
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sluice/core/error.hpp"
#include "sluice/core/point_cloud.hpp"
#include "sluice/io/pcd.hpp"

namespace sluice::io {

namespace detail {

/// The types of `pcl::PCLPointField`, which are those of the message PointField.
inline constexpr FieldType kPclTypes[8] = {FieldType::kInt8,    FieldType::kUint8,  FieldType::kInt16,
                                           FieldType::kUint16,  FieldType::kInt32,  FieldType::kUint32,
                                           FieldType::kFloat32, FieldType::kFloat64};

/// Schema, frame and metadata of records of `step` bytes with these fields, whose gaps are padding.
template <typename FieldsT>
CloudInfo info_of_pcl_fields(const FieldsT& fields, std::uint64_t step, std::uint64_t width, std::uint64_t height) {
  struct Placed {
    std::uint64_t at;
    ColumnField column;
  };
  std::vector<Placed> placed;
  for (const auto& field : fields) {
    if (field.datatype < 1 || field.datatype > 8) {
      throw InvalidArgument("field '" + field.name + "' has the unknown type " + std::to_string(int{field.datatype}));
    }
    // Old messages say 0 and mean 1.
    const std::uint32_t count = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(field.count));
    placed.push_back({static_cast<std::uint64_t>(field.offset), {field.name, kPclTypes[field.datatype - 1], count}});
  }
  std::stable_sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) { return a.at < b.at; });
  auto metadata = std::make_shared<PcdMetadata>();
  metadata->width = width;
  metadata->height = height;
  std::uint64_t at = 0;
  const auto pad = [&](std::uint64_t to) {
    if (to > at) metadata->columns.push_back({"_", FieldType::kUint8, static_cast<std::uint32_t>(to - at)});
    at = to;
  };
  for (Placed& field : placed) {
    if (field.at < at) throw InvalidArgument("field '" + field.column.name + "' overlaps the one before it");
    pad(field.at);
    at += std::uint64_t{field.column.count} * field_bytes(field.column.type);
    metadata->columns.push_back(std::move(field.column));
  }
  if (at > step) throw InvalidArgument("the fields are longer than a point");
  pad(step);
  CloudInfo info = make_column_info(std::move(metadata));
  if (info.schema.record_bytes != step) {
    throw Unsupported("x, y and z of a cloud in memory must be all float32 or all float64");
  }
  info.name = "cloud";
  info.point_count = width * height;
  return info;
}

}  // namespace detail

/// Layout of a `pcl::PCLPointCloud2`: all of its bytes are carried, padding too.
/// \throws InvalidArgument  fields that overlap, lie outside of a point or have no known type; rows with gaps; data
///                          that are not as long as width and height say; big-endian data
/// \throws Unsupported      coordinates of other types than float
template <typename CloudT>
CloudInfo info_of_pcl(const CloudT& cloud) {
  const std::uint64_t points = std::uint64_t{cloud.width} * cloud.height;
  if (cloud.is_bigendian) throw InvalidArgument("the cloud is big-endian");
  if (cloud.row_step != 0 && cloud.row_step != std::uint64_t{cloud.width} * cloud.point_step) {
    throw InvalidArgument("the rows of the cloud have gaps");
  }
  if (cloud.data.size() != points * cloud.point_step) {
    throw InvalidArgument("the cloud has " + std::to_string(cloud.data.size()) + " bytes, not " +
                          std::to_string(points) + " points of " + std::to_string(cloud.point_step));
  }
  return detail::info_of_pcl_fields(cloud.fields, cloud.point_step, cloud.width, cloud.height);
}

/// Layout of a `pcl::PointCloud<PointT>`.
/// \param fields  of its points: `pcl::getFields<PointT>()`
template <typename CloudT, typename FieldsT>
CloudInfo info_of_pcl(const CloudT& cloud, const FieldsT& fields) {
  return detail::info_of_pcl_fields(fields, sizeof(typename CloudT::PointType), cloud.width, cloud.height);
}

/// The points of a `pcl::PCLPointCloud2`, where they are.
template <typename CloudT>
[[nodiscard]] auto view_of_pcl(const CloudT& cloud) -> decltype(cloud.point_step, PointView()) {
  return {reinterpret_cast<const std::byte*>(cloud.data.data()), std::uint64_t{cloud.width} * cloud.height,
          cloud.point_step};
}

/// The points of a `pcl::PointCloud<PointT>`, where they are.
template <typename CloudT>
[[nodiscard]] auto view_of_pcl(const CloudT& cloud) -> decltype(cloud.points.data(), PointView()) {
  return {reinterpret_cast<const std::byte*>(cloud.points.data()), cloud.points.size(),
          sizeof(typename CloudT::PointType)};
}

/// Puts records into a `pcl::PCLPointCloud2`, with the fields of a layout that `info_of_pcl` or a PCD file gave. The
/// cloud has the rows of the layout where it gets all of its points, else one row; `is_dense` is false, as nobody
/// looked. Its header stays.
/// \throws Unsupported  columns of 64-bit integers, or coordinates that are not stored as they are in memory
template <typename CloudT>
void copy_to_pcl(const CloudInfo& info, const PointView& view, CloudT& cloud) {
  const auto* metadata = dynamic_cast<const ColumnMetadata*>(info.metadata.get());
  if (metadata == nullptr) throw Unsupported("only rows of columns have the layout of such a cloud");
  using FieldT = typename std::decay_t<decltype(cloud.fields)>::value_type;
  std::vector<FieldT> fields;
  std::uint64_t at = 0;
  for (const ColumnField& column : metadata->columns) {
    const auto* const type = std::find(std::begin(detail::kPclTypes), std::end(detail::kPclTypes), column.type);
    if (type == std::end(detail::kPclTypes)) {
      throw Unsupported("column '" + column.name + "' of 64-bit integers has no type in such a cloud");
    }
    if (column.name != "_" && column.count != 0) {
      FieldT field{};
      field.name = column.name;
      field.offset = static_cast<decltype(field.offset)>(at);
      field.datatype = static_cast<decltype(field.datatype)>(type - std::begin(detail::kPclTypes) + 1);
      field.count = static_cast<decltype(field.count)>(column.count);
      fields.push_back(std::move(field));
    }
    at += std::uint64_t{column.count} * field_bytes(column.type);
  }
  const std::uint64_t bytes = info.schema.record_bytes;
  if (at != bytes) throw Unsupported("the coordinates have other types in memory than their columns");
  cloud.fields = std::move(fields);
  const auto* pcd = dynamic_cast<const PcdMetadata*>(metadata);
  const bool all = pcd != nullptr && pcd->width * pcd->height == view.count;
  cloud.width = static_cast<decltype(cloud.width)>(all ? pcd->width : view.count);
  cloud.height = static_cast<decltype(cloud.height)>(all ? pcd->height : 1);
  cloud.point_step = static_cast<decltype(cloud.point_step)>(bytes);
  cloud.row_step = static_cast<decltype(cloud.row_step)>(cloud.width * bytes);
  cloud.is_bigendian = false;
  cloud.is_dense = false;
  cloud.data.resize(view.count * bytes);
  copy_records(view, bytes, reinterpret_cast<std::byte*>(cloud.data.data()));
}

/// Puts records into a `pcl::PointCloud<PointT>`, whose points have exactly this layout.
/// \param fields  of its points: `pcl::getFields<PointT>()`
/// \throws Unsupported  where the layouts differ
template <typename CloudT, typename FieldsT>
void copy_to_pcl(const CloudInfo& info, const PointView& view, CloudT& cloud, const FieldsT& fields) {
  const CloudInfo wanted = info_of_pcl(cloud, fields);
  const auto* there = dynamic_cast<const ColumnMetadata*>(info.metadata.get());
  if (there == nullptr || there->columns != dynamic_cast<const ColumnMetadata&>(*wanted.metadata).columns) {
    throw Unsupported("the records have another layout than the points of the cloud");
  }
  cloud.points.resize(view.count);
  copy_records(view, wanted.schema.record_bytes, reinterpret_cast<std::byte*>(cloud.points.data()));
  const auto* pcd = dynamic_cast<const PcdMetadata*>(there);
  const bool all = pcd != nullptr && pcd->width * pcd->height == view.count;
  cloud.width = static_cast<decltype(cloud.width)>(all ? pcd->width : view.count);
  cloud.height = static_cast<decltype(cloud.height)>(all ? pcd->height : 1);
  cloud.is_dense = false;
}

}  // namespace sluice::io
