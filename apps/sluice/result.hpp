// SPDX-License-Identifier: Apache-2.0
/// \file
/// What a command prints about what it did.
#pragma once

#include <string>
#include <vector>

#include "common_options.hpp"
#include "inputs.hpp"
#include "outputs.hpp"
#include "sluice/report.hpp"

namespace sluice::app {

/// Prints to standard output.
/// \throws IoError
void print_result(const std::string& text);

/// Completes the outputs and prints the result: JSON, or a few lines for people (on standard error where standard
/// output is one of the outputs).
/// \param has_key_bits  the job was `bin`
void finish_job(const CommonOptions& common, const std::vector<std::string>& inputs, Outputs& outputs, Report report,
                bool has_key_bits = false);

/// Prints what a job would do (on standard error where standard output would be one of the outputs).
/// \param work  one line for people
void print_plan(const CommonOptions& common, const Inputs& inputs, const std::vector<std::string>& outputs,
                const std::string& work);

/// Exit status of a job that is done.
[[nodiscard]] int exit_status(const Inputs& inputs);

}  // namespace sluice::app
