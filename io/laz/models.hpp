// SPDX-License-Identifier: Apache-2.0
/// \file
/// Adaptive models of the LAZ arithmetic coder. All are flat and trivially copyable, and hold anything until started.
#pragma once

#if defined(__SSE2__) && !defined(__CUDA_ARCH__)
#include <emmintrin.h>
#define SLUICE_LAZ_SSE2 1
#else
#define SLUICE_LAZ_SSE2 0
#endif

#include <bit>
#include <cstdint>

#include "inline.hpp"

namespace sluice::laz {

/// Frequencies of kSymbols symbols, 2 to 2048. A model may also be run with fewer symbols than it has room for; every
/// function then takes the same `n`.
///
/// `cum[s]` is the scaled number of occurrences before s, below 2^15. Behind the last one stands kPad, so that searches
/// work on whole vectors.
template <std::uint32_t kSymbols>
struct alignas(16) Alphabet {
  static constexpr std::uint32_t kPad = 0x7FFF;
  /// Above this many symbols the search takes two steps: every 16th entry first.
  static constexpr bool kTwoSteps = kSymbols > 64;
  static constexpr std::uint32_t kCumSlots = kTwoSteps ? (kSymbols + 1 + 15) / 16 * 16 : (kSymbols + 1 + 7) / 8 * 8;
  static constexpr std::uint32_t kCoarse = kTwoSteps ? (kSymbols + 15) / 16 : 1;
  static constexpr std::uint32_t kCoarseSlots = (kCoarse + 7) / 8 * 8;

  std::uint16_t coarse[kCoarseSlots];
  std::uint16_t cum[kCumSlots];
  std::uint16_t cnt[kSymbols];
  std::uint16_t total;
  std::uint16_t cycle;
  std::uint16_t left;
  // A symbol that makes up more than a third of all, and where it begins and ends; where there is none, it ends at 0.
  std::uint16_t likely;
  std::uint16_t likely_begin;
  std::uint16_t likely_end;
};

template <std::uint32_t kSymbols>
SLUICE_HD void rebuild(Alphabet<kSymbols>& m, std::uint32_t n) {
  const std::uint32_t scale = 0x80000000U / m.total;
  std::uint32_t before = 0;
  std::uint32_t largest = 0;
  for (std::uint32_t k = 0; k < n; ++k) {
    const std::uint32_t count = m.cnt[k];
    m.cum[k] = static_cast<std::uint16_t>((scale * before) >> 16);
    before += count;
    largest = largest < (count << 16 | k) ? count << 16 | k : largest;
  }
  const std::uint32_t likely = largest & 0xFFFFU;
  const bool use = (largest >> 16) * 3 > m.total;
  m.likely = static_cast<std::uint16_t>(likely);
  m.likely_begin = use ? m.cum[likely] : std::uint16_t{0};
  m.likely_end = use ? (likely + 1 < n ? m.cum[likely + 1] : std::uint16_t{32768}) : std::uint16_t{0};
  if constexpr (Alphabet<kSymbols>::kTwoSteps) {
    for (std::uint32_t k = 0; k * 16 < n; ++k) m.coarse[k] = m.cum[k * 16];
  }
}

/// Makes all symbols equally likely.
template <std::uint32_t kSymbols>
SLUICE_LAZ_COLD void start(Alphabet<kSymbols>& m, std::uint32_t n = kSymbols) {
  for (std::uint32_t k = 0; k < n; ++k) m.cnt[k] = 1;
  for (std::uint32_t k = n; k < m.kCumSlots; ++k) m.cum[k] = m.kPad;
  for (std::uint32_t k = 0; k < m.kCoarseSlots; ++k) m.coarse[k] = m.kPad;
  m.total = static_cast<std::uint16_t>(n);
  m.cycle = m.left = static_cast<std::uint16_t>((n + 6) >> 1);
  rebuild(m, n);
}

/// What follows when a cycle of symbols is over.
template <std::uint32_t kSymbols>
SLUICE_LAZ_COLD void end_cycle(Alphabet<kSymbols>& m, std::uint32_t n) {
  std::uint32_t total = std::uint32_t{m.total} + m.cycle;
  if (total > 32768) {
    total = 0;
    for (std::uint32_t k = 0; k < n; ++k) {
      m.cnt[k] = static_cast<std::uint16_t>((m.cnt[k] + 1U) >> 1);
      total += m.cnt[k];
    }
  }
  m.total = static_cast<std::uint16_t>(total);
  rebuild(m, n);
  const std::uint32_t longer = (5U * m.cycle) >> 2;
  const std::uint32_t longest = 8 * (n + 6);
  m.cycle = m.left = static_cast<std::uint16_t>(longer < longest ? longer : longest);
}

/// Learns that s has occurred.
template <std::uint32_t kSymbols>
SLUICE_LAZ_INLINE void note(Alphabet<kSymbols>& m, std::uint32_t s, std::uint32_t n) {
  ++m.cnt[s];
  if (--m.left == 0) end_cycle(m, n);
}

#if SLUICE_LAZ_SSE2
/// One bit for each of 16 entries: greater than the limit.
SLUICE_LAZ_INLINE std::uint32_t above16(const std::uint16_t* at, __m128i limit) {
  const auto* from = reinterpret_cast<const __m128i*>(at);
  return static_cast<std::uint32_t>(_mm_movemask_epi8(
      _mm_packs_epi16(_mm_cmpgt_epi16(_mm_load_si128(from), limit), _mm_cmpgt_epi16(_mm_load_si128(from + 1), limit))));
}
SLUICE_LAZ_INLINE std::uint32_t above8(const std::uint16_t* at, __m128i limit) {
  const __m128i above = _mm_cmpgt_epi16(_mm_load_si128(reinterpret_cast<const __m128i*>(at)), limit);
  return static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(above, _mm_setzero_si128())));
}
template <std::uint32_t kEntries>
SLUICE_LAZ_INLINE std::uint64_t above(const std::uint16_t* at, __m128i limit) {
  static_assert(kEntries <= 64);
  std::uint64_t mask = 0;
  for (std::uint32_t k = 0; k < kEntries; k += 16) {
    const std::uint64_t part = kEntries - k > 8 ? above16(at + k, limit) : above8(at + k, limit);
    mask |= part << k;
  }
  return mask;
}
#endif

