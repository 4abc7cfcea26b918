// SPDX-License-Identifier: Apache-2.0
/// \file
/// Writes what the codec encodes as a start for the fuzzer.
///
/// usage: sluice_fuzz_seeds chunk|table|record|file FOLDER
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "io/laz_bytes.hpp"

namespace {

namespace laz = sluice::laz;

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class Seeds {
 public:
  explicit Seeds(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
  }
  void add(const std::string& bytes) {
    std::ofstream file(folder_ / std::to_string(count_++), std::ios::binary);
    file << bytes;
    file.close();
    if (!file) throw std::runtime_error(folder_.string() + ": cannot be written");
  }

 private:
  std::filesystem::path folder_;
  int count_ = 0;
};

/// The items of take_items; versions of pointwise chunks stay the newest, for which there is an encoder.
struct Items {
  std::uint32_t format;
  std::uint32_t extra;
  std::uint16_t version;

  [[nodiscard]] laz::RecordLayout layout() const {
    std::vector<laz::Item> items = laz::items_of(format, extra);
    if (format > 5) {
      for (laz::Item& item : items) item.version = version;
    }
    return laz::layout_of(items);
  }
  [[nodiscard]] std::string bytes() const {
    return {static_cast<char>(format), static_cast<char>(extra | (version == 4 ? 0xFCU : 0U))};
  }
};

std::vector<Items> all_items() {
  std::vector<Items> out;
  for (std::uint32_t format = 0; format <= 10; ++format) {
    for (const std::uint32_t extra : {0U, 2U}) {
      out.push_back({format, extra, 3});
      if (format > 5) out.push_back({format, extra, 4});
    }
  }
  return out;
}

std::string chunk_of(const Items& items, laz::Kind kind, std::uint64_t points) {
  const laz::RecordLayout layout = items.layout();
  return text_of(laz::encode_chunk(layout, laz::make_records(layout, kind, points, 1).data(), points));
}

void make_chunks(Seeds& seeds) {
  for (const Items& items : all_items()) {
    for (const laz::Kind kind : laz::all_kinds()) {
      for (const unsigned thirds : {0U, 4U, 40U}) {
        const std::string chunk = chunk_of(items, kind, 1 + 3 * thirds);
        seeds.add(items.bytes() + static_cast<char>(thirds) + chunk);
        if (items.format > 5) continue;
        // The same bytes as a chunk of old versions, which decodes to something or other.
        const std::string old{static_cast<char>(items.format), static_cast<char>(items.extra | 0xFCU)};
        seeds.add(old + static_cast<char>(thirds) + chunk);
      }
    }
  }
}

void make_tables(Seeds& seeds) {
  for (const Items& items : all_items()) {
    for (const bool variable : {false, true}) {
      // For chunks of 33 points, and of any size.
      const std::uint32_t choice = variable ? 35 : 32;
      std::string file(8, '\0');
      std::vector<laz::TableEntry> entries;
      for (const std::uint32_t points : {33U, 33U, 33U, 1U}) {
        const std::string chunk = chunk_of(items, laz::Kind::kScan, points);
        file += chunk;
        entries.push_back({variable ? points : 0, static_cast<std::uint32_t>(chunk.size())});
      }
      sluice::test::put<std::uint64_t>(file, 0, file.size());
      laz::Buffer table;
      laz::encode_chunk_table(entries, variable, table);
      file += text_of(table.bytes());
      seeds.add(items.bytes() + static_cast<char>(choice) + static_cast<char>(20) + file);
    }
    // The entries alone, as many as the choice says.
    for (const std::uint32_t choice : {2U, 3U, 40U, 41U}) {
      std::vector<laz::TableEntry> entries;
      for (std::uint32_t i = 0; i < choice; ++i)
        entries.push_back({choice % 2 * (50000 + i * i), 300000 + 977 * i % 5000});
      laz::Buffer table;
      laz::encode_chunk_table(entries, choice % 2 != 0, table);
      seeds.add(items.bytes() + static_cast<char>(choice) + static_cast<char>(20) + text_of(table.bytes().subspan(8)));
    }
  }
}

void make_records(Seeds& seeds) {
  for (const Items& items : all_items()) {
    seeds.add(text_of(laz::serialise(laz::make_laszip_vlr(items.format, items.extra, 50000))));
    seeds.add(text_of(laz::serialise(laz::make_laszip_vlr(items.format, items.extra, laz::LaszipVlr::kVariable))));
  }
}

void make_files(Seeds& seeds) {
  using sluice::test::LazBytes;
  for (int format = 0; format <= 10; ++format) {
    for (const int extra : {0, 3}) {
      sluice::test::LasBytes las = sluice::test::scan(format, 60, extra);
      const std::string plain = las.build();
      seeds.add(LazBytes{.chunk_size = 25}.build(plain));
      seeds.add(LazBytes{.variable = {1, 40, 7}}.build(plain));
      seeds.add(LazBytes{.chunk_size = 100, .streamed = true}.build(plain));
      if (format <= 5) seeds.add(LazBytes{.one_stream = true}.build(plain));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc == 3 ? argv[1] : "";
  try {
    Seeds seeds(argc == 3 ? argv[2] : ".");
    if (what == "chunk") {
      make_chunks(seeds);
    } else if (what == "table") {
      make_tables(seeds);
    } else if (what == "record") {
      make_records(seeds);
    } else if (what == "file") {
      make_files(seeds);
    } else {
      std::fprintf(stderr, "usage: sluice_fuzz_seeds chunk|table|record|file FOLDER\n");
      return 2;
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
