// SPDX-License-Identifier: Apache-2.0
/// \file
/// Arithmetic coder, models, integers and medians, against streams that were worked out independently.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "io/laz/decoder.hpp"
#include "io/laz/encoder.hpp"
#include "io/laz/integer_codec.hpp"
#include "io/laz/median.hpp"
#include "support/sha256.hpp"

namespace sluice::laz {
namespace {

using Random = std::mt19937;

std::uint32_t draw(Random& random, std::uint32_t n) { return static_cast<std::uint32_t>(random()) % n; }

/// Streams are written behind one byte that must stay as it is.
class Writer {
 public:
  explicit Writer(std::size_t room) : bytes_(room + 1 + Encoder::kSlack, std::byte{0x5A}) {
    coder.start(bytes_.data() + 1);
  }
  std::vector<std::byte> finish() {
    const std::uint64_t size = coder.finish();
    EXPECT_EQ(bytes_[0], std::byte{0x5A});
    return {bytes_.begin() + 1, bytes_.begin() + 1 + static_cast<std::ptrdiff_t>(size)};
  }
  Encoder coder;

 private:
  std::vector<std::byte> bytes_;
};

std::string hex(const std::vector<std::byte>& bytes) {
  std::string text;
  for (const std::byte b : bytes) {
    if (!text.empty()) text += ' ';
    text += "0123456789abcdef"[static_cast<unsigned>(b) >> 4];
    text += "0123456789abcdef"[static_cast<unsigned>(b) & 15U];
  }
  return text;
}

Decoder reader(const std::vector<std::byte>& bytes) {
  Decoder coder;
  coder.start(bytes.data(), bytes.size());
  return coder;
}

void expect_used_up(const Decoder& coder, const std::vector<std::byte>& bytes) {
  EXPECT_EQ(coder.consumed(), bytes.size());
  EXPECT_FALSE(coder.starved());
  EXPECT_FALSE(coder.corrupt());
}

TEST(LazCoder, NothingIsFourBytes) {
  Writer writer(0);
  EXPECT_EQ(hex(writer.finish()), "01 00 00 00");
}

TEST(LazCoder, AlphabetOfFour) {
  const std::vector<std::uint32_t> symbols{3, 3, 3, 0, 1, 2, 3, 3, 3, 3, 0, 3};
  Alphabet<4> model;
  start(model);
  Writer writer(100);
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    writer.coder.symbol(model, symbols[i]);
    const std::vector<std::uint32_t> cum(model.cum, model.cum + 4);
    if (i == 4) {
      EXPECT_EQ(cum, (std::vector<std::uint32_t>{0, 7281, 14563, 18204}));
      EXPECT_EQ(model.total, 9);
    }
    if (i == 10) {
      EXPECT_EQ(cum, (std::vector<std::uint32_t>{0, 6553, 10922, 15291}));
      EXPECT_EQ(model.total, 15);
    }
  }
  const auto bytes = writer.finish();
  EXPECT_EQ(hex(bytes), "fc 62 ef 00 00 00");
  start(model);
  Decoder coder = reader(bytes);
  for (const std::uint32_t symbol : symbols) EXPECT_EQ(coder.symbol(model, 0), symbol);
  expect_used_up(coder, bytes);
}

TEST(LazCoder, Bits) {
  const std::vector<std::uint32_t> bits{0, 0, 0, 0, 1, 0, 0, 0, 0, 0};
  BitModel model;
  start(model);
  Writer writer(100);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    writer.coder.bit(model, bits[i]);
    if (i == 3) {
      EXPECT_EQ(model.p0, 6826);
    }
    if (i == 8) {
      EXPECT_EQ(model.p0, 6702);
    }
  }
  const auto bytes = writer.finish();
  EXPECT_EQ(hex(bytes), "0d d4 00 00");
  start(model);
  Decoder coder = reader(bytes);
  for (const std::uint32_t bit : bits) EXPECT_EQ(coder.bit(model, 0), bit);
  expect_used_up(coder, bytes);
}

