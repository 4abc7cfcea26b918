// SPDX-License-Identifier: Apache-2.0
/// \file
/// Runs launches: some blocks at a time, whose lanes take turns wherever they communicate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/simt/emulated/checker.hpp"
#include "kernels/simt/emulated/lanes.hpp"
#include "kernels/simt/emulated/pages.hpp"
#include "kernels/simt/emulated/settings.hpp"
#include "kernels/simt/words.hpp"

namespace sluice::simt::emulated {

/// A scheduler of fibers. Who runs next is decided by chance wherever a lane waits or communicates. Each launch draws
/// how many blocks are in flight, in which order they start, and how long the same block or warp stays on.
class Machine {
 public:
  Machine(Settings& settings, Checker& checker, Shadow& shared);

  /// Runs all blocks, or as far as hazards let it.
  void run(const Job& job, std::uint64_t seed);

  /// What the words do; `pc` is where they return to.
  void block_barrier(const void* pc);
  /// Hands over a value, and waits for that of all lanes. \return theirs, valid until the next word
  const Slot* meet(Word word, const Slot& value, const void* pc);
  /// A lane of the warp, which a shuffle asks for, does not exist.
  [[noreturn]] void refuse_lane(Word word, unsigned lane, const void* pc);
  /// An address is not of the device's memory. The launch ends there, as the access itself might end the program.
  [[noreturn]] void refuse_address(bool write, const void* pc);
  /// Others may run before an atomic.
  void before_atomic(const void* at, std::size_t bytes, Order order, bool reads, bool writes, const void* pc);
  void after_atomic(const void* at, Order order, bool reads, bool writes, bool changed);
  void access(const void* at, std::size_t bytes, bool write, std::size_t alignment, const void* pc);
  void start_copy(void* to, const void* from, std::size_t bytes, std::size_t alignment, const void* pc);
  void copies_done();
  void pause(const void* pc);

  [[nodiscard]] const Job& job() const;
  /// Whether an address is on the stack of a lane.
  [[nodiscard]] bool on_stack(std::uintptr_t at) const {
    return at - reinterpret_cast<std::uintptr_t>(stacks_.data()) < stacks_.size();
  }

 private:
  static void lane_body();
  void begin_block(Block& block);
  void end_lane();
  [[nodiscard]] Lane* pick();
  [[nodiscard]] Block* pick_block();
  void pass_on();
  void pass_on_one_in(unsigned chances);
  void wait(Word word);
  void see_place(Hazard hazard, Word word, const void* pc, Word first_word, const void* first_pc, unsigned first_thread,
                 unsigned count);
  void check_address(std::uintptr_t at, bool write, const void* pc);
  void land_some_copy(Lane& lane);
  void land(Copy& copy);
  template <typename ReportT>
  [[noreturn]] void give_up(const ReportT& report);
  [[noreturn]] void give_up_stuck(const Block& block);
  [[noreturn]] void give_up_waiting();
  [[nodiscard]] static bool same_place(const void* a, const void* b);
  /// Xorshift, as a step of the scheduler needs two or three numbers (G. Marsaglia, 2003).
  [[nodiscard]] unsigned random(unsigned below) {
    random_ ^= random_ >> 12;
    random_ ^= random_ << 25;
    random_ ^= random_ >> 27;
    return static_cast<unsigned>((random_ * 0x2545f4914f6cdd1dULL >> 32) * below >> 32);
  }

  Settings& settings_;
  Checker& checker_;
  Shadow& shared_;
  Pages stacks_;
  std::vector<Block> blocks_;
  std::vector<Block*> in_flight_;
  std::vector<std::uint32_t> waiting_;  ///< blocks that have not started, the next one last
  const Job* job_ = nullptr;
  Fiber host_;
  std::uint64_t random_ = 1;
  std::uint64_t steps_ = 0;
  std::uint64_t last_progress_ = 0;
  unsigned block_stay_ = 1;  ///< steps on average until another block or warp is looked for
  unsigned warp_stay_ = 1;
  unsigned delay_one_in_ = 0;  ///< of the atomics in global memory; 0: none
  bool given_up_ = false;
  std::uint32_t block_generation_ = 0;
};

}  // namespace sluice::simt::emulated
