// SPDX-License-Identifier: Apache-2.0
#include "family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "items.hpp"
#include "sluice/core/error.hpp"
#include "sluice/core/memory_resource.hpp"
#include "sluice/core/random.hpp"
#include "sluice/kernels/registry.hpp"
#include "sluice/kernels/variant.hpp"
#ifdef SLUICE_BENCH_GPU
#include "gpu.hpp"
#endif

namespace sluice::bench {

namespace {

using namespace kernels::family;
using kernels::Backend;
using kernels::StreamView;
using kernels::Workspace;

/// A call that takes longer is timed once, and a variant of quadratic work is not tried where it would.
constexpr double kLongMs = 2000.0;
/// Up to here the error of floats is looked for, as that takes a scan in long double.
constexpr std::uint64_t kMostChecked = 10'000'000;
constexpr unsigned kHistogramBits = 8;

/// Where variants run: their memory, and how a call is timed.
class Side {
 public:
  explicit Side(std::unique_ptr<Backend> host) : own_(std::move(host)), backend_(*own_), stream_(nullptr) {}
#ifdef SLUICE_BENCH_GPU
  explicit Side(Gpu& gpu) : backend_(gpu.cuda()), stream_(gpu.view()), gpu_(&gpu) {}
#endif

  [[nodiscard]] Backend& backend() const { return backend_; }
  [[nodiscard]] StreamView stream() const { return stream_; }
  void wait() const { backend_.wait(stream_); }

  /// Of the device where there is one, with cold caches; else of the clock.
  [[nodiscard]] double time_ms(const std::function<void()>& call) const {
#ifdef SLUICE_BENCH_GPU
    if (gpu_ != nullptr) return gpu_->time(call, Caches::kCold);
#endif
    return wall_ms(call);
  }
  /// As the caller sees it, who waits for the result.
  [[nodiscard]] double wall_ms(const std::function<void()>& call) const {
    wait();
    const auto start = std::chrono::steady_clock::now();
    call();
    wait();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }

 private:
  std::unique_ptr<Backend> own_;
  Backend& backend_;
  StreamView stream_;
#ifdef SLUICE_BENCH_GPU
  Gpu* gpu_ = nullptr;
#endif
};

/// Memory of a side.
class Array {
 public:
  Array(const Side& side, std::uint64_t bytes) : side_(side), block_(side.backend().memory(), bytes, "a benchmark") {}
  Array(const Side& side, std::span<const std::byte> bytes) : Array(side, bytes.size()) { set(bytes); }

  [[nodiscard]] void* data() const { return block_.data(); }
  void set(std::span<const std::byte> bytes) const {
    side_.backend().upload(block_.data(), bytes.data(), bytes.size(), side_.stream());
    side_.wait();
  }
  [[nodiscard]] std::vector<std::byte> get(std::uint64_t bytes) const {
    std::vector<std::byte> out(bytes);
    side_.backend().download(out.data(), block_.data(), bytes, side_.stream());
    side_.wait();
    return out;
  }
  template <typename T>
  [[nodiscard]] T first() const {
    T out;
    std::memcpy(&out, get(sizeof out).data(), sizeof out);
    return out;
  }

 private:
  const Side& side_;
  MemoryBlock block_;
};

template <typename T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

/// What is done to which items.
struct Task {
  std::string work;
  std::string type;
  std::uint64_t items;
  double bytes;  ///< fewest that must be read and written
};

struct Outcome {
  std::optional<bool> right;    ///< where that was looked for
  std::optional<double> error;  ///< the largest; of floats
};

/// A variant with its memory.
struct Contender {
  const Variant* variant;
  const Side* side;
  std::function<void()> prepare;  ///< before each run, not timed; may be empty
  std::function<void()> run;
  std::function<Outcome()> outcome;  ///< of the last run; the first contender's is what the others are compared with
};

struct Row {
  const Variant* variant;
  double ms;
  double wall_ms;
  Outcome outcome;
};

class Table {
 public:
  explicit Table(std::string json_path) : json_path_(std::move(json_path)) {}

