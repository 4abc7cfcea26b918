# SPDX-License-Identifier: Apache-2.0
# Tiles are numbered by their blocks, which start in any order.
set(body look_back_scan.hpp)
set(was [[
shared.tile = states.ticket.draw(simt)]])
set(is [[
shared.tile = simt.block()]])
