// SPDX-License-Identifier: Apache-2.0
/// \file
/// The two ways in which a command line can be wrong.
#pragma once

#include "sluice/core/error.hpp"

namespace sluice::app {

/// The command line makes no sense; the program exits with 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// An input cannot be used as asked; the program exits with 1.
class InputError : public Error {
 public:
  using Error::Error;
};

}  // namespace sluice::app
