// SPDX-License-Identifier: Apache-2.0
/// \file
/// Deliberately broken kernels, each beside its mended twin: the checker must find the hazard and name it, and say
/// nothing of the twin.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/simt/emulated/device.hpp"
#include "kernels/simt/launch.hpp"
#include "simt/broken/barrier_in_branch.hpp"
#include "simt/broken/barrier_in_loop.hpp"
#include "simt/broken/block_order.hpp"
#include "simt/broken/copy_not_done.hpp"
#include "simt/broken/copy_without_barrier.hpp"
#include "simt/broken/early_flag.hpp"
#include "simt/broken/far_away.hpp"
#include "simt/broken/host_counter.hpp"
#include "simt/broken/host_memory.hpp"
#include "simt/broken/inclusive_for_exclusive.hpp"
#include "simt/broken/lane_outside.hpp"
#include "simt/broken/misaligned.hpp"
#include "simt/broken/offset_of_compaction.hpp"
#include "simt/broken/offset_of_scan.hpp"
#include "simt/broken/partial_warp.hpp"
#include "simt/broken/plain_counter.hpp"
#include "simt/broken/read_after_write.hpp"
#include "simt/broken/relaxed_flag.hpp"
#include "simt/broken/tail_over_read.hpp"
#include "simt/broken/tail_over_run.hpp"
#include "simt/broken/uninitialised_shared.hpp"
#include "simt/broken/write_after_read.hpp"
#include "simt/broken/write_after_write.hpp"
#include "simt/support/device_array.hpp"

namespace sluice::test {
namespace {

using namespace broken;
using simt::emulated::Actor;
using simt::emulated::Device;
using simt::emulated::Hazard;
using simt::emulated::Report;
using simt::emulated::Settings;

constexpr std::uint64_t kSeeds = 8;

/// What the reports of a broken kernel must have in common with one of those found.
struct Expected {
  Hazard hazard;
  const char* kernel;
  const char* file;      ///< in broken/, which marks the line
  const char* variable;  ///< that the report's begins with; "" where there is none
  unsigned actors = 2;
};

int marked_line(const char* file) {
  std::ifstream in(std::string(SLUICE_SOURCE_DIR) + "/tests/simt/broken/" + file);
  std::string text;
  for (int line = 1; std::getline(in, text); ++line) {
    if (text.find("// reported") != std::string::npos) return line;
  }
  return 0;
}

class BrokenKernels : public testing::Test {
 protected:
  void TearDown() override { Device::get().configure(Settings{}); }

  /// \param make    gives a kernel on fresh memory and calls back with it, once for each schedule
  template <typename MakeT>
  static std::vector<Report> reports_of(const MakeT& make) {
    std::vector<Report> out;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      Settings settings;
      settings.seed = seed;
      Device::get().configure(settings);
      make([&](const auto& kernel, std::uint64_t blocks) {
        Device::get().collect_reports();
        simt::emulated::run<SLUICE_SIMT_WARP_WIDTH>(kernel, blocks);
        const std::vector<Report> reports = Device::get().take_reports();
        out.insert(out.end(), reports.begin(), reports.end());
      });
    }
    return out;
  }

  static std::string text_of(const std::vector<Report>& reports) {
    std::string out = std::to_string(reports.size()) + " reports:";
    for (const Report& report : reports) out += "\n" + report.text();
    return out;
  }

  /// \param with  called with a constant that is false for the broken kernel and true for its twin, and what to run
  template <typename WithT>
  static void expect_found(const Expected& expected, const WithT& with) {
    if (!simt::emulated::kInstrumented && expected.hazard != Hazard::kBarrierDivergence &&
        expected.hazard != Hazard::kPartialWarp && expected.hazard != Hazard::kNoProgress) {
      GTEST_SKIP() << "accesses are not seen in this build";
    }
    const std::vector<Report> broken = reports_of([&](const auto& run) { with(std::false_type(), run); });
    const int line = marked_line(expected.file);
    ASSERT_NE(line, 0);
    const std::string file = std::string("tests/simt/broken/") + expected.file;
    const auto other_fits = [&](const Actor& first, const Actor& other) {
      if (first.block == other.block && first.thread == other.thread) return false;
      // A thread that has ended is at no line any more.
      return other.what == "has ended" || (other.file == file && other.line != 0);
    };
    const auto fits = [&](const Report& report) {
      return report.hazard == expected.hazard && report.kernel == std::string(expected.kernel) + "<false>" &&
             report.variable.rfind(expected.variable, 0) == 0 && report.variable.empty() == (*expected.variable == 0) &&
             report.actors.size() >= expected.actors && report.actors[0].file == file &&
             report.actors[0].line == line && (expected.actors < 2 || other_fits(report.actors[0], report.actors[1]));
    };
    EXPECT_TRUE(std::any_of(broken.begin(), broken.end(), fits)) << "line " << line << ", " << text_of(broken);
    const std::vector<Report> mended = reports_of([&](const auto& run) { with(std::true_type(), run); });
    EXPECT_TRUE(mended.empty()) << text_of(mended);
  }