  void add(const Task& task, const std::vector<Row>& rows) {
    const auto time_of = [&](std::string_view name) {
      const auto found =
          std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.variant->name == name; });
      return found == rows.end() ? 0.0 : found->ms;
    };
    const double serial = rows.front().ms;
    const double cub = time_of("cub");
    fmt::print("\n{} of {} {}\n  {:<28} {:<4} {:>12} {:>12} {:>9} {:>9} {:>8} {:>11}  {}\n", task.work, task.items,
               task.type, "variant", "on", "ms", "waited ms", "GB/s", "x serial", "x cub", "error", "right");
    for (const Row& row : rows) {
      const double rate = task.bytes / row.ms * 1e-6;
      fmt::print("  {:<28} {:<4} {:>12.4f} {:>12.4f} {:>9.2f} {:>9.3f} {:>8} {:>11}  {}\n", row.variant->name,
                 row.variant->on_gpu ? "gpu" : "cpu", row.ms, row.wall_ms, rate, serial / row.ms,
                 cub == 0.0 ? "" : fmt::format("{:.3f}", cub / row.ms),
                 row.outcome.error ? fmt::format("{:.3g}", *row.outcome.error) : "",
                 !row.outcome.right   ? "not compared"
                 : *row.outcome.right ? "yes"
                                      : "NO");
      good_ = good_ && row.outcome.right.value_or(true);
      nlohmann::ordered_json out = start(task, *row.variant);
      out["ms"] = row.ms;
      out["waited_ms"] = row.wall_ms;
      out["gb_per_s"] = rate;
      out["times_serial"] = serial / row.ms;
      if (cub != 0.0) out["times_cub"] = cub / row.ms;
      if (row.outcome.error) out["largest_error"] = *row.outcome.error;
      if (row.outcome.right) out["right"] = *row.outcome.right;
      rows_.push_back(out);
      std::optional<double>& best = best_[{task.work + ", " + task.type, task.items}][row.variant->on_gpu ? 1 : 0];
      if (!best || row.wall_ms < *best) best = row.wall_ms;
    }
    std::fflush(stdout);
    write();
  }
  void leave_out(const Task& task, const Variant& variant, const std::string& reason, bool failed) {
    fmt::print("\n{} of {} {}, {}: {}: {}\n", task.work, task.items, task.type, variant.name,
               failed ? "FAILED" : "left out", reason);
    good_ = good_ && !failed;
    nlohmann::ordered_json out = start(task, variant);
    out["reason"] = reason;
    left_out_.push_back(out);
    write();
  }
  /// From how many items on a caller who waits is served faster by the GPU.
  void print_crossovers() {
    std::map<std::string, std::optional<std::uint64_t>> from;
    bool both = false;
    for (const auto& [at, best] : best_) {
      if (!best[0] || !best[1]) continue;
      both = true;
      std::optional<std::uint64_t>& least = from[at.first];
      if (*best[1] >= *best[0]) least.reset();
      if (*best[1] < *best[0] && !least) least = at.second;
    }
    if (!both) return;
    fmt::print(
        "\nThe fastest variant of the GPU, launched and waited for, beats the fastest of the CPU from so many of "
        "the sizes above on:\n");
    for (const auto& [what, least] : from) {
      fmt::print("  {:<28} {}\n", what, least ? fmt::format("{} items", *least) : "none of them");
      nlohmann::ordered_json out;
      out["what"] = what;
      if (least) out["items"] = *least;
      crossovers_.push_back(out);
    }
    write();
  }
  [[nodiscard]] bool good() const { return good_; }
  void set(const std::string& name, const nlohmann::ordered_json& value) { head_[name] = value; }

 private:
  [[nodiscard]] static nlohmann::ordered_json start(const Task& task, const Variant& variant) {
    nlohmann::ordered_json out;
    out["work"] = task.work;
    out["type"] = task.type;
    out["items"] = task.items;
    out["variant"] = variant.name;
    out["on"] = variant.on_gpu ? "gpu" : "cpu";
    return out;
  }
  void write() const {
    if (json_path_.empty()) return;
    nlohmann::ordered_json out = head_;
    out["rows"] = rows_;
    out["left_out"] = left_out_;
    out["crossovers"] = crossovers_;
    std::ofstream file(json_path_);
    file << out.dump(2) << '\n';
    file.close();
    if (!file) throw std::runtime_error(json_path_ + ": cannot be written");
  }

