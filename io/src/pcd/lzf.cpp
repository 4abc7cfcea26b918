// SPDX-License-Identifier: Apache-2.0
#include "lzf.hpp"

#include <algorithm>
#include <cstring>

#include "sluice/core/types.hpp"

namespace sluice::io::pcd {
namespace {

constexpr std::size_t kMostLiterals = 32;
constexpr std::size_t kLeastCopy = 3;
constexpr std::size_t kMostCopy = 264;
constexpr std::size_t kWindow = 8192;
constexpr unsigned kHashBits = 14;
constexpr std::size_t kWord = sizeof(std::uint64_t);

std::uint32_t three_bytes(const std::byte* at) {
  return std::to_integer<std::uint32_t>(at[0]) | std::to_integer<std::uint32_t>(at[1]) << 8U |
         std::to_integer<std::uint32_t>(at[2]) << 16U;
}

std::size_t slot_of(std::uint32_t bytes) { return (bytes * 2654435761U) >> (32U - kHashBits); }

std::byte byte_of(std::size_t value) { return static_cast<std::byte>(value & 0xffU); }

void put_literals(const std::byte* from, std::size_t count, std::vector<std::byte>& out) {
  while (count > 0) {
    const std::size_t run = std::min(count, kMostLiterals);
    out.push_back(byte_of(run - 1));
    out.insert(out.end(), from, from + run);
    from += run;
    count -= run;
  }
}

void put_copy(std::size_t distance, std::size_t length, std::vector<std::byte>& out) {
  const std::size_t back = distance - 1;
  const std::size_t stored = length - 2;
  out.push_back(byte_of((std::min<std::size_t>(stored, 7) << 5U) | (back >> 8U)));
  if (stored >= 7) out.push_back(byte_of(stored - 7));
  out.push_back(byte_of(back));
}

std::size_t common_length(const std::byte* a, const std::byte* b, std::size_t most) {
  std::size_t n = 0;
  while (n + kWord <= most) {
    const std::uint64_t difference = load_unaligned<std::uint64_t>(a + n) ^ load_unaligned<std::uint64_t>(b + n);
    if (difference != 0) return n + static_cast<std::size_t>(__builtin_ctzll(difference)) / 8;
    n += kWord;
  }
  while (n < most && a[n] == b[n]) ++n;
  return n;
}

}  // namespace

void lzf_encode(std::span<const std::byte> bytes, std::vector<std::byte>& out) {
  const std::byte* data = bytes.data();
  const std::size_t size = bytes.size();
  // For each hash the last place where three bytes with it began, plus one.
  std::vector<std::uint32_t> last(std::size_t{1} << kHashBits, 0);
  std::size_t literal = 0;  // first byte that has no code yet
  std::size_t at = 0;
  while (at + kLeastCopy <= size) {
    const std::uint32_t here = three_bytes(data + at);
    std::uint32_t& slot = last[slot_of(here)];
    const std::size_t candidate = slot;
    slot = static_cast<std::uint32_t>(at + 1);
    if (candidate == 0 || at - (candidate - 1) > kWindow || three_bytes(data + candidate - 1) != here) {
      // What has not matched for long hardly will; longer steps save time there.
      at += 1 + ((at - literal) >> 6U);
      continue;
    }
    const std::size_t from = candidate - 1;
    const std::size_t most = std::min(kMostCopy, size - at);
    const std::size_t length =
        kLeastCopy + common_length(data + from + kLeastCopy, data + at + kLeastCopy, most - kLeastCopy);
    put_literals(data + literal, at - literal, out);
    put_copy(at - from, length, out);
    const std::size_t end = at + length;
    // The end of a copy is where the next one is likely to begin.
    for (std::size_t k = end - 2; k < end && k + kLeastCopy <= size; ++k) {
      last[slot_of(three_bytes(data + k))] = static_cast<std::uint32_t>(k + 1);
    }
    at = literal = end;
  }
  put_literals(data + literal, size - literal, out);
}

bool lzf_decode(std::span<const std::byte> code, std::span<std::byte> out, LzfProblem& problem) {
  const std::byte* const code_begin = code.data();
  const std::byte* const code_end = code_begin + code.size();
  std::byte* const out_begin = out.data();
  std::byte* const out_end = out_begin + out.size();
  const std::byte* in = code_begin;
  std::byte* to = out_begin;
  const auto fail = [&](const std::byte* at, const char* what) {
    problem = {static_cast<std::uint64_t>(at - code_begin), what};
    return false;
  };
  while (in < code_end) {
    const std::byte* const start = in;
    const auto control = std::to_integer<unsigned>(*in++);
    const auto room = static_cast<std::size_t>(out_end - to);
    const auto left = static_cast<std::size_t>(code_end - in);
    if (control < kMostLiterals) {
      const std::size_t run = control + 1;
      if (run > left) return fail(start, "the data end inside a run of literal bytes");
      if (run > room) return fail(start, "there are more bytes than the header says");
      // A fixed size is one or two instructions; what is too much is overwritten by what follows.
      if (left >= kMostLiterals && room >= kMostLiterals) {
        std::memcpy(to, in, kMostLiterals);
      } else {
        std::memcpy(to, in, run);
      }
      in += run;
      to += run;
      continue;
    }
    std::size_t length = control >> 5U;
    if (left < (length == 7 ? 2U : 1U)) return fail(start, "the data end inside a copy");
    if (length == 7) length += std::to_integer<std::size_t>(*in++);
    length += 2;
    const std::size_t distance = ((control & 31U) << 8U) + std::to_integer<std::size_t>(*in++) + 1;
    if (distance > static_cast<std::size_t>(to - out_begin)) return fail(start, "a copy is from before the first byte");
    if (length > room) return fail(start, "there are more bytes than the header says");
    const std::byte* from = to - distance;
    if (distance >= kWord && room >= length + kWord) {
      std::byte* const end = to + length;
      for (std::byte* p = to; p < end; p += kWord, from += kWord) std::memcpy(p, from, kWord);
      to = end;
    } else if (distance == 1) {
      std::memset(to, std::to_integer<int>(*from), length);
      to += length;
    } else {
      for (std::size_t i = 0; i < length; ++i) *to++ = *from++;
    }
  }
  return to == out_end || fail(in, "there are fewer bytes than the header says");
}

}  // namespace sluice::io::pcd
