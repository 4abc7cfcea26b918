// SPDX-License-Identifier: Apache-2.0
#include "cell_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace sluice::app {

CellTable::CellTable(const std::string& path, bool overwrite) : file_(path, overwrite) {
  put("ix,iy,iz,first,count\n");
}

void CellTable::put(const std::string& text) {
  file_.write_at(bytes_, reinterpret_cast<const std::byte*>(text.data()), text.size());
  bytes_ += text.size();
}

void CellTable::add(std::span<const CellRow> rows) {
  constexpr std::size_t kBatch = 4096;  // rows whose text is made at once
  std::string text;
  for (std::size_t from = 0; from < rows.size(); from += kBatch) {
    text.clear();
    for (const CellRow& row : rows.subspan(from, std::min(kBatch, rows.size() - from))) {
      fmt::format_to(std::back_inserter(text), "{},{},{},{},{}\n", row.cell[0], row.cell[1], row.cell[2], row.first,
                     row.count);
    }
    put(text);
  }
}

void CellTable::seal() { file_.complete(bytes_); }

void CellTable::finish() { file_.publish(); }

}  // namespace sluice::app
