// SPDX-License-Identifier: Apache-2.0
#include "engine/src/backend_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/clouds.hpp"
#include "engine/src/rates.hpp"
#include "sluice/kernels/registry.hpp"
#include "sluice/sluice.hpp"

namespace sluice {
namespace {

using test::make_lattice;
using test::RawPoint;
using testing::HasSubstr;

/// Sets an environment variable for a scope; null removes it.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    const char* before = std::getenv(name);
    had_ = before != nullptr;
    if (had_) before_ = before;
    set(value);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { set(had_ ? before_.c_str() : nullptr); }

 private:
  void set(const char* value) {
    if (value != nullptr) {
      setenv(name_, value, 1);
    } else {
      unsetenv(name_);
    }
  }
  const char* name_;
  bool had_;
  std::string before_;
};

/// A folder of its own, removed at the end.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("sluice-choice-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> out;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
      if (entry.is_regular_file()) out.push_back(entry.path());
    }
    return out;
  }

 private:
  std::filesystem::path path_;
};

Report report_of(const Execution& execution) {
  return filter(make_lattice(std::vector<RawPoint>(10)), {}, execution).report;
}

std::string refusal(const Execution& execution) {
  try {
    (void)report_of(execution);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(BackendChoice, TakesTheCpuForSmallCloudsAndSaysWhy) {
  const Variable none("SLUICE_BACKEND", nullptr);
  for (const char* name : {"", "auto"}) {
    Execution execution;
    execution.backend = name;
    const Report report = report_of(execution);
    EXPECT_EQ(report.backend, "cpu");
    EXPECT_THAT(report.backend_reason, HasSubstr(kernels::has_gpu_backends() ? "too few points" : "no GPU: "));
    EXPECT_EQ(report.device, "");
    EXPECT_TRUE(report.warnings.empty());
  }
}

TEST(BackendChoice, FollowsTheEnvironmentUnlessOneIsNamed) {
  const Variable serial("SLUICE_BACKEND", "serial");
  Report report = report_of({});
  EXPECT_EQ(report.backend, "serial");
  EXPECT_EQ(report.backend_reason, "SLUICE_BACKEND asks for it");
  Execution named;
  named.backend = "cpu";
  report = report_of(named);
  EXPECT_EQ(report.backend, "cpu");
  EXPECT_EQ(report.backend_reason, "asked for");
  named.backend = "auto";
  EXPECT_EQ(report_of(named).backend, "cpu");
  const Variable empty("SLUICE_BACKEND", "");
  EXPECT_EQ(report_of({}).backend, "cpu");
  const Variable automatic("SLUICE_BACKEND", "auto");
  EXPECT_EQ(report_of({}).backend, "cpu");
}

TEST(BackendChoice, RefusesUnknownAndAbsentBackends) {
  Execution named;
  named.backend = "abacus";
  EXPECT_THAT(refusal(named), HasSubstr("no backend 'abacus'; there are serial, cpu, cuda, thrust"));
  EXPECT_THROW((void)report_of(named), InvalidArgument);
  EXPECT_THROW((void)thin(make_lattice({}), {}, ThinOptions{}, named), InvalidArgument);
  const Variable unknown("SLUICE_BACKEND", "abacus");
  EXPECT_THAT(refusal({}), HasSubstr("'abacus'"));
  for (const kernels::BackendInfo& info : kernels::backends()) {
    if (info.usable) continue;
    named.backend = info.name;
    EXPECT_THAT(refusal(named), HasSubstr("backend " + info.name + " cannot be used: " + info.reason));
    EXPECT_THROW((void)report_of(named), Unsupported);
  }
}

/// A GPU that takes long to wake and counts how often it is asked.
struct CountedGpu {
  int looks = 0;
  int wakes = 0;
  std::string absence;

  detail::GpuOffer offer() {
    return {"counted",
            [this] {
              ++looks;
              return absence;
            },
            [this]() -> std::shared_ptr<kernels::Backend> {
              ++wakes;
              std::this_thread::sleep_for(std::chrono::milliseconds(300));
              return kernels::make_backend("serial");
            }};
  }
  detail::Choice choose(std::uint64_t points) {
    const auto plan = Plan::select(make_lattice({}).info(), {});
    return detail::quicker_backend(kernels::make_backend("cpu"), offer(), *plan, points, 2);
  }
};

TEST(BackendChoice, LeavesTheGpuAloneWhereItIsKnownNotToPay) {
  const Folder folder;
  const Variable cache("XDG_CACHE_HOME", folder.path().c_str());
  CountedGpu gpu;
  EXPECT_THAT(gpu.choose(1000).reason, HasSubstr("too few points"));
  EXPECT_EQ(gpu.looks + gpu.wakes, 0);
  // Nothing is known yet, so both are measured.
  detail::Choice choice = gpu.choose(200000);
  EXPECT_EQ(choice.backend->name(), "cpu");
  EXPECT_THAT(choice.reason, HasSubstr("on the GPU"));
  EXPECT_EQ(gpu.looks, 1);
  EXPECT_EQ(gpu.wakes, 1);
  choice = gpu.choose(200000);
  EXPECT_EQ(choice.backend->name(), "cpu");
  EXPECT_THAT(choice.reason, HasSubstr("on the GPU"));
  EXPECT_TRUE(choice.automatic);
  EXPECT_EQ(gpu.looks, 1);
  EXPECT_EQ(gpu.wakes, 1);
}

TEST(BackendChoice, WakesTheGpuWhereItPaysAndGetsOverItsLoss) {
  const Folder folder;
  const Variable cache("XDG_CACHE_HOME", folder.path().c_str());
  CountedGpu gpu;
  (void)gpu.choose(200000);
  // The cache is believed: a GPU that costs nothing.
  for (const std::filesystem::path& file : folder.files()) {
    std::string key;
    {
      std::ifstream in(file);
      std::getline(in, key);
    }
    if (key.find("counted") == std::string::npos) continue;
    std::ofstream(file, std::ios::trunc) << key << "\n0 0 0 0 0\n0 0 0 0 0\n0 0 0 0 0\n";
  }
  const detail::Choice choice = gpu.choose(200000);
  EXPECT_EQ(choice.backend->name(), "serial");
  EXPECT_THAT(choice.reason, HasSubstr("on the CPU"));
  EXPECT_EQ(gpu.wakes, 2);

  detail::GpuOffer gone = gpu.offer();
  gone.make = []() -> std::shared_ptr<kernels::Backend> { throw Unsupported("taken out"); };
  const auto plan = Plan::select(make_lattice({}).info(), {});
  const detail::Choice left = detail::quicker_backend(kernels::make_backend("cpu"), gone, *plan, 200000, 2);
  EXPECT_EQ(left.backend->name(), "cpu");
  EXPECT_EQ(left.reason, "no GPU: taken out");
}

TEST(BackendChoice, MeasuresNothingWhereThereIsNoGpu) {
  const Folder folder;
  const Variable cache("XDG_CACHE_HOME", folder.path().c_str());
  CountedGpu gpu;
  gpu.absence = "none was found";
  EXPECT_EQ(gpu.choose(200000).reason, "no GPU: none was found");
  EXPECT_EQ(gpu.wakes, 0);
  EXPECT_TRUE(folder.files().empty());
}

detail::Rates rates_of(const std::shared_ptr<kernels::Backend>& backend, int threads) {
  return detail::machine_rates("cpu", "", threads, [&] { return backend; });
}

TEST(Rates, AreMeasuredOnceAndCached) {
  const Folder folder;
  const Variable cache("XDG_CACHE_HOME", folder.path().c_str());
  const std::shared_ptr<kernels::Backend> backend = kernels::make_backend("cpu");
  const detail::Rates measured = rates_of(backend, 2);
  EXPECT_GT(measured.select.seconds(1000000, 0, 0), 0.0);
  EXPECT_GT(measured.thin.seconds(1000000, 0, 0), 0.0);
  EXPECT_GT(measured.bin.seconds(1000000, 0, 0), 0.0);
  ASSERT_EQ(folder.files().size(), 1U);
  const std::filesystem::path file = folder.files().front();
  EXPECT_EQ(file.parent_path(), folder.path() / "sluice");
  const detail::Rates cached = rates_of(backend, 2);
  EXPECT_EQ(cached.select.per_point, measured.select.per_point);
  EXPECT_EQ(cached.thin.fixed, measured.thin.fixed);
  EXPECT_EQ(cached.bin.per_edge, measured.bin.per_edge);

  // What the cache says is believed.
  std::string key;
  {
    std::ifstream in(file);
    std::getline(in, key);
  }
  const auto write = [&](const std::string& text) { std::ofstream(file, std::ios::trunc) << text; };
  write(key + "\n1 2 3 10 11\n4 5 6 12 13\n7 8 9 14 15\n");
  EXPECT_EQ(rates_of(backend, 2).thin.seconds(10, 1, 3), 12 + 3 * 13 + 4 + 10 * (5 + 6));
  // Other threads are another key.
  EXPECT_NE(rates_of(backend, 1).thin.fixed, 4.0);
  EXPECT_EQ(folder.files().size(), 2U);
}

TEST(Rates, AreMeasuredAnewWhereTheCacheIsDamaged) {
  const Folder folder;
  const Variable cache("XDG_CACHE_HOME", folder.path().c_str());
  const std::shared_ptr<kernels::Backend> backend = kernels::make_backend("cpu");
  (void)rates_of(backend, 2);
  const std::filesystem::path file = folder.files().front();
  std::string key;
  {
    std::ifstream in(file);
    std::getline(in, key);
  }
  for (const std::string& text :
       {std::string(), std::string("\n"), key, key + "\n1 2\n", key + "\n1 2 3 1 1\n4 5 6 1 1\n7 8 9 1 x\n",
        key + "\n-1 2 3 1 1\n4 5 6 1 1\n7 8 9 1 1\n", key + "\nnan 2 3 1 1\n4 5 6 1 1\n7 8 9 1 1\n",
        key + " other\n1 2 3 1 1\n4 5 6 1 1\n7 8 9 1 1\n", std::string(5000, '\0')}) {
    std::ofstream(file, std::ios::trunc | std::ios::binary) << text;
    EXPECT_LT(rates_of(backend, 2).thin.seconds(1, 0, 0), 1.0) << text.substr(0, 80);
    // And repaired.
    std::string first;
    std::ifstream in(file);
    std::getline(in, first);
    EXPECT_EQ(first, key);
  }
}

TEST(Rates, DoNotNeedACache) {
  const std::shared_ptr<kernels::Backend> backend = kernels::make_backend("cpu");
  const Folder folder;
  {
    // A file where the folder should be.
    std::ofstream(folder.path() / "taken") << "x";
    const Variable cache("XDG_CACHE_HOME", (folder.path() / "taken").c_str());
    EXPECT_GT(rates_of(backend, 2).select.seconds(1000000, 0, 0), 0.0);
  }
  const Variable cache("XDG_CACHE_HOME", nullptr);
  {
    const Variable home("HOME", folder.path().c_str());
    EXPECT_GT(rates_of(backend, 2).select.seconds(1000000, 0, 0), 0.0);
    EXPECT_TRUE(std::filesystem::is_directory(folder.path() / ".cache" / "sluice"));
  }
  const Variable home("HOME", nullptr);
  EXPECT_GT(rates_of(backend, 2).select.seconds(1000000, 0, 0), 0.0);
}

}  // namespace
}  // namespace sluice
