// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/parallel/judge.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/arguments.hpp"
#include "kernels/cpu/multiversion.hpp"

namespace sluice::kernels {

namespace {

using Code = PredicateOp::Code;

template <typename T, typename Out, typename Row>
void load_axis(const std::byte* from, std::uint64_t stride, Row row, std::uint64_t count, Out* to) {
  for (std::uint64_t i = 0; i < count; ++i) to[i] = static_cast<Out>(load_unaligned<T>(from + row(i) * stride));
}

/// Packed records of 4-byte numbers. As all distances are constant, vector units can take the records apart.
template <typename T, typename Out>
[[gnu::always_inline]] inline void load_packed(const std::byte* __restrict from, std::uint64_t count,
                                               Out (*to)[kTile]) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::byte* at = from + i * sizeof(Record16);
    to[0][i] = static_cast<Out>(load_unaligned<T>(at));
    to[1][i] = static_cast<Out>(load_unaligned<T>(at + sizeof(T)));
    to[2][i] = static_cast<Out>(load_unaligned<T>(at + 2 * sizeof(T)));
  }
}

SLUICE_MULTIVERSION
void load_packed_floats(const std::byte* __restrict from, std::uint64_t count, TilePositions& tile) {
  load_packed<float>(from, count, tile.world);
}

SLUICE_MULTIVERSION
void load_packed_numbers(const std::byte* __restrict from, std::uint64_t count, TilePositions& tile) {
  load_packed<std::int32_t>(from, count, tile.raw);
}

SLUICE_MULTIVERSION
void widen(const std::byte* __restrict from, std::uint64_t count, double* __restrict to) {
  for (std::uint64_t i = 0; i < count; ++i)
    to[i] = static_cast<double>(load_unaligned<float>(from + i * sizeof(float)));
}

/// Bare columns.
void load_columns(const Positions& positions, std::uint64_t first, std::uint64_t count, TilePositions& tile) {
  const std::byte* const columns[3] = {positions.x, positions.y, positions.z};
  for (int d = 0; d < 3; ++d) {
    const std::byte* from = columns[d] + first * positions.stride;
    switch (positions.kind) {
      case CoordinateKind::kLattice:
        std::memcpy(tile.raw[d], from, count * sizeof(std::int32_t));
        break;
      case CoordinateKind::kFloat32:
        widen(from, count, tile.world[d]);
        break;
      case CoordinateKind::kFloat64:
        std::memcpy(tile.world[d], from, count * sizeof(double));
        break;
    }
  }
}

template <typename Row>
void load_tile(TilePositions& tile, const Positions& positions, Row row, std::uint64_t count) {
  const std::byte* const from[3] = {positions.x, positions.y, positions.z};
  const std::uint64_t stride = positions.stride;
  switch (positions.kind) {
    case CoordinateKind::kLattice:
      // All axes of a point in one step: they share a line of the cache.
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t at = row(i) * stride;
        for (int d = 0; d < 3; ++d) tile.raw[d][i] = load_unaligned<std::int32_t>(from[d] + at);
      }
      break;
    case CoordinateKind::kFloat32:
      for (int d = 0; d < 3; ++d) load_axis<float>(from[d], stride, row, count, tile.world[d]);
      break;
    case CoordinateKind::kFloat64:
      for (int d = 0; d < 3; ++d) load_axis<double>(from[d], stride, row, count, tile.world[d]);
      break;
  }
}

/// The operation `kCode` over a tile: the code is a constant, so that the choice is made outside of the loop.
template <Code kCode>
void run_points(const PredicateOp& op, const PredicateView& view, std::uint64_t first, std::uint64_t first_index,
                std::uint64_t count, const TilePositions& tile, std::uint8_t* __restrict out) {
  PredicateOp fixed = op;
  fixed.code = kCode;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Position position = {{tile.raw[0][i], tile.raw[1][i], tile.raw[2][i]},
                               {tile.world[0][i], tile.world[1][i], tile.world[2][i]}};
    out[i] = detail::evaluate_op(fixed, view, position, first + i, first_index + i) ? 1 : 0;
  }
}

