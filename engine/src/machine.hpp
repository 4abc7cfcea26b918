// SPDX-License-Identifier: Apache-2.0
/// \file
/// What this process may use of the machine.
#pragma once

#include <cstdint>
#include <string>

#include "sluice/execution.hpp"

namespace sluice::detail {

/// Threads that a job may use and TBB can give. \throws InvalidArgument for a negative number
int thread_count(const Execution& execution);

/// Name of the processor, for the key of cached measurements.
std::string processor_name();

/// The GPUs that the driver lists and which of them `device` means, for the same purpose: told without waking any,
/// which takes longer than many a job. Empty where the driver has no list (under WSL).
std::string gpu_label(int device);

/// "1.5 GiB": for messages.
std::string readable_bytes(std::uint64_t bytes);

}  // namespace sluice::detail
