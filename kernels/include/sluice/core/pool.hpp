// SPDX-License-Identifier: Apache-2.0
/// \file
/// Memory that is used again and again, by any thread.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

namespace sluice {

/// Things that somebody takes, uses and gives back; there are as many as were ever in use at once.
template <class T>
class Pool {
 public:
  [[nodiscard]] T take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return T();
    T out = std::move(idle_.back());
    idle_.pop_back();
    return out;
  }
  void give(T&& thing) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(thing));
  }

 private:
  std::mutex mutex_;
  std::vector<T> idle_;
};

}  // namespace sluice
