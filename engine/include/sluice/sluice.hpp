// SPDX-License-Identifier: Apache-2.0
/// \file
/// Everything of the engine at once.
#pragma once

#include "sluice/execution.hpp"
#include "sluice/operations.hpp"
#include "sluice/pipeline.hpp"
#include "sluice/report.hpp"
#include "sluice/where.hpp"
