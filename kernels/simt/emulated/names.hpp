// SPDX-License-Identifier: Apache-2.0
/// \file
/// Names of types, of members by their offset, and of the buffers that a kernel was given: what reports call them.
///
/// The compiler prints the name of a member where its address is a template argument; a structured binding finds the
/// members of a plain struct. Where a struct has a base or more members than are spelt out here, names end above it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice::simt::emulated {

/// A buffer that a kernel was given.
struct PointerName {
  std::string name;
  const void* pointer;
  std::size_t item_bytes;
};

namespace detail {

template <typename T>
struct Holder {
  T value;
};
/// Has no definition: only addresses in it are spelt.
template <typename T>
extern const Holder<T> kNowhere;

/// Converts to the bases of T alone.
template <typename T>
struct AnyBaseOf {
  template <typename BaseT>
  requires(std::is_base_of_v<BaseT, T> && !std::is_same_v<BaseT, T>) operator BaseT() const;
};

/// Whether a structured binding finds all members of a type, of which there are some.
template <typename T>
constexpr bool is_plain() {
  if constexpr (!std::is_class_v<T> || !std::is_aggregate_v<T> || std::is_empty_v<T>) {
    return false;
  } else {
    constexpr bool kHasBase = requires { T{AnyBaseOf<T>{}}; };
    constexpr bool kHasMore = requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
    return !kHasBase && !kHasMore;
  }
}

/// Members of a plain struct; 0 where they cannot be told.
template <typename T>
constexpr unsigned count_members() {
  if constexpr (!is_plain<T>()) {
    return 0;
  } else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; }) {
    return 12;
  } else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; }) {
    return 11;
  } else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; }) {
    return 10;
  } else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}}; }) {
    return 9;
  } else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}}; }) {
    return 8;
  } else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}}; }) {
    return 7;
  } else if constexpr (requires { T{{}, {}, {}, {}, {}, {}}; }) {
    return 6;
  } else if constexpr (requires { T{{}, {}, {}, {}, {}}; }) {
    return 5;
  } else if constexpr (requires { T{{}, {}, {}, {}}; }) {
    return 4;
  } else if constexpr (requires { T{{}, {}, {}}; }) {
    return 3;
  } else if constexpr (requires { T{{}, {}}; }) {
    return 2;
  } else {
    return 1;
  }
}

/// Pointers to all members.
template <typename T>
constexpr auto members_of(const T& o) {
  constexpr unsigned kCount = count_members<T>();
  if constexpr (kCount == 1) {
    const auto& [a] = o;
    return std::tuple{&a};
  } else if constexpr (kCount == 2) {
    const auto& [a, b] = o;
    return std::tuple{&a, &b};
  } else if constexpr (kCount == 3) {
    const auto& [a, b, c] = o;
    return std::tuple{&a, &b, &c};
  } else if constexpr (kCount == 4) {
    const auto& [a, b, c, d] = o;
    return std::tuple{&a, &b, &c, &d};
  } else if constexpr (kCount == 5) {
    const auto& [a, b, c, d, e] = o;
    return std::tuple{&a, &b, &c, &d, &e};
  } else if constexpr (kCount == 6) {
    const auto& [a, b, c, d, e, f] = o;
    return std::tuple{&a, &b, &c, &d, &e, &f};
  } else if constexpr (kCount == 7) {
    const auto& [a, b, c, d, e, f, g] = o;
    return std::tuple{&a, &b, &c, &d, &e, &f, &g};
  } else if constexpr (kCount == 8) {
    const auto& [a, b, c, d, e, f, g, h] = o;
    return std::tuple{&a, &b, &c, &d, &e, &f, &g, &h};
  } else if constexpr (kCount == 9) {
    const auto& [a, b, c, d, e, f, g, h, i] = o;
    return std::tuple{&a, &b, &c, &d, &e, &f, &g, &h, &i};
  } else if constexpr (kCount == 10) {
    const auto& [a, b, c, d, e, f, g, h, i, j] = o;
    return std::tuple{&a, &b, &c, &d, &e, &f, &g, &h, &i, &j};
  } else if constexpr (kCount == 11) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k] = o;
    return std::tuple{&a, &b, &c, &d, &e, &f, &g, &h, &i, &j, &k};
  } else if constexpr (kCount == 12) {
    const auto& [a, b, c, d, e, f, g, h, i, j, k, l] = o;
    return std::tuple{&a, &b, &c, &d, &e, &f, &g, &h, &i, &j, &k, &l};
  } else {
    return std::tuple{};
  }
}

