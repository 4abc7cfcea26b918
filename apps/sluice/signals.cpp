// SPDX-License-Identifier: Apache-2.0
#include "signals.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string_view>

#include "sluice/io/write.hpp"

namespace sluice::app {

namespace {

std::atomic<bool> g_hold{false};
static_assert(std::atomic<bool>::is_always_lock_free, "signal handlers may only touch lock-free atomics");

extern "C" void end_by_signal(int number) {
  if (g_hold) return;
  io::remove_unfinished_outputs();
  ::_exit(128 + number);
}

/// A mapped page that is no longer there. Going on is not possible: the access would fail again.
extern "C" void end_by_lost_page(int /*number*/) {
  io::remove_unfinished_outputs();
  constexpr std::string_view kMessage =
      "sluice: an input became shorter while it was read, or its disk failed; nothing was written\n";
  const auto ignored = ::write(STDERR_FILENO, kMessage.data(), kMessage.size());
  static_cast<void>(ignored);
  ::_exit(1);
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action = {};
  action.sa_handler = end_by_signal;
  action.sa_flags = SA_RESTART;
  sigfillset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGALRM, SIGUSR1, SIGUSR2}) {
    struct sigaction before = {};
    // A shell that runs a job in the background has it ignore interrupts, nohup a hang-up; that stays so.
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    sigaction(number, &action, nullptr);
  }
  action.sa_handler = end_by_lost_page;
  sigaction(SIGBUS, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

HoldSignals::HoldSignals() noexcept { g_hold = true; }
HoldSignals::~HoldSignals() { g_hold = false; }

}  // namespace sluice::app
