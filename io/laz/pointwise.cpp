// SPDX-License-Identifier: Apache-2.0
#include "pointwise.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace sluice::laz {
namespace {

static_assert(std::is_trivially_copyable_v<PointwiseModels> && std::is_trivially_copyable_v<ByteModels>);

void start(PointwiseModels& m, ByteModels* extra, const RecordLayout& layout, const std::byte* record) {
  if (layout.point_version == 1) {
    laz::start(m.point_old, record);
  } else {
    laz::start(m.point, record);
  }
  if (layout.gps_version == 1) {
    laz::start(m.gps_old, load_unaligned<std::uint64_t>(record + Point10::kBytes));
  } else if (layout.gps_version != 0) {
    laz::start(m.gps, load_unaligned<std::uint64_t>(record + Point10::kBytes));
  }
  if (layout.rgb_version == 1) {
    laz::start(m.rgb_old);
  } else if (layout.rgb_version != 0) {
    laz::start(m.rgb);
  }
  if (layout.wave_packet_version != 0) {
    laz::start(m.wave_packet);
    m.last_wave_packet = load_wave_packet(record + layout.wave_packet_at);
  }
  laz::start(m.extra_old);
  for (std::uint32_t j = 0; j < layout.extra_bytes; ++j) {
    if (layout.extra_version == 1) {
      laz::start(extra[j].interval_old);
    } else {
      laz::start(extra[j].difference);
    }
  }
}

/// Codes points whose items are all of the newest version. Records lie `stride` bytes apart, and so do each and the one
/// before it, except for the first of them, which follows `before`.
///
/// \returns how many points were coded before a decoder ran out of bytes or met a value that cannot be
template <class Coder>
std::uint64_t code_points(Coder& state, PointwiseModels& m, ByteModels* extra, const RecordLayout& layout,
                          const std::byte* before, typename Coder::Byte* records, std::uint64_t stride,
                          std::uint64_t count) {
  Coder coder = state;
  std::uint64_t i = 0;
  for (; i < count; ++i) {
    auto* record = records + i * stride;
    code_point10(coder, m.point, record);
    if (layout.gps_version != 0) {
      auto* item = record + Point10::kBytes;
      std::uint64_t time = 0;
      if constexpr (Coder::kEncodes) time = load_unaligned<std::uint64_t>(item);
      time = code_gps_time(coder, m.gps, time);
      if constexpr (!Coder::kEncodes) store_unaligned(item, time);
    }
    if (layout.rgb_version != 0) {
      auto* item = record + layout.rgb_at;
      Rgb colour{};
      if constexpr (Coder::kEncodes) colour = load_rgb(item);
      colour = code_rgb(coder, m.rgb, load_rgb(before + layout.rgb_at), colour);
      if constexpr (!Coder::kEncodes) store_rgb(item, colour);
    }
    if (layout.wave_packet_version != 0) {
      auto* item = record + layout.wave_packet_at;
      WavePacket packet{};
      if constexpr (Coder::kEncodes) packet = load_wave_packet(item);
      m.last_wave_packet = code_wave_packet(coder, m.wave_packet, m.last_wave_packet, packet);
      if constexpr (!Coder::kEncodes) store_wave_packet(item, m.last_wave_packet);
    }
    for (std::uint32_t j = 0; j < layout.extra_bytes; ++j) {
      auto* item = record + layout.extra_at + j;
      const std::uint32_t last = load_unaligned<std::uint8_t>(before + layout.extra_at + j);
      std::uint32_t step = 0;
      if constexpr (Coder::kEncodes) step = (load_unaligned<std::uint8_t>(item) - last) & 255U;
      step = coder.symbol(extra[j].difference.at(0), step);
      if constexpr (!Coder::kEncodes) store_unaligned(item, static_cast<std::uint8_t>(last + step));
    }
    if constexpr (!Coder::kEncodes) {
      if (coder.starved() || coder.corrupt()) break;
    }
    before = record;
  }
  state = coder;
  return i;
}

/// The same for records with items of version 1, which are rare.
std::uint64_t decode_old_points(Decoder& coder, PointwiseModels& m, ByteModels* extra, const RecordLayout& layout,
                                const std::byte* before, std::byte* records, std::uint64_t stride,
                                std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    std::byte* record = records + i * stride;
    if (layout.point_version == 1) {
      decode_point10_old(coder, m.point_old, record);
    } else {
      code_point10(coder, m.point, record);
    }
    if (layout.gps_version == 1) {
      store_unaligned(record + Point10::kBytes, decode_gps_time_old(coder, m.gps_old));
    } else if (layout.gps_version != 0) {
      store_unaligned(record + Point10::kBytes, code_gps_time(coder, m.gps, 0));
    }
    if (layout.rgb_version == 1) {
      decode_rgb_old(coder, m.rgb_old, before + layout.rgb_at, record + layout.rgb_at);
    } else if (layout.rgb_version != 0) {
      store_rgb(record + layout.rgb_at, code_rgb(coder, m.rgb, load_rgb(before + layout.rgb_at), {}));
    }
    if (layout.wave_packet_version != 0) {
      m.last_wave_packet = code_wave_packet(coder, m.wave_packet, m.last_wave_packet, {});
      store_wave_packet(record + layout.wave_packet_at, m.last_wave_packet);
    }
    for (std::uint32_t j = 0; j < layout.extra_bytes; ++j) {
      std::uint32_t value = load_unaligned<std::uint8_t>(before + layout.extra_at + j);
      value = layout.extra_version == 1 ? code_integer(coder, extra[j].interval_old.at(0), m.extra_old, value, 0).value
                                        : value + coder.symbol(extra[j].difference.at(0), 0);
      store_unaligned(record + layout.extra_at + j, static_cast<std::uint8_t>(value));
    }
    if (coder.starved() || coder.corrupt()) return i;
    before = record;
  }
  return count;
}

