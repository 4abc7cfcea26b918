// SPDX-License-Identifier: Apache-2.0
/// \file
/// Builds LAS files byte by byte, without the library under test, and reads and checks them the same way.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "sluice/core/chunk_stream.hpp"
#include "sluice/io/las.hpp"
#include "sluice/io/read.hpp"
#include "sluice/io/write.hpp"

namespace sluice::test {

inline constexpr int kRecordBytes[11] = {20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67};
inline constexpr int kHeaderBytes[6] = {227, 227, 227, 235, 375, 393};
inline constexpr char kGenerator[] = "las test writer";
/// 2023-11-14, day 318 of the year.
inline constexpr char kEpoch[] = "1700000000";

template <typename T>
void put(std::string& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}
template <typename T>
T get(const std::string& bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}
inline void put_text(std::string& bytes, std::size_t at, const std::string& text) {
  std::memcpy(bytes.data() + at, text.data(), text.size());
}

struct RawRecord {
  std::string user{};
  std::uint16_t id = 0;
  std::string payload{};
  std::string description = "made by a test";
  std::uint16_t reserved = 0;

  [[nodiscard]] std::string bytes(bool extended) const {
    std::string out(extended ? 60 : 54, '\0');
    put(out, 0, reserved);
    put_text(out, 2, user);
    put(out, 18, id);
    if (extended) {
      put<std::uint64_t>(out, 20, payload.size());
    } else {
      put(out, 20, static_cast<std::uint16_t>(payload.size()));
    }
    put_text(out, extended ? 28 : 22, description);
    return out + payload;
  }
};

/// One entry of the record that describes extra bytes.
inline std::string extra_entry(int type, const std::string& name, int options = 0, std::array<double, 3> scale = {},
                               std::array<double, 3> offset = {}) {
  std::string out(192, '\0');
  out[2] = static_cast<char>(type);
  out[3] = static_cast<char>(options);
  put_text(out, 4, name);
  for (std::size_t i = 0; i < 3; ++i) {
    put(out, 112 + 8 * i, scale[i]);
    put(out, 136 + 8 * i, offset[i]);
  }
  put_text(out, 160, "about " + name);
  return out;
}

/// A LAS file to be built.
struct LasBytes {
  int minor = 2;
  int format = 1;
  int extra = 0;
  std::uint64_t points = 25;
  std::uint16_t encoding = 0;
  std::array<double, 3> scale{0.01, 0.001, 0.5};
  std::array<double, 3> offset{1000.0, -20.25, 0.0};
  std::vector<RawRecord> vlrs{};
  std::vector<RawRecord> evlrs{};
  std::string vendor{};         ///< behind the header
  std::string gap{};            ///< before the points
  std::string lone_waveform{};  ///< payload of a waveform record outside the chain, behind the points
  int waveform_evlr = -1;       ///< which EVLR holds the waveforms
  std::string records{};        ///< random where empty
  unsigned seed = 1;

  /// Set by `build`.
  std::size_t points_at = 0;
  std::size_t points_end = 0;
  std::size_t evlrs_at = 0;

  [[nodiscard]] int record_bytes() const { return kRecordBytes[format] + extra; }

  std::string build() {
    std::string header(static_cast<std::size_t>(kHeaderBytes[minor]), '\0');
    put_text(header, 0, "LASF");
    if (minor >= 1) put<std::uint16_t>(header, 4, 77);
    put(header, 6, encoding);
    put_text(header, 8, "project id 16 b.");
    header[24] = 1;
    header[25] = static_cast<char>(minor);
    put_text(header, 26, "system of the test");
    put_text(header, 58, kGenerator);
    put<std::uint16_t>(header, 90, 318);
    put<std::uint16_t>(header, 92, 2023);
    header += vendor;
    put(header, 94, static_cast<std::uint16_t>(header.size()));
    put(header, 100, static_cast<std::uint32_t>(vlrs.size()));
    header[104] = static_cast<char>(format);
    put(header, 105, static_cast<std::uint16_t>(record_bytes()));
    for (std::size_t i = 0; i < 3; ++i) {
      put(header, 131 + 8 * i, scale[i]);
      put(header, 155 + 8 * i, offset[i]);
    }
    std::string out = header;
    for (const RawRecord& vlr : vlrs) out += vlr.bytes(false);
    out += gap;
    points_at = out.size();
    put(out, 96, static_cast<std::uint32_t>(points_at));
    if (records.empty()) {
      std::mt19937_64 random(seed);
      records.resize(points * static_cast<std::size_t>(record_bytes()));
      for (char& c : records) c = static_cast<char>(random());
      // A NaN among the GPS times would make minimum and maximum a matter of taste.
      for (std::uint64_t i = 0; i < points; ++i) {
        const int at = gps_at(format);
        if (at >= 0)
          put(records, i * static_cast<std::size_t>(record_bytes()) + static_cast<std::size_t>(at),
              static_cast<double>(static_cast<std::int32_t>(random())) / 16.0);
        // Return 0 is counted nowhere, and a reader says so.
        char& returns = records[i * static_cast<std::size_t>(record_bytes()) + 14];
        if ((returns & (format <= 5 ? 7 : 15)) == 0) returns = static_cast<char>(returns | 1);
        if (format <= 5 && (returns & 7) > 5) returns = static_cast<char>(returns & ~2);
      }
    }
    out += records;
    points_end = out.size();
    if (!lone_waveform.empty()) {
      put<std::uint64_t>(out, 227, out.size());
      out += RawRecord{"LASF_Spec", 65535, lone_waveform}.bytes(true);
    }
    evlrs_at = out.size();
    if (!evlrs.empty()) {
      put<std::uint64_t>(out, 235, evlrs_at);
      put(out, 243, static_cast<std::uint32_t>(evlrs.size()));
    }
    for (std::size_t i = 0; i < evlrs.size(); ++i) {
      if (static_cast<int>(i) == waveform_evlr) put<std::uint64_t>(out, 227, out.size());
      out += evlrs[i].bytes(true);
    }
    patch_statistics(out, points);
    return out;
  }