TEST(LazCoder, RawBits) {
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> values{
      {5, 17},          {19, 0x5A5A5},    {20, 0xABCDE},   {23, 0x712345},
      {32, 0xDEADBEEF}, {32, 0x89ABCDEF}, {32, 0x01234567}};  // the last two: 64 bits, low half first
  Writer writer(100);
  for (const auto& [bits, value] : values) writer.coder.raw(bits, value);
  const auto bytes = writer.finish();
  EXPECT_EQ(hex(bytes), "8d a0 00 06 21 c3 92 29 d9 a6 1d d9 e4 04 33 44 33 44 33 44 3c 00 00 00");
  Decoder coder = reader(bytes);
  for (const auto& [bits, value] : values) EXPECT_EQ(coder.raw(bits, 0), value);
  expect_used_up(coder, bytes);
}

TEST(LazInteger, ThirtyTwoBits) {
  const std::vector<std::int64_t> values{0, 1, -1, 2, 100, -100, 1000, -100000, -2147483648LL, 2147483647};
  const auto codec = std::make_unique<IntegerCodec<32, 1>>();
  start(*codec);
  Writer writer(200);
  for (const std::int64_t v : values) code_integer(writer.coder, *codec, 0, 0, static_cast<std::uint32_t>(v));
  const auto bytes = writer.finish();
  EXPECT_EQ(hex(bytes), "00 0f 79 39 9b 91 ba cb 81 ab 42 7e 88 56 0a 55 00 00 00");
  start(*codec);
  Decoder coder = reader(bytes);
  for (const std::int64_t v : values)
    EXPECT_EQ(code_integer(coder, *codec, 0, 0, 0).value, static_cast<std::uint32_t>(v));
  expect_used_up(coder, bytes);
}

TEST(LazInteger, SixteenBitsEachPredictedByTheOneBefore) {
  const std::vector<std::uint32_t> values{5, 65535, 0, 32768, 32767};
  const auto codec = std::make_unique<IntegerCodec<16, 1>>();
  start(*codec);
  Writer writer(200);
  std::uint32_t before = 0;
  for (const std::uint32_t v : values) {
    code_integer(writer.coder, *codec, 0, before, v);
    before = v;
  }
  const auto bytes = writer.finish();
  EXPECT_EQ(hex(bytes), "35 0c 5e c2 43 8f 00 00 00");
  start(*codec);
  Decoder coder = reader(bytes);
  before = 0;
  for (const std::uint32_t v : values) {
    before = code_integer(coder, *codec, 0, before, 0).value;
    EXPECT_EQ(before, v);
  }
  expect_used_up(coder, bytes);
}

template <std::uint32_t kBits>
void integers_survive() {
  const auto codec = std::make_unique<IntegerCodec<kBits, 3>>();
  constexpr std::uint32_t kMask = 0xFFFFFFFFU >> (32 - kBits);
  Random random(kBits);
  std::vector<std::uint32_t> preds;
  std::vector<std::uint32_t> values;
  for (std::uint32_t k = 0; k < kBits; ++k) {
    for (const std::uint32_t near : {-1U, 0U, 1U}) {
      for (const std::uint32_t pred : {0U, 1U, kMask, (kMask >> 1) + 1, static_cast<std::uint32_t>(random())}) {
        preds.push_back(pred & kMask);
        values.push_back((pred + (1U << k) + near) & kMask);
        preds.push_back(pred & kMask);
        values.push_back((pred - (1U << k) + near) & kMask);
      }
    }
  }
  start(*codec);
  Writer writer(values.size() * 12);
  for (std::size_t i = 0; i < values.size(); ++i)
    code_integer(writer.coder, *codec, static_cast<std::uint32_t>(i % 3), preds[i], values[i]);
  const auto bytes = writer.finish();
  start(*codec);
  Decoder coder = reader(bytes);
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(code_integer(coder, *codec, static_cast<std::uint32_t>(i % 3), preds[i], 0).value, values[i]) << i;
  expect_used_up(coder, bytes);
}