  std::string json_path_;
  nlohmann::ordered_json head_;
  nlohmann::ordered_json rows_ = nlohmann::ordered_json::array();
  nlohmann::ordered_json left_out_ = nlohmann::ordered_json::array();
  nlohmann::ordered_json crossovers_ = nlohmann::ordered_json::array();
  std::map<std::pair<std::string, std::uint64_t>, std::optional<double>[2]> best_;  ///< of the CPU, of the GPU
  bool good_ = true;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <typename T>
const char* name_of_type() {
  if constexpr (std::is_same_v<T, std::uint32_t>) return "u32";
  if constexpr (std::is_same_v<T, std::uint64_t>) return "u64";
  if constexpr (std::is_same_v<T, float>) return "f32";
  return "f64";
}
template <typename T>
constexpr ItemType type_of() {
  if constexpr (std::is_same_v<T, std::uint32_t>) return ItemType::kUint32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return ItemType::kUint64;
  if constexpr (std::is_same_v<T, float>) return ItemType::kFloat32;
  return ItemType::kFloat64;
}

/// All values of an integer; floats of [0, 1).
template <typename T>
std::vector<T> random_items(std::uint64_t n) {
  std::vector<T> out(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    const std::uint64_t bits = counter_random(1, i);
    if constexpr (std::is_floating_point_v<T>) {
      constexpr int kDigits = std::numeric_limits<T>::digits;
      out[i] = std::ldexp(static_cast<T>(bits >> (64 - kDigits)), -kDigits);
    } else {
      out[i] = static_cast<T>(bits);
    }
  }
  return out;
}

/// How far a sum of so many floats that are not negative may be off. A loop, as the threads of the CPU run, adds items
/// to ever larger sums, whose roundings may all have one sign; kernels add numbers of like size for the most part, and
/// their roundings cancel.
template <typename T>
long double most_error(long double sum, std::uint64_t items, bool by_loop) {
  const auto n = static_cast<long double>(items);
  return sum * std::numeric_limits<T>::epsilon() * (by_loop ? n : std::min(n, 16 * std::sqrt(n)));
}

/// The items in bytes, for outputs that may come in any order.
template <typename T>
std::vector<T> sorted(const std::vector<std::byte>& bytes) {
  std::vector<T> out(bytes.size() / sizeof(T));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  std::sort(out.begin(), out.end());
  return out;
}

class Family {
 public:
  explicit Family(const FamilyOptions& options) : options_(options), table_(options.json_path) {
    sides_.push_back(std::make_unique<Side>(kernels::make_backend("serial")));
#ifdef SLUICE_BENCH_GPU
    no_gpu_ = "there is no such device";
    for (const kernels::BackendInfo& info : kernels::backends()) {
      if (info.name == "cuda") no_gpu_ = info.usable ? "" : info.reason;
    }
    if (no_gpu_.empty()) {
      gpu_ = std::make_unique<Gpu>(options.device);
      const Machine machine = gpu_->machine();
      fmt::print("{}, {}, copy {:.0f} GB/s counting both ways\n", machine.device, machine.date, machine.copy_gb_per_s);
      table_.set("device", machine.device);
      table_.set("date", machine.date);
      table_.set("copy_gb_per_s", machine.copy_gb_per_s);
      sides_.push_back(std::make_unique<Side>(*gpu_));
    } else {
      fmt::print("No GPU: {}\n", no_gpu_);
    }
#endif
  }

  int run() {
    std::vector<std::string> sizes = options_.items;
    if (sizes.empty()) sizes = {"1k", "100k", "1M", "10M", "100M"};
    for (const std::string& work : options_.works) {
      seen_.clear();
      for (const std::string& size : sizes) {
        const std::uint64_t n = parse_items(size, std::uint64_t{1} << 32);
        if (work == "scan") {
          scan<std::uint32_t>(n);
          scan<float>(n);
          scan<double>(n);
        } else if (work == "compact") {
          compact(n);
        } else if (work == "sort") {
          sort(n);
        } else if (work == "histogram") {
          histogram(n);
        } else if (work == "reduce") {
          reduce<std::uint32_t>(n);
          reduce<float>(n);
        }
      }
    }
    table_.print_crossovers();
    return table_.good() ? 0 : 1;
  }

 private:
  /// Variants that were asked for and can run, each with the side that it runs on; the first one always.
  /// \throws Unsupported for one that was asked for by name and cannot
  template <typename VariantT, typename BodyT>
  void for_variants(std::span<const VariantT> variants, const BodyT& body) {
    for (const VariantT& variant : variants) {
      const auto asked_for = [&](std::string_view name) {
        return std::find(options_.variants.begin(), options_.variants.end(), name) != options_.variants.end();
      };
      const std::size_t side = variant.on_gpu ? 1 : 0;
      if (side < sides_.size()) {
        if (asked_for("all") || asked_for(variant.name) || &variant == &variants.front()) body(variant, *sides_[side]);
      } else if (asked_for(variant.name)) {
        throw Unsupported("--variant: '" + std::string(variant.name) + "' needs a GPU: " + no_gpu_);
      }
    }
  }

