// SPDX-License-Identifier: Apache-2.0
#include "polygon_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "usage_error.hpp"

namespace sluice::app {
namespace {

using testing::HasSubstr;

std::string message_of(const char* wkt) {
  try {
    (void)parse_wkt_polygon(wkt);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Wkt, ReadsAnySpacingCaseAndDimension) {
  for (const char* text : {"POLYGON((0 0,4 0,4 3,0 0))", "  polygon ( ( 0 0 , 4\n0 ,4\t3,0 0 ) ) ",
                           "SRID=25832;Polygon((0 0,4 0,4 3,0 0))", "POLYGON Z ((0 0 9,4 0 9,4 3 9,0 0 9))",
                           "POLYGONZ((0 0 9,4 0 9,4 3 9,0 0 9))", "POLYGON ZM((0 0 9 1,4 0 9 1,4 3 9 1,0 0 9 1))",
                           "MULTIPOLYGON(((0 0,4 0,4 3,0 0)))", "POLYGON((0 0,+4.0 0e0,4 3))"}) {
    const Polygon polygon = parse_wkt_polygon(text);
    ASSERT_EQ(polygon.rings.size(), 1U) << text;
    EXPECT_GE(polygon.rings[0].size(), 3U);
    EXPECT_EQ(polygon.rings[0][1].x, 4.0);
    EXPECT_EQ(polygon.rings[0][2].y, 3.0);
  }
}

TEST(Wkt, ReadsHolesAndSeveralPolygons) {
  EXPECT_EQ(parse_wkt_polygon("POLYGON((0 0,9 0,9 9,0 9,0 0),(1 1,2 1,2 2,1 1))").rings.size(), 2U);
  EXPECT_EQ(parse_wkt_polygon("MULTIPOLYGON(((0 0,9 0,9 9,0 0)),EMPTY,((20 0,29 0,29 9,20 0),(21 1,22 1,22 2,21 1)))")
                .rings.size(),
            3U);
  EXPECT_TRUE(parse_wkt_polygon("POLYGON EMPTY").rings.empty());
  EXPECT_TRUE(parse_wkt_polygon("multipolygon z empty").rings.empty());
}

TEST(Wkt, ErrorsNameTheColumn) {
  EXPECT_EQ(message_of("POLYGON((0 0,1 x,1 1))"), "WKT, column 16: a finite number expected, found 'x,1 1))'");
  EXPECT_EQ(message_of("POLYGON((0 0,1 0,1 1)"), "WKT, column 22: ')' expected, found the end");
  EXPECT_THAT(message_of("POINT(1 2)"), HasSubstr("column 1: POLYGON or MULTIPOLYGON expected"));
  EXPECT_THAT(message_of("POLYGON((0 0,1 0,0 0))"), HasSubstr("three corners"));
  EXPECT_THAT(message_of("POLYGON((0 0,1 0,1 1)) x"), HasSubstr("the end expected, found 'x'"));
  EXPECT_THAT(message_of("POLYGON((0 nan,1 0,1 1))"), HasSubstr("finite number"));
  EXPECT_THAT(message_of("POLYGON((0 0 1 2 3,1 0,1 1))"), HasSubstr("')' expected"));
  EXPECT_THAT(message_of(""), HasSubstr("found the end"));
}

TEST(GeoJson, EachGeometryIsARegion) {
  const char* square =
      R"({"type":"Polygon","coordinates":[[[0,0],[4,0],[4,4],[0,4],[0,0]],[[1,1],[2,1],[2,2],[1,1]]]})";
  const auto one = parse_geojson_polygons(square);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].rings.size(), 2U);
  const std::string feature = std::string(R"({"type":"Feature","properties":null,"geometry":)") + square + "}";
  EXPECT_EQ(parse_geojson_polygons(feature).size(), 1U);
  const std::string empty_feature = R"({"type":"Feature","properties":null,"geometry":null})";
  const std::string collection =
      R"({"type":"FeatureCollection","features":[)" + feature + "," + empty_feature + "," + feature + "]}";
  EXPECT_EQ(parse_geojson_polygons(collection).size(), 2U);
  const auto multi = parse_geojson_polygons(
      R"({"type":"MultiPolygon","coordinates":[[[[0,0,7],[1,0,7],[1,1,7],[0,0,7]]],[[[5,0],[6,0],[6,1],[5,0]]]]})");
  ASSERT_EQ(multi.size(), 1U);
  EXPECT_EQ(multi[0].rings.size(), 2U);
}

TEST(GeoJson, NothingIsNoPolygon) {
  EXPECT_TRUE(parse_geojson_polygons(R"({"type":"FeatureCollection","features":[]})").empty());
}

TEST(GeoJson, IsRefusedWhereItIsNestedTooDeeply) {
  const auto nested = [](int levels) {
    std::string text;
    for (int i = 0; i < levels; ++i) text += R"({"type":"GeometryCollection","geometries":[)";
    for (int i = 0; i < levels; ++i) text += "]}";
    return text;
  };
  EXPECT_TRUE(parse_geojson_polygons(nested(40)).empty());
  EXPECT_THROW((void)parse_geojson_polygons(nested(20000)), InputError);
}

TEST(GeoJson, ErrorsNameThePlace) {
  const auto message = [](const char* text) -> std::string {
    try {
      (void)parse_geojson_polygons(text);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(message(R"({"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point"}}]})"),
              HasSubstr("features[0].geometry: \"Point\" is no polygon"));
  EXPECT_THAT(message(R"({"type":"Polygon","coordinates":[[[0,0],[1,"a"],[1,1]]]})"), HasSubstr("coordinates[0][1]"));
  EXPECT_THAT(message(R"({"type":"Polygon"})"), HasSubstr("\"coordinates\" is missing"));
  EXPECT_THAT(message(R"({"type":"Polygon","coordinates":[[[0,0],[1,1]]]})"), HasSubstr("three corners"));
  EXPECT_THAT(message(R"({"type":)"), HasSubstr("line 1"));
  EXPECT_THAT(message("[1]"), HasSubstr("an object expected"));
}

TEST(PolygonOption, IsTextOrFile) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "sluice polygon ü";
  std::filesystem::create_directories(folder);
  const std::string wkt = (folder / "a.wkt").string();
  const std::string json = (folder / "a (1).geojson").string();
  std::ofstream(wkt) << "\xef\xbb\xbf POLYGON((0 0,1 0,1 1,0 0))\n";
  std::ofstream(json) << "\n {\"type\":\"Polygon\",\"coordinates\":[[[0,0],[1,0],[1,1],[0,0]]]}";
  EXPECT_EQ(polygons_of_option(wkt).size(), 1U);
  EXPECT_EQ(polygons_of_option(json).size(), 1U);
  EXPECT_EQ(polygons_of_option("Polygon((0 0,1 0,1 1,0 0))").size(), 1U);
  EXPECT_THROW((void)polygons_of_option("POLYGON((0 0))"), UsageError);
  EXPECT_THROW((void)polygons_of_option((folder / "missing.wkt").string()), InputError);
  // A file without a polygon would keep nothing, in silence.
  const std::string nothing = (folder / "nothing").string();
  for (const char* text : {"", " \n", "\xef\xbb\xbf", "POLYGON EMPTY", "MULTIPOLYGON(EMPTY)",
                           R"({"type":"FeatureCollection","features":[]})",
                           R"({"type":"MultiPolygon","coordinates":[]})", R"({"type":"Feature","geometry":null})"}) {
    std::ofstream(nothing) << text;
    try {
      (void)polygons_of_option(nothing);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(nothing));
    }
  }
  try {
    (void)polygons_of_option(folder.string());
    ADD_FAILURE() << "a folder was accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr(folder.string() + ": is a folder"));
  }
  EXPECT_TRUE(names_polygon_file(wkt));
  EXPECT_TRUE(names_polygon_file(json));
  EXPECT_TRUE(names_polygon_file((folder / "missing.wkt").string()));
  EXPECT_FALSE(names_polygon_file("Polygon((0 0,1 0,1 1,0 0))"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace sluice::app
