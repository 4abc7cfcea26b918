// SPDX-License-Identifier: Apache-2.0
/// \file
/// Changes of LAS version, point format, scale and offset.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sluice/core/point_cloud.hpp"

namespace sluice::io {

/// What a LAS file shall become; what is not given stays.
struct LasTarget {
  std::optional<int> point_format{};
  /// Not given: the source's where it knows the point format, else the nearest that does.
  std::optional<int> version_minor{};
  std::optional<std::array<double, 3>> scale{};
  std::optional<std::array<double, 3>> offset{};
  bool strict = false;  ///< whatever would be lost is an error instead of a warning
};

/// Converts records of one layout to another.
///
/// | matter | rule |
/// | --- | --- |
/// | coordinates | the number that the old raw value, scale and offset stand for (as the decimals they print as),
/// divided exactly, rounded half to even; what does not fit 32 bits is an error, never clamped | | class | above 31
/// does not fit formats 0 to 5: an error | | overlap | class 12 of formats 0 to 5 becomes class 1 with the flag in
/// formats 6 to 10; back, the flag with class 0 or 1 becomes class 12, with another class the class is kept and the
/// flag lost | | scan angle | whole degrees to steps of 0.006 degrees and back, rounded half to even; what does not fit
/// is an error | | returns | numbers above 7 do not fit formats 0 to 5: an error | | extra bytes | kept as they are,
/// described or not | | colour, near infrared, GPS time, waveform fields, scanner channel | lost where the target has
/// none; zero where the source has none |
class LasConverter {
 public:
  /// \throws InvalidArgument  not a LAS cloud, a target that no LAS file can be
  /// \throws Unsupported      numbers beyond 128 bits, and with `strict` whatever the target cannot hold
  LasConverter(const CloudInfo& source, const LasTarget& target);
  ~LasConverter();
  LasConverter(LasConverter&&) noexcept;
  LasConverter& operator=(LasConverter&&) noexcept;

  /// Schema, frame and metadata of the converted cloud, for `create_sink`.
  [[nodiscard]] const CloudInfo& info() const;
  /// Converts `in.count` records to `out`, which holds as many of `info().schema.record_bytes` bytes and does not
  /// overlap them. Any thread.
  /// \param first  index of the first record, for messages
  /// \throws Unsupported  a value does not fit; names the point, the field and the value
  void convert(const PointView& in, std::uint64_t first, std::byte* out) const;
  /// What was lost or changed in meaning; complete once all points are converted.
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sluice::io