TEST(LazInteger, EveryPowerOfTwoFromEverywhere) {
  integers_survive<8>();
  integers_survive<16>();
  integers_survive<32>();
}

/// A model run as the format's description says it, in the plainest way.
struct PlainModel {
  explicit PlainModel(std::uint32_t symbols)
      : n(symbols), cnt(n, 1), cum(n), total(n), cycle((n + 6) >> 1), left(cycle) {
    rebuild();
  }
  void rebuild() {
    std::uint64_t acc = 0;
    for (std::uint32_t k = 0; k < n; ++k) {
      cum[k] = static_cast<std::uint32_t>((0x80000000U / total * acc) >> 16);
      acc += cnt[k];
    }
  }
  void note(std::uint32_t s) {
    ++cnt[s];
    if (--left != 0) return;
    total += cycle;
    if (total > 32768) {
      total = 0;
      for (std::uint32_t& c : cnt) total += c = (c + 1) >> 1;
    }
    rebuild();
    left = cycle = std::min((5 * cycle) >> 2, 8 * (n + 6));
  }
  std::uint32_t n;
  std::vector<std::uint32_t> cnt, cum;
  std::uint32_t total, cycle, left;
};

/// Long streams: the model stays what it should be, and whatever is coded comes back.
template <std::uint32_t kSymbols>
void alphabet_survives(std::uint32_t n, std::uint32_t skew) {
  SCOPED_TRACE(std::to_string(kSymbols) + " " + std::to_string(n) + " " + std::to_string(skew));
  Random random(n * 7 + skew);
  std::vector<std::uint32_t> symbols(65536);
  for (std::uint32_t& s : symbols) {
    s = draw(random, n);
    for (std::uint32_t i = 0; i < skew; ++i) s = std::min(s, draw(random, n));
    if (skew == 9) s = n - 1 - s;
  }
  Alphabet<kSymbols> model;
  start(model, n);
  PlainModel plain(n);
  Writer writer(symbols.size() * 2);
  for (const std::uint32_t s : symbols) {
    writer.coder.symbol(model, s, n);
    plain.note(s);
  }
  EXPECT_EQ(std::vector<std::uint32_t>(model.cum, model.cum + n), plain.cum);
  EXPECT_EQ(std::vector<std::uint32_t>(model.cnt, model.cnt + n), plain.cnt);
  EXPECT_EQ(model.total, plain.total);
  const auto bytes = writer.finish();
  start(model, n);
  Decoder coder = reader(bytes);
  for (const std::uint32_t s : symbols) ASSERT_EQ(coder.symbol(model, 0, n), s);
  expect_used_up(coder, bytes);
}

TEST(LazCoder, LongStreamsOfEveryAlphabet) {
  for (const std::uint32_t skew : {0U, 1U, 4U, 9U, 40U}) {
    alphabet_survives<2>(2, skew);
    alphabet_survives<3>(3, skew);
    alphabet_survives<5>(5, skew);
    alphabet_survives<6>(6, skew);
    alphabet_survives<9>(9, skew);
    alphabet_survives<13>(13, skew);
    alphabet_survives<16>(16, skew);
    alphabet_survives<17>(17, skew);
    alphabet_survives<33>(33, skew);
    alphabet_survives<64>(64, skew);
    alphabet_survives<128>(128, skew);
    alphabet_survives<515>(515, skew);
    alphabet_survives<516>(516, skew);
    for (const std::uint32_t n : {2U, 4U, 8U, 16U, 32U, 64U, 128U, 256U}) alphabet_survives<256>(n, skew);
  }
}

