# SPDX-License-Identifier: Apache-2.0
# Every tile starts at zero.
set(body look_back_scan.hpp)
set(was [[
static_cast<OutT>(shared.before + ]])
set(is [[
static_cast<OutT>(]])
