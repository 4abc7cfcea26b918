// SPDX-License-Identifier: Apache-2.0
/// \file
/// Times the crop and the voxel filter against PCL's CropBox and VoxelGrid on the same float32 points, on one thread,
/// in one process, in turn.
#include <fmt/format.h>
#include <pcl/filters/crop_box.h>
#include <pcl/filters/voxel_grid.h>
#include <pcl/point_types.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <vector>

#include "sluice/core/random.hpp"
#include "sluice/sluice.hpp"

namespace {

using Cloud = pcl::PointCloud<pcl::PointXYZ>;

/// Points on a rolling surface in the order of parallel scan lines, as a scanner leaves them; metres.
Cloud::Ptr scan_cloud(std::size_t count) {
  Cloud::Ptr cloud(new Cloud);
  cloud->resize(count);
  constexpr float kWidth = 200.0F;
  constexpr std::size_t kPerLine = 2000;
  for (std::size_t i = 0; i < count; ++i) {
    const auto noise = [&](std::uint64_t k) {
      return static_cast<float>(sluice::counter_random(7, 3 * i + k) >> 40) / 16777216.0F;
    };
    const auto along = static_cast<float>(i % kPerLine) / static_cast<float>(kPerLine);
    const auto line = static_cast<float>(i / kPerLine) * 0.02F;
    pcl::PointXYZ& p = (*cloud)[i];
    p.x = kWidth * along + 0.05F * noise(0) - kWidth / 2;
    p.y = line + 0.02F * noise(1) - 50.0F;
    p.z = 5.0F * noise(2);
  }
  return cloud;
}

/// The same points as records of this library: the 16 bytes of a PointXYZ.
sluice::PointCloud as_records(const Cloud& cloud) {
  sluice::CloudInfo info;
  info.name = "scan";
  info.schema.record_bytes = sizeof(pcl::PointXYZ);
  static constexpr const char* kNames[3] = {"x", "y", "z"};
  for (std::uint32_t d = 0; d < 3; ++d) {
    sluice::Field field;
    field.name = kNames[d];
    field.type = sluice::FieldType::kFloat32;
    field.offset = 4 * d;
    info.schema.fields.push_back(field);
    info.frame.at[d] = 4 * d;
  }
  info.frame.kind = sluice::CoordinateKind::kFloat32;
  std::vector<std::byte> records(cloud.size() * sizeof(pcl::PointXYZ));
  std::memcpy(records.data(), cloud.data(), records.size());
  return {std::move(info), std::move(records)};
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void compare(const char* job, std::size_t points, int runs, const std::function<std::size_t()>& ours,
             const std::function<std::size_t()>& theirs) {
  std::vector<double> our_seconds;
  std::vector<double> their_seconds;
  std::size_t our_count = 0;
  std::size_t their_count = 0;
  for (int i = 0; i <= runs; ++i) {
    const double a = seconds_of([&] { our_count = ours(); });
    const double b = seconds_of([&] { their_count = theirs(); });
    if (i == 0) continue;  // warm-up
    our_seconds.push_back(a);
    their_seconds.push_back(b);
  }
  const double a = median(our_seconds);
  const double b = median(their_seconds);
  const double millions = static_cast<double>(points) / 1e6;
  fmt::print("| {} | {} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.2f} | {} | {} |\n", job, points, a * 1e3, millions / a,
             b * 1e3, millions / b, b / a, our_count, their_count);
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t points = 10000000;
  int runs = 7;
  float leaf = 0.5F;
  CLI::App app("Crop and voxel filter against PCL on one thread");
  app.add_option("--points", points, "points of the cloud")->capture_default_str();
  app.add_option("--runs", runs, "counted runs of each")->capture_default_str();
  app.add_option("--leaf", leaf, "edge of a voxel, metres")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  const Cloud::Ptr cloud = scan_cloud(points);
  const sluice::PointCloud records = as_records(*cloud);
  sluice::Execution one_thread;
  one_thread.backend = "cpu";
  one_thread.threads = 1;

  fmt::print("| job | points | sluice ms | M points/s | PCL ms | M points/s | PCL / sluice | kept | kept by PCL |\n");
  fmt::print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");

  sluice::Selection box;
  box.regions.emplace_back(sluice::Box{{-50, -40, -10}, {50, 20, 10}});
  compare(
      "CropBox", points, runs, [&] { return sluice::filter(records, box, one_thread).cloud.count(); },
      [&] {
        pcl::CropBox<pcl::PointXYZ> crop;
        crop.setInputCloud(cloud);
        crop.setMin(Eigen::Vector4f(-50, -40, -10, 1));
        crop.setMax(Eigen::Vector4f(50, 20, 10, 1));
        Cloud out;
        crop.filter(out);
        return out.size();
      });

  sluice::ThinOptions thin;
  thin.grid.size = {static_cast<double>(leaf), static_cast<double>(leaf), static_cast<double>(leaf)};
  const auto voxel_grid = [&] {
    pcl::VoxelGrid<pcl::PointXYZ> grid;
    grid.setInputCloud(cloud);
    grid.setLeafSize(leaf, leaf, leaf);
    Cloud out;
    grid.filter(out);
    return out.size();
  };
  thin.policy = sluice::kernels::KeepPolicy::kCentroid;
  compare(
      "VoxelGrid (centroids)", points, runs, [&] { return sluice::thin(records, {}, thin, one_thread).cloud.count(); },
      voxel_grid);
  thin.policy = sluice::kernels::KeepPolicy::kFirst;
  compare(
      "VoxelGrid (first point kept)", points, runs,
      [&] { return sluice::thin(records, {}, thin, one_thread).cloud.count(); }, voxel_grid);
  return 0;
}