/// Most bytes that the encoder adds for a point.
std::uint64_t max_coded(const RecordLayout& layout) {
  return Point10::kMaxCoded + (layout.gps_version != 0 ? GpsTimeModels<false>::kMaxCoded : 0U) +
         (layout.rgb_version != 0 ? Rgb::kMaxCoded : 0U) +
         (layout.wave_packet_version != 0 ? WavePacket::kMaxCoded : 0U) + 2U * layout.extra_bytes;
}

}  // namespace

void PointwiseWorkspace::reserve(const RecordLayout& layout) {
  if (!models_) models_ = std::make_unique_for_overwrite<PointwiseModels>();
  if (layout.extra_bytes > extra_bytes_) {
    extra_ = std::make_unique_for_overwrite<ByteModels[]>(layout.extra_bytes);
    extra_bytes_ = layout.extra_bytes;
  }
}

PointwiseDecoder::PointwiseDecoder(PointwiseWorkspace& workspace, const RecordLayout& layout,
                                   std::span<const std::byte> bytes)
    : workspace_(workspace), layout_(layout), bytes_(bytes) {
  workspace.reserve(layout);
}

PointwiseResult PointwiseDecoder::decode(std::byte* records, std::uint64_t stride, std::uint64_t count) {
  PointwiseModels& models = workspace_.models();
  PointwiseResult result;
  if (last_.empty() && count != 0 && status_ == Status::kOk) {
    const std::uint64_t bytes = layout_.record_bytes;
    if (bytes_.size() < bytes) {
      status_ = Status::kTruncated;
    } else {
      std::memcpy(records, bytes_.data(), bytes);
      start(models, workspace_.extra(), layout_, records);
      coder_.start(bytes_.data() + bytes, bytes_.size() - bytes);
      last_.assign(records, records + bytes);
      result.points = 1;
      // The stream is there for a single point too.
      if (coder_.starved()) status_ = Status::kTruncated;
    }
  }
  if (status_ == Status::kOk && result.points < count) {
    const std::uint64_t first = result.points;
    const auto decode = layout_.is_old() ? decode_old_points : code_points<Decoder>;
    result.points += decode(coder_, models, workspace_.extra(), layout_, last_.data(), records + first * stride, stride,
                            count - first);
    // What follows a missing byte may look like anything.
    if (coder_.starved()) {
      status_ = Status::kTruncated;
    } else if (coder_.corrupt()) {
      status_ = Status::kCorrupt;
    }
    if (result.points > 0) std::memcpy(last_.data(), records + (result.points - 1) * stride, last_.size());
  }
  if (!last_.empty()) result.consumed = last_.size() + coder_.consumed();
  result.status = status_;
  return result;
}

PointwiseResult decode_pointwise_chunk(PointwiseWorkspace& workspace, const RecordLayout& layout,
                                       std::span<const std::byte> bytes, std::byte* records, std::uint64_t stride,
                                       std::uint64_t count) {
  PointwiseDecoder decoder(workspace, layout, bytes);
  PointwiseResult result = decoder.decode(records, stride, count);
  if (result.status == Status::kOk && result.consumed != bytes.size()) result.status = Status::kLeftOver;
  return result;
}

void encode_pointwise_chunk(PointwiseWorkspace& workspace, const RecordLayout& layout, const std::byte* records,
                            std::uint64_t stride, std::uint64_t count, Buffer& out) {
  workspace.reserve(layout);
  PointwiseModels& models = workspace.models();
  start(models, workspace.extra(), layout, records);
  out.append(records, layout.record_bytes);
  encode_stream(out, count, max_coded(layout), [&](Encoder& coder, std::uint64_t first, std::uint64_t block) {
    code_points(coder, models, workspace.extra(), layout, records + (first - 1) * stride, records + first * stride,
                stride, block);
  });
}

}  // namespace sluice::laz