SLUICE_MULTIVERSION
void test_lattice_box(const std::uint32_t shift[3], const std::int32_t last[3], std::uint64_t count,
                      const TilePositions& tile, std::uint8_t* __restrict out) {
  const std::int32_t* x = tile.raw[0];
  const std::int32_t* y = tile.raw[1];
  const std::int32_t* z = tile.raw[2];
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto in = [](std::int32_t raw, std::uint32_t by, std::int32_t most) {
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(raw) + by) <= most ? 1 : 0;
    };
    out[i] = static_cast<std::uint8_t>(in(x[i], shift[0], last[0]) & in(y[i], shift[1], last[1]) &
                                       in(z[i], shift[2], last[2]));
  }
}

/// A closed box on a lattice. A range test of an integer is one subtraction and one comparison modulo 2^32; the
/// comparison is made signed, which vector units have.
void run_lattice_box(const PredicateOp& op, std::uint64_t count, const TilePositions& tile,
                     std::uint8_t* __restrict out) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  std::uint32_t shift[3];
  std::int32_t last[3];
  for (int d = 0; d < 3; ++d) {
    const std::int64_t low = std::max(op.integers[d], kMin);
    const std::int64_t high = std::min(op.integers[d + 3], kMax);
    if (low > high) {
      std::memset(out, 0, count);
      return;
    }
    shift[d] = 0x80000000U - static_cast<std::uint32_t>(low);
    last[d] = static_cast<std::int32_t>(high - low + kMin);
  }
  test_lattice_box(shift, last, count, tile, out);
}

/// Bounds of a box in single precision that hold the same floats as those in double precision.
struct FloatBox {
  float low[3];
  float high[3];

  explicit FloatBox(const PredicateOp& op) {
    constexpr float kUp = std::numeric_limits<float>::infinity();
    for (int d = 0; d < 3; ++d) {
      low[d] = static_cast<float>(op.reals[d]);
      if (static_cast<double>(low[d]) < op.reals[d]) low[d] = std::nextafter(low[d], kUp);
      high[d] = static_cast<float>(op.reals[d + 3]);
      if (static_cast<double>(high[d]) > op.reals[d + 3]) high[d] = std::nextafter(high[d], -kUp);
    }
  }
};

/// Verdicts of a program that is one box, over positions in single precision.
SLUICE_MULTIVERSION
void judge_float_box(const FloatBox& box, bool drop_zero, const float* __restrict x, const float* __restrict y,
                     const float* __restrict z, std::uint64_t count, std::uint8_t* __restrict verdicts) {
  for (std::uint64_t i = 0; i < count; ++i) {
    // What is not finite fails the comparison with the largest number, NaN included.
    constexpr float kMost = std::numeric_limits<float>::max();
    const int finite =
        (std::fabs(x[i]) <= kMost ? 1 : 0) & (std::fabs(y[i]) <= kMost ? 1 : 0) & (std::fabs(z[i]) <= kMost ? 1 : 0);
    const int zero = (drop_zero ? 1 : 0) & (x[i] == 0.0F ? 1 : 0) & (y[i] == 0.0F ? 1 : 0) & (z[i] == 0.0F ? 1 : 0);
    const int inside = (x[i] >= box.low[0] ? 1 : 0) & (x[i] <= box.high[0] ? 1 : 0) & (y[i] >= box.low[1] ? 1 : 0) &
                       (y[i] <= box.high[1] ? 1 : 0) & (z[i] >= box.low[2] ? 1 : 0) & (z[i] <= box.high[2] ? 1 : 0);
    const int counts = finite & (zero ^ 1);
    verdicts[i] = static_cast<std::uint8_t>((counts & inside) | ((counts ^ 1) << 1));
  }
}

/// Strided singles of one axis.
void load_floats(const std::byte* from, std::uint64_t stride, std::uint64_t count, float* __restrict to) {
  for (std::uint64_t i = 0; i < count; ++i) to[i] = load_unaligned<float>(from + i * stride);
}

