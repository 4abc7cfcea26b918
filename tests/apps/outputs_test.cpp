// SPDX-License-Identifier: Apache-2.0
#include "outputs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "kept_file.hpp"
#include "sluice/io/las.hpp"
#include "usage_error.hpp"

namespace sluice::app {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class OutputsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("sluice outputs ü " + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const char* name) const { return (folder_ / name).string(); }
  void put(const char* name, const char* text) const { std::ofstream(path(name)) << text; }
  [[nodiscard]] std::string text(const char* name) const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder_)) out.insert(entry.path().filename().string());
    return out;
  }

  fs::path folder_;
  CloudInfo like_ = io::make_las_info({});
};

TEST_F(OutputsTest, AFailureMidwayPutsBackWhatWasReplaced) {
  put("old.las", "old points");
  put("old.csv", "old table");
  fs::permissions(path("old.las"), fs::perms::owner_read);
  fs::create_symlink("real.las", path("link.las"));
  put("real.las", "behind a link");
  const auto inode = [&] {
    struct stat there = {};
    EXPECT_EQ(::stat(path("old.las").c_str(), &there), 0);
    return there.st_ino;
  };
  const auto before = inode();
  {
    Outputs outputs({.overwrite = true});
    (void)outputs.add_points(path("old.las"), like_);
    (void)outputs.add_table(path("old.csv"));
    (void)outputs.add_points(path("link.las"), like_);
    (void)outputs.add_points(path("new.las"), like_);
    (void)outputs.add_points(path("late.las"), like_);
    // Nothing can be renamed onto a folder.
    fs::create_directory(path("late.las"));
    EXPECT_THROW(outputs.commit(), IoError);
  }
  EXPECT_EQ(text("old.las"), "old points");
  EXPECT_EQ(inode(), before);
  EXPECT_EQ(text("old.csv"), "old table");
  EXPECT_EQ(text("real.las"), "behind a link");
  EXPECT_TRUE(fs::is_symlink(path("link.las")));
  EXPECT_THAT(names(), ElementsAre("late.las", "link.las", "old.csv", "old.las", "real.las"));
}

TEST_F(OutputsTest, AFailureMidwayLeavesWhatSomebodyElseMade) {
  {
    Outputs outputs({});
    (void)outputs.add_points(path("a.las"), like_);
    (void)outputs.add_points(path("b.las"), like_);
    put("b.las", "made meanwhile");
    EXPECT_THROW(outputs.commit(), IoError);
  }
  EXPECT_EQ(text("b.las"), "made meanwhile");
  EXPECT_THAT(names(), ElementsAre("b.las"));
}

TEST_F(OutputsTest, SuccessLeavesTheOutputsAlone) {
  put("old.las", "old points");
  Outputs outputs({.overwrite = true});
  (void)outputs.add_points(path("old.las"), like_);
  (void)outputs.add_table(path("new.csv"));
  outputs.commit();
  EXPECT_EQ(text("old.las").substr(0, 4), "LASF");
  EXPECT_EQ(text("new.csv"), "ix,iy,iz,first,count\n");
  EXPECT_THAT(names(), ElementsAre("new.csv", "old.las"));
}

TEST_F(OutputsTest, AStreamThatFailsLeavesTheFilesAlone) {
  put("old.las", "old points");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_TRUE(is_stream(path("pipe")));
  EXPECT_TRUE(is_stream("-"));
  EXPECT_FALSE(is_stream(path("old.las")));
  EXPECT_FALSE(is_stream(path("missing")));
  {
    Outputs outputs({.overwrite = true});
    (void)outputs.add_points(path("old.las"), like_);
    (void)outputs.add_points(path("new.las"), like_);
    (void)outputs.add_table("/dev/full");
    EXPECT_THROW(outputs.commit(), IoError);
  }
  EXPECT_EQ(text("old.las"), "old points");
  EXPECT_THAT(names(), ElementsAre("old.las", "pipe"));
}

TEST_F(OutputsTest, AreCheckedAgainstAllThatIsRead) {
  put("in.las", "points");
  put("area.csv", "POLYGON((0 0,1 0,1 1,0 0))");
  fs::create_symlink("area.csv", path("link.csv"));
  for (const char* table : {"area.csv", "link.csv"}) {
    EXPECT_THROW(check_outputs({path("in.las"), path("area.csv")}, {path("out.las")}, {path(table)}, true), UsageError);
  }
  EXPECT_NO_THROW(check_outputs({path("in.las"), path("area.csv")}, {path("out.las")}, {path("other.csv")}, true));
}

TEST_F(OutputsTest, RefusalsSayWhatIsThere) {
  fs::create_directory(path("folder.las"));
  put("file", "");
  const auto refusal = [&](const std::string& output, bool overwrite) -> std::string {
    try {
      check_outputs({}, {output}, {}, overwrite);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refusal(path("folder.las"), false), HasSubstr("is a folder"));
  EXPECT_THAT(refusal(path("folder.las"), true), HasSubstr("is a folder"));
  EXPECT_THAT(refusal(path("missing/a.las"), false), HasSubstr("folder does not exist"));
  EXPECT_THAT(refusal(path("file/a.las"), false), HasSubstr("file is no folder"));
  EXPECT_THAT(refusal("a.copc.laz", false), HasSubstr("a.copc.laz: .copc.laz files cannot be written"));
  EXPECT_THAT(refusal("A.COPC.LAZ", false), HasSubstr(".copc.laz files cannot be written"));
  EXPECT_THAT(refusal("a.nothing", false), HasSubstr("these can be written: .las"));
  EXPECT_EQ(refusal("-", false), "accepted");
}

}  // namespace
}  // namespace sluice::app
