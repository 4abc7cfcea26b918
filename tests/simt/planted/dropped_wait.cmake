# SPDX-License-Identifier: Apache-2.0
# Items are ranked before their copies are done.
set(body radix_pass.hpp)
set(was [[
    simt.copies_done();
]])
set(is [[
]])