  /// Runs each once, compares, then times them in turn.
  void race(const Task& task, std::vector<Contender>& contenders) {
    std::vector<Row> rows;
    std::vector<Contender*> runners;
    for (Contender& contender : contenders) {
      const std::string key = task.type + std::string(contender.variant->name);
      if (contender.variant->quadratic && seen_.count(key) != 0) {
        const auto [items, ms] = seen_[key];
        const double times = static_cast<double>(task.items) / static_cast<double>(items);
        if (ms * times * times > kLongMs) {
          table_.leave_out(task, *contender.variant,
                           fmt::format("would take about {:.3g} s", ms * times * times * 1e-3), false);
          continue;
        }
      }
      try {
        if (contender.prepare) contender.prepare();
        const double ms = contender.side->wall_ms(contender.run);
        rows.push_back({contender.variant, ms, ms, contender.outcome()});
        runners.push_back(&contender);
      } catch (const std::exception& error) {
        table_.leave_out(task, *contender.variant, error.what(), true);
        if (&contender == &contenders.front()) return;  // nothing to compare the others with
      }
    }
    std::vector<std::vector<double>> times(rows.size());
    std::vector<std::vector<double>> waited(rows.size());
    for (unsigned round = 0; round < options_.rounds; ++round) {
      for (std::size_t k = 0; k < rows.size(); ++k) {
        // Another one begins each round, so that nobody always follows the same one.
        const std::size_t i = (k + round) % rows.size();
        const unsigned wanted = rows[i].ms > kLongMs ? 1 : options_.rounds;
        if (round >= wanted) continue;
        Contender& contender = *runners[i];
        if (contender.prepare) contender.prepare();
        times[i].push_back(contender.side->time_ms(contender.run));
        if (!contender.variant->on_gpu) continue;
        if (contender.prepare) contender.prepare();
        waited[i].push_back(contender.side->wall_ms(contender.run));
      }
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i].ms = median(times[i]);
      rows[i].wall_ms = waited[i].empty() ? rows[i].ms : median(waited[i]);
      seen_[task.type + std::string(rows[i].variant->name)] = {task.items, rows[i].ms};
    }
    if (!rows.empty()) table_.add(task, rows);
  }

  /// The input, on each side.
  template <typename T>
  std::vector<Array> on_sides(const std::vector<T>& values) const {
    std::vector<Array> out;
    for (const auto& side : sides_) out.emplace_back(*side, bytes_of(values));
    return out;
  }
  [[nodiscard]] std::vector<Array> room_on_sides(std::uint64_t bytes) const {
    std::vector<Array> out;
    for (const auto& side : sides_) out.emplace_back(*side, bytes);
    return out;
  }
  [[nodiscard]] static std::shared_ptr<Workspace> workspace(const Side& side, std::size_t bytes) {
    return std::make_shared<Workspace>(side.backend().memory(), bytes);
  }

  /// Compares with the first output of a case.
  std::function<Outcome()> same_bytes(std::function<std::vector<std::byte>()> output) {
    return [this, output = std::move(output)] {
      std::vector<std::byte> bytes = output();
      if (expected_) return Outcome{bytes == *expected_, std::nullopt};
      expected_ = std::move(bytes);
      return Outcome{true, std::nullopt};
    };
  }

