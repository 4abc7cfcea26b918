// SPDX-License-Identifier: Apache-2.0
/// \file
/// Finds accesses that nothing orders, memory that is not there or not written, and values that are not as expected.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/simt/emulated/lanes.hpp"
#include "kernels/simt/emulated/report.hpp"
#include "kernels/simt/emulated/shadow.hpp"

namespace sluice::simt::emulated {

class Heap;

enum class Access : std::uint8_t { kRead, kWrite, kAtomicRead, kAtomicWrite };

/// What an output must hold after a launch.
struct Expectation {
  const std::byte* at;
  std::size_t item_bytes;
  std::vector<std::byte> values;
};

/// The accesses of one launch after another.
class Checker {
 public:
  Checker(Shadow& global, Shadow& shared, const Heap& heap) : global_(global), shared_(shared), heap_(heap) {}

  void begin_launch(const Job& job);
  /// Compares what was expected.
  void end_launch();
  void begin_block(const Block& block);

  void access(const Lane& lane, std::uintptr_t at, std::size_t bytes, Access access, const void* pc);
  /// Refuses an address that is not a multiple of `alignment`.
  void check_aligned(const Lane& lane, std::uintptr_t at, std::size_t alignment, const void* pc);
  void begin_copy(const Lane& lane, const Copy& copy);
  void end_copy(const Lane& lane, const Copy& copy);

  void block_barrier(Block& block);
  void warp_barrier(Block& block, unsigned warp, unsigned width);
  /// The rest of what an atomic with an order does: a release leaves what the lane knows, an acquire takes it.
  void release(Lane& lane, const void* at, bool keeps);
  void acquire(Lane& lane, const void* at);
  /// A store without release: what was left at the place no longer counts.
  void overwrite(const void* at) {
    if (!left_.empty()) left_.erase(at);
  }

  void report(Hazard hazard, const std::string& variable, std::vector<Actor> actors);
  static Actor actor(const Lane& lane, std::string what, const void* pc);

  void set_expectations(std::vector<Expectation> expectations) { expectations_ = std::move(expectations); }
  [[nodiscard]] std::vector<Report>& reports() { return reports_; }

 private:
  void report_access(Hazard hazard, const Lane& lane, std::uintptr_t at, const char* what, const void* pc,
                     std::uint64_t other, const char* what_other);
  [[nodiscard]] std::string name_at(std::uintptr_t at) const;
  [[nodiscard]] bool ordered(const Lane& lane, std::uint64_t stamp) const;
  [[nodiscard]] std::uint64_t stamp_of(const Lane& lane, bool atomic, const void* pc);
  [[nodiscard]] Actor actor_of(std::uint64_t stamp, std::string what) const;
  bool check_states(const Lane& lane, std::uintptr_t at, std::size_t bytes, bool reads, bool writes, const void* pc);
  void compare(const Expectation& expectation);
  static KnowledgePtr join(const KnowledgePtr& a, const KnowledgePtr& b);

  Shadow& global_;
  Shadow& shared_;
  const Heap& heap_;
  const Job* job_ = nullptr;
  std::uint32_t launch_ = 0;
  std::vector<const void*> pcs_;
  std::unordered_map<const void*, std::uint32_t> pc_numbers_;
  struct RecentPc {
    const void* pc = nullptr;
    std::uint32_t number = 0;
  };
  std::array<RecentPc, 1024> recent_pcs_{};
  std::unordered_map<const void*, KnowledgePtr> left_;  ///< by releases
  std::vector<Expectation> expectations_;
  std::vector<Report> reports_;
};

}  // namespace sluice::simt::emulated
