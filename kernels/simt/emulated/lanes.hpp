// SPDX-License-Identifier: Apache-2.0
/// \file
/// Blocks in flight, their warps and lanes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/simt/emulated/fiber.hpp"
#include "kernels/simt/emulated/names.hpp"
#include "kernels/simt/emulated/settings.hpp"

namespace sluice::simt::emulated {

/// Words that lanes wait in, and some that they only pass.
enum class Word : std::uint8_t {
  kNone,
  kBlockBarrier,
  kWarpBarrier,
  kShuffle,
  kShuffleUp,
  kShuffleDown,
  kShuffleXor,
  kBallot,
  kMatch,
  kWarpSum,
};
const char* name_of(Word word);

/// A kernel with all that the emulator must know of it.
struct Job {
  std::string name;
  const void* kernel = nullptr;
  std::size_t kernel_bytes = 0;
  void (*body)(const void* kernel, void* shared) = nullptr;
  std::size_t shared_bytes = 0;
  unsigned threads = 0;
  unsigned warp_width = 0;
  std::uint32_t blocks = 0;
  std::string (*shared_name)(std::size_t offset) = nullptr;
  std::vector<PointerName> (*pointers)(const void* kernel) = nullptr;
};

/// Bits of the lanes of a warp, or of the warps of a block.
class Bits {
 public:
  void set(unsigned i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  void clear(unsigned i) { words_[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }
  void set_first(unsigned count) {
    words_[0] = count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    words_[1] = count <= 64 ? 0 : count >= 128 ? ~std::uint64_t{0} : (std::uint64_t{1} << (count - 64)) - 1;
  }
  [[nodiscard]] bool any() const { return (words_[0] | words_[1]) != 0; }
  /// The first that is set at `start` or, round the end, after it. \pre any()
  [[nodiscard]] unsigned next(unsigned start) const {
    const unsigned half = start / 64 % 2;
    const std::uint64_t above = words_[half] & (~std::uint64_t{0} << (start % 64));
    if (above != 0) return half * 64 + static_cast<unsigned>(__builtin_ctzll(above));
    const unsigned other = 1 - half;
    if (words_[other] != 0) return other * 64 + static_cast<unsigned>(__builtin_ctzll(words_[other]));
    return half * 64 + static_cast<unsigned>(__builtin_ctzll(words_[half]));
  }

 private:
  std::uint64_t words_[2] = {0, 0};
};

/// What a thread knows to have happened before, beyond its own block's barriers: accesses of some threads of a block up
/// to a time.
struct Knowledge {
  struct Entry {
    std::uint32_t block;
    unsigned first_thread;
    unsigned last_thread;
    std::uint32_t time;
  };
  std::vector<Entry> entries;
};
using KnowledgePtr = std::shared_ptr<const Knowledge>;

/// A copy that has been started; it lands some time before it is waited for.
struct Copy {
  void* to;
  const void* from;
  std::size_t bytes;
  const void* pc;
  bool landed;
};

struct Block;

struct Lane {
  Fiber fiber;
  Block* block = nullptr;
  unsigned thread = 0;
  Word word = Word::kNone;   ///< that it waits in
  const void* pc = nullptr;  ///< of the word that it came to last
  bool done = false;
  std::uint32_t time = 1;  ///< counts what orders its accesses
  KnowledgePtr knowledge;
  std::vector<Copy> copies;
};

struct Slot {
  std::uint64_t words[2];
};

struct Warp {
  Bits runnable;
  unsigned arrived = 0;
  unsigned done = 0;
  unsigned generation = 0;
  Word word = Word::kNone;  ///< of those that have arrived
  const void* pc = nullptr;
  std::uint32_t known = 0;  ///< what lanes of the warp did up to this time, all of them know
  Slot slots[2][kMostLanes];
};

struct Block {
  std::uint32_t index = 0;
  unsigned place = 0;            ///< among those in flight
  std::uint32_t generation = 0;  ///< of its shared memory
  unsigned live = 0;
  unsigned arrived = 0;
  const void* pc = nullptr;  ///< of the barrier that the first of them came to
  Bits runnable;             ///< warps
  std::uint64_t delayed_until = 0;
  std::uint32_t known = 0;  ///< what its threads did up to this time, all of them know
  bool shares_knowledge = false;
  std::vector<Warp> warps;
  std::vector<Lane> lanes;
};

/// The lane that runs, or null while the host does.
extern thread_local Lane* current_lane;

/// While it lives, the host runs: whatever makes a report may use functions of the standard library that are
/// instrumented, as they are shared with kernels' sources.
class AsHost {
 public:
  AsHost() : lane_(current_lane) { current_lane = nullptr; }
  AsHost(const AsHost&) = delete;
  AsHost& operator=(const AsHost&) = delete;
  ~AsHost() { current_lane = lane_; }

 private:
  Lane* lane_;
};

}  // namespace sluice::simt::emulated
