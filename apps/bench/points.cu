// SPDX-License-Identifier: Apache-2.0
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/sort.h>
#include <thrust/tabulate.h>
#include <thrust/transform.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "points.hpp"
#include "scan_points.hpp"
#include "sluice/core/random.hpp"

namespace sluice::bench {

namespace {

constexpr std::array<std::pair<const char*, Distribution>, 5> kNames = {{{"uniform", Distribution::kUniform},
                                                                         {"scan", Distribution::kScan},
                                                                         {"sorted", Distribution::kSorted},
                                                                         {"one-cell", Distribution::kOneCell},
                                                                         {"zipf", Distribution::kZipf}}};

/// A number below 2^bits; that of rank k is drawn about as often as 1 / k: the logarithm of the rank is uniform.
__host__ __device__ std::uint64_t zipf_number(std::uint64_t random, unsigned bits) {
  const double uniform = static_cast<double>(random >> 11) / 9007199254740992.0;
  const auto rank = static_cast<std::uint64_t>(exp2(uniform * bits)) - 1;
  // An odd factor gives every rank another place, so that the frequent ones are not neighbours.
  const std::uint64_t mask = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  return rank * 0x9e3779b97f4a7c15ULL & mask;
}

struct UniformPoint {
  __host__ __device__ Record16 operator()(std::uint64_t i) const {
    const auto axis = [i](std::uint64_t d) { return static_cast<std::int32_t>(counter_random(1, 3 * i + d) % kBox); };
    return Record16{axis(0), axis(1), axis(2), static_cast<std::uint32_t>(i)};
  }
};

/// Half of the points lie in a drawn cell of the lower half of the box; the others above it, at any height.
struct PointOfCell {
  CellBits cells;
  bool one;
  __host__ __device__ Record16 operator()(std::uint64_t i) const {
    std::uint64_t cell = one ? (std::uint64_t{1} << cells.sum()) / 3 : zipf_number(counter_random(3, i), cells.sum());
    std::int32_t at[3];
    for (int d = 0; d < 3; ++d) {
      const std::uint64_t random = counter_random(1, 3 * i + static_cast<std::uint64_t>(d));
      const std::uint64_t length = d == 2 ? kBox / 2 : kBox;
      const std::uint64_t edge = length >> cells.bits[d];
      const std::uint64_t place = cell & ((std::uint64_t{1} << cells.bits[d]) - 1);
      cell >>= cells.bits[d];
      const bool above = d == 2 && (random >> 63) != 0;
      at[d] = static_cast<std::int32_t>(above ? length + random % length : place * edge + random % edge);
    }
    return Record16{at[0], at[1], at[2], static_cast<std::uint32_t>(i)};
  }
};

struct RepeatedPoint {
  const Record16* made;
  std::uint64_t count;
  __host__ __device__ Record16 operator()(std::uint64_t i) const {
    Record16 out = made[i % count];
    out.w = static_cast<std::uint32_t>(i);
    return out;
  }
};

struct Numbered {
  __device__ Record16 operator()(Record16 point, std::uint32_t number) const {
    point.w = number;
    return point;
  }
};

struct CellOfRecord {
  CellNumber number;
  __host__ __device__ std::uint32_t operator()(const Record16& p) const { return number.of(p.x, p.y, p.z); }
};

struct DrawnKey {
  Distribution distribution;
  unsigned bits;
  __host__ __device__ std::uint64_t operator()(std::uint64_t i) const {
    if (distribution == Distribution::kOneCell) return (std::uint64_t{1} << (bits - 1)) / 3;
    const std::uint64_t random = counter_random(2, i);
    return distribution == Distribution::kZipf ? zipf_number(random, bits) : random >> (64 - bits);
  }
};

/// Row-major cell of a point, of as many bits as 20 on each axis allow.
struct KeyOfPoint {
  unsigned bits;
  __host__ __device__ std::uint64_t operator()(const Record16& p) const {
    const unsigned wanted = (bits + 2) / 3;
    const unsigned across = wanted < 20 ? wanted : 20;
    const unsigned up = bits - 2 * across < 20 ? bits - 2 * across : 20;
    const auto top = [](std::int32_t value, unsigned kept) { return static_cast<std::uint64_t>(value) >> (20 - kept); };
    return (top(p.z, up) << across | top(p.y, across)) << across | top(p.x, across);
  }
};

DeviceArray<Record16> repeated_scan(Gpu& gpu, Report& report, std::uint64_t items) {
  const ScanPoints& scan = scan_points(items);
  const std::uint64_t count = scan.points.size();
  report.note("scan, " + std::to_string(items) + " items: " + std::to_string(count) + " points of " + scan.made_by +
              ", stretched to the box" + (count < items ? ", repeated" : ""));
  const DeviceArray<Record16> made(gpu.cuda(), count);
  gpu.cuda().upload(made.data(), scan.points.data(), made.bytes(), gpu.view());
  DeviceArray<Record16> out(gpu.cuda(), items);
  thrust::tabulate(thrust::cuda::par.on(gpu.stream()), out.data(), out.data() + items,
                   RepeatedPoint{made.data(), count});
  gpu.wait();
  return out;
}

}  // namespace

Distribution distribution_of(const std::string& name) {
  for (const auto& [known, distribution] : kNames) {
    if (name == known) return distribution;
  }
  throw std::runtime_error("unknown distribution " + name);
}

const char* name_of(Distribution distribution) {
  for (const auto& [name, known] : kNames) {
    if (distribution == known) return name;
  }
  return "";
}

Region region_that_keeps(double fraction, Distribution distribution, std::uint64_t items) {
  const bool inside = fraction > 0.0 && fraction < 1.0;
  if (distribution != Distribution::kScan || !inside) return {static_cast<std::int32_t>(fraction * kBox)};
  std::vector<std::int32_t> heights;
  for (const Record16& point : scan_points(items).points) heights.push_back(point.z);
  const auto place = static_cast<std::ptrdiff_t>(fraction * static_cast<double>(heights.size()));
  std::nth_element(heights.begin(), heights.begin() + place, heights.end());
  return {std::max(1, heights[static_cast<std::size_t>(place)])};
}

DeviceArray<Record16> make_points(Gpu& gpu, Report& report, Distribution distribution, std::uint64_t items,
                                  CellBits cells) {
  if (distribution == Distribution::kScan) return repeated_scan(gpu, report, items);
  const auto policy = thrust::cuda::par.on(gpu.stream());
  DeviceArray<Record16> out(gpu.cuda(), items);
  if (distribution == Distribution::kOneCell || distribution == Distribution::kZipf) {
    thrust::tabulate(policy, out.data(), out.data() + items,
                     PointOfCell{cells, distribution == Distribution::kOneCell});
    return out;
  }
  thrust::tabulate(policy, out.data(), out.data() + items, UniformPoint{});
  if (distribution == Distribution::kSorted) {
    const DeviceArray<std::uint32_t> keys(gpu.cuda(), items);
    const CellNumber number = Region{static_cast<std::int32_t>(kBox / 2)}.cell_number(cells);
    thrust::transform(policy, out.data(), out.data() + items, keys.data(), CellOfRecord{number});
    thrust::stable_sort_by_key(policy, keys.data(), keys.data() + items, reinterpret_cast<uint128*>(out.data()));
    const thrust::counting_iterator<std::uint32_t> numbers(0);
    thrust::transform(policy, out.data(), out.data() + items, numbers, out.data(), Numbered{});
  }
  return out;
}

kernels::PointInput input_of(const DeviceArray<Record16>& points) {
  kernels::PointInput out;
  out.positions = Positions::packed(points.data(), CoordinateKind::kLattice);
  for (int d = 0; d < 3; ++d) out.positions.scale[d] = kStep;
  out.count = points.count();
  return out;
}

template <typename KeyT>
DeviceArray<KeyT> make_keys(Gpu& gpu, Report& report, Distribution distribution, std::uint64_t items, unsigned bits) {
  const auto policy = thrust::cuda::par.on(gpu.stream());
  DeviceArray<KeyT> out(gpu.cuda(), items);
  if (distribution == Distribution::kScan) {
    const DeviceArray<Record16> points = repeated_scan(gpu, report, items);
    thrust::transform(policy, points.data(), points.data() + items, out.data(), KeyOfPoint{bits});
    return out;
  }
  thrust::tabulate(policy, out.data(), out.data() + items, DrawnKey{distribution, bits});
  if (distribution == Distribution::kSorted) thrust::sort(policy, out.data(), out.data() + items);
  return out;
}

template DeviceArray<std::uint32_t> make_keys<std::uint32_t>(Gpu&, Report&, Distribution, std::uint64_t, unsigned);
template DeviceArray<std::uint64_t> make_keys<std::uint64_t>(Gpu&, Report&, Distribution, std::uint64_t, unsigned);

}  // namespace sluice::bench