  /// The error of sums of floats, against sums in long double. Each is held to what roundings can make of it, so that
  /// those at the front tell an item too many or too few.
  template <typename T>
  static Outcome error_of(const std::vector<std::byte>& output, const std::vector<long double>& exact, bool by_loop) {
    long double error = 0.0L;
    bool right = true;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      T value;
      std::memcpy(&value, output.data() + i * sizeof value, sizeof value);
      const long double off = std::abs(static_cast<long double>(value) - exact[i]);
      error = off <= error ? error : off;  // NaN stays
      right = right && off <= most_error<T>(exact[i], i, by_loop);
    }
    return {right, static_cast<double>(error)};
  }

  template <typename T>
  void scan(std::uint64_t n) {
    const Task task{"scan", name_of_type<T>(), n, 2.0 * static_cast<double>(n * sizeof(T))};
    const std::vector<T> items = random_items<T>(n);
    const std::vector<Array> in = on_sides(items);
    const std::vector<Array> out = room_on_sides(n * sizeof(T));
    std::vector<long double> exact;
    if (std::is_floating_point_v<T> && n <= kMostChecked) {
      long double sum = 0.0L;
      for (const T item : items) {
        exact.push_back(sum);
        sum += static_cast<long double>(item);
      }
    }
    expected_.reset();
    std::vector<Contender> contenders;
    for_variants(scan_variants(), [&](const ScanVariant& variant, const Side& side) {
      const std::size_t at = variant.on_gpu ? 1 : 0;
      const auto space = workspace(side, variant.scratch(type_of<T>(), n));
      const ScanCall call{type_of<T>(), Operator::kSum, false, in[at].data(), n, out[at].data()};
      const auto output = [&out, at, n] { return out[at].get(n * sizeof(T)); };
      std::function<Outcome()> outcome = same_bytes(output);
      if (std::is_floating_point_v<T>) {
        const bool by_loop = !variant.on_gpu;
        outcome = [output, &exact, by_loop] {
          return exact.empty() ? Outcome{} : error_of<T>(output(), exact, by_loop);
        };
      }
      contenders.push_back(
          {&variant, &side, {}, [&, space, call] { variant.run(call, *space, side.stream()); }, outcome});
    });
    race(task, contenders);
  }

  void compact(std::uint64_t n) {
    using T = std::uint32_t;
    const Task task{"compact", "u32", n, 1.5 * static_cast<double>(n * sizeof(T))};
    const std::vector<Array> in = on_sides(random_items<T>(n));
    const std::vector<Array> out = room_on_sides(n * sizeof(T));
    const std::vector<Array> count = room_on_sides(sizeof(std::uint64_t));
    expected_.reset();
    std::vector<Contender> contenders;
    for_variants(compact_variants(), [&](const CompactVariant& variant, const Side& side) {
      const std::size_t at = variant.on_gpu ? 1 : 0;
      const auto space = workspace(side, variant.scratch(ItemType::kUint32, n));
      const CompactCall call{
          ItemType::kUint32, in[at].data(), n, 0x1p31, out[at].data(), static_cast<std::uint64_t*>(count[at].data())};
      const auto output = [&out, &count, at, n] {
        // A count that is wrong must not lead beyond the memory.
        return out[at].get(std::min(count[at].first<std::uint64_t>(), n) * sizeof(T));
      };
      std::function<Outcome()> outcome = same_bytes(output);
      if (!variant.ordered) {
        outcome = [this, output] { return Outcome{sorted<T>(output()) == sorted<T>(*expected_), std::nullopt}; };
      }
      contenders.push_back(
          {&variant, &side, {}, [&, space, call] { variant.run(call, *space, side.stream()); }, outcome});
    });
    race(task, contenders);
  }

  void sort(std::uint64_t n) {
    using KeyT = std::uint32_t;
    const Task task{"sort", "u32 pairs", n, 2.0 * static_cast<double>(n * 8)};
    const std::vector<KeyT> keys = random_items<KeyT>(n);
    std::vector<std::uint32_t> values(n);
    for (std::uint64_t i = 0; i < n; ++i) values[i] = static_cast<std::uint32_t>(i);
    const std::vector<Array> arrays[4] = {on_sides(keys), room_on_sides(n * 4), on_sides(values), room_on_sides(n * 4)};
    expected_.reset();
    std::vector<Contender> contenders;
    for_variants(sort_variants(), [&](const SortVariant& variant, const Side& side) {
      const std::size_t at = variant.on_gpu ? 1 : 0;
      const auto space = workspace(side, variant.scratch(ItemType::kUint32, n));
      SortCall call{};
      call.type = ItemType::kUint32;
      for (int i = 0; i < 2; ++i) {
        call.keys[i] = arrays[i][at].data();
        call.values[i] = static_cast<std::uint32_t*>(arrays[2 + i][at].data());
      }
      call.n = n;
      const auto which = std::make_shared<int>(0);
      const auto output = [&arrays, at, n, which] {
        std::vector<std::byte> bytes = arrays[*which][at].get(n * 4);
        const std::vector<std::byte> moved = arrays[2 + *which][at].get(n * 4);
        bytes.insert(bytes.end(), moved.begin(), moved.end());
        return bytes;
      };
      const auto prepare = [&arrays, &keys, &values, at] {
        arrays[0][at].set(bytes_of(keys));
        arrays[2][at].set(bytes_of(values));
      };
      contenders.push_back({&variant, &side, prepare,
                            [&, space, call, which] { *which = variant.run(call, *space, side.stream()); },
                            same_bytes(output)});
    });
    race(task, contenders);
  }

  void histogram(std::uint64_t n) {
    const Task task{"histogram", "u32, 8 bits", n, static_cast<double>(n * 4)};
    const std::vector<Array> in = on_sides(random_items<std::uint32_t>(n));
    const std::vector<Array> counts = room_on_sides(sizeof(std::uint64_t) << kHistogramBits);
    expected_.reset();
    std::vector<Contender> contenders;
    for_variants(histogram_variants(), [&](const HistogramVariant& variant, const Side& side) {
      const std::size_t at = variant.on_gpu ? 1 : 0;
      const auto space = workspace(side, variant.scratch(ItemType::kUint32, n, kHistogramBits));
      const HistogramCall call{
          ItemType::kUint32, in[at].data(), n, 0, kHistogramBits, static_cast<std::uint64_t*>(counts[at].data())};
      contenders.push_back(
          {&variant,
           &side,
           {},
           [&, space, call] { variant.run(call, *space, side.stream()); },
           same_bytes([&counts, at] { return counts[at].get(sizeof(std::uint64_t) << kHistogramBits); })});
    });
    race(task, contenders);
  }

  template <typename T>
  void reduce(std::uint64_t n) {
    const Task task{"reduce", name_of_type<T>(), n, static_cast<double>(n * sizeof(T))};
    const std::vector<T> items = random_items<T>(n);
    const std::vector<Array> in = on_sides(items);
    const std::vector<Array> out = room_on_sides(sizeof(T));
    long double exact = 0.0L;
    for (const T item : items) exact += static_cast<long double>(item);
    expected_.reset();
    std::vector<Contender> contenders;
    for_variants(reduce_variants(), [&](const ReduceVariant& variant, const Side& side) {
      const std::size_t at = variant.on_gpu ? 1 : 0;
      const auto space = workspace(side, variant.scratch(type_of<T>(), n));
      const ReduceCall call{type_of<T>(), Operator::kSum, in[at].data(), n, out[at].data()};
      std::function<Outcome()> outcome = same_bytes([&out, at] { return out[at].get(sizeof(T)); });
      if (std::is_floating_point_v<T>) {
        const bool by_loop = !variant.on_gpu;
        outcome = [&out, at, exact, n, by_loop] {
          const long double error = std::abs(static_cast<long double>(out[at].template first<T>()) - exact);
          return Outcome{error <= most_error<T>(exact, n, by_loop), static_cast<double>(error)};
        };
      }
      contenders.push_back(
          {&variant, &side, {}, [&, space, call] { variant.run(call, *space, side.stream()); }, outcome});
    });
    race(task, contenders);
  }

  FamilyOptions options_;
  Table table_;
