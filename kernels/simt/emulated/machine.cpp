// SPDX-License-Identifier: Apache-2.0
#include "kernels/simt/emulated/machine.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "kernels/simt/emulated/device.hpp"
#include "kernels/simt/emulated/places.hpp"
#include "sluice/core/random.hpp"

namespace sluice::simt::emulated {

namespace {

/// Steps without any change after which nothing will change any more; far beyond every delay.
constexpr std::uint64_t kMostIdleSteps = std::uint64_t{4} << 20;
constexpr unsigned kLongestDelay = 20000;
constexpr int kSharedPattern = 0x5a;

/// One in so many atomics lets others run before: loads and stores are how blocks talk, updates mostly how they count.
constexpr unsigned kPassBeforeUpdate = 8;
constexpr unsigned kPassBeforeOthers = 2;

}  // namespace

const char* name_of(Word word) {
  switch (word) {
    case Word::kNone:
      return "nothing";
    case Word::kBlockBarrier:
      return "block_barrier";
    case Word::kWarpBarrier:
      return "warp_barrier";
    case Word::kShuffle:
      return "shuffle";
    case Word::kShuffleUp:
      return "shuffle_up";
    case Word::kShuffleDown:
      return "shuffle_down";
    case Word::kShuffleXor:
      return "shuffle_xor";
    case Word::kBallot:
      return "ballot";
    case Word::kMatch:
      return "match";
    case Word::kWarpSum:
      return "warp_sum";
  }
  return "unknown";
}

Machine::Machine(Settings& settings, Checker& checker, Shadow& shared)
    : settings_(settings),
      checker_(checker),
      shared_(shared),
      stacks_(std::size_t{kMostInFlight} * kMostThreads * kStackBytes),
      blocks_(kMostInFlight) {
  for (Block& block : blocks_) block.lanes.reserve(kMostThreads);
}

/// Leaves the launch as it is. \param report  makes the report, from the lane that runs
template <typename ReportT>
void Machine::give_up(const ReportT& report) {
  {
    const Lane& lane = *current_lane;
    const AsHost as_host;
    report(lane);
  }
  given_up_ = true;
  current_lane->fiber.switch_to(host_);
  __builtin_unreachable();
}

// Not inline: instrumented code calls it.
const Job& Machine::job() const { return *job_; }

void Machine::run(const Job& job, std::uint64_t seed) {
  job_ = &job;
  random_ = counter_random(seed, 0) | 1;
  given_up_ = false;
  // Ascending order and full width are what hardware does most of the time.
  const unsigned most = std::min<unsigned>(settings_.blocks_in_flight, job.blocks);
  const unsigned places = random(2) == 0 ? most : 1 + random(most);
  waiting_.resize(job.blocks);
  std::iota(waiting_.rbegin(), waiting_.rend(), 0U);
  const unsigned order = random(4);
  if (order == 1) std::reverse(waiting_.begin(), waiting_.end());
  if (order >= 2) {
    for (std::size_t i = waiting_.size(); i > 1; --i)
      std::swap(waiting_[i - 1], waiting_[random(static_cast<unsigned>(i))]);
  }
  constexpr unsigned kStays[] = {1, 32, 1000};
  warp_stay_ = kStays[random(3)];
  block_stay_ = std::max(warp_stay_, kStays[random(3)]);
  delay_one_in_ = settings_.delays && random(2) == 0 ? 1U << (2 * random(4)) : 0;
  steps_ = 0;
  last_progress_ = 0;

  in_flight_.clear();
  for (unsigned place = 0; place < places; ++place) {
    Block& block = blocks_[place];
    block.place = place;
    begin_block(block);
    in_flight_.push_back(&block);
  }
  Lane* const first = pick();
  current_lane = first;
  host_.switch_to(first->fiber);
  current_lane = nullptr;
  if (!given_up_) return;
  for (Block& block : blocks_) {
    for (Lane& lane : block.lanes) lane.fiber.abandon();
  }
}

void Machine::begin_block(Block& block) {
  const Job& job = *job_;
  block.index = waiting_.back();
  waiting_.pop_back();
  block.generation = ++block_generation_;
  block.live = job.threads;
  block.arrived = 0;
  block.pc = nullptr;
  block.delayed_until = 0;
  block.known = 0;
  block.shares_knowledge = false;
  const unsigned warps = job.threads / job.warp_width;
  block.warps.resize(warps);
  block.runnable.set_first(warps);
  for (Warp& warp : block.warps) {
    warp.runnable.set_first(job.warp_width);
    warp.arrived = 0;
    warp.done = 0;
    warp.generation = 0;
    warp.word = Word::kNone;
    warp.pc = nullptr;
    warp.known = 0;
  }
  // A fiber without work must not lose its place in memory.
  while (block.lanes.size() < job.threads) {
    Lane& lane = block.lanes.emplace_back();
    lane.thread = static_cast<unsigned>(block.lanes.size() - 1);
    lane.block = &block;
  }
  std::byte* const stacks = stacks_.data() + std::size_t{block.place} * kMostThreads * kStackBytes;
  for (unsigned i = 0; i < job.threads; ++i) {
    Lane& lane = block.lanes[i];
    if (!lane.fiber.started()) lane.fiber.start(stacks + i * kStackBytes, kStackBytes, lane_body);
    lane.word = Word::kNone;
    lane.pc = nullptr;
    lane.done = false;
    lane.time = 1;
    lane.knowledge = nullptr;
    lane.copies.clear();
  }
  std::memset(shared_.data() + block.place * kSharedStride, kSharedPattern, job.shared_bytes);
  checker_.begin_block(block);
}

void Machine::lane_body() {
  for (;;) {
    const Lane& lane = *current_lane;
    Machine& self = Device::get().machine();
    self.job_->body(self.job_->kernel, self.shared_.data() + lane.block->place * kSharedStride);
    self.end_lane();
  }
}

/// Comes back when the lane is part of another block or launch.
void Machine::end_lane() {
  Lane& lane = *current_lane;
  Block& block = *lane.block;
  const unsigned width = job_->warp_width;
  Warp& warp = block.warps[lane.thread / width];
  lane.done = true;
  lane.word = Word::kNone;
  for (const Copy& copy : lane.copies) {
    const AsHost as_host;
    checker_.report(Hazard::kCopyNotDone, "", {Checker::actor(lane, "ends before its copy is done", copy.pc)});
  }
  last_progress_ = steps_;
  warp.runnable.clear(lane.thread % width);
  if (!warp.runnable.any()) block.runnable.clear(lane.thread / width);
  ++warp.done;
  --block.live;
  if (block.live == 0) {
    if (!waiting_.empty()) {
      begin_block(block);
    } else {
      in_flight_.erase(std::find(in_flight_.begin(), in_flight_.end(), &block));
      if (in_flight_.empty()) {
        lane.fiber.switch_to(host_);
        return;
      }
    }
  } else if (!block.runnable.any()) {
    give_up_stuck(block);
  }
  Lane* const next = pick();
  current_lane = next;
  if (next != &lane) lane.fiber.switch_to(next->fiber);
}

/// One that is not delayed, or else the one whose delay is over first.
Block* Machine::pick_block() {
  const auto count = static_cast<unsigned>(in_flight_.size());
  const unsigned start = random(count);
  Block* best = nullptr;
  for (unsigned i = 0; i < count; ++i) {
    Block* const block = in_flight_[(start + i) % count];
    if (block->delayed_until <= steps_) return block;
    if (best == nullptr || block->delayed_until < best->delayed_until) best = block;
  }
  return best;
}

/// Every block in flight has a runnable lane: one that had none would be stuck.
Lane* Machine::pick() {
  ++steps_;
  if (steps_ - last_progress_ > kMostIdleSteps) give_up_waiting();
  Lane* const lane = current_lane;
  Block* block = lane != nullptr ? lane->block : nullptr;
  unsigned warp = 0;
  const bool stays = block != nullptr && block->runnable.any() && block->delayed_until <= steps_;
  if (!stays || random(block_stay_) == 0) {
    block = pick_block();
    warp = block->runnable.next(random(kMostLanes));
  } else {
    warp = lane->thread / job_->warp_width;
    if (!block->warps[warp].runnable.any() || random(warp_stay_) == 0) warp = block->runnable.next(random(kMostLanes));
  }
  const unsigned in_warp = block->warps[warp].runnable.next(random(kMostLanes));
  return &block->lanes[std::size_t{warp} * job_->warp_width + in_warp];
}

void Machine::pass_on() {
  Lane& lane = *current_lane;
  Lane* const next = pick();
  if (next == &lane) return;
  current_lane = next;
  lane.fiber.switch_to(next->fiber);
}

void Machine::pass_on_one_in(unsigned chances) {
  if (random(chances) == 0) pass_on();
}

/// Comes back when another lane has made this one runnable.
void Machine::wait(Word word) {
  Lane& lane = *current_lane;
  Block& block = *lane.block;
  const unsigned warp = lane.thread / job_->warp_width;
  lane.word = word;
  block.warps[warp].runnable.clear(lane.thread % job_->warp_width);
  if (!block.warps[warp].runnable.any()) block.runnable.clear(warp);
  if (!block.runnable.any()) give_up_stuck(block);
  pass_on();
}

bool Machine::same_place(const void* a, const void* b) {
  if (a == b) return true;
  // The compiler may have made two of one.
  const AsHost as_host;
  const std::vector<Place>& places_a = places_of(a);
  const std::vector<Place>& places_b = places_of(b);
  return std::equal(places_a.begin(), places_a.end(), places_b.begin(), places_b.end(),
                    [](const Place& x, const Place& y) { return x.file == y.file && x.line == y.line; });
}

/// Gives up where a lane comes to another word, or to the same one in another line, than `count` threads from
/// `first_thread` on that wait already.
void Machine::see_place(Hazard hazard, Word word, const void* pc, Word first_word, const void* first_pc,
                        unsigned first_thread, unsigned count) {
  if (word == first_word && same_place(pc, first_pc)) return;
  give_up([&](const Lane& lane) {
    std::vector<Actor> actors = {Checker::actor(lane, std::string("comes to ") + name_of(word), pc)};
    for (unsigned i = first_thread; i < first_thread + count; ++i) {
      const Lane& other = lane.block->lanes[i];
      if (other.word != first_word) continue;
      actors.push_back(Checker::actor(other, std::string("waits at ") + name_of(first_word), first_pc));
      break;
    }
    checker_.report(hazard, "", std::move(actors));
  });
}

void Machine::block_barrier(const void* pc) {
  Lane& lane = *current_lane;
  Block& block = *lane.block;
  land_some_copy(lane);
  lane.pc = pc;
  if (block.arrived == 0) {
    block.pc = pc;
  } else {
    see_place(Hazard::kBarrierDivergence, Word::kBlockBarrier, pc, Word::kBlockBarrier, block.pc, 0, job_->threads);
  }
  ++block.arrived;
  if (block.arrived < job_->threads) return wait(Word::kBlockBarrier);
  block.arrived = 0;
  last_progress_ = steps_;
  checker_.block_barrier(block);
  block.runnable.set_first(job_->threads / job_->warp_width);
  for (Warp& warp : block.warps) warp.runnable.set_first(job_->warp_width);
  for (unsigned i = 0; i < job_->threads; ++i) block.lanes[i].word = Word::kNone;
  pass_on_one_in(2);
}

const Slot* Machine::meet(Word word, const Slot& value, const void* pc) {
  Lane& lane = *current_lane;
  Block& block = *lane.block;
  const unsigned width = job_->warp_width;
  const unsigned index = lane.thread / width;
  Warp& warp = block.warps[index];
  land_some_copy(lane);
  lane.pc = pc;
  if (warp.arrived == 0) {
    warp.word = word;
    warp.pc = pc;
  } else {
    see_place(Hazard::kPartialWarp, word, pc, warp.word, warp.pc, index * width, width);
  }
  Slot* const slots = warp.slots[warp.generation % 2];
  slots[lane.thread % width] = value;
  ++warp.arrived;
  if (warp.arrived < width) {
    wait(word);
    return slots;
  }
  warp.arrived = 0;
  ++warp.generation;
  if (word == Word::kWarpBarrier) checker_.warp_barrier(block, index, width);
  block.runnable.set(index);
  warp.runnable.set_first(width);
  for (unsigned i = 0; i < width; ++i) block.lanes[std::size_t{index} * width + i].word = Word::kNone;
  pass_on_one_in(2);
  return slots;
}

void Machine::refuse_lane(Word word, unsigned lane, const void* pc) {
  give_up([&](const Lane& asks) {
    const std::string what = std::string("asks by ") + name_of(word) + " for lane " + std::to_string(lane) +
                             " of a warp of " + std::to_string(job_->warp_width);
    checker_.report(Hazard::kPartialWarp, "", {Checker::actor(asks, what, pc)});
  });
}

void Machine::refuse_address(bool write, const void* pc) {
  give_up([&](const Lane& lane) {
    checker_.report(Hazard::kHostMemory, "memory of the host", {Checker::actor(lane, write ? "writes" : "reads", pc)});
  });
}

void Machine::check_address(std::uintptr_t at, bool write, const void* pc) {
  if (!shared_.holds(at) && !Device::get().global().holds(at)) refuse_address(write, pc);
}

void Machine::before_atomic(const void* at, std::size_t bytes, Order order, bool reads, bool writes, const void* pc) {
  Lane& lane = *current_lane;
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  land_some_copy(lane);
  lane.pc = pc;
  pass_on_one_in(reads && writes ? kPassBeforeUpdate : kPassBeforeOthers);
  if (writes && delay_one_in_ != 0 && !shared_.holds(address) && random(delay_one_in_) == 0) {
    // An update may draw a ticket, and a store publish something: the block stands still after the one, before the
    // other.
    lane.block->delayed_until = steps_ + random(kLongestDelay);
    if (!reads) pass_on();
  }
  if (settings_.checks) {
    checker_.check_aligned(lane, address, bytes, pc);
    if (on_stack(address)) return;
    check_address(address, writes, pc);
    checker_.access(lane, address, bytes, writes ? Access::kAtomicWrite : Access::kAtomicRead, pc);
    if (writes && (order == Order::kRelease || order == Order::kAcquireRelease)) {
      checker_.release(lane, at, reads);
    } else if (writes && !reads) {
      checker_.overwrite(at);
    }
  }
}

void Machine::after_atomic(const void* at, Order order, bool reads, bool writes, bool changed) {
  if (writes && changed) last_progress_ = steps_;
  if (settings_.checks && reads && (order == Order::kAcquire || order == Order::kAcquireRelease)) {
    checker_.acquire(*current_lane, at);
  }
  // Whoever has just drawn or published something may be held up.
  if (writes && current_lane->block->delayed_until > steps_) pass_on();
}

void Machine::access(const void* at, std::size_t bytes, bool write, std::size_t alignment, const void* pc) {
  Device::get().touched(reinterpret_cast<std::uintptr_t>(at), bytes, write, pc);
  if (settings_.checks) checker_.check_aligned(*current_lane, reinterpret_cast<std::uintptr_t>(at), alignment, pc);
}

void Machine::start_copy(void* to, const void* from, std::size_t bytes, std::size_t alignment, const void* pc) {
  Lane& lane = *current_lane;
  lane.copies.push_back({to, from, bytes, pc, false});
  if (settings_.checks) {
    check_address(reinterpret_cast<std::uintptr_t>(to), true, pc);
    check_address(reinterpret_cast<std::uintptr_t>(from), false, pc);
    checker_.check_aligned(lane, reinterpret_cast<std::uintptr_t>(to), alignment, pc);
    checker_.check_aligned(lane, reinterpret_cast<std::uintptr_t>(from), alignment, pc);
    checker_.begin_copy(lane, lane.copies.back());
  }
  if (random(4) == 0) land(lane.copies.back());
}

void Machine::copies_done() {
  Lane& lane = *current_lane;
  pass_on_one_in(2);
  for (Copy& copy : lane.copies) {
    if (!copy.landed) land(copy);
    if (settings_.checks) checker_.end_copy(lane, copy);
  }
  lane.copies.clear();
}

void Machine::land_some_copy(Lane& lane) {
  if (lane.copies.empty()) return;
  Copy& copy = lane.copies[random(static_cast<unsigned>(lane.copies.size()))];
  if (!copy.landed) land(copy);
}

void Machine::land(Copy& copy) {
  std::memcpy(copy.to, copy.from, copy.bytes);
  copy.landed = true;
}

void Machine::pause(const void* pc) {
  current_lane->pc = pc;
  pass_on();
}

/// Every live thread of a block waits for another one of it.
void Machine::give_up_stuck(const Block& block) {
  const unsigned width = job_->warp_width;
  const Lane* waits = nullptr;
  const Lane* missing = nullptr;
  // A word of a warp tells more than a barrier, which others may never reach because of it.
  for (unsigned i = 0; i < job_->threads; ++i) {
    const Lane& lane = block.lanes[i];
    if (lane.done || lane.word == Word::kNone) continue;
    if (waits == nullptr || (waits->word == Word::kBlockBarrier && lane.word != Word::kBlockBarrier)) waits = &lane;
  }
  const bool at_barrier = waits->word == Word::kBlockBarrier;
  const unsigned first = at_barrier ? 0 : waits->thread / width * width;
  const unsigned count = at_barrier ? job_->threads : width;
  for (unsigned i = first; i < first + count && missing == nullptr; ++i) {
    if (block.lanes[i].done || block.lanes[i].word != waits->word) missing = &block.lanes[i];
  }
  give_up([&](const Lane& /*lane*/) {
    std::vector<Actor> actors = {Checker::actor(*waits, std::string("waits at ") + name_of(waits->word), waits->pc)};
    if (missing != nullptr && missing->done) {
      actors.push_back(Checker::actor(*missing, "has ended", nullptr));
    } else if (missing != nullptr) {
      actors.push_back(Checker::actor(*missing, std::string("waits at ") + name_of(missing->word), missing->pc));
    }
    checker_.report(at_barrier ? Hazard::kBarrierDivergence : Hazard::kPartialWarp, "", std::move(actors));
  });
}

/// Lanes run, but nothing that any of them does changes anything.
void Machine::give_up_waiting() {
  give_up([&](const Lane& /*lane*/) {
    std::vector<Actor> actors;
    for (const Block* block : in_flight_) {
      for (unsigned i = 0; i < job_->threads; ++i) {
        const Lane& lane = block->lanes[i];
        if (lane.done || lane.pc == nullptr || lane.word == Word::kBlockBarrier) continue;
        actors.push_back(Checker::actor(lane, "waits for others", lane.pc));
        break;
      }
    }
    checker_.report(Hazard::kNoProgress, "", std::move(actors));
  });
}

}  // namespace sluice::simt::emulated
