// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "../columns/sinks.hpp"
#include "sluice/core/error.hpp"
#include "sluice/io/text.hpp"
#include "text_file.hpp"

namespace sluice::io::text {

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
      header += metadata->columns[i].name;
    }
    header += '\n';
  }
  return columns::make_text_sink({path, options.overwrite, columns::layout_for(path, *metadata, like),
                                  [header](std::uint64_t /*points*/) { return header; }},
                                 metadata->separator);
}

}  // namespace sluice::io::text
