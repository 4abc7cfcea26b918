# SPDX-License-Identifier: Apache-2.0
# A tile says that it has a prefix before it says which.
set(body look_back.hpp)
set(was [[
    if (simt.lane() == 0) simt.template atomic_store]])
set(is [[
    if (simt.lane() == 0) simt.template atomic_store<simt::Order::kRelaxed>(&words[tile], news_of(std::uint64_t{0}, news));
    if (simt.lane() == 0) simt.template atomic_store]])
