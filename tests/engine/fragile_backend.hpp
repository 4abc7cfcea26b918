// SPDX-License-Identifier: Apache-2.0
/// \file
/// A backend that claims to be a device, over host memory of its own: it refuses data that lie elsewhere or are not
/// packed, counts and limits its memory, and fails when told to.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sluice/core/error.hpp"
#include "sluice/core/memory_resource.hpp"
#include "sluice/kernels/backend.hpp"
#include "sluice/kernels/registry.hpp"

namespace sluice::test {

/// Host memory that knows which addresses are its own.
class OwnedMemory final : public MemoryResource {
 public:
  void* allocate(std::size_t bytes, const char* purpose) override {
    void* block = host_.allocate(bytes, purpose);
    std::memset(block, 0xa5, bytes);
    const std::lock_guard lock(mutex_);
    blocks_[static_cast<std::byte*>(block)] = bytes;
    return block;
  }
  void deallocate(void* block, std::size_t bytes) noexcept override {
    {
      const std::lock_guard lock(mutex_);
      blocks_.erase(static_cast<std::byte*>(block));
    }
    host_.deallocate(block, bytes);
  }
  /// \throws std::logic_error where any of the bytes lies elsewhere
  void require(const void* at, std::uint64_t bytes, const char* what) const {
    const auto* from = static_cast<const std::byte*>(at);
    const std::lock_guard lock(mutex_);
    auto after = blocks_.upper_bound(const_cast<std::byte*>(from));
    if (after != blocks_.begin()) {
      const auto& [block, size] = *std::prev(after);
      if (from + bytes <= block + size) return;
    }
    throw std::logic_error(std::string(what) + " is not in the memory that it should be in");
  }

 private:
  HostMemory host_;
  mutable std::mutex mutex_;
  std::map<std::byte*, std::size_t> blocks_;
};

/// When a fragile backend fails, and what it saw; shared by all backends of one test.
struct Fragility {
  std::uint64_t memory_limit = ~std::uint64_t{0};  ///< bytes of device memory; more is out of memory
  std::uint64_t fail_at_call = 0;                  ///< the operation that fails, counted from 1; 0: none
  bool fail_with_memory = false;                   ///< out of memory instead of a device error
  bool fail_at_making = false;

  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> largest{0};  ///< most points of one call
};

class FragileBackend final : public kernels::Backend {
 public:
  FragileBackend(std::shared_ptr<Fragility> fragility, const std::string& inner)
      : fragility_(std::move(fragility)),
        inner_(kernels::make_backend(inner)),
        device_(owned_, fragility_->memory_limit),
        staging_(pinned_, ~std::uint64_t{0}),
        operations_(*this) {
    if (fragility_->fail_at_making) throw DeviceError("make", 100, "no device", __FILE__, __LINE__);
  }

  [[nodiscard]] std::string_view name() const noexcept override { return "cuda"; }
  [[nodiscard]] bool is_device() const noexcept override { return true; }
  [[nodiscard]] std::string device_name() const override { return "glass"; }
  [[nodiscard]] MemoryResource& memory() noexcept override { return device_; }
  [[nodiscard]] MemoryResource& staging_memory() noexcept override { return staging_; }
  [[nodiscard]] const LimitedMemory& device_memory() const { return device_; }
  [[nodiscard]] const LimitedMemory& pinned_memory() const { return staging_; }
  [[nodiscard]] std::uint64_t free_bytes() const override { return fragility_->memory_limit - device_.in_use(); }
  [[nodiscard]] std::unique_ptr<kernels::Stream> make_stream() override { return inner_->make_stream(); }
  void upload(void* to, const void* from, std::size_t bytes, kernels::StreamView /*stream*/) override {
    owned_.require(to, bytes, "the target of an upload");
    pinned_.require(from, bytes, "the source of an upload");
    std::memcpy(to, from, bytes);
  }
  void download(void* to, const void* from, std::size_t bytes, kernels::StreamView /*stream*/) override {
    pinned_.require(to, bytes, "the target of a download");
    owned_.require(from, bytes, "the source of a download");
    std::memcpy(to, from, bytes);
  }
  void wait(kernels::StreamView stream) override { inner_->wait(stream); }
  [[nodiscard]] kernels::Primitives& primitives() noexcept override { return inner_->primitives(); }
  [[nodiscard]] kernels::Operations& operations() noexcept override { return operations_; }

