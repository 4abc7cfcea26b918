// SPDX-License-Identifier: Apache-2.0
#include "kernels/simt/emulated/checker.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "kernels/simt/emulated/heap.hpp"
#include "kernels/simt/emulated/places.hpp"

namespace sluice::simt::emulated {

namespace {

// A stamp: who (20 bits of the block, 10 of the thread), when (20), where (13 of a number for the address), and whether
// it was an atomic (1). Never 0, as time begins at 1.
constexpr unsigned kTimeBits = 20;
constexpr unsigned kPcBits = 13;
constexpr std::uint32_t kMostTime = (1U << kTimeBits) - 1;
constexpr std::uint32_t kMostPcs = (1U << kPcBits) - 1;
constexpr unsigned kWhoShift = kTimeBits + kPcBits + 1;

std::uint64_t who(const Lane& lane) { return std::uint64_t{lane.block->index} << 10 | lane.thread; }
std::uint64_t who(std::uint64_t stamp) { return stamp >> kWhoShift; }
std::uint32_t block_of(std::uint64_t stamp) { return static_cast<std::uint32_t>(who(stamp) >> 10); }
unsigned thread_of(std::uint64_t stamp) { return static_cast<unsigned>(who(stamp) & 1023); }
std::uint32_t time_of(std::uint64_t stamp) { return static_cast<std::uint32_t>(stamp >> (kPcBits + 1)) & kMostTime; }
std::uint32_t pc_of(std::uint64_t stamp) { return static_cast<std::uint32_t>(stamp >> 1) & kMostPcs; }
bool is_atomic(std::uint64_t stamp) { return (stamp & 1) != 0; }

/// Enough to see what is wrong.
constexpr std::size_t kMostReports = 20;

std::uint64_t item_at(const std::byte* at, std::size_t bytes) {
  std::uint64_t out = 0;
  std::memcpy(&out, at, std::min(bytes, sizeof out));
  return out;
}

void raise(std::vector<Knowledge::Entry>& entries, const Knowledge::Entry& more) {
  for (Knowledge::Entry& e : entries) {
    if (e.block == more.block && e.first_thread == more.first_thread && e.last_thread == more.last_thread) {
      e.time = std::max(e.time, more.time);
      return;
    }
  }
  entries.push_back(more);
}

}  // namespace

void Checker::begin_launch(const Job& job) {
  job_ = &job;
  ++launch_;
  pcs_.assign(1, nullptr);
  pc_numbers_.clear();
  recent_pcs_.fill({});
  left_.clear();
}

void Checker::begin_block(const Block& block) {
  const std::size_t begin = block.place * kSharedStride;
  shared_.set_states(begin, job_->shared_bytes, ByteState::kRaw);
  shared_.set_states(begin + job_->shared_bytes, kSharedStride - job_->shared_bytes, ByteState::kNone);
}

std::uint64_t Checker::stamp_of(const Lane& lane, bool atomic, const void* pc) {
  RecentPc& recent = recent_pcs_[reinterpret_cast<std::uintptr_t>(pc) / 2 % recent_pcs_.size()];
  if (recent.pc != pc) {
    const auto [at, fresh] = pc_numbers_.try_emplace(pc, static_cast<std::uint32_t>(pcs_.size()));
    if (fresh && pcs_.size() <= kMostPcs) pcs_.push_back(pc);
    recent = {pc, at->second <= kMostPcs ? at->second : 0};  // too many places: those beyond have no line
  }
  return who(lane) << kWhoShift | std::uint64_t{std::min(lane.time, kMostTime)} << (kPcBits + 1) |
         std::uint64_t{recent.number} << 1 | (atomic ? 1 : 0);
}

bool Checker::ordered(const Lane& lane, std::uint64_t stamp) const {
  const std::uint32_t block = block_of(stamp);
  const unsigned thread = thread_of(stamp);
  const std::uint32_t time = time_of(stamp);
  if (block == lane.block->index) {
    if (thread == lane.thread || time <= lane.block->known) return true;
    const unsigned warp = lane.thread / job_->warp_width;
    if (thread / job_->warp_width == warp && time <= lane.block->warps[warp].known) return true;
  }
  if (lane.knowledge == nullptr) return false;
  return std::any_of(lane.knowledge->entries.begin(), lane.knowledge->entries.end(), [&](const Knowledge::Entry& e) {
    return e.block == block && e.first_thread <= thread && thread <= e.last_thread && time <= e.time;
  });
}

void Checker::access(const Lane& lane, std::uintptr_t at, std::size_t bytes, Access access, const void* pc) {
  const AsHost as_host;
  const bool in_shared = shared_.holds(at);
  Shadow& shadow = in_shared ? shared_ : global_;
  const bool reads = access != Access::kWrite;
  const bool writes = access == Access::kWrite || access == Access::kAtomicWrite;
  const bool atomic = access == Access::kAtomicRead || access == Access::kAtomicWrite;
  if (!check_states(lane, at, bytes, reads, writes, pc)) return;
  const std::uint64_t stamp = stamp_of(lane, atomic, pc);
  const std::uint64_t me = who(lane);
  const std::size_t first = shadow.offset_of(at);
  bool told = false;
  const auto conflicts = [&](std::uint64_t other) {
    return !told && other != 0 && who(other) != me && !(atomic && is_atomic(other)) && !ordered(lane, other);
  };
  const auto tell = [&](Hazard within, std::size_t offset, std::uint64_t other, const char* what_other) {
    told = true;
    Hazard hazard = within;
    if (block_of(other) != lane.block->index) {
      hazard = within == Hazard::kWriteAfterWrite ? Hazard::kMissingBlockOffset : Hazard::kUnorderedBlocks;
    }
    report_access(hazard, lane, at + (offset - first), writes ? "writes" : "reads", pc, other, what_other);
  };
  shadow.for_cells(first, bytes, in_shared ? lane.block->generation : launch_, [&](Cell& cell, std::size_t offset) {
    if (conflicts(cell.write)) {
      tell(writes ? Hazard::kWriteAfterWrite : Hazard::kReadAfterWrite, offset, cell.write, "writes");
    }
    if (writes) {
      for (const std::uint64_t read : cell.reads) {
        if (conflicts(read)) tell(Hazard::kWriteAfterRead, offset, read, "reads");
      }
      cell = {stamp, {0, 0}};
      return true;
    }
    // The place of an own read, or of one that whoever comes after this one comes after too.
    for (std::uint64_t& read : cell.reads) {
      if (read == 0 || who(read) == me || ordered(lane, read)) {
        read = stamp;
        break;
      }
    }
    return true;
  });
}

bool Checker::check_states(const Lane& lane, std::uintptr_t at, std::size_t bytes, bool reads, bool writes,
                           const void* pc) {
  const bool in_shared = shared_.holds(at);
  const Shadow& shadow = in_shared ? shared_ : global_;
  const std::size_t offset = shadow.offset_of(at);
  // A lane that has strayed into the memory of another block is beyond its own.
  const bool own = !in_shared || offset / kSharedStride == lane.block->place;
  ByteState* const states = shadow.states(offset);
  for (std::size_t i = 0; i < bytes; ++i) {
    const ByteState state = own ? states[i] : ByteState::kNone;
    if (state == ByteState::kWritten) continue;
    const char* const what = writes ? "writes" : "reads";
    if (state == ByteState::kNone) {
      report_access(Hazard::kOutOfBounds, lane, at + i, what, pc, 0, nullptr);
      return false;
    }
    if (state == ByteState::kCopying) {
      report_access(Hazard::kCopyNotDone, lane, at + i, what, pc, 0, nullptr);
      return false;
    }
    if (reads) {
      report_access(Hazard::kUninitialised, lane, at + i, what, pc, 0, nullptr);
      break;
    }
  }
  if (writes) shadow.set_states(offset, bytes, ByteState::kWritten);
  return true;
}

void Checker::check_aligned(const Lane& lane, std::uintptr_t at, std::size_t alignment, const void* pc) {
  if (at % alignment == 0) return;
  const AsHost as_host;
  const std::string what = "needs a multiple of " + std::to_string(alignment) + " bytes";
  report_access(Hazard::kMisaligned, lane, at, what.c_str(), pc, 0, nullptr);
}

void Checker::begin_copy(const Lane& lane, const Copy& copy) {
  const auto to = reinterpret_cast<std::uintptr_t>(copy.to);
  access(lane, to, copy.bytes, Access::kWrite, copy.pc);
  access(lane, reinterpret_cast<std::uintptr_t>(copy.from), copy.bytes, Access::kRead, copy.pc);
  if (shared_.holds(to)) shared_.set_states(shared_.offset_of(to), copy.bytes, ByteState::kCopying);
}

void Checker::end_copy(const Lane& lane, const Copy& copy) {
  const auto to = reinterpret_cast<std::uintptr_t>(copy.to);
  if (!shared_.holds(to)) return;
  shared_.set_states(shared_.offset_of(to), copy.bytes, ByteState::kWritten);
  access(lane, to, copy.bytes, Access::kWrite, copy.pc);
}

KnowledgePtr Checker::join(const KnowledgePtr& a, const KnowledgePtr& b) {
  if (a == nullptr || a == b) return b;
  if (b == nullptr) return a;
  auto out = std::make_shared<Knowledge>(*a);
  for (const Knowledge::Entry& e : b->entries) raise(out->entries, e);
  return out;
}

void Checker::block_barrier(Block& block) {
  const AsHost as_host;
  std::uint32_t latest = 0;
  for (const Lane& lane : block.lanes) latest = std::max(latest, lane.time);
  block.known = latest;
  for (Warp& warp : block.warps) warp.known = latest;
  KnowledgePtr all;
  if (block.shares_knowledge) {
    for (const Lane& lane : block.lanes) all = join(all, lane.knowledge);
  }
  for (Lane& lane : block.lanes) {
    lane.time = latest + 1;
    lane.knowledge = all;
  }
}

void Checker::warp_barrier(Block& block, unsigned warp, unsigned width) {
  const AsHost as_host;
  Lane* const lanes = block.lanes.data() + std::size_t{warp} * width;
  std::uint32_t latest = 0;
  KnowledgePtr all;
  for (unsigned i = 0; i < width; ++i) {
    latest = std::max(latest, lanes[i].time);
    if (block.shares_knowledge) all = join(all, lanes[i].knowledge);
  }
  block.warps[warp].known = latest;
  for (unsigned i = 0; i < width; ++i) {
    lanes[i].time = latest + 1;
    lanes[i].knowledge = all;
  }
}

void Checker::release(Lane& lane, const void* at, bool keeps) {
  const AsHost as_host;
  const Block& block = *lane.block;
  const unsigned warp = lane.thread / job_->warp_width;
  const unsigned first = warp * job_->warp_width;
  auto out = lane.knowledge == nullptr ? std::make_shared<Knowledge>() : std::make_shared<Knowledge>(*lane.knowledge);
  raise(out->entries, {block.index, 0, job_->threads - 1, block.known});
  raise(out->entries, {block.index, first, first + job_->warp_width - 1, block.warps[warp].known});
  raise(out->entries, {block.index, lane.thread, lane.thread, lane.time});
  KnowledgePtr& left = left_[at];
  left = keeps ? join(left, out) : KnowledgePtr(out);
  ++lane.time;
}

void Checker::acquire(Lane& lane, const void* at) {
  const AsHost as_host;
  const auto found = left_.find(at);
  if (found == left_.end()) return;
  lane.knowledge = join(lane.knowledge, found->second);
  lane.block->shares_knowledge = true;
}

std::string Checker::name_at(std::uintptr_t at) const {
  if (shared_.holds(at)) {
    const std::size_t offset = shared_.offset_of(at) % kSharedStride;
    return offset < job_->shared_bytes && job_->shared_name != nullptr
               ? "shared" + job_->shared_name(offset)
               : "shared memory + " + std::to_string(offset) + " bytes";
  }
  if (!global_.holds(at)) return "memory of the host";
  const Heap::Block block = heap_.block_near(global_.offset_of(at));
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(global_.data()) + block.begin;
  const PointerName* best = nullptr;
  std::vector<PointerName> pointers;
  if (job_->pointers != nullptr) pointers = job_->pointers(job_->kernel);
  for (const PointerName& p : pointers) {
    const auto address = reinterpret_cast<std::uintptr_t>(p.pointer);
    if (address < begin || address > at) continue;
    if (best == nullptr || address > reinterpret_cast<std::uintptr_t>(best->pointer)) best = &p;
  }
  if (best == nullptr) return "device memory + " + std::to_string(at - begin) + " bytes";
  const std::size_t distance = at - reinterpret_cast<std::uintptr_t>(best->pointer);
  return best->name + '[' + std::to_string(distance / best->item_bytes) + ']';
}

Actor Checker::actor(const Lane& lane, std::string what, const void* pc) {
  Actor out;
  out.block = lane.block->index;
  out.thread = lane.thread;
  out.what = std::move(what);
  const std::vector<Place>& places = places_of(pc);
  // The innermost line that is neither of the words and collectives nor of the standard library.
  const auto own = std::find_if(places.begin(), places.end(), [](const Place& place) {
    return place.file.rfind("kernels/simt/", 0) != 0 && place.file.rfind('/', 0) != 0;
  });
  const auto at = own == places.end() ? places.begin() : own;
  if (at == places.end()) return out;
  out.file = at->file;
  out.line = at->line;
  for (auto caller = at + 1; caller != places.end(); ++caller) {
    out.callers.push_back(caller->file + ':' + std::to_string(caller->line));
  }
  return out;
}

Actor Checker::actor_of(std::uint64_t stamp, std::string what) const {
  Block block;
  block.index = block_of(stamp);
  Lane lane;
  lane.block = &block;
  lane.thread = thread_of(stamp);
  return actor(lane, std::move(what), pcs_[pc_of(stamp)]);
}

void Checker::report_access(Hazard hazard, const Lane& lane, std::uintptr_t at, const char* what, const void* pc,
                            std::uint64_t other, const char* what_other) {
  if (reports_.size() >= kMostReports) return;
  const AsHost as_host;
  std::vector<Actor> actors = {actor(lane, what, pc)};
  if (other != 0) actors.push_back(actor_of(other, what_other));
  report(hazard, name_at(at), std::move(actors));
}

void Checker::report(Hazard hazard, const std::string& variable, std::vector<Actor> actors) {
  const auto same = [&](const Report& r) {
    return r.hazard == hazard && r.kernel == job_->name &&
           std::equal(r.actors.begin(), r.actors.end(), actors.begin(), actors.end(),
                      [](const Actor& a, const Actor& b) { return a.file == b.file && a.line == b.line; });
  };
  if (reports_.size() >= kMostReports || std::any_of(reports_.begin(), reports_.end(), same)) return;
  reports_.push_back({hazard, job_->name, variable, std::move(actors)});
}

void Checker::end_launch() {
  for (const Expectation& e : expectations_) compare(e);
  expectations_.clear();
}

void Checker::compare(const Expectation& e) {
  const std::size_t count = e.values.size() / e.item_bytes;
  const auto found = [&](std::size_t i) { return item_at(e.at + i * e.item_bytes, e.item_bytes); };
  const auto expected = [&](std::size_t i) { return item_at(e.values.data() + i * e.item_bytes, e.item_bytes); };
  const std::size_t begin = global_.offset_of(reinterpret_cast<std::uintptr_t>(e.at));
  const auto writer = [&](std::size_t i) { return global_.last_write(begin + i * e.item_bytes, launch_); };
  std::size_t first = count;
  bool one_early = true;      // each value is that of the next place
  bool constant_each = true;  // each block is off by one constant, the first block not at all
  std::map<std::uint32_t, std::uint64_t> off_by;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t difference = expected(i) - found(i);
    if (writer(i) != 0) {
      const std::uint32_t block = block_of(writer(i));
      constant_each = constant_each && off_by.emplace(block, difference).first->second == difference;
      if (block == 0) constant_each = constant_each && difference == 0;
    } else {
      constant_each = constant_each && difference == 0;
    }
    if (i + 1 < count) one_early = one_early && found(i) == expected(i + 1);
    if (difference != 0) first = std::min(first, i);
  }
  if (first == count) return;
  Hazard hazard = Hazard::kWrongValue;
  if (one_early && count > 1) {
    hazard = Hazard::kInclusiveForExclusive;
  } else if (constant_each) {
    hazard = Hazard::kMissingBlockOffset;
  }
  const std::string what =
      "leaves " + std::to_string(found(first)) + " where " + std::to_string(expected(first)) + " is expected";
  std::vector<Actor> actors;
  if (writer(first) != 0) actors.push_back(actor_of(writer(first), what));
  report(hazard, name_at(reinterpret_cast<std::uintptr_t>(e.at + first * e.item_bytes)), std::move(actors));
}

}  // namespace sluice::simt::emulated
