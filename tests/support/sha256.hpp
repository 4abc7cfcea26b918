// SPDX-License-Identifier: Apache-2.0
/// \file
/// SHA-256 (FIPS 180-4), for comparing with hashes that came with test files.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sluice::test {

/// \returns 64 hexadecimal digits
inline std::string sha256(std::span<const std::byte> data) {
  // Constants are the first 32 bits of the fractions of square and cube roots of the first primes.
  static const auto kRoots = [] {
    std::array<std::uint32_t, 72> roots{};  // 64 cube roots, 8 square roots
    std::size_t found = 0;
    for (unsigned n = 2; found < 64; ++n) {
      bool prime = true;
      for (unsigned d = 2; d * d <= n; ++d) prime = prime && n % d != 0;
      if (!prime) continue;
      const auto fraction = [](long double root) {
        return static_cast<std::uint32_t>((root - std::floor(root)) * 4294967296.0L);
      };
      roots[found] = fraction(std::cbrt(static_cast<long double>(n)));
      if (found < 8) roots[64 + found] = fraction(std::sqrt(static_cast<long double>(n)));
      ++found;
    }
    return roots;
  }();
  std::vector<std::byte> message(data.begin(), data.end());
  message.push_back(std::byte{0x80});
  while (message.size() % 64 != 56) message.push_back(std::byte{0});
  const std::uint64_t bits = data.size() * 8;
  for (int i = 7; i >= 0; --i) message.push_back(static_cast<std::byte>(bits >> (8 * i)));

  std::array<std::uint32_t, 8> hash{};
  for (std::size_t i = 0; i < 8; ++i) hash[i] = kRoots[64 + i];
  for (std::size_t block = 0; block < message.size(); block += 64) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < 64; ++i) w[i / 4] = w[i / 4] << 8 | static_cast<std::uint32_t>(message[block + i]);
    for (std::size_t i = 16; i < 64; ++i) {
      const std::uint32_t a = w[i - 15];
      const std::uint32_t b = w[i - 2];
      w[i] = w[i - 16] + w[i - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) +
             (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
    }
    std::array<std::uint32_t, 8> v = hash;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t one = v[7] + (std::rotr(v[4], 6) ^ std::rotr(v[4], 11) ^ std::rotr(v[4], 25)) +
                                ((v[4] & v[5]) ^ (~v[4] & v[6])) + kRoots[i] + w[i];
      const std::uint32_t two = (std::rotr(v[0], 2) ^ std::rotr(v[0], 13) ^ std::rotr(v[0], 22)) +
                                ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
      v = {one + two, v[0], v[1], v[2], v[3] + one, v[4], v[5], v[6]};
    }
    for (std::size_t i = 0; i < 8; ++i) hash[i] += v[i];
  }
  std::string text;
  for (const std::uint32_t word : hash) {
    for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[word >> shift & 15U];
  }
  return text;
}

}  // namespace sluice::test
