// SPDX-License-Identifier: Apache-2.0
/// \file
/// The LZF byte code of compressed PCD files: runs of up to 32 literal bytes, and copies of 3 to 264 bytes from up to
/// 8192 bytes before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sluice::io::pcd {

/// Most bytes that one byte of code can stand for.
inline constexpr std::uint64_t kMostLzfGain = 88;

/// Appends code for `bytes` to `out`. Codes of parts that follow each other, put one behind the other, are code for
/// the whole.
void lzf_encode(std::span<const std::byte> bytes, std::vector<std::byte>& out);

/// What went wrong in decoding, and where.
struct LzfProblem {
  std::uint64_t at = 0;  ///< in the code
  const char* what = nullptr;
};

/// Decodes all of `code`, which must fill all of `out`.
/// \return false where it does not
bool lzf_decode(std::span<const std::byte> code, std::span<std::byte> out, LzfProblem& problem);

}  // namespace sluice::io::pcd
