// SPDX-License-Identifier: Apache-2.0
/// \file
/// Plain types that host and device share: field types, typed values with an exact order, strided columns, positions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "sluice/core/hd.hpp"

namespace sluice {

/// How the coordinates of a cloud are stored.
enum class CoordinateKind : std::uint8_t {
  kLattice,  ///< int32 with a double scale and offset (LAS)
  kFloat32,
  kFloat64,
};

/// Type of a stored field, little-endian in memory.
enum class FieldType : std::uint8_t {
  kInt8,
  kUint8,
  kInt16,
  kUint16,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kFloat32,
  kFloat64,
};

/// Bytes of one value of `type`.
SLUICE_HD std::uint32_t field_bytes(FieldType type) {
  switch (type) {
    case FieldType::kInt8:
    case FieldType::kUint8:
      return 1;
    case FieldType::kInt16:
    case FieldType::kUint16:
      return 2;
    case FieldType::kInt32:
    case FieldType::kUint32:
    case FieldType::kFloat32:
      return 4;
    default:
      return 8;
  }
}

/// Reads a T from an address of any alignment.
template <typename T>
SLUICE_HD T load_unaligned(const std::byte* at) {
  T value;
  memcpy(&value, at, sizeof(T));
  return value;
}

/// Writes a T to an address of any alignment.
template <typename T>
SLUICE_HD void store_unaligned(std::byte* at, T value) {
  memcpy(at, &value, sizeof(T));
}

/// True for every double but NaN and the infinities. Looks at the bits, so that no fast-math setting can break it.
SLUICE_HD bool is_finite(double value) {
  std::uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (bits & 0x7ff0000000000000ULL) != 0x7ff0000000000000ULL;
}

SLUICE_HD bool is_finite(float value) {
  std::uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (bits & 0x7f800000U) != 0x7f800000U;
}

/// A number of one of three kinds, compared exactly whatever the kinds of the two sides.
struct Value {
  enum class Kind : std::uint8_t { kSigned, kUnsigned, kReal };

  union {
    std::int64_t i;
    std::uint64_t u;
    double r;
  };
  Kind kind;

  SLUICE_HD static Value of_signed(std::int64_t v) {
    Value out{};
    out.i = v;
    out.kind = Kind::kSigned;
    return out;
  }
  SLUICE_HD static Value of_unsigned(std::uint64_t v) {
    Value out{};
    out.u = v;
    out.kind = Kind::kUnsigned;
    return out;
  }
  SLUICE_HD static Value of_real(double v) {
    Value out{};
    out.r = v;
    out.kind = Kind::kReal;
    return out;
  }
  /// Nearest double.
  [[nodiscard]] SLUICE_HD double as_real() const {
    return kind == Kind::kReal ? r : kind == Kind::kSigned ? static_cast<double>(i) : static_cast<double>(u);
  }
};

/// Result of comparing two values.
enum class Ordering : std::int8_t { kLess = -1, kEqual = 0, kGreater = 1, kUnordered = 2 };

namespace detail {

template <typename T>
SLUICE_HD Ordering order_of(T a, T b) {
  return a < b ? Ordering::kLess : b < a ? Ordering::kGreater : a == b ? Ordering::kEqual : Ordering::kUnordered;
}

SLUICE_HD Ordering reversed(Ordering o) {
  return o == Ordering::kLess ? Ordering::kGreater : o == Ordering::kGreater ? Ordering::kLess : o;
}

SLUICE_HD Ordering order_of_mixed(std::int64_t a, double b) {
  if (b != b) return Ordering::kUnordered;
  if (b >= 9223372036854775808.0) return Ordering::kLess;
  if (b < -9223372036854775808.0) return Ordering::kGreater;
  const auto whole = static_cast<std::int64_t>(b);
  const Ordering first = order_of(a, whole);
  return first != Ordering::kEqual ? first : order_of(0.0, b - static_cast<double>(whole));
}

SLUICE_HD Ordering order_of_mixed(std::uint64_t a, double b) {
  if (b != b) return Ordering::kUnordered;
  if (b >= 18446744073709551616.0) return Ordering::kLess;
  if (b < 0.0) return Ordering::kGreater;
  const auto whole = static_cast<std::uint64_t>(b);
  const Ordering first = order_of(a, whole);
  return first != Ordering::kEqual ? first : order_of(0.0, b - static_cast<double>(whole));
}

}  // namespace detail

/// Exact order of two values of any kinds; NaN is unordered with everything.
SLUICE_HD Ordering compare(const Value& a, const Value& b) {
  using Kind = Value::Kind;
  if (a.kind == b.kind) {
    return a.kind == Kind::kSigned     ? detail::order_of(a.i, b.i)
           : a.kind == Kind::kUnsigned ? detail::order_of(a.u, b.u)
                                       : detail::order_of(a.r, b.r);
  }
  if (b.kind == Kind::kReal) {
    return a.kind == Kind::kSigned ? detail::order_of_mixed(a.i, b.r) : detail::order_of_mixed(a.u, b.r);
  }
  if (a.kind == Kind::kReal) {
    return detail::reversed(b.kind == Kind::kSigned ? detail::order_of_mixed(b.i, a.r)
                                                    : detail::order_of_mixed(b.u, a.r));
  }
  if (a.kind == Kind::kSigned) {
    return a.i < 0 ? Ordering::kLess : detail::order_of(static_cast<std::uint64_t>(a.i), b.u);
  }
  return b.i < 0 ? Ordering::kGreater : detail::order_of(a.u, static_cast<std::uint64_t>(b.i));
}

/// One field of every point: a strided run of values, optionally a bit range within an unsigned value.
/// The memory belongs to somebody else; on a device backend it is device memory.
struct Column {
  const std::byte* data = nullptr;
  std::uint64_t stride = 0;  ///< bytes from one point's value to the next
  FieldType type = FieldType::kUint8;
  std::uint8_t bit_shift = 0;
  std::uint8_t bit_count = 0;  ///< 0: the whole value