/// The answers of a program, but kNonFinite for float points that count as such.
SLUICE_MULTIVERSION
void mark_nonfinite(const TilePositions& tile, bool drop_zero, const std::uint8_t* __restrict answers,
                    std::uint64_t count, std::uint8_t* __restrict verdicts) {
  // What is not finite fails the comparison with the largest number, NaN included.
  constexpr double kMost = std::numeric_limits<double>::max();
  const int drop = drop_zero ? 1 : 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double x = tile.world[0][i];
    const double y = tile.world[1][i];
    const double z = tile.world[2][i];
    const int finite =
        (std::fabs(x) <= kMost ? 1 : 0) & (std::fabs(y) <= kMost ? 1 : 0) & (std::fabs(z) <= kMost ? 1 : 0);
    const int zero = drop & (x == 0.0 ? 1 : 0) & (y == 0.0 ? 1 : 0) & (z == 0.0 ? 1 : 0);
    const int counts = finite & (zero ^ 1);
    verdicts[i] = static_cast<std::uint8_t>((counts & answers[i]) | ((counts ^ 1) << 1));
  }
}

/// A closed box in world units, without branches.
SLUICE_MULTIVERSION
void run_world_box(const PredicateOp& op, std::uint64_t count, const TilePositions& tile,
                   std::uint8_t* __restrict out) {
  double r[6];
  std::copy_n(op.reals, 6, r);
  for (std::uint64_t i = 0; i < count; ++i) {
    const double x = tile.world[0][i];
    const double y = tile.world[1][i];
    const double z = tile.world[2][i];
    const int inside = (x >= r[0] ? 1 : 0) & (x <= r[3] ? 1 : 0) & (y >= r[1] ? 1 : 0) & (y <= r[4] ? 1 : 0) &
                       (z >= r[2] ? 1 : 0) & (z <= r[5] ? 1 : 0);
    out[i] = static_cast<std::uint8_t>(inside);
  }
}

/// Calls f(T{}) with the integer type of a column. \return false for a real one
template <typename F>
bool with_integer(FieldType type, F f) {
  switch (type) {
    case FieldType::kInt8:
      f(std::int8_t{});
      return true;
    case FieldType::kUint8:
      f(std::uint8_t{});
      return true;
    case FieldType::kInt16:
      f(std::int16_t{});
      return true;
    case FieldType::kUint16:
      f(std::uint16_t{});
      return true;
    case FieldType::kInt32:
      f(std::int32_t{});
      return true;
    case FieldType::kUint32:
      f(std::uint32_t{});
      return true;
    case FieldType::kInt64:
      f(std::int64_t{});
      return true;
    case FieldType::kUint64:
      f(std::uint64_t{});
      return true;
    default:
      return false;
  }
}

/// The values that an integer can take: low .. low + last, signed or not.
struct Domain {
  bool is_signed;
  std::uint64_t low;
  std::uint64_t last;
  [[nodiscard]] Value at(std::uint64_t i) const {
    return is_signed ? Value::of_signed(static_cast<std::int64_t>(low + i)) : Value::of_unsigned(low + i);
  }
};

Domain domain_of(const Column& column) {
  const unsigned bits = 8 * field_bytes(column.type);
  const std::uint64_t last = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  switch (column.type) {
    case FieldType::kInt8:
    case FieldType::kInt16:
    case FieldType::kInt32:
    case FieldType::kInt64:
      return {true, ~std::uint64_t{0} << (bits - 1), last};
    default:
      if (column.bit_count == 0 || column.bit_count >= 64) return {false, 0, last};
      return {false, 0, std::min(last, (std::uint64_t{1} << column.bit_count) - 1)};
  }
}

/// The first of a domain for which `holds`, which no value before and every value after does; last + 1 if none does
/// (0 where that wraps, with `none` set).
template <typename Holds>
std::uint64_t first_of(const Domain& domain, Holds holds, bool& none) {
  none = !holds(domain.at(domain.last));
  std::uint64_t low = 0;
  std::uint64_t high = domain.last;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (holds(domain.at(middle))) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return none ? domain.last + 1 : low;
}

bool reads_position(const PredicateOp& op) {
  const auto on_axis = [&](int side) {
    return op.operands[side].kind == Operand::Kind::kRawAxis || op.operands[side].kind == Operand::Kind::kWorldAxis;
  };
  switch (op.code) {
    case Code::kConstant:
    case Code::kFraction:
    case Code::kAnd:
    case Code::kOr:
    case Code::kNot:
      return false;
    case Code::kCompare:
      return on_axis(0) || on_axis(1);
    case Code::kInSet:
      return on_axis(0);
    default:
      return true;
  }
}

}  // namespace