/// Against the search as it is defined, everywhere near the borders of symbols, and for heads that no encoder makes.
template <std::uint32_t kSymbols>
void search_is_exact(std::uint32_t n) {
  Alphabet<kSymbols> model;
  start(model, n);
  Random random(n);
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 997; ++i) note(model, std::min(draw(random, n), draw(random, n)), n);
    for (const std::uint32_t unit : {512U, 513U, 131071U, 512U + draw(random, 130000)}) {
      const auto expect_found = [&](std::uint32_t head) {
        std::uint32_t expected = 0;
        while (expected + 1 < n && model.cum[expected + 1] * unit <= head) ++expected;
        ASSERT_EQ(find(model, head, unit, n), expected) << n << ' ' << unit << ' ' << head;
        ASSERT_EQ(find_by_halving(model, head, unit, n), expected) << n << ' ' << unit << ' ' << head;
      };
      for (std::uint32_t s = 0; s < n; ++s) {
        expect_found(model.cum[s] * unit);
        expect_found(model.cum[s] * unit - (s == 0 ? 0 : 1));
        expect_found(model.cum[s] * unit + 1);
      }
      for (const std::uint32_t head : {32767U * unit, 32768U * unit - 1, 0xFFFFFFFFU, 0x80000000U}) expect_found(head);
    }
  }
}

TEST(LazCoder, SearchIsExact) {
  search_is_exact<2>(2);
  search_is_exact<4>(4);
  search_is_exact<13>(13);
  search_is_exact<16>(16);
  search_is_exact<17>(17);
  search_is_exact<33>(33);
  search_is_exact<64>(64);
  search_is_exact<128>(128);
  search_is_exact<516>(516);
  for (const std::uint32_t n : {2U, 4U, 8U, 16U, 32U, 64U, 128U, 256U}) search_is_exact<256>(n);
}

/// A last symbol with the largest possible place: the search's padding has the same value.
TEST(LazCoder, LargestPlaceIsNotTakenForPadding) {
  Alphabet<2> model;
  start(model);
  model.cnt[0] = 32767;
  model.cnt[1] = 1;
  model.total = 32768;
  rebuild(model, 2);
  ASSERT_EQ(model.cum[1], 32767);
  EXPECT_EQ(find(model, 32767U * 600, 600, 2), 1U);
  EXPECT_EQ(find(model, 32767U * 600 - 1, 600, 2), 0U);
  EXPECT_EQ(find(model, 0xFFFFFFFFU, 600, 2), 1U);
}

TEST(LazCoder, CarriesRunBackFar) {
  // All-ones bits keep the base just below a power of two for a long time; then a carry must run through all of it.
  for (const std::size_t run : {1U, 2U, 3U, 4U, 7U, 100U, 5000U}) {
    std::vector<std::uint32_t> values{0x1234};
    values.insert(values.end(), run, 0xFFFFU);
    values.insert(values.end(), {0xFFFF, 1, 0});
    Alphabet<2> model;
    start(model);
    Writer writer(values.size() * 6 + 100);
    for (const std::uint32_t v : values) writer.coder.raw(16, v);
    for (int i = 0; i < 64; ++i) writer.coder.symbol(model, 1);
    const auto bytes = writer.finish();
    start(model);
    Decoder coder = reader(bytes);
    for (const std::uint32_t v : values) ASSERT_EQ(coder.raw(16, 0), v);
    for (int i = 0; i < 64; ++i) ASSERT_EQ(coder.symbol(model, 0), 1U);
    expect_used_up(coder, bytes);
  }
}

/// The coder as the format's description says it: byte by byte, carries at once.
struct PlainEncoder {
  void advance(std::uint32_t d) {
    const std::uint32_t before = base;
    base += d;
    if (base >= before) return;
    std::size_t i = out.size();
    while (out[--i] == 0xFF) out[i] = 0;
    ++out[i];
    longest = std::max(longest, out.size() - i);
  }
  void normalise() {
    while (span < 0x01000000) {
      out.push_back(static_cast<std::uint8_t>(base >> 24));
      base <<= 8;
      span <<= 8;
    }
  }
  std::uint32_t base = 0, span = 0xFFFFFFFF;
  std::size_t longest = 0;
  std::vector<std::uint8_t> out;
};

