// SPDX-License-Identifier: Apache-2.0
#include "sinks.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "sluice/core/error.hpp"

namespace sluice::io::columns {
namespace {

constexpr std::uint64_t kBlockBytes = std::uint64_t{1} << 20;
// A block that fits the cache of a core, and the line of that cache.
constexpr std::uint64_t kHotBytes = std::uint64_t{1} << 18;
constexpr std::uint64_t kLineBytes = 64;

/// A header, points, and a name in the end.
class HeadedSink : public ChunkSink {
 public:
  explicit HeadedSink(SinkParts parts)
      : parts_(std::move(parts)), file_(parts_.path, parts_.overwrite), header_bytes_(parts_.header(0).size()) {}

  std::uint64_t reserve(std::uint64_t count) override { return reserved_.fetch_add(count); }
  void finish() override { file_.publish(); }
  [[nodiscard]] std::uint64_t count() const override { return reserved_.load(); }
  [[nodiscard]] std::vector<std::string> warnings() const override { return parts_.warnings; }

 protected:
  void check_places(std::uint64_t first, std::uint64_t count) const {
    const std::uint64_t reserved = reserved_.load();
    if (first > reserved || count > reserved - first) {
      throw InvalidArgument(parts_.path + ": points are stored at places that were not reserved");
    }
  }
  void write_points(std::uint64_t at, const void* data, std::uint64_t bytes) const {
    file_.write_at(header_bytes_ + at, static_cast<const std::byte*>(data), bytes);
  }
  /// Writes bytes from anywhere. Where they begin elsewhere in a line of the cache than in the file, the kernel takes
  /// twice as long to copy what is not in the cache, and only one thread can be at that.
  void copy_points(std::uint64_t at, const std::byte* data, std::uint64_t bytes) const {
    if ((reinterpret_cast<std::uintptr_t>(data) - header_bytes_ - at) % kLineBytes == 0) {
      return write_points(at, data, bytes);
    }
    const std::uint64_t shift = (header_bytes_ + at) % kLineBytes;
    const auto buffer = std::make_unique_for_overwrite<std::byte[]>(std::min(kHotBytes, bytes) + 2 * kLineBytes);
    std::byte* const line = buffer.get() + kLineBytes - reinterpret_cast<std::uintptr_t>(buffer.get()) % kLineBytes;
    for (std::uint64_t done = 0; done < bytes; done += kHotBytes) {
      const std::uint64_t part = std::min(kHotBytes, bytes - done);
      std::memcpy(line + shift, data + done, part);
      write_points(at + done, line + shift, part);
    }
  }
  void complete(std::uint64_t bytes) {
    const std::string header = parts_.header(count());
    file_.write_at(0, reinterpret_cast<const std::byte*>(header.data()), header.size());
    file_.complete(header_bytes_ + bytes);
  }
  [[noreturn]] void refuse(std::uint64_t point) const {
    throw Unsupported(parts_.path + ": a coordinate of point " + std::to_string(point) +
                      " does not fit the integer type that it has in the file");
  }
  [[nodiscard]] const Layout& layout() const { return parts_.layout; }

 private:
  SinkParts parts_;
  OutputFile file_;
  std::uint64_t header_bytes_;
  std::atomic<std::uint64_t> reserved_{0};
};

class BinarySink final : public HeadedSink {
 public:
  BinarySink(SinkParts parts, bool big_endian)
      : HeadedSink(std::move(parts)), swap_(big_endian), as_they_are_(layout().is_plain() && !big_endian) {}

  void store(std::uint64_t first, const PointView& view) override {
    if (view.count == 0) return;
    check_places(first, view.count);
    const std::uint64_t bytes = layout().file_bytes();
    if (as_they_are_ && view.stride == bytes) {
      copy_points(first * bytes, view.records, view.count * bytes);
      return;
    }
    const std::uint64_t step = std::max<std::uint64_t>(1, kBlockBytes / bytes);
    std::vector<std::byte> buffer(std::min(step, view.count) * bytes);
    for (std::uint64_t done = 0; done < view.count; done += step) {
      const PointView part{view.records + done * view.stride, std::min(step, view.count - done), view.stride};
      if (as_they_are_) {
        copy_records(part, bytes, buffer.data());
      } else if (const std::uint64_t row = layout().encode(part, swap_, buffer.data()); row != part.count) {
        refuse(first + done + row);
      }
      write_points((first + done) * bytes, buffer.data(), part.count * bytes);
    }
  }