void TilePositions::load(const Positions& positions, std::uint64_t first, std::uint64_t count) {
  if (positions.kind != CoordinateKind::kFloat64 && positions.is_packed()) {
    const auto load = positions.kind == CoordinateKind::kLattice ? load_packed_numbers : load_packed_floats;
    load(positions.x + first * positions.stride, count, *this);
    return;
  }
  if (positions.is_columns()) return load_columns(positions, first, count, *this);
  load_tile(
      *this, positions, [=](std::uint64_t i) { return first + i; }, count);
}

void TilePositions::load(const Positions& positions, const std::uint32_t* rows, std::uint64_t count) {
  load_tile(
      *this, positions, [=](std::uint64_t i) { return std::uint64_t{rows[i]}; }, count);
}

SLUICE_MULTIVERSION
void TilePositions::complete(const Positions& positions, std::uint64_t count) {
  for (int d = 0; d < 3; ++d) {
    const double scale = positions.scale[d];
    const double offset = positions.offset[d];
    for (std::uint64_t i = 0; i < count; ++i) world[d][i] = to_world(raw[d][i], scale, offset);
  }
}

ParallelPredicate::ParallelPredicate(const PredicateProgram& program) : program_(program) {
  reads_positions_ = program.drop_zero || program.needs_world;
  int depth = 1;
  for (const PredicateOp& op : program_.ops) {
    reads_positions_ = reads_positions_ || reads_position(op);
    if (op.code == Code::kAnd || op.code == Code::kOr) {
      tiled_ = tiled_ && depth >= 2;
      --depth;
    } else if (op.code != Code::kNot) {
      ++depth;
    }
    tiled_ = tiled_ && depth <= kTileDepth;
  }
}

Judge::Judge(const ParallelPredicate& predicate, const PointInput& input)
    : predicate_(predicate), input_(input), view_(predicate.program().view(input.columns)) {
  check_input(predicate.program(), input);
  keeps_all_ = predicate.program().keeps_all() && input.positions.kind == CoordinateKind::kLattice;
  // Finding a range takes about as long as some hundred points.
  if (input.count >= kTile) {
    const std::uint32_t tests = std::min(view_.op_count, kMaxTests);
    for (std::uint32_t i = 0; i < tests; ++i) bind_test(view_.ops[i], tests_[i]);
  }
}

void Judge::bind_test(const PredicateOp& op, IntegerTest& test) const {
  using Kind = Operand::Kind;
  if (op.code != Code::kCompare && op.code != Code::kInSet) return;
  const Operand* left = &op.operands[0];
  const Operand* right = &op.operands[1];
  Comparison comparison = op.comparison;
  if (op.code == Code::kCompare) {
    if (left->kind == Kind::kConstant) {
      std::swap(left, right);
      comparison = detail::mirrored(comparison);
    }
    if (right->kind != Kind::kConstant) return;
  }
  Domain domain{};
  if (left->kind == Kind::kRawAxis) {
    domain = {true, ~std::uint64_t{0} << 31, 0xffffffffULL};
    test.on_axis = true;
  } else if (left->kind == Kind::kColumn && with_integer(view_.columns[left->index].type, [](auto) {})) {
    domain = domain_of(view_.columns[left->index]);
  } else {
    return;
  }
  test.index = left->index;
  if (!test.on_axis && domain.last < 256) {
    test.kind = IntegerTest::Kind::kTable;
    for (std::uint64_t i = 0; i <= domain.last; ++i) {
      const Value value = domain.at(i);
      const bool in = op.code == Code::kInSet ? detail::in_set(view_.values + op.first, op.count, value)
                                              : detail::holds(comparison, compare(value, right->constant));
      test.table[(domain.low + i) & 0xff] = in;
    }
    return;
  }
  if (op.code == Code::kInSet) return;
  test.kind = IntegerTest::Kind::kRange;
  const Value bound = right->constant;
  bool no_equal = false;
  bool no_greater = false;
  const std::uint64_t equal = first_of(
      domain, [&](const Value& v) { return compare(v, bound) != Ordering::kLess; }, no_equal);
  const std::uint64_t greater = first_of(
      domain, [&](const Value& v) { return compare(v, bound) == Ordering::kGreater; }, no_greater);
  // Less: 0 .. equal - 1; equal: equal .. greater - 1; greater: greater .. last. Each may be empty.
  const bool unordered = compare(domain.at(0), bound) == Ordering::kUnordered;
  std::uint64_t first = 0;
  std::uint64_t end = 0;  // one behind; 0 with `to_last` for all up to the last
  bool to_last = false;
  switch (comparison) {
    case Comparison::kNotEqual:
    case Comparison::kEqual:
      test.negate = comparison == Comparison::kNotEqual;
      first = equal;
      end = greater;
      to_last = no_greater;
      if (no_equal) {
        end = first;
        to_last = false;
      }
      break;
    case Comparison::kLess:
      end = equal;
      to_last = no_equal;
      break;
    case Comparison::kLessEqual:
      end = greater;
      to_last = no_greater;
      break;
    case Comparison::kGreater:
      first = greater;
      end = first;
      to_last = !no_greater;
      break;
    case Comparison::kGreaterEqual:
      first = equal;
      end = first;
      to_last = !no_equal;
      break;
  }
  if (unordered || (!to_last && end == first)) {
    // Nothing is in the range: a table of a single answer.
    test.kind = IntegerTest::Kind::kTable;
    std::fill_n(test.table, 256, test.negate);
    return;
  }
  test.low = domain.low + first;
  test.width = to_last ? domain.last - first : end - first - 1;
}