  static std::vector<std::uint32_t> zeros(std::size_t count) { return std::vector<std::uint32_t>(count); }
  static std::vector<std::uint32_t> numbers(std::size_t count) {
    std::vector<std::uint32_t> out(count);
    std::iota(out.begin(), out.end(), 1U);
    return out;
  }
};

TEST_F(BrokenKernels, ReadAfterWrite) {
  const Expected expected{Hazard::kReadAfterWrite, "broken::ReadAfterWrite", "read_after_write.hpp", "shared.slots["};
  expect_found(expected, [](auto fixed, const auto& run) {
    const DeviceArray<std::uint32_t> out(256);
    run(ReadAfterWrite<fixed()>{out.data()}, 1);
  });
}

TEST_F(BrokenKernels, WriteAfterRead) {
  const Expected expected{Hazard::kWriteAfterRead, "broken::WriteAfterRead", "write_after_read.hpp", "shared.slots["};
  expect_found(expected, [](auto fixed, const auto& run) {
    const DeviceArray<std::uint32_t> in(numbers(256));
    const DeviceArray<std::uint32_t> out(256);
    run(WriteAfterRead<fixed()>{in.data(), out.data()}, 1);
  });
}

TEST_F(BrokenKernels, WriteAfterWrite) {
  const Expected expected{Hazard::kWriteAfterWrite, "broken::WriteAfterWrite", "write_after_write.hpp", "out["};
  expect_found(expected, [](auto fixed, const auto& run) {
    const DeviceArray<std::uint32_t> in(numbers(256));
    const DeviceArray<std::uint32_t> out(256);
    run(WriteAfterWrite<fixed()>{in.data(), out.data()}, 1);
  });
}

TEST_F(BrokenKernels, BarrierInBranch) {
  const Expected expected{Hazard::kBarrierDivergence, "broken::BarrierInBranch", "barrier_in_branch.hpp", ""};
  expect_found(expected, [](auto fixed, const auto& run) {
    const DeviceArray<std::uint32_t> out(256);
    run(BarrierInBranch<fixed()>{out.data()}, 1);
  });
}

TEST_F(BrokenKernels, BarrierInLoop) {
  const Expected expected{Hazard::kBarrierDivergence, "broken::BarrierInLoop", "barrier_in_loop.hpp", ""};
  expect_found(expected, [](auto fixed, const auto& run) {
    const DeviceArray<std::uint32_t> out(256);
    run(BarrierInLoop<fixed()>{out.data()}, 1);
  });
}

TEST_F(BrokenKernels, PartialWarp) {
  const Expected expected{Hazard::kPartialWarp, "broken::PartialWarp", "partial_warp.hpp", ""};
  expect_found(expected, [](auto fixed, const auto& run) {
    const DeviceArray<std::uint32_t> out(128);
    run(PartialWarp<fixed()>{out.data()}, 1);
  });
}

TEST_F(BrokenKernels, LaneOutside) {
  const Expected expected{Hazard::kPartialWarp, "broken::LaneOutside", "lane_outside.hpp", "", 1};
  expect_found(expected, [](auto fixed, const auto& run) {
    const DeviceArray<std::uint32_t> out(128);
    run(LaneOutside<fixed()>{out.data()}, 1);
  });
}

TEST_F(BrokenKernels, UninitialisedShared) {
  const Expected expected{Hazard::kUninitialised, "broken::UninitialisedShared", "uninitialised_shared.hpp",
                          "shared.slots[", 1};
  expect_found(expected, [](auto fixed, const auto& run) {
    const DeviceArray<std::uint32_t> in(numbers(200));
    const DeviceArray<std::uint32_t> out(256);
    run(UninitialisedShared<fixed()>{in.data(), 200, out.data()}, 1);
  });
}

/// Items of three blocks, their exclusive sums, and those of the blocks.
struct Scan {
  std::vector<std::uint32_t> in = numbers_of(768);
  std::vector<std::uint32_t> sums = exclusive(in);
  std::vector<std::uint32_t> offsets = {sums[0], sums[256], sums[512]};

