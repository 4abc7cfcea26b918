// SPDX-License-Identifier: Apache-2.0
/// \file
/// What apps/examples build of scans, beside plain loops: one suite for scans of the CPU, of a GPU and of the emulated
/// device.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "apps/examples/brackets.hpp"
#include "apps/examples/segmented_scan.hpp"
#include "apps/examples/softmax_rows.hpp"
#include "sluice/core/random.hpp"

namespace sluice::test {

/// \tparam ScanT  as `examples::HostScan`; may have `why_not()`, which says why it cannot run here
template <typename ScanT>
class ScanExamples : public testing::Test {
 protected:
  ScanT scan_;

  void SetUp() override {
    if constexpr (requires { ScanT::why_not(); }) {
      const std::string reason = ScanT::why_not();
      if (reason.empty()) return;
      const char* required = std::getenv("SLUICE_REQUIRE_GPU");
      if (required != nullptr && std::string(required) == "1") FAIL() << "no GPU: " << reason;
      GTEST_SKIP() << "no GPU: " << reason;
    }
  }

  /// By a stack.
  static examples::Brackets brackets_by_loop(const std::string& text) {
    examples::Brackets out;
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '(') open.push_back(i);
      out.deepest = std::max(out.deepest, static_cast<std::int32_t>(open.size()));
      if (text[i] != ')') continue;
      if (open.empty()) {
        // From here on depths are not those of a stack.
        out.unmatched = i;
        return out;
      }
      open.pop_back();
    }
    if (!open.empty()) out.unmatched = open.front();
    return out;
  }

  void expect_brackets(const std::string& text, std::int32_t deepest, std::optional<std::size_t> unmatched) {
    const examples::Brackets found = examples::look_at_brackets(text, scan_);
    EXPECT_EQ(found.deepest, deepest) << text;
    EXPECT_EQ(found.unmatched, unmatched) << text;
  }

  void expect_softmax(const std::vector<float>& row) {
    const std::vector<float> found = examples::softmax(row, scan_);
    ASSERT_EQ(found.size(), row.size());
    long double max = -std::numeric_limits<long double>::infinity();
    for (const float x : row) max = std::max(max, static_cast<long double>(x));
    long double sum = 0;
    for (const float x : row) sum += std::exp(static_cast<long double>(x) - max);
    for (std::size_t i = 0; i < row.size(); ++i) {
      const long double expected = std::exp(static_cast<long double>(row[i]) - max) / sum;
      // Each merge on the way rounds a few times, and there are some ten levels of them.
      EXPECT_NEAR(static_cast<double>(found[i]), static_cast<double>(expected), 1e-5 * static_cast<double>(expected))
          << "at " << i << " of " << row.size();
    }
  }
};

TYPED_TEST_SUITE_P(ScanExamples);

TYPED_TEST_P(ScanExamples, Brackets) {
  this->expect_brackets("", 0, std::nullopt);
  this->expect_brackets("no bracket", 0, std::nullopt);
  this->expect_brackets("()", 1, std::nullopt);
  this->expect_brackets("a(b(c)d(e(f)))()", 3, std::nullopt);
  this->expect_brackets(")))", 0, 0);
  this->expect_brackets("((((", 4, 0);
  this->expect_brackets("()(", 1, 2);
  this->expect_brackets("(()", 2, 0);
  this->expect_brackets("())(", 1, 2);
  this->expect_brackets("(a)(b(c)", 2, 3);
  this->expect_brackets(")(", 0, 0);
}

