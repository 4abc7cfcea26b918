// SPDX-License-Identifier: Apache-2.0
/// \file
/// What the tests of formats with rows of columns share: files made byte by byte, and values read back.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "io/las_bytes.hpp"
#include "sluice/core/error.hpp"
#include "sluice/io/columns.hpp"

namespace sluice::test {

/// The bytes of values that follow each other.
template <typename... T>
std::string raw(T... values) {
  std::string out;
  (out.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
  return out;
}

inline std::string random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::string out(count, '\0');
  for (char& c : out) c = static_cast<char>(random());
  return out;
}

/// All points of one field, as doubles.
inline std::vector<double> column_of(ChunkSource& source, const std::string& name) {
  const CloudInfo& info = source.info();
  const Field* field = info.schema.find(name);
  EXPECT_NE(field, nullptr) << name;
  if (field == nullptr) return {};
  source.rewind();
  const std::string records = read_all(source);
  std::vector<double> out;
  for (std::size_t at = 0; at < records.size(); at += info.schema.record_bytes) {
    const Column column = field->column(reinterpret_cast<const std::byte*>(records.data()) + at, 0);
    out.push_back(column.at(0).as_real());
  }
  return out;
}

inline std::vector<std::string> field_names(const CloudInfo& info) {
  std::vector<std::string> out;
  for (const Field& field : info.schema.fields) out.push_back(field.name);
  return out;
}

/// Memory of this process, mapped files included.
inline std::uint64_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  std::uint64_t total = 0;
  std::uint64_t pages = 0;
  in >> total >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// What a file is refused with; empty where it is read to its end.
inline std::string refusal(const std::string& bytes, const std::string& name, const io::ReadOptions& options = {}) {
  try {
    const auto source = io::open_source_from_memory(name, to_bytes(bytes), options);
    (void)read_all(*source);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

/// Opens bytes under a name, writes them to a file of that name and gives back its bytes.
inline std::string rewritten(const std::string& bytes, const std::string& name, const io::ReadOptions& options = {}) {
  const TemporaryFolder folder;
  const auto source = io::open_source_from_memory(name, to_bytes(bytes), options);
  (void)copy_to(*source, folder / name);
  return read_file(folder / name);
}

}  // namespace sluice::test
