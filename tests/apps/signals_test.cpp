// SPDX-License-Identifier: Apache-2.0
#include "signals.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "sluice/io/output_file.hpp"

namespace sluice::app {
namespace {

namespace fs = std::filesystem;

/// Reads a mapped file that was made shorter, with an output under way in the same folder.
void read_lost_page(const fs::path& folder) {
  install_signal_handlers();
  const io::OutputFile output((folder / "out.las").string(), false);
  const std::string path = (folder / "in").string();
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
  constexpr std::size_t kBytes = 1 << 20;
  if (::ftruncate(fd, kBytes) != 0) return;
  const auto* bytes = static_cast<const volatile char*>(::mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, fd, 0));
  if (::ftruncate(fd, 0) != 0) return;
  static_cast<void>(bytes[kBytes / 2]);
}

TEST(SignalsDeathTest, AnInputThatShrinksIsAnErrorAndLeavesNothing) {
  const fs::path folder = fs::path(testing::TempDir()) / ("sluice signals " + std::to_string(::getpid()));
  fs::remove_all(folder);
  fs::create_directories(folder);
  EXPECT_EXIT(read_lost_page(folder), testing::ExitedWithCode(1), "^sluice: an input became shorter");
  int files = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    EXPECT_EQ(entry.path().filename(), "in");
    ++files;
  }
  EXPECT_EQ(files, 1);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace sluice::app