 private:
  class Operations final : public kernels::Operations {
   public:
    explicit Operations(FragileBackend& owner) : owner_(owner) {}

    std::shared_ptr<const kernels::PreparedPredicate> prepare(const PredicateProgram& program) override {
      return inner().prepare(program);
    }
    void select(const kernels::PreparedPredicate& predicate, const kernels::PointInput& input,
                const kernels::SelectOutputs& outputs, kernels::Workspace& workspace,
                kernels::StreamView stream) override {
      begin(input);
      owner_.owned_.require(outputs.kept, input.count * sizeof(std::uint32_t), "an output");
      owner_.owned_.require(outputs.counts, sizeof(kernels::SelectCounts), "an output");
      inner().select(predicate, input, outputs, workspace, stream);
    }
    [[nodiscard]] std::size_t select_scratch(std::uint64_t count) const override {
      return inner().select_scratch(count);
    }
    kernels::BinResult bin(const kernels::PreparedPredicate& predicate, const kernels::BinSpec& spec,
                           const kernels::PointInput& input, const kernels::BinOutputs& outputs,
                           kernels::Workspace& workspace, kernels::StreamView stream) override {
      begin(input);
      return inner().bin(predicate, spec, input, outputs, workspace, stream);
    }
    [[nodiscard]] std::size_t bin_scratch(const kernels::BinSpec& spec, std::uint64_t count) const override {
      return inner().bin_scratch(spec, count);
    }
    void enqueue_bin(const kernels::PreparedPredicate& predicate, const kernels::BinSpec& spec,
                     const kernels::PointInput& input, const kernels::BinOutputs& outputs, kernels::BinCounts* counts,
                     kernels::Workspace& workspace, kernels::StreamView stream) override {
      begin(input);
      inner().enqueue_bin(predicate, spec, input, outputs, counts, workspace, stream);
    }
    kernels::ReduceResult reduce_cells(const kernels::PreparedPredicate& predicate, const kernels::ReduceSpec& spec,
                                       const kernels::PointInput& input, const kernels::ReduceOutputs& outputs,
                                       kernels::Workspace& workspace, kernels::StreamView stream) override {
      begin(input);
      return inner().reduce_cells(predicate, spec, input, outputs, workspace, stream);
    }
    [[nodiscard]] std::size_t reduce_cells_scratch(const kernels::ReduceSpec& spec,
                                                   std::uint64_t count) const override {
      return inner().reduce_cells_scratch(spec, count);
    }

   private:
    [[nodiscard]] kernels::Operations& inner() const { return owner_.inner_->operations(); }

    /// Refuses input that a device could not read, and fails if it is time to.
    void begin(const kernels::PointInput& input) {
      Fragility& fragility = *owner_.fragility_;
      std::uint64_t largest = fragility.largest;
      while (largest < input.count && !fragility.largest.compare_exchange_weak(largest, input.count)) {
      }
      if (!input.positions.is_packed()) throw std::logic_error("positions are not packed");
      if (input.count != 0) {
        owner_.owned_.require(input.positions.x, input.count * input.positions.stride, "a position");
        for (std::uint32_t c = 0; c < input.column_count; ++c) {
          const Column& column = input.columns[c];
          owner_.owned_.require(column.data, input.count * field_bytes(column.type), "a column");
          if (column.stride != field_bytes(column.type)) throw std::logic_error("a column is not packed");
        }
      }
      if (++fragility.calls != fragility.fail_at_call) return;
      if (fragility.fail_with_memory) throw OutOfMemory(12345, 0, "a test");
      throw DeviceError("launch", 700, "it broke", __FILE__, __LINE__);
    }

    FragileBackend& owner_;
  };

  std::shared_ptr<Fragility> fragility_;
  std::unique_ptr<kernels::Backend> inner_;
  OwnedMemory owned_;
  OwnedMemory pinned_;
  LimitedMemory device_;
  LimitedMemory staging_;
  Operations operations_;
};

}  // namespace sluice::test
