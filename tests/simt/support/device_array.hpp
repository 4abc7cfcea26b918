// SPDX-License-Identifier: Apache-2.0
/// \file
/// Arrays in the memory of the emulated device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace sluice::test {

template <typename T>
class DeviceArray {
 public:
  /// Nobody has written the items.
  explicit DeviceArray(std::size_t count) : count_(count) {
    void* block = nullptr;
    if (cudaMalloc(&block, count * sizeof(T)) != cudaSuccess) throw std::runtime_error("no memory");
    data_ = static_cast<T*>(block);
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    CUstream_st stream;
    cudaMemcpyAsync(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice, &stream);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::vector<T> get() const {
    std::vector<T> out(count_);
    CUstream_st stream;
    cudaMemcpyAsync(out.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost, &stream);
    return out;
  }

 private:
  std::size_t count_;
  T* data_ = nullptr;
};

}  // namespace sluice::test