  void seal() override { complete(count() * layout().file_bytes()); }

 private:
  bool swap_;
  bool as_they_are_;
};

class TextSink final : public HeadedSink {
 public:
  TextSink(SinkParts parts, Separator separator)
      : HeadedSink(std::move(parts)), separator_(separator), most_chars_(most_row_chars(layout())) {}

  void store(std::uint64_t first, const PointView& view) override {
    check_places(first, view.count);
    const std::uint64_t step = std::max<std::uint64_t>(1, kBlockBytes / most_chars_);
    for (std::uint64_t done = 0; done < view.count; done += step) {
      const PointView part{view.records + done * view.stride, std::min(step, view.count - done), view.stride};
      add(first + done, part.count, text_of(first + done, part));
    }
  }

  [[nodiscard]] std::uint64_t held_bytes(std::uint64_t points, std::uint64_t /*total*/, int threads) const override {
    return points * most_chars_ + static_cast<std::uint64_t>(threads) * kBlockBytes;
  }

  void seal() override {
    if (!waiting_.empty() || placed_ != count()) throw InvalidArgument("not all reserved points were stored");
    complete(end_);
  }

 private:
  struct Piece {
    std::uint64_t points = 0;
    std::string text;
  };

  std::string text_of(std::uint64_t first, const PointView& view) const {
    const auto room = std::make_unique_for_overwrite<char[]>(view.count * most_chars_);
    char* out = room.get();
    for (std::uint64_t i = 0; i < view.count; ++i) {
      out = format_row(layout(), separator_, view.records + i * view.stride, out);
      if (out == nullptr) refuse(first + i);
    }
    return {room.get(), out};
  }

  /// Where a piece begins in the file is known as soon as all before it have been made into text; then it is written,
  /// by whichever thread finds that out.
  void add(std::uint64_t first, std::uint64_t points, std::string text) {
    std::vector<std::pair<std::uint64_t, std::string>> ready;
    {
      const std::lock_guard lock(mutex_);
      waiting_.emplace(first, Piece{points, std::move(text)});
      for (auto it = waiting_.begin(); it != waiting_.end() && it->first == placed_; it = waiting_.erase(it)) {
        placed_ += it->second.points;
        ready.emplace_back(end_, std::move(it->second.text));
        end_ += ready.back().second.size();
      }
    }
    for (const auto& [at, piece] : ready) write_points(at, piece.data(), piece.size());
  }

  Separator separator_;
  std::uint64_t most_chars_;
  std::mutex mutex_;
  std::map<std::uint64_t, Piece> waiting_;
  std::uint64_t placed_ = 0;  ///< points that have their place
  std::uint64_t end_ = 0;     ///< of their text
};

}  // namespace

std::string filled_up(std::string text, std::size_t at, std::initializer_list<std::uint64_t> numbers) {
  constexpr std::size_t kMostDigits = 20;
  std::size_t missing = 0;
  for (const std::uint64_t number : numbers) missing += kMostDigits - std::to_string(number).size();
  missing += (kLineBytes - (text.size() + missing) % kLineBytes) % kLineBytes;
  text.insert(at, missing, ' ');
  return text;
}

std::unique_ptr<ChunkSink> make_binary_sink(SinkParts parts, bool big_endian) {
  return std::make_unique<BinarySink>(std::move(parts), big_endian);
}

std::unique_ptr<ChunkSink> make_text_sink(SinkParts parts, Separator separator) {
  return std::make_unique<TextSink>(std::move(parts), separator);
}

}  // namespace sluice::io::columns
