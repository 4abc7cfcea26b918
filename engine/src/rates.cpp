// SPDX-License-Identifier: Apache-2.0
#include "rates.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "machine.hpp"
#include "sluice/core/random.hpp"
#include "sluice/core/version.hpp"

namespace sluice::detail {

namespace {

constexpr std::uint64_t kManyPoints = std::uint64_t{1} << 20;
constexpr std::uint64_t kFewPoints = std::uint64_t{1} << 14;
constexpr int kEdges = 64;

/// Uniform lattice points in records as long as a common LAS record.
PointCloud sample_cloud() {
  CloudInfo info;
  info.name = "sample";
  info.schema.record_bytes = 34;
  static constexpr const char* kNames[3] = {"x", "y", "z"};
  for (std::uint32_t d = 0; d < 3; ++d) {
    Field field;
    field.name = kNames[d];
    field.type = FieldType::kInt32;
    field.offset = 4 * d;
    info.schema.fields.push_back(field);
    info.frame.at[d] = 4 * d;
    info.frame.scale[d] = 0.001;
  }
  info.frame.kind = CoordinateKind::kLattice;
  std::vector<std::byte> records(kManyPoints * info.schema.record_bytes);
  for (std::uint64_t i = 0; i < kManyPoints; ++i) {
    for (std::uint64_t d = 0; d < 3; ++d) {
      const auto raw = static_cast<std::int32_t>(counter_random(1, 3 * i + d) % 1000000);
      std::memcpy(records.data() + i * info.schema.record_bytes + 4 * d, &raw, sizeof raw);
    }
  }
  return {std::move(info), std::move(records)};
}

/// Best of three runs: the others met something else on the machine.
double seconds_of(Worker& worker, const PointView& view) {
  double best = 1e30;
  (void)worker.run(view);
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    (void)worker.run(view);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

Rate measure(const std::shared_ptr<const Plan>& plan, const std::shared_ptr<kernels::Backend>& backend,
             const PointCloud& cloud) {
  const auto seconds_since = [](std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  // Memory is dear to a first run: where it must be pinned, and where its pages are touched for the first time.
  const auto small_start = std::chrono::steady_clock::now();
  { const Worker small(plan, backend, kFewPoints); }
  const double small_worker = seconds_since(small_start);
  const auto large_start = std::chrono::steady_clock::now();
  Worker worker(plan, backend, kManyPoints);
  (void)worker.run(cloud.view());
  const double first_run = seconds_since(large_start);
  PointView few = cloud.view();
  few.count = kFewPoints;
  const double short_run = seconds_of(worker, few);
  const double long_run = seconds_of(worker, cloud.view());
  Rate rate;
  rate.per_point = std::max(0.0, (long_run - short_run) / static_cast<double>(kManyPoints - kFewPoints));
  rate.fixed = std::max(0.0, short_run - rate.per_point * static_cast<double>(kFewPoints));
  rate.start_per_point = std::max(0.0, (first_run - long_run - small_worker) / static_cast<double>(kManyPoints));
  return rate;
}

Rates measure_all(const std::function<std::shared_ptr<kernels::Backend>()>& make) {
  const PointCloud cloud = sample_cloud();
  Selection box;
  box.regions.emplace_back(Box{{100, 100, -kInfinity}, {800, 800, kInfinity}});
  Selection polygon;
  Polygon ring;
  ring.rings.emplace_back();
  for (int i = 0; i < kEdges; ++i) {
    const double angle = 6.283185307179586 * i / kEdges;
    ring.rings.front().push_back({500 + 400 * std::cos(angle), 500 + 400 * std::sin(angle)});
  }
  polygon.regions.emplace_back(ring);
  GridOptions grid;
  grid.size = {5, 5, 5};
  ThinOptions thin;
  thin.grid = grid;
  BinOptions bin;
  bin.grid = grid;

  // The first worker of a process waits until the backend's processor is ready.
  const auto begin = std::chrono::steady_clock::now();
  const std::shared_ptr<kernels::Backend> backend = make();
  {
    Worker first(Plan::select(cloud.info(), box), backend, kFewPoints);
    PointView few = cloud.view();
    few.count = kFewPoints;
    (void)first.run(few);
  }
  const double start = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  Rates rates;
  rates.select = measure(Plan::select(cloud.info(), box), backend, cloud);
  const Rate with_edges = measure(Plan::select(cloud.info(), polygon), backend, cloud);
  rates.thin = measure(Plan::thin(cloud.info(), box, thin), backend, cloud);
  rates.bin = measure(Plan::bin(cloud.info(), box, bin), backend, cloud);
  const double per_edge = std::max(0.0, (with_edges.per_point - rates.select.per_point) / kEdges);
  rates.select.per_edge = rates.thin.per_edge = rates.bin.per_edge = per_edge;
  rates.select.start = rates.thin.start = rates.bin.start = start;
  return rates;
}

std::string cache_key(const std::string& name, const std::string& device_name, int threads) {
  return std::string(kVersion) + "; " + processor_name() + "; " + std::to_string(threads) + " threads; " + name + "; " +
         device_name;
}

std::filesystem::path cache_file(const std::string& key) {
  std::filesystem::path folder;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
    folder = cache;
  } else if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    folder = std::filesystem::path(home) / ".cache";
  } else {
    return {};
  }
  std::uint64_t hash = 0;
  for (const char c : key) hash = mix64(hash ^ static_cast<unsigned char>(c));
  std::ostringstream name;
  name << "rates-" << std::hex << hash << ".txt";
  return folder / "sluice" / name.str();
}

/// First line the key, then three lines of five numbers.
bool read_cached(const std::filesystem::path& path, const std::string& key, Rates& rates) {
  std::ifstream in(path);
  std::string line;
  if (!in || !std::getline(in, line) || line != key) return false;
  in.imbue(std::locale::classic());
  for (Rate* rate : {&rates.select, &rates.thin, &rates.bin}) {
    for (double* number : {&rate->fixed, &rate->per_point, &rate->per_edge, &rate->start, &rate->start_per_point}) {
      if (!(in >> *number) || !(*number >= 0.0)) return false;
    }
  }
  return true;
}

void write_cached(const std::filesystem::path& path, const std::string& key, const Rates& rates) {
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  // Renamed into place, so that a process that reads meanwhile sees all of it or nothing.
  std::filesystem::path partial = path;
  partial += "." + std::to_string(getpid());
  {
    std::ofstream out(partial);
    out.imbue(std::locale::classic());
    out.precision(17);
    out << key << '\n';
    for (const Rate& rate : {rates.select, rates.thin, rates.bin}) {
      out << rate.fixed << ' ' << rate.per_point << ' ' << rate.per_edge << ' ' << rate.start << ' '
          << rate.start_per_point << '\n';
    }
    if (!out.flush()) {
      out.close();
      std::filesystem::remove(partial, ignored);
      return;
    }
  }
  std::error_code refused;
  std::filesystem::rename(partial, path, refused);
  if (refused) std::filesystem::remove(partial, ignored);
}

}  // namespace

std::optional<Rates> cached_rates(const std::string& name, const std::string& device_name, int threads) {
  const std::string key = cache_key(name, device_name, threads);
  const std::filesystem::path path = cache_file(key);
  Rates rates;
  if (path.empty() || !read_cached(path, key, rates)) return std::nullopt;
  return rates;
}

Rates machine_rates(const std::string& name, const std::string& device_name, int threads,
                    const std::function<std::shared_ptr<kernels::Backend>()>& make) {
  if (const std::optional<Rates> cached = cached_rates(name, device_name, threads)) return *cached;
  const Rates rates = measure_all(make);
  const std::string key = cache_key(name, device_name, threads);
  const std::filesystem::path path = cache_file(key);
  if (!path.empty()) write_cached(path, key, rates);
  return rates;
}

}  // namespace sluice::detail