  [[nodiscard]] SLUICE_HD Value at(std::uint64_t row) const {
    const std::byte* p = data + row * stride;
    std::uint64_t u = 0;
    switch (type) {
      case FieldType::kInt8:
        return Value::of_signed(load_unaligned<std::int8_t>(p));
      case FieldType::kInt16:
        return Value::of_signed(load_unaligned<std::int16_t>(p));
      case FieldType::kInt32:
        return Value::of_signed(load_unaligned<std::int32_t>(p));
      case FieldType::kInt64:
        return Value::of_signed(load_unaligned<std::int64_t>(p));
      case FieldType::kFloat32:
        return Value::of_real(static_cast<double>(load_unaligned<float>(p)));
      case FieldType::kFloat64:
        return Value::of_real(load_unaligned<double>(p));
      case FieldType::kUint8:
        u = load_unaligned<std::uint8_t>(p);
        break;
      case FieldType::kUint16:
        u = load_unaligned<std::uint16_t>(p);
        break;
      case FieldType::kUint32:
        u = load_unaligned<std::uint32_t>(p);
        break;
      case FieldType::kUint64:
        u = load_unaligned<std::uint64_t>(p);
        break;
    }
    if (bit_count != 0) u = (u >> bit_shift) & ((std::uint64_t{1} << bit_count) - 1);
    return Value::of_unsigned(u);
  }
};

/// A lattice or float32 position as it travels to a device: one 16-byte record. `w` is free for an index or an
/// attribute; coordinates are int32 lattice numbers or the bits of a float32.
struct alignas(16) Record16 {
  std::int32_t x, y, z;
  std::uint32_t w;
};
static_assert(sizeof(Record16) == 16);

/// A float64 position as it travels to a device.
struct alignas(32) Record32 {
  double x, y, z;
  std::uint64_t w;
};
static_assert(sizeof(Record32) == 32);

/// The positions of a run of points: three strided columns of one kind. On the host they usually point straight into
/// whole records; a device backend wants them packed as `Record16` or `Record32`, or as bare columns.
struct Positions {
  CoordinateKind kind = CoordinateKind::kFloat64;
  const std::byte* x = nullptr;
  const std::byte* y = nullptr;
  const std::byte* z = nullptr;
  std::uint64_t stride = 0;
  double scale[3] = {1.0, 1.0, 1.0};   ///< lattice only
  double offset[3] = {0.0, 0.0, 0.0};  ///< lattice only

