// SPDX-License-Identifier: Apache-2.0
#include "race.hpp"

#include <algorithm>
#include <new>

#include "sluice/core/error.hpp"

namespace sluice::bench {

namespace {

constexpr unsigned kWarmUps = 3;

}  // namespace

Race::Race(Gpu& gpu, Report& report, Case what, std::vector<Piece> outputs)
    : gpu_(gpu), report_(report), what_(std::move(what)), outputs_(std::move(outputs)) {}

bool Race::run_once(const Contender& contender, std::vector<Piece>& output) {
  std::string reason;
  bool failed = false;
  try {
    if (contender.set_up) contender.set_up();
    for (const Piece& piece : outputs_) gpu_.poison(piece.at, piece.bytes);
    if (contender.prepare) contender.prepare();
    contender.run();
    gpu_.wait();
    output = contender.output();
    gpu_.wait();
    return true;
  } catch (const Unsupported& error) {
    reason = error.what();
  } catch (const OutOfMemory& error) {
    reason = error.what();
  } catch (const std::bad_alloc& error) {
    reason = error.what();
  } catch (const std::exception& error) {
    reason = error.what();
    failed = true;
  }
  static_cast<void>(cudaGetLastError());
  report_.leave_out(what_, contender.by, reason, failed);
  return false;
}

void Race::compare() {
  std::vector<DeviceArray<std::byte>> first;
  for (Contender& contender : contenders_) {
    std::vector<Piece> output;
    if (!run_once(contender, output)) continue;
    bool equal = true;
    if (entries_.empty()) {
      for (const Piece& piece : output) {
        first.emplace_back(gpu_.cuda(), piece.bytes);
        gpu_.copy(first.back().data(), piece.at, piece.bytes);
      }
    } else {
      equal = output.size() == first.size();
      for (std::size_t i = 0; equal && i < output.size(); ++i) {
        equal = output[i].bytes == first[i].bytes() && gpu_.equal(output[i].at, first[i].data(), output[i].bytes);
      }
    }
    entries_.push_back({std::move(contender), equal});
  }
  gpu_.wait();
  contenders_.clear();
}

void Race::time(unsigned rounds, std::uint64_t bytes, Caches caches) {
  const std::size_t n = entries_.size();
  if (n == 0) return;
  std::vector<std::vector<double>> times(n);
  for (unsigned round = 0; round < kWarmUps + rounds; ++round) {
    for (std::size_t k = 0; k < n; ++k) {
      // Another one begins each round, so that nobody always follows the same one.
      const std::size_t i = (k + round) % n;
      const Contender& contender = entries_[i].contender;
      if (contender.prepare) contender.prepare();
      const double ms = gpu_.time(contender.run, caches);
      if (round >= kWarmUps) times[i].push_back(ms);
    }
  }
  std::vector<Time> out;
  for (std::size_t i = 0; i < n; ++i) {
    std::sort(times[i].begin(), times[i].end());
    const Contender& contender = entries_[i].contender;
    out.push_back({contender.by, contender.role, times[i][times[i].size() / 2], times[i].front(), entries_[i].equal});
  }
  Case what = what_;
  what.bytes = bytes;
  what.caches = caches == Caches::kCold ? "cold" : "warm";
  report_.add(what, out);
}

}  // namespace sluice::bench
