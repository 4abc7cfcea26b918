// SPDX-License-Identifier: Apache-2.0
/// \file
/// Threads of control on one thread of the host: each lane of a block in flight is one.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace sluice::simt::emulated {

#if defined(__SANITIZE_ADDRESS__)
inline void forbid(const void* at, std::size_t bytes) { __asan_poison_memory_region(at, bytes); }
inline void allow(const void* at, std::size_t bytes) { __asan_unpoison_memory_region(at, bytes); }
inline constexpr std::size_t kStackBytes = std::size_t{256} << 10;
#else
inline void forbid(const void* /*at*/, std::size_t /*bytes*/) {}
inline void allow(const void* /*at*/, std::size_t /*bytes*/) {}
inline constexpr std::size_t kStackBytes = std::size_t{64} << 10;
#endif

/// One stack and where it stands. The one that is never `start`ed is that of the thread of the host.
class Fiber {
 public:
  /// Makes the next switch to this fiber call `body`, which must not return.
  void start(void* stack, std::size_t bytes, void (*body)()) {
    stack_ = stack;
    bytes_ = bytes;
    body_ = body;
    fake_stack_ = nullptr;
    allow(stack, bytes);
    context_ = boost::context::detail::make_fcontext(static_cast<std::byte*>(stack) + bytes, bytes, entry);
  }
  [[nodiscard]] bool started() const { return context_ != nullptr; }
  /// Forgets where it stands. Whatever lives on its stack is not destroyed.
  void abandon() { context_ = nullptr; }

  /// Runs `next` until something switches back to this one, which must be the one that runs.
  void switch_to(Fiber& next) {
    Switch what{this, &next};
    leave(next);
    arrive(boost::context::detail::jump_fcontext(next.context_, &what));
  }

 private:
  struct Switch {
    Fiber* from;
    Fiber* to;
  };

  static void entry(boost::context::detail::transfer_t transfer) {
    Fiber* const self = static_cast<Switch*>(transfer.data)->to;
    self->arrive(transfer);
    self->body_();
  }

  void arrive(boost::context::detail::transfer_t transfer) {
    Fiber& from = *static_cast<Switch*>(transfer.data)->from;
    from.context_ = transfer.fctx;
#if defined(__SANITIZE_ADDRESS__)
    const void* bottom = nullptr;
    std::size_t bytes = 0;
    __sanitizer_finish_switch_fiber(fake_stack_, &bottom, &bytes);
    if (from.body_ == nullptr) {
      from.stack_ = const_cast<void*>(bottom);
      from.bytes_ = bytes;
    }
#endif
  }
  void leave([[maybe_unused]] const Fiber& next) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&fake_stack_, next.stack_, next.bytes_);
#endif
  }

  boost::context::detail::fcontext_t context_ = nullptr;
  void* stack_ = nullptr;
  std::size_t bytes_ = 0;
  void (*body_)() = nullptr;
  void* fake_stack_ = nullptr;
};

}  // namespace sluice::simt::emulated
