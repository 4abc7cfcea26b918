// SPDX-License-Identifier: Apache-2.0
/// \file
/// The backends that tests run on, by name.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "sluice/kernels/registry.hpp"

namespace sluice::test {

/// Every backend that this machine can run; with SLUICE_REQUIRE_GPU=1 also those that it should, so that a missing GPU
/// fails the tests instead of leaving them out.
inline std::vector<std::string> backend_names() {
  const char* required = std::getenv("SLUICE_REQUIRE_GPU");
  const bool all = required != nullptr && std::string(required) == "1";
  std::vector<std::string> out;
  for (const kernels::BackendInfo& info : kernels::backends()) {
    if (info.usable || all) out.push_back(info.name);
  }
  return out;
}

inline std::string backend_label(const testing::TestParamInfo<std::string>& info) { return info.param; }

}  // namespace sluice::test