template <typename T>
struct At {
  const T* address;
};
template <typename T>
At(const T*) -> At<T>;

template <auto kAt>
constexpr std::string_view spelt() {
  return __PRETTY_FUNCTION__;
}

/// The last identifier of `... = At<T>{(& kNowhere<S>.Holder<S>::value.S::name)}; ...`.
constexpr std::string_view last_name(std::string_view text) {
  const std::size_t end = text.find(")}; ");
  if (end == std::string_view::npos) return "?";
  const std::size_t begin = text.rfind("::", end);
  return text.substr(begin + 2, end - begin - 2);
}

template <typename T, std::size_t kMember>
constexpr std::string_view member_name() {
  return last_name(spelt<At{std::get<kMember>(members_of(kNowhere<T>.value))}>());
}

}  // namespace detail

/// Adds the path from an object to what lies `offset` bytes behind its start, e.g. ".counts[3][7]".
template <typename T>
void add_path(std::string& path, const T& object, std::size_t offset) {
  if constexpr (std::is_array_v<T>) {
    using Item = std::remove_extent_t<T>;
    const std::size_t index = offset / sizeof(Item);
    path += '[' + std::to_string(index) + ']';
    if (index < std::extent_v<T>) add_path(path, object[index], offset % sizeof(Item));
  } else if constexpr (detail::count_members<T>() != 0) {
    const auto members = detail::members_of(object);
    bool found = false;
    const auto look = [&]<std::size_t kMember>() {
      const auto& member = *std::get<kMember>(members);
      const auto begin =
          static_cast<std::size_t>(reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&object));
      if (found || offset < begin || offset >= begin + sizeof member) return;
      found = true;
      path += '.';
      path += detail::member_name<T, kMember>();
      add_path(path, member, offset - begin);
    };
    [&]<std::size_t... kMembers>(std::index_sequence<kMembers...>) { (look.template operator()<kMembers>(), ...); }
    (std::make_index_sequence<detail::count_members<T>()>{});
    if (!found) path += " + " + std::to_string(offset) + " bytes";
  } else if (offset != 0) {
    path += " + " + std::to_string(offset) + " bytes";
  }
}

/// Adds all pointers in an object with their names.
template <typename T>
void add_pointers(std::vector<PointerName>& out, const std::string& path, const T& object) {
  if constexpr (std::is_pointer_v<T>) {
    using Item = std::remove_pointer_t<T>;
    if constexpr (std::is_void_v<Item>) {
      out.push_back({path, object, 1});
    } else if constexpr (std::is_object_v<Item>) {
      out.push_back({path, object, sizeof(Item)});
    }
  } else if constexpr (std::is_array_v<T>) {
    // Large arrays are tables of values.
    for (std::size_t i = 0; i < std::extent_v<T> && i < 4; ++i) {
      add_pointers(out, path + '[' + std::to_string(i) + ']', object[i]);
    }
  } else if constexpr (detail::count_members<T>() != 0) {
    const auto members = detail::members_of(object);
    [&]<std::size_t... kMembers>(std::index_sequence<kMembers...>) {
      (add_pointers(out, (path.empty() ? "" : path + '.') + std::string(detail::member_name<T, kMembers>()),
                    *std::get<kMembers>(members)),
       ...);
    }
    (std::make_index_sequence<detail::count_members<T>()>{});
  } else if constexpr (std::is_class_v<T> && sizeof(T) >= sizeof(void*) && alignof(T) >= alignof(void*)) {
    // A struct whose members cannot be told apart: all words of it that may be addresses.
    for (std::size_t i = 0; i + sizeof(void*) <= sizeof(T); i += sizeof(void*)) {
      const void* word = *reinterpret_cast<const void* const*>(reinterpret_cast<const char*>(&object) + i);
      out.push_back({path + " + " + std::to_string(i) + " bytes", word, 1});
    }
  }
}

/// Name of a type without the project's namespaces.
template <typename T>
std::string type_name() {
  std::string name = __PRETTY_FUNCTION__;
  const std::size_t begin = name.find("T = ") + 4;
  name = name.substr(begin, name.find_first_of(";]", begin) - begin);
  for (const std::string_view part : {"sluice::", "kernels::", "bodies::", "test::", "{anonymous}::"}) {
    for (std::size_t at = 0; (at = name.find(part, at)) != std::string::npos;) name.erase(at, part.size());
  }
  return name;
}

}  // namespace sluice::simt::emulated
