// SPDX-License-Identifier: Apache-2.0
#include "selection_options.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "sluice/core/region.hpp"
#include "usage_error.hpp"

namespace sluice::app {
namespace {

/// What the options of a command line make.
Selection parsed(std::vector<std::string> arguments) {
  CLI::App command;
  std::vector<std::string> files;
  SelectionOptions options;
  command.add_option("files", files);
  options.add_to(command);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  command.parse(reversed);
  return options.build();
}

TEST(SelectionOptions, NegativeNumbersAreValues) {
  const Selection selection =
      parsed({"--box", "-5,-4,5,4", "in.las", "--box=-1,-2,-3,1,2,3", "--sphere", "-1,-2,-3,4", "other.las"});
  ASSERT_EQ(selection.regions.size(), 3U);
  const Box& flat = std::get<Box>(selection.regions[0]);
  EXPECT_EQ(flat.min[0], -5.0);
  EXPECT_EQ(flat.max[1], 4.0);
  EXPECT_EQ(flat.min[2], -std::numeric_limits<double>::infinity());
  const Box& solid = std::get<Box>(selection.regions[1]);
  EXPECT_EQ(solid.min[2], -3.0);
  EXPECT_EQ(solid.max[0], 1.0);
  EXPECT_EQ(std::get<Sphere>(selection.regions[2]).radius, 4.0);
}

TEST(SelectionOptions, EveryRegionHasItsForms) {
  EXPECT_EQ(parse_oriented_box("1,2,3,4,5,6,-30").yaw, -30.0);
  EXPECT_EQ(parse_oriented_box("1,2,3,4,5,6,7,8,9").roll, 9.0);
  EXPECT_EQ(parse_cylinder("1,2,3").z_max, std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse_cylinder("1,2,3,-4,5").z_min, -4.0);
  EXPECT_EQ(parse_half_space("0,0,-1,8").offset, 8.0);
  EXPECT_EQ(parse_range("1,inf").max, std::numeric_limits<double>::infinity());
  EXPECT_EQ(parse_range("1,2,3,4,5").center[2], 5.0);
  EXPECT_EQ(parse_sector("350,10").el1, 90.0);
  EXPECT_EQ(parse_sector("350,10,-5,5").el0, -5.0);
  EXPECT_EQ(parse_sector("350,10,-5,5,1,2,3").center[0], 1.0);
}

TEST(SelectionOptions, NonsenseIsWrongUsage) {
  EXPECT_THROW((void)parse_box("5,0,4,1"), UsageError);
  EXPECT_THROW((void)parse_box("0,0,5,1,1,4"), UsageError);
  EXPECT_THROW((void)parse_box("0,0,1"), UsageError);
  EXPECT_THROW((void)parse_box("0,0,nan,1"), UsageError);
  EXPECT_THROW((void)parse_sphere("0,0,0,-1"), UsageError);
  EXPECT_THROW((void)parse_sphere("0,0,inf,1"), UsageError);
  EXPECT_THROW((void)parse_cylinder("0,0,-1"), UsageError);
  EXPECT_THROW((void)parse_cylinder("0,0,1,5,4"), UsageError);
  EXPECT_THROW((void)parse_oriented_box("0,0,0,1,-1,1,0"), UsageError);
  EXPECT_THROW((void)parse_oriented_box("0,0,0,1,1,1,0,0"), UsageError);
  EXPECT_THROW((void)parse_half_space("0,0,0,1"), UsageError);
  EXPECT_THROW((void)parse_range("2,1"), UsageError);
  EXPECT_THROW((void)parse_range("-1,1"), UsageError);
  EXPECT_THROW((void)parse_sector("0,10,5,-5"), UsageError);
  EXPECT_THROW((void)parse_sector("0,10,-91,5"), UsageError);
  EXPECT_THROW((void)parse_sector("0,10,5"), UsageError);
  EXPECT_THROW((void)parsed({"--fraction", "1.5"}), UsageError);
  EXPECT_THROW((void)parsed({"--every", "0"}), UsageError);
  EXPECT_THROW((void)parsed({"--where", "z <"}), UsageError);
}

TEST(SelectionOptions, EmptyValuesAreRefusedByName) {
  for (const char* option : {"--box", "--obb", "--sphere", "--cylinder", "--polygon", "--halfspace", "--range",
                             "--sector", "--where", "--every", "--fraction", "--seed"}) {
    try {
      (void)parsed({option, ""});
      ADD_FAILURE() << option;
    } catch (const CLI::ParseError& error) {
      EXPECT_EQ(std::string(error.what()), std::string(option) + ": the value is empty");
    }
  }
}

TEST(SelectionOptions, InvertNeedsSomethingToTurnRound) {
  EXPECT_THROW((void)parsed({"--invert"}), UsageError);
  EXPECT_THROW((void)parsed({"--invert", "--every", "2", "--fraction", "0.5", "--drop-zero"}), UsageError);
  EXPECT_TRUE(parsed({"--invert", "--where", "z > 1"}).invert);
  EXPECT_TRUE(parsed({"--invert", "--sphere", "0,0,0,1"}).invert);
}

TEST(SelectionOptions, AttributesAreKept) {
  const Selection selection = parsed({"--where", "z > -5", "--where", "!(classification in (2,6))", "--invert",
                                      "--drop-zero", "--every", "3", "--fraction", "0.25", "--seed", "9"});
  EXPECT_EQ(selection.where.size(), 2U);
  EXPECT_TRUE(selection.invert);
  EXPECT_TRUE(selection.drop_zero);
  EXPECT_EQ(selection.every, 3U);
  EXPECT_EQ(selection.fraction, 0.25);
  EXPECT_EQ(selection.seed, 9U);
}

}  // namespace
}  // namespace sluice::app
