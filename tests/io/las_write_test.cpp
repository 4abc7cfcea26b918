// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "io/las_bytes.hpp"
#include "sluice/core/error.hpp"
#include "sluice/core/version.hpp"

namespace sluice::test {
namespace {

class LasWrite : public ::testing::Test {
 protected:
  void SetUp() override { ::setenv("SOURCE_DATE_EPOCH", kEpoch, 1); }
  TemporaryFolder folder_;
};

class RoundTrip : public ::testing::TestWithParam<std::tuple<int, int>> {
 protected:
  void SetUp() override { ::setenv("SOURCE_DATE_EPOCH", kEpoch, 1); }
  TemporaryFolder folder_;
};

TEST_P(RoundTrip, KeepsEveryByte) {
  const auto [minor, format] = GetParam();
  LasBytes las{.minor = minor, .format = format, .extra = 11, .points = 60};
  las.encoding = static_cast<std::uint16_t>(0xff00 | (minor >= 4 ? 0x11 : 1));
  las.scale = {0.01, -0.001, 1e-7};
  las.vendor = "vendor bytes";
  las.gap = "gap";
  las.vlrs = {{"LASF_Spec", 4, extra_entry(10, "eight") + extra_entry(0, "three", 3), "with\0junk", 0xaabb},
              {std::string("user\0junk", 9), 65535, std::string(65535, 'v')},
              {"empty", 0, ""}};
  if (minor == 3) {
    las.lone_waveform = std::string(1000, 'w');
    las.encoding = static_cast<std::uint16_t>(las.encoding | 2);
  }
  if (minor >= 4) {
    las.evlrs = {{"first", 1, std::string(100000, 'e')}, {"LASF_Spec", 65535, std::string(500, 'w')}, {"last", 2, ""}};
    las.waveform_evlr = 1;
    las.encoding = static_cast<std::uint16_t>(las.encoding | 2);
  }
  std::string bytes = las.build();
  if (minor >= 5) put<std::uint16_t>(bytes, 391, 1234);
  write_file(folder_ / "in.las", bytes);
  const auto source = io::open_source(folder_ / "in.las");
  EXPECT_EQ(metadata_of(source->info()).has_waveforms(), minor >= 3);
  const auto warnings = copy_to(*source, folder_ / "out.las");
  EXPECT_TRUE(warnings.empty()) << joined(warnings);
  EXPECT_TRUE(read_file(folder_ / "out.las") == bytes) << "the output differs";
  EXPECT_EQ(folder_.names(), (std::vector<std::string>{"in.las", "out.las"}));
}

TEST_P(RoundTrip, KeepsTheFrameOfNoPoints) {
  const auto [minor, format] = GetParam();
  LasBytes las{.minor = minor, .format = format, .points = 0, .encoding = 0x10};
  las.vlrs = {{"me", 1, "kept"}};
  if (minor >= 4) las.evlrs = {{"me", 2, "kept too"}};
  const std::string bytes = las.build();
  const auto source = open_bytes(bytes);
  EXPECT_EQ(source->info().point_count, 0u);
  ChunkRange range;
  EXPECT_FALSE(source->next(10, range));
  copy_to(*source, folder_ / "out.las");
  EXPECT_EQ(read_file(folder_ / "out.las"), bytes);
}

INSTANTIATE_TEST_SUITE_P(Las, RoundTrip, ::testing::Combine(::testing::Range(0, 6), ::testing::Range(0, 11)),
                         [](const auto& tested) {
                           return "v1_" + std::to_string(std::get<0>(tested.param)) + "_format_" +
                                  std::to_string(std::get<1>(tested.param));
                         });

TEST_F(LasWrite, CountsReturnsAndBoundsAreThoseOfTheStoredPoints) {
  LasBytes las{.minor = 4, .format = 6, .points = 50, .encoding = 0x10};
  las.evlrs = {{"me", 1, "payload"}};
  const std::string bytes = las.build();
  const auto source = open_bytes(bytes);
  RecordBuffer buffer;
  {
    const auto sink = io::create_sink(folder_ / "out.las", source->info());
    EXPECT_EQ(sink->reserve(20), 0u);
    EXPECT_EQ(sink->reserve(0), 20u);
    EXPECT_EQ(sink->count(), 20u);
    // From a wider stride: every second record.
    PointView view = source->load({10, 40, 0}, buffer);
    view.stride *= 2;
    view.count = 20;
    sink->store(0, view);
    sink->seal();
    sink->finish();
  }
  std::string records;
  for (std::size_t i = 0; i < 20; ++i) records += las.records.substr((10 + 2 * i) * 30, 30);
  LasBytes expected = las;
  expected.points = 20;
  expected.records = records;
  std::string wanted = expected.build();
  std::string version = "sluice " + std::string(kVersion);
  version.resize(32, '\0');
  put_text(wanted, 58, version);
  EXPECT_EQ(read_file(folder_ / "out.las"), wanted);
}

TEST_F(LasWrite, StoresFromManyThreads) {
  LasBytes las{.minor = 4, .format = 3, .points = 20000};
  const std::string bytes = las.build();
  const auto source = open_bytes(bytes);
  {
    const auto sink = io::create_sink(folder_ / "out.las", source->info(), {.generator = kGenerator});
    EXPECT_EQ(sink->reserve(20000), 0u);
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        RecordBuffer own;
        for (std::uint64_t part = t; part < 200; part += 8)
          sink->store(part * 100, source->load({part * 100, 100, 0}, own));
      });
    }
    for (std::thread& thread : threads) thread.join();
    sink->seal();
    sink->finish();
  }
  EXPECT_TRUE(read_file(folder_ / "out.las") == bytes);
}

