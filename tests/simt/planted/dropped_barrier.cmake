# SPDX-License-Identifier: Apache-2.0
# Threads read the offsets of warps before the first warp has written them.
set(body look_back_scan.hpp)
set(was [[
    simt.block_barrier();
    const auto base]])
set(is [[
    const auto base]])
