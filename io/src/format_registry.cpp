// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "input_bytes.hpp"
#include "las/las_file.hpp"
#include "lower.hpp"
#include "pcd/pcd_file.hpp"
#include "ply/ply_file.hpp"
#include "raw/raw_file.hpp"
#include "sluice/core/error.hpp"
#include "sluice/io/format.hpp"
#include "sluice/io/read.hpp"
#include "sluice/io/write.hpp"
#include "source_base.hpp"
#include "text/text_file.hpp"

namespace sluice::io {
namespace {

/// One format: how it is recognised, opened and created. A format that cannot be opened or created has null there.
struct Format {
  std::string_view name;
  std::array<std::string_view, 3> extensions;  ///< the first is the usual one; unused ones are empty
  bool (*matches)(std::span<const std::byte>);
  std::unique_ptr<ChunkSource> (*open)(std::shared_ptr<const InputBytes>, const ReadOptions&);
  std::unique_ptr<ChunkSink> (*create)(const std::string&, const CloudInfo&, const WriteOptions&);
};

// LAZ and COPC begin like LAS, so their content is recognised as that; the LAS reader tells them apart. An extension
// that ends in another one precedes it. Text and raw files have no signature.
constexpr Format kFormats[] = {
    {"las", {".las"}, las::matches, las::open, las::create},
    {"copc", {".copc.laz"}, nullptr, las::open, nullptr},
    {"laz", {".laz"}, nullptr, las::open, las::create_compressed},
    {"pcd", {".pcd"}, pcd::matches, pcd::open, pcd::create},
    {"ply", {".ply"}, ply::matches, ply::open, ply::create},
    {"text", {".xyz", ".txt", ".csv"}, nullptr, text::open, text::create},
    {"bin", {".bin"}, nullptr, raw::open, raw::create},
};

constexpr std::size_t kHeadBytes = 4096;

const Format* find_by_content(std::span<const std::byte> head) {
  for (const Format& format : kFormats) {
    if (format.matches != nullptr && format.matches(head)) return &format;
  }
  return nullptr;
}

const Format* find_by_path(const std::string& path) {
  const std::string name = lower(path);
  for (const Format& format : kFormats) {
    for (const std::string_view extension : format.extensions) {
      if (!extension.empty() && name.ends_with(extension)) return &format;
    }
  }
  return nullptr;
}

std::string writable_extensions() {
  std::string out;
  for (const Format& format : kFormats) {
    if (format.create == nullptr) continue;
    for (const std::string_view extension : format.extensions) {
      if (extension.empty()) continue;
      if (!out.empty()) out += ' ';
      out += extension;
    }
  }
  return out;
}

const Format& format_called(std::string_view name) {
  return *std::find_if(std::begin(kFormats), std::end(kFormats), [name](const Format& f) { return f.name == name; });
}

/// A file without a signature is what its extension and the kind of its bytes say together; one whose extension
/// promises a signature is damaged.
/// \throws FormatError
const Format* find_without_signature(const std::string& path, std::span<const std::byte> head, bool has_fields) {
  const Format& text = format_called("text");
  const Format& raw = format_called("bin");
  const Format* named = find_by_path(path);
  if (named != nullptr && named != &text && named != &raw) {
    throw FormatError(path, 0, "file signature",
                      head.empty() ? "the file is empty"
                                   : "no known point file format begins like this; its name says that it is a " +
                                         std::string(named->name) + " file");
  }
  if (named == &raw) return text::is_numbers(head) ? &text : &raw;
  if (text::matches(head) || (head.empty() && named == &text)) return &text;
  if (has_fields && named == nullptr) return &raw;
  throw FormatError(path, 0, "file signature",
                    head.empty()       ? "the file is empty"
                    : named == nullptr ? "no known point file format begins like this"
                                       : "it is no text");
}

std::unique_ptr<ChunkSource> open_bytes(std::shared_ptr<const InputBytes> bytes, const ReadOptions& options) {
  const std::span<const std::byte> all(bytes->data(), bytes->size());
  const std::span<const std::byte> head = all.first(std::min(all.size(), kHeadBytes));
  const Format* format = find_by_content(head);
  if (format == nullptr) format = find_without_signature(bytes->path(), head, !options.fields.empty());
  if (!options.fields.empty() && format->open != text::open && format->open != raw::open) {
    throw InvalidArgument(bytes->path() + ": a " + std::string(format->name) +
                          " file names its fields itself; only those of text and raw files can be given");
  }
  return format->open(std::move(bytes), options);
}

/// Standard output has no extension; the points stay in the format that they have.
std::unique_ptr<ChunkSink> create_stream(const CloudInfo& like, const WriteOptions& options) {
  const std::string name = like.metadata != nullptr ? like.metadata->format() : "las";
  for (const Format& format : kFormats) {
    if (format.name == name && format.create != nullptr) return format.create("-", like, options);
  }
  throw Unsupported("<standard output>: " + name + " files cannot be written");
}

}  // namespace

std::vector<FormatInfo> formats() {
  std::vector<FormatInfo> out;
  for (const Format& format : kFormats) {
    FormatInfo& info = out.emplace_back();
    info.name = format.name;
    for (const std::string_view extension : format.extensions) {
      if (!extension.empty()) info.extensions.emplace_back(extension);
    }
    info.readable = format.open != nullptr;
    info.writable = format.create != nullptr;
  }
  return out;
}

std::string format_of_content(std::span<const std::byte> head) {
  const Format* format = find_by_content(head);
  return format != nullptr ? std::string(format->name) : std::string();
}

std::string format_of_path(const std::string& path) {
  const Format* format = find_by_path(path);
  return format != nullptr ? std::string(format->name) : std::string();
}

std::unique_ptr<ChunkSource> open_source(const std::string& path, const ReadOptions& options) {
  return open_bytes(InputBytes::open(path), options);
}

std::unique_ptr<ChunkSource> open_source_from_memory(const std::string& name, std::vector<std::byte> bytes,
                                                     const ReadOptions& options) {
  return open_bytes(InputBytes::of_memory(name, std::move(bytes)), options);
}

bool was_recovered(const ChunkSource& source) {
  const auto* base = dynamic_cast<const SourceBase*>(&source);
  return base != nullptr && base->recovered();
}

std::unique_ptr<ChunkSink> create_sink(const std::string& path, const CloudInfo& like, const WriteOptions& options) {
  if (path == "-") return create_stream(like, options);
  const Format* format = find_by_path(path);
  if (format == nullptr) {
    throw Unsupported(path +
                      ": the extension names no format that can be written; these can: " + writable_extensions());
  }
  if (format->create == nullptr) {
    throw Unsupported(path + ": " + std::string(format->name) +
                      " files cannot be written yet; these can: " + writable_extensions());
  }
  return format->create(path, like, options);
}

}  // namespace sluice::io
