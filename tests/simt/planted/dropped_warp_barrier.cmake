# SPDX-License-Identifier: Apache-2.0
# A lane writes a counter that others of its warp still read.
set(body radix_pass.hpp)
set(was [[
      simt.warp_barrier();
      if (below == 0]])
set(is [[
      if (below == 0]])