TYPED_TEST_P(ScanExamples, BracketsOfLongTexts) {
  for (const std::size_t pairs : {16U, 128U, 2048U, 4097U}) {
    std::string text = std::string(pairs, '(') + "x" + std::string(pairs, ')');
    this->expect_brackets(text, static_cast<std::int32_t>(pairs), std::nullopt);
    this->expect_brackets(text + ")(", static_cast<std::int32_t>(pairs), text.size());
    this->expect_brackets(text + "(", static_cast<std::int32_t>(pairs), text.size());
    this->expect_brackets("(" + text, static_cast<std::int32_t>(pairs) + 1, 0);
  }
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::string text;
    for (std::uint64_t i = 0; i < 300; ++i) text += "(()x"[counter_random(seed, i) % 4];
    if (seed % 2 == 0) text += std::string(200, ')');
    const examples::Brackets expected = this->brackets_by_loop(text);
    const examples::Brackets found = examples::look_at_brackets(text, this->scan_);
    EXPECT_EQ(found.unmatched, expected.unmatched) << text;
    if (!expected.unmatched || text[*expected.unmatched] == '(') {
      EXPECT_EQ(found.deepest, expected.deepest) << text;
    }
  }
}

TYPED_TEST_P(ScanExamples, SegmentedScan) {
  using kernels::family::Max;
  using kernels::family::Sum;
  EXPECT_TRUE(examples::segmented_scan<Sum>(std::vector<std::uint32_t>{}, {}, this->scan_).empty());
  for (const std::size_t n : {1U, 2U, 31U, 32U, 33U, 256U, 4096U, 4097U, 9000U}) {
    // No start but that of the first item, a start everywhere, and segments of about so many items.
    for (const std::uint64_t length : {0U, 1U, 3U, 100U, 3000U}) {
      std::vector<std::uint32_t> values(n);
      std::vector<bool> starts(n);
      std::vector<std::uint32_t> sums(n);
      std::vector<std::uint32_t> greatest(n);
      for (std::size_t i = 0; i < n; ++i) {
        values[i] = static_cast<std::uint32_t>(counter_random(n, i));
        starts[i] = length != 0 && counter_random(length, i) % length == 0;
        const bool first = i == 0 || starts[i];
        sums[i] = first ? values[i] : sums[i - 1] + values[i];
        greatest[i] = first ? values[i] : std::max(greatest[i - 1], values[i]);
      }
      ASSERT_EQ(examples::segmented_scan<Sum>(values, starts, this->scan_), sums) << n << ", " << length;
      ASSERT_EQ(examples::segmented_scan<Max>(values, starts, this->scan_), greatest) << n << ", " << length;
    }
  }
  // Of floats, where a sum across segments would round.
  const std::vector<float> values = {1e30F, 1.0F, 2.0F, -1e30F, 3.0F};
  EXPECT_EQ(examples::segmented_scan<Sum>(values, {true, true, false, true, true}, this->scan_),
            (std::vector<float>{1e30F, 1.0F, 3.0F, -1e30F, 3.0F}));
}

TYPED_TEST_P(ScanExamples, Softmax) {
  EXPECT_TRUE(examples::softmax({}, this->scan_).empty());
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(examples::softmax({-7.0F}, this->scan_), std::vector<float>{1.0F});
  EXPECT_EQ(examples::softmax({-kInfinity}, this->scan_), std::vector<float>{0.0F});
  EXPECT_EQ(examples::softmax(std::vector<float>(100, -kInfinity), this->scan_), std::vector<float>(100));
  this->expect_softmax({1.0F, 2.0F, 3.0F});
  this->expect_softmax({1e4F, 1e4F, 9999.0F, -1e4F});
  this->expect_softmax({-1e4F, -1e4F, -9999.0F});
  this->expect_softmax({std::numeric_limits<float>::max(), std::numeric_limits<float>::lowest(), 0.0F});
  this->expect_softmax({-kInfinity, 2.0F, -kInfinity, 1.0F, -kInfinity});
  for (const std::size_t n : {31U, 32U, 33U, 257U, 4097U, 9000U}) {
    std::vector<float> row(n);
    for (std::size_t i = 0; i < n; ++i) row[i] = static_cast<float>(counter_random(n, i) % 4000) / 100.0F - 20.0F;
    this->expect_softmax(row);
    // The greatest comes first, or last.
    row.front() = 1e4F;
    this->expect_softmax(row);
    row.back() = 2e4F;
    this->expect_softmax(row);
  }
}

REGISTER_TYPED_TEST_SUITE_P(ScanExamples, Brackets, BracketsOfLongTexts, SegmentedScan, Softmax);

}  // namespace sluice::test
