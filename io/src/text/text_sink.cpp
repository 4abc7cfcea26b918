// SPDX-License-Identifier: Apache-2.0
#include <span>
#include <utility>

#include "../columns/sinks.hpp"
#include "sluice/core/error.hpp"
#include "sluice/io/format.hpp"
#include "sluice/io/text.hpp"
#include "text_file.hpp"

namespace sluice::io::text {
namespace {

/// A name that reads back as one name, whatever separates it from others, and not as a number or a comment.
std::string header_name(const std::string& name, std::size_t number, char separator) {
  std::string out = name.empty() ? "c" + std::to_string(number) : name;
  const bool by_blanks = separator == ' ' || separator == '\t';
  for (char& c : out) {
    const bool blank = c == ' ' && !by_blanks;
    if ((static_cast<unsigned char>(c) <= ' ' && !blank) || c == ',' || c == ';' || c == '"') c = '_';
  }
  const bool is_comment = out.starts_with('#') || out.starts_with("//");
  return is_comment || columns::is_number(out.data(), out.data() + out.size()) ? "c_" + out : out;
}

}  // namespace

std::unique_ptr<ChunkSink> create(const std::string& path, const CloudInfo& like, const WriteOptions& options) {
  const auto* metadata = dynamic_cast<const TextMetadata*>(like.metadata.get());
  if (metadata == nullptr) {
    throw Unsupported(path + ": only points of a text can be written to one; convert makes them so");
  }
  std::string header;
  if (metadata->header != TextHeader::kNone) {
    header = metadata->header == TextHeader::kComment ? "//" : "";
    for (std::size_t i = 0; i < metadata->columns.size(); ++i) {
      if (i != 0) header += metadata->separator;
      header += header_name(metadata->columns[i].name, i, metadata->separator);
    }
    header += '\n';
    // A column may be called as other formats begin, or as what is no part of a text.
    if (header.starts_with(kByteOrderMark) || !format_of_content(std::as_bytes(std::span(header))).empty()) {
      header.insert(0, "c_");
    }
  }
  return columns::make_text_sink({path, options.overwrite, columns::layout_for(path, *metadata, like),
                                  [header](std::uint64_t /*points*/) { return header; }},
                                 metadata->separator);
}

}  // namespace sluice::io::text
