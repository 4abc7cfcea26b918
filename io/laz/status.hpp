// SPDX-License-Identifier: Apache-2.0
/// \file
/// How decoding ended.
#pragma once

#include <cstdint>

namespace sluice::laz {

enum class Status : std::uint8_t {
  kOk,
  kTruncated,  ///< bytes are missing
  kCorrupt,    ///< a value came out that cannot be, or lengths contradict each other
  kLeftOver,   ///< all points are there, and bytes that belong to none
};

/// In words, for messages: "is cut short", ...
[[nodiscard]] constexpr const char* text_of(Status status) {
  switch (status) {
    case Status::kOk:
      return "is sound";
    case Status::kTruncated:
      return "is cut short";
    case Status::kCorrupt:
      return "is damaged";
    case Status::kLeftOver:
      return "is followed by bytes that belong to no point";
  }
  return "";
}

}  // namespace sluice::laz