TEST_F(LasWrite, DropsWhatDescribesAnotherLayout) {
  LasBytes las{.minor = 4, .format = 6, .points = 5, .encoding = 0x12};
  las.vlrs = {{"copc", 1, "info"}, {"kept", 1, "a"}, {"LAStools", 30, "index"}, {"LAStools", 10, "tile, kept"}};
  las.evlrs = {{"copc", 1000, "hierarchy"}, {"LASF_Spec", 65535, "waves"}, {"LAStools", 30, "index"}, {"kept", 2, "b"}};
  las.waveform_evlr = 1;
  const auto source = open_bytes(las.build());
  const auto warnings = copy_to(*source, folder_ / "out.las");
  EXPECT_EQ(warnings.size(), 4u) << joined(warnings);
  EXPECT_TRUE(any_contains(warnings, "EVLR 'copc' 1000"));
  LasBytes expected = las;
  expected.vlrs = {las.vlrs[1], las.vlrs[3]};
  expected.evlrs = {las.evlrs[1], las.evlrs[3]};
  expected.waveform_evlr = 0;
  EXPECT_EQ(read_file(folder_ / "out.las"), expected.build());

  // A reader of compressed files hands on the record that described the compression.
  auto metadata = std::make_shared<io::LasMetadata>(metadata_of(source->info()));
  io::Vlr laszip;
  std::memcpy(laszip.user_id.data(), "laszip encoded", 14);
  laszip.record_id = 22204;
  metadata->vlrs.push_back(laszip);
  CloudInfo info = source->info();
  info.metadata = metadata;
  EXPECT_TRUE(any_contains(io::create_sink(folder_ / "other.las", info)->warnings(), "laszip encoded"));
}

TEST_F(LasWrite, NamesExternalWaveforms) {
  LasBytes las{.minor = 3, .format = 4, .points = 5, .encoding = 4};
  const auto warnings = copy_to(*open_bytes(las.build()), folder_ / "out.las");
  EXPECT_TRUE(any_contains(warnings, "test.wdp are not copied; readers look for " + (folder_ / "out.wdp")))
      << joined(warnings);
}