void Judge::run_test(const IntegerTest& test, std::uint64_t first, std::uint64_t count, const TilePositions& tile,
                     std::uint8_t* __restrict out) const {
  const std::uint64_t low = test.low;
  const std::uint64_t width = test.width;
  const std::uint8_t flip = test.negate ? 1 : 0;
  if (test.on_axis) {
    if (test.kind == IntegerTest::Kind::kTable) {
      std::memset(out, test.table[0] ? 1 : 0, count);
      return;
    }
    const std::int32_t* raw = tile.raw[test.index];
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto value = static_cast<std::uint64_t>(static_cast<std::int64_t>(raw[i]));
      out[i] = static_cast<std::uint8_t>((value - low <= width ? 1 : 0) ^ flip);
    }
    return;
  }
  const Column& column = view_.columns[test.index];
  const std::byte* from = column.data + first * column.stride;
  const std::uint64_t stride = column.stride;
  const unsigned shift = column.bit_count == 0 ? 0 : column.bit_shift;
  const std::uint64_t mask =
      column.bit_count == 0 || column.bit_count >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << column.bit_count) - 1;
  with_integer(column.type, [&]<typename T>(T) {
    const auto value_at = [=](std::uint64_t i) {
      if constexpr (std::is_signed_v<T>) {
        return static_cast<std::uint64_t>(std::int64_t{load_unaligned<T>(from + i * stride)});
      } else {
        return (std::uint64_t{load_unaligned<T>(from + i * stride)} >> shift) & mask;
      }
    };
    if (test.kind == IntegerTest::Kind::kTable) {
      for (std::uint64_t i = 0; i < count; ++i) out[i] = test.table[value_at(i) & 0xff] ? 1 : 0;
    } else {
      for (std::uint64_t i = 0; i < count; ++i) {
        out[i] = static_cast<std::uint8_t>((value_at(i) - low <= width ? 1 : 0) ^ flip);
      }
    }
  });
}

void Judge::run_op(const PredicateOp& op, std::uint64_t first, std::uint64_t count, const TilePositions& tile,
                   std::uint8_t* __restrict out) const {
  const auto run = [&]<Code kCode>() {
    run_points<kCode>(op, view_, first, input_.first_index + first, count, tile, out);
  };
  switch (op.code) {
    case Code::kLatticeBox:
      return run_lattice_box(op, count, tile, out);
    case Code::kWorldBox:
      return run_world_box(op, count, tile, out);
    case Code::kConstant:
      return run.operator()<Code::kConstant>();
    case Code::kOrientedBox:
      return run.operator()<Code::kOrientedBox>();
    case Code::kSphere:
      return run.operator()<Code::kSphere>();
    case Code::kDisc:
      return run.operator()<Code::kDisc>();
    case Code::kRing:
      return run.operator()<Code::kRing>();
    case Code::kHalfSpace:
      return run.operator()<Code::kHalfSpace>();
    case Code::kAzimuth:
      return run.operator()<Code::kAzimuth>();
    case Code::kElevation:
      return run.operator()<Code::kElevation>();
    case Code::kLatticePolygon:
      return run.operator()<Code::kLatticePolygon>();
    case Code::kWorldPolygon:
      return run.operator()<Code::kWorldPolygon>();
    case Code::kCompare:
      return run.operator()<Code::kCompare>();
    case Code::kInSet:
      return run.operator()<Code::kInSet>();
    case Code::kFraction:
      return run.operator()<Code::kFraction>();
    case Code::kAnd:
    case Code::kOr:
    case Code::kNot:
      return;
  }
}