  /// Views packed 16-byte records.
  static Positions packed(const Record16* records, CoordinateKind kind) {
    Positions out;
    out.kind = kind;
    out.x = reinterpret_cast<const std::byte*>(records);
    out.y = out.x + 4;
    out.z = out.x + 8;
    out.stride = sizeof(Record16);
    return out;
  }
  /// Views packed 32-byte records of float64 positions.
  static Positions packed(const Record32* records) {
    Positions out;
    out.kind = CoordinateKind::kFloat64;
    out.x = reinterpret_cast<const std::byte*>(records);
    out.y = out.x + 8;
    out.z = out.x + 16;
    out.stride = sizeof(Record32);
    return out;
  }
  /// Views three arrays of lattice numbers; scale and offset are left to the caller.
  static Positions columns(const std::int32_t* x, const std::int32_t* y, const std::int32_t* z) {
    return bare(CoordinateKind::kLattice, x, y, z);
  }
  /// Views three arrays of float32 coordinates.
  static Positions columns(const float* x, const float* y, const float* z) {
    return bare(CoordinateKind::kFloat32, x, y, z);
  }
  /// Views three arrays of float64 coordinates.
  static Positions columns(const double* x, const double* y, const double* z) {
    return bare(CoordinateKind::kFloat64, x, y, z);
  }
  /// Bytes of one coordinate.
  [[nodiscard]] SLUICE_HD std::uint32_t coordinate_bytes() const { return kind == CoordinateKind::kFloat64 ? 8 : 4; }
  /// True where the columns are the members of packed `Record16` or `Record32`.
  [[nodiscard]] bool is_packed() const {
    const auto step = static_cast<std::ptrdiff_t>(coordinate_bytes());
    const std::uint64_t bytes = kind == CoordinateKind::kFloat64 ? sizeof(Record32) : sizeof(Record16);
    return stride == bytes && y - x == step && z - x == 2 * step;
  }
  /// True where each column is an array of its own, with nothing between two values.
  [[nodiscard]] SLUICE_HD bool is_columns() const { return stride == coordinate_bytes(); }

 private:
  template <typename T>
  static Positions bare(CoordinateKind kind, const T* x, const T* y, const T* z) {
    Positions out;
    out.kind = kind;
    out.x = reinterpret_cast<const std::byte*>(x);
    out.y = reinterpret_cast<const std::byte*>(y);
    out.z = reinterpret_cast<const std::byte*>(z);
    out.stride = sizeof(T);
    return out;
  }
};

/// One point's position, loaded. `raw` is set on a lattice only; `world` holds the float coordinates, and on a lattice
/// is computed by `to_world` when somebody asks.
struct Position {
  std::int32_t raw[3];
  double world[3];
};

/// `double(raw) * scale + offset`, rounded twice: the library is built without contraction of a multiply and an add.
SLUICE_HD double to_world(std::int32_t raw, double scale, double offset) {
  const double product = static_cast<double>(raw) * scale;
  return product + offset;
}

/// Loads point `row`; on a lattice the world coordinates are left unset.
SLUICE_HD Position load_position(const Positions& positions, std::uint64_t row) {
  Position out;
  const std::uint64_t at = row * positions.stride;
  switch (positions.kind) {
    case CoordinateKind::kLattice:
      out.raw[0] = load_unaligned<std::int32_t>(positions.x + at);
      out.raw[1] = load_unaligned<std::int32_t>(positions.y + at);
      out.raw[2] = load_unaligned<std::int32_t>(positions.z + at);
      break;
    case CoordinateKind::kFloat32:
      out.world[0] = static_cast<double>(load_unaligned<float>(positions.x + at));
      out.world[1] = static_cast<double>(load_unaligned<float>(positions.y + at));
      out.world[2] = static_cast<double>(load_unaligned<float>(positions.z + at));
      break;
    case CoordinateKind::kFloat64:
      out.world[0] = load_unaligned<double>(positions.x + at);
      out.world[1] = load_unaligned<double>(positions.y + at);
      out.world[2] = load_unaligned<double>(positions.z + at);
      break;
  }
  return out;
}

/// Sets `world` of a lattice position; leaves a float position alone.
SLUICE_HD void complete_world(const Positions& positions, Position& position) {
  if (positions.kind != CoordinateKind::kLattice) return;
  for (int axis = 0; axis < 3; ++axis) {
    position.world[axis] = to_world(position.raw[axis], positions.scale[axis], positions.offset[axis]);
  }
}

}  // namespace sluice