/// The largest symbol s with cum[s] * unit <= head; n - 1 at most, whatever head is. By halving.
template <std::uint32_t kSymbols>
SLUICE_LAZ_INLINE std::uint32_t find_by_halving(const Alphabet<kSymbols>& m, std::uint32_t head, std::uint32_t unit,
                                                std::uint32_t n) {
  std::uint32_t low = 0;
  for (std::uint32_t high = n; high - low > 1;) {
    const std::uint32_t middle = (low + high) >> 1;
    if (m.cum[middle] * unit <= head) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/// The same, the fastest way there is.
template <std::uint32_t kSymbols>
SLUICE_LAZ_INLINE std::uint32_t find(const Alphabet<kSymbols>& m, std::uint32_t head, std::uint32_t unit,
                                     std::uint32_t n) {
#if SLUICE_LAZ_SSE2
  using Model = Alphabet<kSymbols>;
  // Packing saturates, so that a head beyond the span compares as the largest value. Bits of the limit keep padding
  // from being chosen then.
  const int part = static_cast<int>(head / unit);
  const __m128i wide = _mm_shuffle_epi32(_mm_cvtsi32_si128(part), 0);
  const __m128i limit = _mm_packs_epi32(wide, wide);
  if constexpr (!Model::kTwoSteps) {
    if constexpr (kSymbols < 64) {
      const std::uint64_t mask = above<kSymbols>(m.cum, limit) | (std::uint64_t{1} << n);
      return static_cast<std::uint32_t>(std::countr_zero(mask)) - 1;
    } else {
      const std::uint64_t mask = above<kSymbols>(m.cum, limit);
      return mask == 0 ? 63 : static_cast<std::uint32_t>(std::countr_zero(mask)) - 1;
    }
  } else {
    const std::uint64_t coarse = above<Model::kCoarse>(m.coarse, limit) | (std::uint64_t{1} << ((n + 15) >> 4));
    const std::uint32_t first = (static_cast<std::uint32_t>(std::countr_zero(coarse)) - 1) << 4;
    const std::uint32_t in_last = n - first;
    const std::uint32_t fine = above16(m.cum + first, limit) | (1U << (in_last < 16 ? in_last : 16));
    return first + static_cast<std::uint32_t>(std::countr_zero(fine)) - 1;
  }
#else
  return find_by_halving(m, head, unit, n);
#endif
}

/// A model of one bit.
struct BitModel {
  std::uint16_t zeros;
  std::uint16_t total;
  std::uint16_t p0;  ///< of 2^13
  std::uint8_t cycle;
  std::uint8_t left;
};

SLUICE_HD void start(BitModel& m) { m = {1, 2, 4096, 4, 4}; }

SLUICE_LAZ_INLINE void note(BitModel& m, std::uint32_t bit) {
  m.zeros = static_cast<std::uint16_t>(m.zeros + (bit == 0 ? 1 : 0));
  if (--m.left != 0) return;
  std::uint32_t total = std::uint32_t{m.total} + m.cycle;
  std::uint32_t zeros = m.zeros;
  if (total > 8192) {
    total = (total + 1) >> 1;
    zeros = (zeros + 1) >> 1;
    if (zeros == total) ++total;
  }
  m.total = static_cast<std::uint16_t>(total);
  m.zeros = static_cast<std::uint16_t>(zeros);
  m.p0 = static_cast<std::uint16_t>((zeros * (0x80000000U / total)) >> 18);
  const std::uint32_t longer = (5U * m.cycle) >> 2;
  m.cycle = m.left = static_cast<std::uint8_t>(longer < 64 ? longer : 64);
}

/// kCount models that start when first used: only the marks that say so need clearing beforehand.
template <std::uint32_t kSymbols, std::uint32_t kCount>
struct Bank {
  std::uint8_t started[kCount];
  Alphabet<kSymbols> models[kCount];

  SLUICE_LAZ_INLINE Alphabet<kSymbols>& at(std::uint32_t i, std::uint32_t n = kSymbols) {
    if (started[i] == 0) {
      started[i] = 1;
      laz::start(models[i], n);
    }
    return models[i];
  }
};

template <std::uint32_t kSymbols, std::uint32_t kCount>
SLUICE_HD void start(Bank<kSymbols, kCount>& bank) {
  for (std::uint8_t& mark : bank.started) mark = 0;
}

}  // namespace sluice::laz