void Judge::tile(std::uint64_t first, std::uint64_t count, bool want_positions, TilePositions& tile,
                 std::uint8_t* verdicts) const {
  const Positions& positions = input_.positions;
  const bool lattice = positions.kind == CoordinateKind::kLattice;
  if (positions.kind == CoordinateKind::kFloat32 && !want_positions && view_.op_count == 1 &&
      view_.ops[0].code == Code::kWorldBox) {
    float singles[3][kTile];
    const std::byte* const from[3] = {positions.x, positions.y, positions.z};
    for (int d = 0; d < 3; ++d) load_floats(from[d] + first * positions.stride, positions.stride, count, singles[d]);
    judge_float_box(FloatBox(view_.ops[0]), view_.drop_zero, singles[0], singles[1], singles[2], count, verdicts);
    return;
  }
  if (want_positions || !lattice || predicate_.reads_positions()) tile.load(positions, first, count);
  if (!predicate_.tiled()) {
    for (std::uint64_t i = 0; i < count; ++i) {
      verdicts[i] = static_cast<std::uint8_t>(evaluate(view_, positions, first + i, input_.first_index + first + i));
    }
    return;
  }
  if (lattice && view_.needs_world) tile.complete(positions, count);

  std::uint8_t stack[kTileDepth][kTile];
  int depth = 0;  // of the topmost truth values; the lowest are those of an empty program
  std::memset(stack[0], 1, count);
  for (std::uint32_t i = 0; i < view_.op_count; ++i) {
    const PredicateOp& op = view_.ops[i];
    switch (op.code) {
      case Code::kAnd:
        --depth;
        for (std::uint64_t k = 0; k < count; ++k) stack[depth][k] &= stack[depth + 1][k];
        break;
      case Code::kOr:
        --depth;
        for (std::uint64_t k = 0; k < count; ++k) stack[depth][k] |= stack[depth + 1][k];
        break;
      case Code::kNot:
        for (std::uint64_t k = 0; k < count; ++k) stack[depth][k] ^= 1;
        break;
      default:
        ++depth;
        if (i < kMaxTests && tests_[i].kind != IntegerTest::Kind::kNone) {
          run_test(tests_[i], first, count, tile, stack[depth]);
        } else {
          run_op(op, first, count, tile, stack[depth]);
        }
        break;
    }
  }
  const std::uint8_t* top = stack[depth];
  constexpr auto kNonFinite = static_cast<std::uint8_t>(Verdict::kNonFinite);
  if (lattice) {
    std::memcpy(verdicts, top, count);
    if (view_.drop_zero && view_.zero_exists) {
      for (std::uint64_t i = 0; i < count; ++i) {
        const bool zero =
            tile.raw[0][i] == view_.zero[0] && tile.raw[1][i] == view_.zero[1] && tile.raw[2][i] == view_.zero[2];
        if (zero) verdicts[i] = kNonFinite;
      }
    }
    return;
  }
  mark_nonfinite(tile, view_.drop_zero, top, count, verdicts);
}

void Judge::range(std::uint64_t begin, std::uint64_t end, std::uint8_t* verdicts) const {
  if (keeps_all_) {
    std::memset(verdicts + begin, static_cast<int>(Verdict::kKept), end - begin);
    return;
  }
  TilePositions positions;
  for (std::uint64_t first = begin; first < end; first += kTile) {
    tile(first, std::min(kTile, end - first), false, positions, verdicts + first);
  }
}

}  // namespace sluice::kernels