TEST_F(LasWrite, NothingAppearsBeforeFinishAndNothingStaysWithoutIt) {
  const auto source = open_bytes(LasBytes{}.build());
  {
    const auto sink = io::create_sink(folder_ / "out.las", source->info());
    EXPECT_EQ(folder_.names().size(), 1u);
    EXPECT_EQ(folder_.names()[0][0], '.');
    sink->seal();
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out.las"));
  }
  EXPECT_TRUE(folder_.names().empty());
  const auto sink = io::create_sink(folder_ / "out.las", source->info());
  EXPECT_THROW(sink->finish(), InvalidArgument);
  EXPECT_EQ(sink->reserve(3), 0u);
  EXPECT_THROW(sink->seal(), InvalidArgument) << "three places are empty";
  RecordBuffer buffer;
  EXPECT_THROW(sink->store(1, source->load({0, 3, 0}, buffer)), InvalidArgument);
}

TEST_F(LasWrite, ExistingFilesAreReplacedOnlyWhenAsked) {
  LasBytes las;
  const std::string bytes = las.build();
  const auto source = open_bytes(bytes);
  write_file(folder_ / "out.las", "old");
  ASSERT_EQ(::chmod((folder_ / "out.las").c_str(), 0640), 0);
  EXPECT_THROW(copy_to(*source, folder_ / "out.las"), IoError);
  EXPECT_EQ(read_file(folder_ / "out.las"), "old");
  copy_to(*source, folder_ / "out.las", {.overwrite = true});
  EXPECT_EQ(read_file(folder_ / "out.las"), bytes);
  struct stat status {};
  ASSERT_EQ(::stat((folder_ / "out.las").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);

  // Made by somebody else while this ran.
  const auto sink = io::create_sink(folder_ / "late.las", source->info());
  sink->seal();
  write_file(folder_ / "late.las", "theirs");
  EXPECT_THROW(sink->finish(), IoError);
  EXPECT_EQ(read_file(folder_ / "late.las"), "theirs");

  // A link stays a link.
  std::filesystem::create_symlink("out.las", folder_ / "link.las");
  write_file(folder_ / "out.las", "old");
  EXPECT_THROW(copy_to(*source, folder_ / "link.las"), IoError);
  copy_to(*source, folder_ / "link.las", {.overwrite = true});
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link.las"));
  EXPECT_EQ(read_file(folder_ / "out.las"), bytes);
}

TEST_F(LasWrite, AFileCanReplaceItself) {
  LasBytes las{.points = 5000};
  const std::string bytes = las.build();
  write_file(folder_ / "a.las", bytes);
  const auto source = io::open_source(folder_ / "a.las");
  copy_to(*source, folder_ / "a.las", {.overwrite = true});
  EXPECT_TRUE(read_file(folder_ / "a.las") == bytes);
}

TEST_F(LasWrite, RefusesWhatItCannotWrite) {
  const auto source = open_bytes(LasBytes{}.build());
  for (const char* name : {"a.copc.laz", "a.COPC.LAZ", "a.pcd", "a", "a.la"}) {
    EXPECT_THROW((void)io::create_sink(folder_ / name, source->info()), Unsupported) << name;
  }
  EXPECT_THROW((void)io::create_sink(folder_ / "absent/a.las", source->info()), IoError);
  std::filesystem::create_directory(folder_ / "d.las");
  EXPECT_THROW((void)io::create_sink(folder_ / "d.las", source->info(), {.overwrite = true}), IoError);
  EXPECT_THROW((void)io::create_sink(folder_ / "a.las", CloudInfo{}), Unsupported);
  CloudInfo odd = source->info();
  odd.schema.record_bytes = 29;
  EXPECT_THROW((void)io::create_sink(folder_ / "a.las", odd), InvalidArgument);
  const auto sink = io::create_sink(folder_ / "a.las", source->info());
  EXPECT_EQ(sink->reserve(0xffffffffULL), 0u);
  EXPECT_THROW((void)sink->reserve(1), Unsupported) << "LAS 1.2 counts 32 bits";
}

TEST_F(LasWrite, CreationDateFollowsTheEnvironment) {
  const auto source = open_bytes(LasBytes{}.build());
  ::setenv("SOURCE_DATE_EPOCH", "tomorrow", 1);
  EXPECT_THROW((void)io::create_sink(folder_ / "a.las", source->info()), InvalidArgument);
  EXPECT_TRUE(folder_.names().empty());
  ::setenv("SOURCE_DATE_EPOCH", "1735689599", 1);  // the last second of 2024, a leap year
  copy_to(*source, folder_ / "a.las");
  EXPECT_EQ(get<std::uint16_t>(read_file(folder_ / "a.las"), 90), 366);
  EXPECT_EQ(get<std::uint16_t>(read_file(folder_ / "a.las"), 92), 2024);
  ::setenv("SOURCE_DATE_EPOCH", "2005949145599", 1);
  copy_to(*source, folder_ / "last.las");
  EXPECT_EQ(get<std::uint16_t>(read_file(folder_ / "last.las"), 90), 365);
  EXPECT_EQ(get<std::uint16_t>(read_file(folder_ / "last.las"), 92), 65535);
  for (const char* beyond : {"2005949145600", "99999999999999999", "9223372036854775807", "9223372036854775808"}) {
    ::setenv("SOURCE_DATE_EPOCH", beyond, 1);
    EXPECT_THROW((void)io::create_sink(folder_ / "c.las", source->info()), InvalidArgument) << beyond;
  }
  ::unsetenv("SOURCE_DATE_EPOCH");
  copy_to(*source, folder_ / "b.las");
  EXPECT_GE(get<std::uint16_t>(read_file(folder_ / "b.las"), 92), 2024);
}

/// Runs something in a child process and gives its exit status, or the signal that ended it as a negative number.
int in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    int status = 99;
    try {
      status = body();
    } catch (...) {
    }
    ::_exit(status);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST_F(LasWrite, AFullDiskIsAnErrorAndLeavesNothing) {
  LasBytes las{.points = 5000};
  const auto source = open_bytes(las.build());
  write_file(folder_ / "old.las", "old");
  const int status = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{50000, 50000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    try {
      copy_to(*source, folder_ / "old.las", {.overwrite = true});
    } catch (const IoError& error) {
      return std::string(error.what()).find("cannot write") != std::string::npos ? 0 : 2;
    }
    return 3;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(folder_.names(), std::vector<std::string>{"old.las"});
  EXPECT_EQ(read_file(folder_ / "old.las"), "old");
}

TEST_F(LasWrite, StandardOutputGetsTheWholeFile) {
  LasBytes las{.points = 5000};
  const std::string bytes = las.build();
  const auto source = open_bytes(bytes);
  const auto copy_to_descriptor = [&](const char* target) {
    return in_child([&] {
      const int fd = ::open(target, O_WRONLY | O_CREAT | O_TRUNC, 0600);
      if (::dup2(fd, STDOUT_FILENO) < 0) return 1;
      try {
        copy_to(*source, "-");
      } catch (const IoError&) {
        return 2;
      }
      return 0;
    });
  };
  EXPECT_EQ(copy_to_descriptor((folder_ / "out").c_str()), 0);
  EXPECT_TRUE(read_file(folder_ / "out") == bytes);
  EXPECT_EQ(copy_to_descriptor("/dev/full"), 2);
}

TEST_F(LasWrite, PipesStayPipes) {
  LasBytes las;
  const std::string bytes = las.build();
  ASSERT_EQ(::mkfifo((folder_ / "pipe.las").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = read_file(folder_ / "pipe.las"); });
  copy_to(*open_bytes(bytes), folder_ / "pipe.las");
  reader.join();
  EXPECT_EQ(got, bytes);
}

extern "C" void remove_and_die(int signal) {
  io::remove_unfinished_outputs();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

TEST_F(LasWrite, ASignalHandlerCanRemoveUnfinishedOutputs) {
  const auto source = open_bytes(LasBytes{}.build());
  const auto kept = io::create_sink(folder_ / "parent.las", source->info());
  const int status = in_child([&] {
    const auto done = io::create_sink(folder_ / "done.las", source->info());
    const auto first = io::create_sink(folder_ / "first.las", source->info());
    const auto second = io::create_sink(folder_ / "second.las", source->info());
    done->seal();
    done->finish();
    std::signal(SIGTERM, remove_and_die);
    ::raise(SIGTERM);
    return 1;
  });
  EXPECT_EQ(status, -SIGTERM);
  EXPECT_EQ(folder_.names().size(), 2u) << "the parent's hidden file and the finished one";
  EXPECT_TRUE(std::filesystem::exists(folder_ / "done.las"));
  kept->seal();
  kept->finish();
  EXPECT_TRUE(std::filesystem::exists(folder_ / "parent.las"));
}

TEST_F(LasWrite, NewFilesFromALayout) {
  for (int minor = 0; minor <= 5; ++minor) {
    for (int format = 0; format <= 10; ++format) {
      io::LasLayout layout;
      layout.version_minor = minor;
      layout.point_format = format;
      layout.system_identifier = "sensor";
      layout.wkt = "LOCAL_CS[\"x\"]";
      layout.extra = {{"ring", FieldType::kUint16, "which beam", {}, {}},
                      {"range", FieldType::kInt32, "", 0.004, 10.0}};
      const bool known = format <= (minor <= 1   ? 1
                                    : minor == 2 ? 3
                                    : minor == 3 ? 5
                                                 : 10) &&
                         (minor < 5 || format >= 6);
      if (!known) {
        EXPECT_THROW((void)io::make_las_info(layout), InvalidArgument);
        continue;
      }
      const CloudInfo info = io::make_las_info(layout);
      EXPECT_TRUE(info.warnings.empty()) << joined(info.warnings);
      const std::string path = folder_ / "new.las";
      const auto sink = io::create_sink(path, info, {.overwrite = true});
      std::string records(3 * info.schema.record_bytes, '\0');
      for (std::size_t i = 0; i < 3; ++i) records[i * info.schema.record_bytes + 14] = 9;
      EXPECT_EQ(sink->reserve(3), 0u);
      sink->store(0, {reinterpret_cast<const std::byte*>(records.data()), 3, info.schema.record_bytes});
      sink->seal();
      sink->finish();
      const auto source = io::open_source(path);
      EXPECT_TRUE(source->info().warnings.empty()) << minor << " " << format << joined(source->info().warnings);
      EXPECT_EQ(read_all(*source), records);
      const io::LasMetadata& metadata = metadata_of(source->info());
      EXPECT_EQ(metadata.wkt(), layout.wkt);
      EXPECT_EQ(metadata.header.scale, layout.scale);
      EXPECT_EQ(source->info().schema.find("ring")->type, FieldType::kUint16);
      EXPECT_EQ(source->info().schema.find("range")->scale, 0.004);
      EXPECT_EQ(source->info().schema.find("range")->shift, 10.0);
    }
  }
  io::LasLayout bad;
  bad.scale[1] = 0.0;
  EXPECT_THROW((void)io::make_las_info(bad), InvalidArgument);
  bad = {};
  bad.system_identifier = std::string(33, 's');
  EXPECT_THROW((void)io::make_las_info(bad), InvalidArgument);
  bad = {};
  bad.version_minor = 6;
  EXPECT_THROW((void)io::make_las_info(bad), InvalidArgument);
  bad = {};
  bad.extra.assign(342, {"e", FieldType::kUint8, "", {}, {}});
  EXPECT_THROW((void)io::make_las_info(bad), InvalidArgument);
}

}  // namespace
}  // namespace sluice::test
