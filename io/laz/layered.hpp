// SPDX-License-Identifier: Apache-2.0
/// \file
/// Chunks of formats 6 to 10: the first point as it is, then a stream for every layer.
///
/// Layer 0 tells for each later point where it belongs; with that, every other layer can be decoded or left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "buffer.hpp"
#include "decoder.hpp"
#include "encoder.hpp"
#include "items.hpp"
#include "layers.hpp"
#include "memory.hpp"
#include "status.hpp"

namespace sluice::laz {

/// Sets of layers: bit `layer` of a mask. Layer 0 (scanner channel, returns, x, y) always is decoded.
namespace layer {
inline constexpr std::uint32_t kMain = 0, kZ = 1, kClassification = 2, kFlags = 3, kIntensity = 4, kScanAngle = 5,
                               kUserData = 6, kSource = 7, kGpsTime = 8;
inline constexpr std::uint32_t kRgb = 9, kNir = 10, kWavePacket = 11;
/// Of the first extra byte; each further one has the next bit, all from the 52nd on share the last.
inline constexpr std::uint32_t kExtra = 12;
inline constexpr std::uint64_t kAll = ~std::uint64_t{0};

[[nodiscard]] constexpr std::uint64_t bit(std::uint32_t which) { return std::uint64_t{1} << (which < 63 ? which : 63); }
}  // namespace layer

/// Where the fields of decoded points go, or those of points to encode come from: into records, or to columns. A field
/// without place is not wanted. The fields of layer 0 must all have a place.
template <class Byte>
struct LayeredFields {
  Field<Byte> x, y, z;         ///< 4 bytes each
  Field<Byte> returns;         ///< byte 14 of the record: return number and number of returns
  Field<Byte> flags;           ///< byte 15: class flags, scanner channel, scan direction, edge
  Field<Byte> classification;  ///< 1 byte
  Field<Byte> intensity;       ///< 2
  Field<Byte> scan_angle;      ///< 2
  Field<Byte> user_data;       ///< 1
  Field<Byte> source;          ///< 2
  Field<Byte> gps_time;        ///< 8
  Field<Byte> rgb;             ///< 6
  Field<Byte> nir;             ///< 2
  Field<Byte> wave_packet;     ///< 29
  Field<Byte> extra;           ///< all extra bytes of a point side by side
};

/// The fields of whole records.
template <class Byte>
[[nodiscard]] LayeredFields<Byte> fields_of_records(const RecordLayout& layout, Byte* records, std::uint64_t stride) {
  LayeredFields<Byte> f;
  const auto field = [&](std::uint64_t at) { return Field<Byte>{records + at, stride}; };
  f.x = field(0);
  f.y = field(4);
  f.z = field(8);
  f.intensity = field(12);
  f.returns = field(14);
  f.flags = field(15);
  f.classification = field(16);
  f.user_data = field(17);
  f.scan_angle = field(18);
  f.source = field(20);
  f.gps_time = field(22);
  if (layout.rgb_version != 0) f.rgb = field(layout.rgb_at);
  if (layout.nir_version != 0) f.nir = field(layout.nir_at);
  if (layout.wave_packet_version != 0) f.wave_packet = field(layout.wave_packet_at);
  if (layout.extra_bytes != 0) f.extra = field(layout.extra_at);
  return f;
}

/// Memory for one chunk at a time, kept from chunk to chunk; one for each thread.
class LayeredWorkspace {
 public:
  /// Not touched before their use.
  [[nodiscard]] LayerModels& models();
  /// Memory for so many control words, which hold anything.
  [[nodiscard]] std::uint16_t* control(std::uint64_t points);

 private:
  std::unique_ptr<LayerModels> models_;
  std::unique_ptr<std::uint16_t[]> control_;
  std::uint64_t points_ = 0;
};

/// What precedes the layers.
struct LayeredHeader {
  std::uint64_t points = 0;  ///< by the chunk's own count
  std::uint64_t bytes = 0;   ///< of the whole chunk, by the sizes of its layers
};

/// Reads the count and sizes at the begin of a chunk.
/// \returns kOk, or kTruncated where not even those are there
[[nodiscard]] Status read_layered_header(const RecordLayout& layout, std::span<const std::byte> bytes,
                                         LayeredHeader& out);

struct LayeredResult {
  Status status = Status::kOk;  ///< the worst of header, layer 0 and the layers wanted
  std::uint64_t points = 0;     ///< sound ones in all of these, from the first on
  std::uint64_t main = 0;       ///< sound ones in layer 0
  std::uint64_t damaged = 0;    ///< mask of layers wanted that are not sound for all points of `main`
  std::uint64_t stored = 0;     ///< points by the chunk's own count
};

/// The layers that have a say in `bytes` bytes of a record from `at` on, without layer 0.
[[nodiscard]] std::uint64_t layers_of(const RecordLayout& layout, std::uint64_t at, std::uint64_t bytes);

/// Decodes one chunk.
///
/// \param bytes   of the chunk, or as many as there are of them
/// \param wanted  mask of layers; others are skipped, and their fields are not written. Flags that are not wanted read
///                as zero beside the scanner channel
/// \param count   points to decode, at least 1. Fewer than are stored may be asked for; of more, as many as there are
///                come, with kCorrupt
/// \param control_words  where given, receives `count` words for `decode_further_layers`. The first one is not used
/// \returns kLeftOver where a stream or the chunk holds more bytes than it used
LayeredResult decode_layered_chunk(LayeredWorkspace& workspace, const RecordLayout& layout,
                                   std::span<const std::byte> bytes, std::uint64_t wanted,
                                   const LayeredFields<std::byte>& fields, std::uint64_t count,
                                   std::uint16_t* control_words = nullptr);

/// Decodes other layers of a chunk whose layer 0 has been decoded, without doing that again: of both together comes
/// what decoding all at once gives. Damage of layers that were wanted before is not seen again.
///
/// \param wanted  mask of layers; no other field is written
/// \param count   points, all sound in layer 0
/// \param control_words  as decoding at least so many points left them; not changed
LayeredResult decode_further_layers(LayeredWorkspace& workspace, const RecordLayout& layout,
                                    std::span<const std::byte> bytes, std::uint64_t wanted,
                                    const LayeredFields<std::byte>& fields, std::uint64_t count,
                                    std::uint16_t* control_words);

/// Appends one chunk to `out`.
///
/// \param layout  versions 3 or 4
/// \param count   at least 1
void encode_layered_chunk(LayeredWorkspace& workspace, const RecordLayout& layout,
                          const LayeredFields<const std::byte>& fields, std::uint64_t count, Buffer& out);

}  // namespace sluice::laz