  static int gps_at(int format) {
    constexpr int kAt[11] = {-1, 20, -1, 20, 20, 20, 22, 22, 22, 22, 22};
    return kAt[format];
  }

  /// Sets counts, histogram, bounds and GPS range of a file to what its records say.
  static void patch_statistics(std::string& file, std::uint64_t count) {
    const int minor = file[25];
    const int format = file[104] & 63;
    const std::size_t length = get<std::uint16_t>(file, 105);
    const std::size_t at = get<std::uint32_t>(file, 96);
    std::array<std::uint64_t, 16> returns{};
    std::array<double, 3> low;
    std::array<double, 3> high;
    low.fill(INFINITY);
    high.fill(-INFINITY);
    double early = INFINITY;
    double late = -INFINITY;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::size_t record = at + i * length;
      ++returns[static_cast<unsigned char>(file[record + 14]) & (format <= 5 ? 7U : 15U)];
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double product =
            static_cast<double>(get<std::int32_t>(file, record + 4 * axis)) * get<double>(file, 131 + 8 * axis);
        const double value = product + get<double>(file, 155 + 8 * axis);
        low[axis] = std::min(low[axis], value);
        high[axis] = std::max(high[axis], value);
      }
      if (gps_at(format) >= 0) {
        const double time = get<double>(file, record + static_cast<std::size_t>(gps_at(format)));
        early = std::min(early, time);
        late = std::max(late, time);
      }
    }
    const bool legacy = (format <= 5 || minor < 4) && count <= 0xffffffffULL;
    put(file, 107, static_cast<std::uint32_t>(legacy ? count : 0));
    for (std::size_t i = 0; i < 5; ++i) {
      put(file, 111 + 4 * i, static_cast<std::uint32_t>(legacy ? returns[i + 1] : 0));
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      put(file, 179 + 16 * axis, count == 0 ? 0.0 : high[axis]);
      put(file, 187 + 16 * axis, count == 0 ? 0.0 : low[axis]);
    }
    if (minor >= 4) {
      put(file, 247, count);
      for (std::size_t i = 0; i < 15; ++i) put(file, 255 + 8 * i, returns[i + 1]);
    }
    if (minor >= 5) {
      put(file, 375, early <= late ? late : 0.0);
      put(file, 383, early <= late ? early : 0.0);
    }
  }
};

inline std::vector<std::byte> to_bytes(const std::string& text) {
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  ASSERT_TRUE(out.flush()) << path;
}

/// A folder that goes away with the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "sluice-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Names in the folder, hidden ones too.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      out.push_back(entry.path().filename().string());
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  std::filesystem::path path_;
};

inline std::unique_ptr<ChunkSource> open_bytes(const std::string& bytes, bool recover = false) {
  return io::open_source_from_memory("test.las", to_bytes(bytes), {.recover = recover});
}

inline const io::LasMetadata& metadata_of(const CloudInfo& info) {
  return dynamic_cast<const io::LasMetadata&>(*info.metadata);
}

/// All records of a source, in order.
inline std::string read_all(ChunkSource& source, std::uint64_t chunk = 7) {
  std::string out;
  RecordBuffer buffer;
  ChunkRange range;
  while (source.next(chunk, range)) {
    const PointView view = source.load(range, buffer);
    EXPECT_EQ(view.count, range.count);
    for (std::uint64_t i = 0; i < view.count; ++i) {
      out.append(reinterpret_cast<const char*>(view.records + i * view.stride), source.info().schema.record_bytes);
    }
    source.release(range);
  }
  return out;
}

/// Copies a source to a file, in chunks that are stored in reverse order.
inline std::vector<std::string> copy_to(ChunkSource& source, const std::string& path, io::WriteOptions options = {}) {
  if (options.generator.empty()) options.generator = kGenerator;
  const auto sink = io::create_sink(path, source.info(), options);
  source.rewind();
  std::vector<std::pair<std::uint64_t, ChunkRange>> places;
  ChunkRange range;
  while (source.next(7, range)) places.emplace_back(sink->reserve(range.count), range);
  RecordBuffer buffer;
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    sink->store(place->first, source.load(place->second, buffer));
    source.release(place->second);
  }
  sink->seal();
  sink->finish();
  return sink->warnings();
}

inline bool any_contains(const std::vector<std::string>& texts, const std::string& part) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& t) { return t.find(part) != std::string::npos; });
}

inline std::string joined(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += text + "\n";
  return out;
}

}  // namespace sluice::test