TEST(LazCoder, BytesAreThoseOfThePlainCoder) {
  // Symbols that steer towards the top of the interval as long as the base begins with ones, so that carries travel.
  Random random(1);
  PlainEncoder plain;
  Writer writer(2000000);
  for (int i = 0; i < 300000; ++i) {
    const std::uint32_t k = 1 + draw(random, 12);
    std::uint32_t value = static_cast<std::uint32_t>(random()) & ((1U << k) - 1);
    const std::uint64_t end = std::uint64_t{plain.base} + plain.span;
    if (end > 0xFFFFFFFFU && random() % 64 != 0) {
      // The value whose part of the interval holds 2^32 keeps the carry undecided.
      value = static_cast<std::uint32_t>((0x100000000U - plain.base - 1) / (plain.span >> k));
      value = std::min(value, (1U << k) - 1);
    }
    plain.span >>= k;
    plain.advance(value * plain.span);
    plain.normalise();
    writer.coder.raw(k, value);
  }
  EXPECT_GT(plain.longest, 3U) << "carries stayed short";
  const auto bytes = writer.finish();
  ASSERT_GT(bytes.size(), plain.out.size());
  // The last byte may still change while the stream is finished.
  for (std::size_t i = 0; i + 8 < plain.out.size(); ++i)
    ASSERT_EQ(static_cast<std::uint8_t>(bytes[i]), plain.out[i]) << i;
}

TEST(LazCoder, MissingBytesAreCountedAndReadAsZeros) {
  Alphabet<256> model;
  start(model);
  Writer writer(1000);
  for (std::uint32_t i = 0; i < 200; ++i) writer.coder.symbol(model, i % 256);
  const auto bytes = writer.finish();
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    Decoder coder;
    coder.start(cut.data(), size);
    start(model);
    std::uint32_t sound = 0;
    for (; sound < 200; ++sound) {
      const std::uint32_t symbol = coder.symbol(model, 0);
      if (coder.starved()) break;
      ASSERT_EQ(symbol, sound % 256);
    }
    EXPECT_EQ(sound == 200, size == bytes.size()) << size;
  }
}

TEST(LazMedian, OfFive) {
  Median median;
  start(median);
  std::vector<std::int32_t> middles;
  for (const std::int32_t v : {5, -3, 8, 8, 0, -7, 100, 2, 2}) {
    median.add(static_cast<std::uint32_t>(v));
    middles.push_back(static_cast<std::int32_t>(median.middle()));
  }
  EXPECT_EQ(middles, (std::vector<std::int32_t>{0, 0, 0, 0, 0, 0, 0, 0, 2}));
  EXPECT_EQ(std::vector<std::int32_t>(median.sorted, median.sorted + 5), (std::vector<std::int32_t>{0, 0, 2, 2, 100}));
}

TEST(LazMedian, AsDescribed) {
  Random random(3);
  Median median;
  start(median);
  std::vector<std::int32_t> window(5, 0);
  bool drop_top = true;
  for (int i = 0; i < 20000; ++i) {
    const auto x = static_cast<std::int32_t>(random() % 16) - 8;
    const std::int32_t middle = window[2];
    if (drop_top) {
      window.pop_back();
      if (x >= middle) drop_top = false;
    } else {
      window.erase(window.begin());
      if (x <= middle) drop_top = true;
    }
    window.insert(std::upper_bound(window.begin(), window.end(), x), x);
    median.add(static_cast<std::uint32_t>(x));
    ASSERT_EQ(std::vector<std::int32_t>(median.sorted, median.sorted + 5), window);
  }
}

TEST(Sha256, KnownAnswers) {
  EXPECT_EQ(test::sha256({}), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  const std::string abc = "abc";
  EXPECT_EQ(test::sha256(std::as_bytes(std::span(abc))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace sluice::laz
