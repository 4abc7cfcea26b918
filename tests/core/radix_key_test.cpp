// SPDX-License-Identifier: Apache-2.0
#include "sluice/core/radix_key.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace sluice {
namespace {

template <typename T>
void expect_order(std::vector<T> values) {
  for (const T a : values) {
    for (const T b : values) {
      ASSERT_EQ(radix_key(a) < radix_key(b), a < b) << a << ' ' << b;
      ASSERT_EQ(radix_key(a) == radix_key(b), a == b) << a << ' ' << b;
    }
  }
}

template <typename T, typename Bits>
std::vector<T> some_reals(unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> out = {T(0),
                        -T(0),
                        T(1),
                        T(-1),
                        std::numeric_limits<T>::infinity(),
                        -std::numeric_limits<T>::infinity(),
                        std::numeric_limits<T>::max(),
                        std::numeric_limits<T>::lowest(),
                        std::numeric_limits<T>::min(),
                        std::numeric_limits<T>::denorm_min(),
                        -std::numeric_limits<T>::denorm_min()};
  while (out.size() < 200) {
    const auto bits = static_cast<Bits>(random());
    T value;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isnan(value)) out.push_back(value);
  }
  return out;
}

TEST(RadixKey, OrdersAsTheNumberDoes) {
  expect_order(some_reals<double, std::uint64_t>(15));
  expect_order(some_reals<float, std::uint32_t>(16));
  expect_order<std::int32_t>({0, 1, -1, 2147483647, -2147483647 - 1, 1000, -1000});
  expect_order<std::int64_t>({0, 1, -1, std::numeric_limits<std::int64_t>::max(),
                              std::numeric_limits<std::int64_t>::min(), std::int64_t{1} << 40});
}

TEST(RadixKey, PutsEveryNanLast) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double nan : {std::nan(""), -std::nan(""), std::nan("7")}) {
    EXPECT_GT(radix_key(nan), radix_key(infinity));
    EXPECT_EQ(radix_key(nan), radix_key(std::nan("")));
  }
  EXPECT_GT(radix_key(-std::nanf("")), radix_key(std::numeric_limits<float>::infinity()));
}

}  // namespace
}  // namespace sluice