#ifdef SLUICE_BENCH_GPU
  std::unique_ptr<Gpu> gpu_;
#endif
  std::string no_gpu_;                              ///< why there is none
  std::vector<std::unique_ptr<Side>> sides_;        ///< of the CPU; of the GPU where there is one
  std::optional<std::vector<std::byte>> expected_;  ///< output of the first contender of a case
  std::map<std::string, std::pair<std::uint64_t, double>>
      seen_;  ///< items and ms of the last size, by type and variant
};

/// Every name must be that of a variant of some work.
void check_names(const FamilyOptions& options) {
  std::vector<std::string> known = {"all"};
  const auto add = [&](const char* work, const auto& variants) {
    if (std::find(options.works.begin(), options.works.end(), work) == options.works.end()) return;
    for (const auto& variant : variants) known.emplace_back(variant.name);
  };
  add("scan", scan_variants());
  add("compact", compact_variants());
  add("sort", sort_variants());
  add("histogram", histogram_variants());
  add("reduce", reduce_variants());
  for (const std::string& work : options.works) {
    const std::vector<std::string>& works = family_works();
    if (std::find(works.begin(), works.end(), work) == works.end()) {
      throw InvalidArgument("--variant: '" + work +
                            "' has no variants; scan, compact, sort, histogram and reduce have");
    }
  }
  for (const std::string& name : options.variants) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string list;
    for (const std::string& one : known) list += (list.empty() ? "" : ", ") + one;
    throw InvalidArgument("--variant: there is no '" + name + "'" +
                          (kernels::has_gpu_backends() ? "" : " in this build, which has none of a GPU") +
                          "; there are " + list);
  }
}

}  // namespace

const std::vector<std::string>& family_works() {
  static const std::vector<std::string> works = {"scan", "compact", "sort", "histogram", "reduce"};
  return works;
}

int bench_family(const FamilyOptions& options) {
  check_names(options);
  return Family(options).run();
}

}  // namespace sluice::bench
