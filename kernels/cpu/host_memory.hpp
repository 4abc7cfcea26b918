// SPDX-License-Identifier: Apache-2.0
/// \file
/// Host memory for buffers that are read and written all over.
#pragma once

#include <cstddef>

#include "sluice/core/memory_resource.hpp"

namespace sluice::kernels {

/// Host memory that asks the system for huge pages where a block is large: scattered access to hundreds of megabytes
/// otherwise spends most of its time on translating addresses.
class HugePageMemory final : public MemoryResource {
 public:
  void* allocate(std::size_t bytes, const char* purpose) override;
  void deallocate(void* block, std::size_t bytes) noexcept override;

 private:
  HostMemory plain_;
};

}  // namespace sluice::kernels
