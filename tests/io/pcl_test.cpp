// SPDX-License-Identifier: Apache-2.0
/// \file
/// PCL: its clouds in memory are read where they are, its files agree with ours both ways.
#include "sluice/io/pcl.hpp"

#include <gtest/gtest.h>
#include <pcl/PCLPointCloud2.h>
#include <pcl/common/io.h>
#include <pcl/conversions.h>
#include <pcl/io/pcd_io.h>
#include <pcl/point_types.h>

#include "io/rows.hpp"

namespace sluice::test {
namespace {

pcl::PointCloud<pcl::PointXYZI> some_points(std::uint32_t width, std::uint32_t height) {
  pcl::PointCloud<pcl::PointXYZI> cloud(width, height);
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0.F, 10.F);
  for (pcl::PointXYZI& p : cloud.points) {
    p.x = normal(random);
    p.y = normal(random);
    p.z = normal(random);
    p.intensity = normal(random);
  }
  return cloud;
}

TEST(PclCloud, IsViewedWhereItIs) {
  const auto cloud = some_points(20, 5);
  const CloudInfo info = io::info_of_pcl(cloud, pcl::getFields<pcl::PointXYZI>());
  EXPECT_EQ(field_names(info), (std::vector<std::string>{"x", "y", "z", "intensity"}));
  EXPECT_EQ(info.schema.record_bytes, sizeof(pcl::PointXYZI));
  EXPECT_EQ(info.frame.kind, CoordinateKind::kFloat32);
  EXPECT_TRUE(io::is_organized(info));
  const PointView view = io::view_of_pcl(cloud);
  EXPECT_EQ(view.records, reinterpret_cast<const std::byte*>(cloud.points.data()));
  EXPECT_EQ(view.count, 100u);
  const Position p = load_position(info.frame.positions(view.records, view.stride), 37);
  EXPECT_EQ(p.world[1], static_cast<double>(cloud[37].y));

  pcl::PCLPointCloud2 message;
  pcl::toPCLPointCloud2(cloud, message);
  EXPECT_EQ(io::view_of_pcl(message).records, reinterpret_cast<const std::byte*>(message.data.data()));
  EXPECT_EQ(io::info_of_pcl(message).schema.record_bytes, message.point_step);
}

TEST(PclCloud, ComesBackAsItWas) {
  const auto cloud = some_points(20, 5);
  const auto fields = pcl::getFields<pcl::PointXYZI>();
  const CloudInfo info = io::info_of_pcl(cloud, fields);
  pcl::PointCloud<pcl::PointXYZI> back;
  io::copy_to_pcl(info, io::view_of_pcl(cloud), back, fields);
  EXPECT_EQ(back.width, 20u);
  EXPECT_EQ(back.height, 5u);
  EXPECT_EQ(std::memcmp(back.points.data(), cloud.points.data(), 100 * sizeof(pcl::PointXYZI)), 0);
  const PointView few{io::view_of_pcl(cloud).records, 7, sizeof(pcl::PointXYZI)};
  io::copy_to_pcl(info, few, back, fields);
  EXPECT_EQ(back.width, 7u);
  EXPECT_EQ(back.height, 1u);
  pcl::PointCloud<pcl::PointXYZ> other;
  EXPECT_THROW(io::copy_to_pcl(info, few, other, pcl::getFields<pcl::PointXYZ>()), Unsupported);

  pcl::PCLPointCloud2 message;
  pcl::toPCLPointCloud2(cloud, message);
  pcl::PCLPointCloud2 copy;
  io::copy_to_pcl(io::info_of_pcl(message), io::view_of_pcl(message), copy);
  EXPECT_EQ(copy.data, message.data);
  EXPECT_EQ(copy.point_step, message.point_step);
  ASSERT_EQ(copy.fields.size(), message.fields.size());
  for (std::size_t i = 0; i < copy.fields.size(); ++i) {
    EXPECT_EQ(copy.fields[i].name, message.fields[i].name);
    EXPECT_EQ(copy.fields[i].offset, message.fields[i].offset);
    EXPECT_EQ(copy.fields[i].datatype, message.fields[i].datatype);
  }
}

TEST(PclCloud, WhatContradictsItselfIsRefused) {
  pcl::PCLPointCloud2 good;
  pcl::toPCLPointCloud2(some_points(4, 1), good);
  const auto refused = [&](auto change) {
    pcl::PCLPointCloud2 bad = good;
    change(bad);
    EXPECT_THROW((void)io::info_of_pcl(bad), InvalidArgument);
  };
  refused([](pcl::PCLPointCloud2& c) { c.width = 5; });
  refused([](pcl::PCLPointCloud2& c) { c.data.resize(c.data.size() - 1); });
  refused([](pcl::PCLPointCloud2& c) { c.fields[1].offset = 2; });
  refused([](pcl::PCLPointCloud2& c) { c.fields[0].datatype = 9; });
  refused([](pcl::PCLPointCloud2& c) { c.fields[3].count = 100; });
  refused([](pcl::PCLPointCloud2& c) { c.fields[0].name = "X1"; });
  refused([](pcl::PCLPointCloud2& c) { c.is_bigendian = true; });
  refused([](pcl::PCLPointCloud2& c) { c.row_step += 8; });
}

class PclFiles : public ::testing::TestWithParam<io::PcdData> {};

TEST_P(PclFiles, AgreeBothWays) {
  const TemporaryFolder folder;
  const auto cloud = some_points(100, 30);
  pcl::PCLPointCloud2 message;
  pcl::toPCLPointCloud2(cloud, message);
  pcl::PCDWriter writer;
  const Eigen::Vector4f origin = Eigen::Vector4f::Zero();
  const Eigen::Quaternionf turn = Eigen::Quaternionf::Identity();
  const std::string theirs = folder / "theirs.pcd";
  if (GetParam() == io::PcdData::kAscii) {
    // Nine digits tell any two floats apart.
    ASSERT_EQ(writer.writeASCII(theirs, message, origin, turn, 9), 0);
  } else if (GetParam() == io::PcdData::kBinary) {
    ASSERT_EQ(writer.writeBinary(theirs, message, origin, turn), 0);
  } else {
    ASSERT_EQ(writer.writeBinaryCompressed(theirs, message, origin, turn), 0);
  }
  const auto source = io::open_source(theirs);
  EXPECT_EQ(dynamic_cast<const io::PcdMetadata&>(*source->info().metadata).data, GetParam());
  const std::vector<double> x = column_of(*source, "x");
  const std::vector<double> intensity = column_of(*source, "intensity");
  ASSERT_EQ(x.size(), 3000u);
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(x[i], static_cast<double>(cloud[i].x));
    ASSERT_EQ(intensity[i], static_cast<double>(cloud[i].intensity));
  }

  (void)copy_to(*source, folder / "ours.pcd");
  pcl::PointCloud<pcl::PointXYZI> back;
  ASSERT_EQ(pcl::io::loadPCDFile(folder / "ours.pcd", back), 0);
  ASSERT_EQ(back.width, 100u);
  ASSERT_EQ(back.height, 30u);
  for (std::size_t i = 0; i < cloud.size(); ++i) {
    ASSERT_EQ(back[i].x, cloud[i].x);
    ASSERT_EQ(back[i].z, cloud[i].z);
    ASSERT_EQ(back[i].intensity, cloud[i].intensity);
  }
}

INSTANTIATE_TEST_SUITE_P(All, PclFiles,
                         ::testing::Values(io::PcdData::kAscii, io::PcdData::kBinary, io::PcdData::kCompressed));

}  // namespace
}  // namespace sluice::test
