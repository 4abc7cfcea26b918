// SPDX-License-Identifier: Apache-2.0
/// \file
/// Times PCL's reader and writer of one PCD or PLY file as `sluice-bench rows` times those of sluice: all fields, into
/// memory and out of it.
#include <fmt/format.h>
#include <pcl/PCLPointCloud2.h>
#include <pcl/io/pcd_io.h>
#include <pcl/io/ply_io.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int read(const std::string& path, pcl::PCLPointCloud2& cloud) {
  if (path.ends_with(".ply")) return pcl::PLYReader().read(path, cloud);
  return pcl::PCDReader().read(path, cloud);
}

int write(const std::string& path, const std::string& data, const pcl::PCLPointCloud2& cloud) {
  const Eigen::Vector4f origin = Eigen::Vector4f::Zero();
  const Eigen::Quaternionf orientation = Eigen::Quaternionf::Identity();
  constexpr int kDigits = 9;  // that a float needs to read back exactly
  if (path.ends_with(".ply")) {
    pcl::PLYWriter writer;
    if (data == "ascii") return writer.writeASCII(path, cloud, origin, orientation, kDigits, false);
    return writer.writeBinary(path, cloud, origin, orientation, false);
  }
  pcl::PCDWriter writer;
  if (data == "ascii") return writer.writeASCII(path, cloud, origin, orientation, kDigits);
  if (data == "binary_compressed") return writer.writeBinaryCompressed(path, cloud, origin, orientation);
  return writer.writeBinary(path, cloud, origin, orientation);
}

double sum_of_x(const pcl::PCLPointCloud2& cloud) {
  double sum = 0.0;
  for (const pcl::PCLPointField& field : cloud.fields) {
    if (field.name != "x" || field.datatype != pcl::PCLPointField::FLOAT32) continue;
    for (std::size_t at = field.offset; at < cloud.data.size(); at += cloud.point_step) {
      float x = 0.0F;
      std::memcpy(&x, cloud.data.data() + at, sizeof x);
      sum += static_cast<double>(x);
    }
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  std::string input;
  std::string output;
  std::string data = "binary";
  CLI::App app("Reads a PCD or PLY file with PCL and writes it again; prints the seconds of both");
  app.add_option("input", input)->required();
  app.add_option("output", output)->required();
  app.add_option("--data", data, "ascii, binary or binary_compressed")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  pcl::PCLPointCloud2 cloud;
  auto start = std::chrono::steady_clock::now();
  if (read(input, cloud) < 0) {
    fmt::print(stderr, "{}: PCL cannot read it\n", input);
    return 1;
  }
  const double read_s = seconds_since(start);
  start = std::chrono::steady_clock::now();
  if (write(output, data, cloud) < 0) {
    fmt::print(stderr, "{}: PCL cannot write it\n", output);
    return 1;
  }
  const double write_s = seconds_since(start);
  fmt::print("{{\"read_s\": {}, \"write_s\": {}, \"points\": {}, \"sum_of_x\": {}}}\n", read_s, write_s,
             static_cast<std::size_t>(cloud.width) * cloud.height, sum_of_x(cloud));
  return 0;
}