  static std::vector<std::uint32_t> numbers_of(std::size_t count) {
    std::vector<std::uint32_t> out(count);
    std::iota(out.begin(), out.end(), 1U);
    return out;
  }
  static std::vector<std::uint32_t> exclusive(const std::vector<std::uint32_t>& in) {
    std::vector<std::uint32_t> out(in.size());
    std::exclusive_scan(in.begin(), in.end(), out.begin(), 0U);
    return out;
  }
};

TEST_F(BrokenKernels, OffsetOfScan) {
  const Expected expected{Hazard::kMissingBlockOffset, "broken::OffsetOfScan", "offset_of_scan.hpp", "out[256]", 1};
  expect_found(expected, [](auto fixed, const auto& run) {
    const Scan scan;
    const DeviceArray<std::uint32_t> in(scan.in);
    const DeviceArray<std::uint32_t> offsets(scan.offsets);
    const DeviceArray<std::uint32_t> out(scan.in.size());
    Device::get().expect(out.data(), scan.sums);
    run(OffsetOfScan<fixed()>{in.data(), offsets.data(), out.data()}, 3);
  });
}

TEST_F(BrokenKernels, OffsetOfCompaction) {
  const Expected expected{Hazard::kMissingBlockOffset, "broken::OffsetOfCompaction", "offset_of_compaction.hpp",
                          "out["};
  expect_found(expected, [](auto fixed, const auto& run) {
    const DeviceArray<std::uint32_t> in(numbers(768));
    const DeviceArray<std::uint32_t> offsets(std::vector<std::uint32_t>{0, 128, 256});
    const DeviceArray<std::uint32_t> out(768);
    run(OffsetOfCompaction<fixed()>{in.data(), offsets.data(), out.data()}, 3);
  });
}

TEST_F(BrokenKernels, InclusiveForExclusive) {
  const Expected expected{Hazard::kInclusiveForExclusive, "broken::InclusiveForExclusive",
                          "inclusive_for_exclusive.hpp", "out[0]", 1};
  expect_found(expected, [](auto fixed, const auto& run) {
    const Scan scan;
    const DeviceArray<std::uint32_t> in(scan.in);
    const DeviceArray<std::uint32_t> offsets(scan.offsets);
    const DeviceArray<std::uint32_t> out(scan.in.size());
    Device::get().expect(out.data(), scan.sums);
    run(InclusiveForExclusive<fixed()>{in.data(), offsets.data(), out.data()}, 3);
  });
}

TEST_F(BrokenKernels, RelaxedFlag) {
  const Expected expected{Hazard::kUnorderedBlocks, "broken::RelaxedFlag", "relaxed_flag.hpp", "sums["};
  expect_found(expected, [](auto fixed, const auto& run) {
    const DeviceArray<std::uint32_t> ticket(zeros(1));
    const DeviceArray<std::uint32_t> flags(zeros(6));
    const DeviceArray<std::uint32_t> sums(6);
    run(RelaxedFlag<fixed()>{ticket.data(), flags.data(), sums.data()}, 6);
  });
}

TEST_F(BrokenKernels, EarlyFlag) {
  const Expected expected{Hazard::kUnorderedBlocks, "broken::EarlyFlag", "early_flag.hpp", "value["};
  expect_found(expected, [](auto fixed, const auto& run) {
    const DeviceArray<std::uint32_t> ticket(zeros(1));
    const DeviceArray<std::uint32_t> flag(zeros(1));
    const DeviceArray<std::uint32_t> value(1);
    const DeviceArray<std::uint32_t> out(4);
    run(EarlyFlag<fixed()>{ticket.data(), flag.data(), value.data(), out.data()}, 4);
  });
}

TEST_F(BrokenKernels, TailOverRun) {
  const Expected expected{Hazard::kOutOfBounds, "broken::TailOverRun", "tail_over_run.hpp", "out[", 1};
  expect_found(expected, [](auto fixed, const auto& run) {
    const DeviceArray<std::uint32_t> out(1000);
    run(TailOverRun<fixed()>{out.data(), 1000}, 4);
  });
}

TEST_F(BrokenKernels, TailOverRead) {
  const Expected expected{Hazard::kOutOfBounds, "broken::TailOverRead", "tail_over_read.hpp", "in[", 1};
  expect_found(expected, [](auto fixed, const auto& run) {
    const DeviceArray<std::uint32_t> in(numbers(1000));
    const DeviceArray<std::uint32_t> out(1000);
    run(TailOverRead<fixed()>{in.data(), 1000, out.data()}, 4);
  });
}

TEST_F(BrokenKernels, CopyNotDone) {
  const Expected expected{Hazard::kCopyNotDone, "broken::CopyNotDone", "copy_not_done.hpp", "shared.items[", 1};
  expect_found(expected, [](auto fixed, const auto& run) {
    const DeviceArray<std::uint32_t> in(numbers(256));
    const DeviceArray<std::uint32_t> out(256);
    run(CopyNotDone<fixed()>{in.data(), out.data()}, 1);
  });
}

TEST_F(BrokenKernels, CopyWithoutBarrier) {
  const Expected expected{Hazard::kReadAfterWrite, "broken::CopyWithoutBarrier", "copy_without_barrier.hpp",
                          "shared.items["};
  expect_found(expected, [](auto fixed, const auto& run) {
    const DeviceArray<std::uint32_t> in(numbers(256));
    const DeviceArray<std::uint32_t> out(256);
    run(CopyWithoutBarrier<fixed()>{in.data(), out.data()}, 1);
  });
}

TEST_F(BrokenKernels, Misaligned) {
  const Expected expected{Hazard::kMisaligned, "broken::Misaligned", "misaligned.hpp", "in[", 1};
  expect_found(expected, [](auto fixed, const auto& run) {
    const DeviceArray<std::uint32_t> in(numbers(516));
    const DeviceArray<std::uint32_t> out(128);
    run(Misaligned<fixed()>{in.data(), out.data()}, 1);
  });
}

TEST_F(BrokenKernels, BlockOrder) {
  const Expected expected{Hazard::kNoProgress, "broken::BlockOrder", "block_order.hpp", "", 1};
  expect_found(expected, [](auto fixed, const auto& run) {
    const DeviceArray<std::uint32_t> ticket(zeros(1));
    const DeviceArray<std::uint32_t> flags(zeros(12));
    run(BlockOrder<fixed()>{ticket.data(), flags.data()}, 12);
  });
}

TEST_F(BrokenKernels, HostMemory) {
  const Expected expected{Hazard::kHostMemory, "broken::HostMemory", "host_memory.hpp", "memory of the host", 1};
  expect_found(expected, [](auto fixed, const auto& run) {
    const std::vector<std::uint32_t> host = numbers(128);
    const DeviceArray<std::uint32_t> in(host);
    const DeviceArray<std::uint32_t> out(128);
    run(HostMemory<fixed()>{host.data(), in.data(), out.data()}, 1);
  });
}

TEST_F(BrokenKernels, HostCounter) {
  const Expected expected{Hazard::kHostMemory, "broken::HostCounter", "host_counter.hpp", "memory of the host", 1};
  expect_found(expected, [](auto fixed, const auto& run) {
    std::vector<std::uint32_t> host(1);
    const DeviceArray<std::uint32_t> count(zeros(1));
    run(HostCounter<fixed()>{host.data(), count.data()}, 1);
    EXPECT_EQ(host[0], 0U);
  });
}

TEST_F(BrokenKernels, FarAway) {
  const Expected expected{Hazard::kHostMemory, "broken::FarAway", "far_away.hpp", "memory of the host", 1};
  expect_found(expected, [](auto fixed, const auto& run) {
    const DeviceArray<std::uint32_t> in(numbers(128));
    const DeviceArray<std::uint32_t> out(128);
    run(FarAway<fixed()>{in.data(), std::uint64_t{1} << 45, out.data()}, 1);
  });
}

TEST_F(BrokenKernels, PlainCounter) {
  const Expected expected{Hazard::kWriteAfterWrite, "broken::PlainCounter", "plain_counter.hpp", "count[0]"};
  expect_found(expected, [](auto fixed, const auto& run) {
    const DeviceArray<std::uint32_t> count(zeros(1));
    run(PlainCounter<fixed()>{count.data()}, 3);
  });
}

}  // namespace
}  // namespace sluice::test
