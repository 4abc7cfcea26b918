// SPDX-License-Identifier: Apache-2.0
#include "sluice/kernels/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "kernels/arguments.hpp"
#include "sluice/core/error.hpp"
#include "support/backend_test.hpp"

namespace sluice::test {
namespace {

using namespace sluice::kernels;

TEST(Registry, ListsAllBackendsInOrder) {
  std::vector<std::string> names;
  for (const BackendInfo& info : backends()) {
    names.push_back(info.name);
    EXPECT_EQ(info.usable, info.reason.empty()) << info.name;
    EXPECT_TRUE(info.built || !info.usable) << info.name;
  }
  EXPECT_THAT(names, testing::ElementsAre("serial", "cpu", "cuda", "thrust"));
}

TEST(Registry, MakesWhatIsUsableAndSaysWhyNot) {
  for (const BackendInfo& info : backends()) {
    if (info.usable) {
      const auto backend = make_backend(info.name);
      EXPECT_EQ(backend->name(), info.name);
      EXPECT_EQ(backend->is_device(), info.name == "cuda" || info.name == "thrust");
      EXPECT_EQ(backend->device_name().empty(), !backend->is_device());
      EXPECT_GT(backend->free_bytes(), 0U);
    } else {
      try {
        static_cast<void>(make_backend(info.name));
        FAIL() << info.name << " was made";
      } catch (const Unsupported& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr(info.reason));
      }
    }
  }
}

TEST(Registry, RefusesUnknownNamesAndDevices) {
  try {
    static_cast<void>(make_backend("gpu"));
    FAIL() << "an unknown backend was made";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("serial, cpu, cuda, thrust"));
  }
  if (devices().empty()) GTEST_SKIP() << "no GPU";
  EXPECT_THROW(static_cast<void>(make_backend("cuda", 1000)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(make_backend("thrust", -1)), InvalidArgument);
}

TEST(SortCount, IsLimitedByValuesOnly) {
  const std::uint64_t most_pairs = 0xffffffffULL;
  EXPECT_NO_THROW(check_sort_count(most_pairs, true));
  EXPECT_THROW(check_sort_count(most_pairs + 1, true), InvalidArgument);
  EXPECT_NO_THROW(check_sort_count(std::uint64_t{1} << 40, false));
  EXPECT_THROW(check_sort_count((std::uint64_t{1} << 40) + 1, false), InvalidArgument);
}

class Arguments : public BackendTest {};

TEST_P(Arguments, OutOfRangeAreRefused) {
  Primitives& primitives = backend().primitives();
  const auto items = room<std::uint64_t>(64);
  const auto out = room<std::uint64_t>(64);
  const auto flags = room<std::uint8_t>(16);
  const auto indices = room<std::uint32_t>(16);
  const auto count = room<std::uint64_t>(1);
  Workspace workspace(backend().memory(), std::size_t{1} << 20);
  const auto compact = [&](std::uint32_t bytes) {
    primitives.compact(items.data(), bytes, flags.data(), 1, out.data(), count.data(), workspace, stream());
  };
  for (const std::uint32_t bytes : {0U, 1U, 12U, 64U}) EXPECT_THROW(compact(bytes), InvalidArgument) << bytes;
  const auto histogram = [&](std::uint32_t bytes, unsigned begin, unsigned bits) {
    primitives.histogram(items.data(), bytes, 1, begin, bits, out.data(), workspace, stream());
  };
  EXPECT_THROW(histogram(2, 0, 1), InvalidArgument);
  EXPECT_THROW(histogram(4, 0, 0), InvalidArgument);
  EXPECT_THROW(histogram(4, 0, 17), InvalidArgument);
  EXPECT_THROW(histogram(4, 30, 3), InvalidArgument);
  const SortBuffers buffers{{items.data(), out.data()}, {nullptr, nullptr}};
  const auto sort = [&](std::uint32_t bytes, unsigned begin, unsigned end) {
    static_cast<void>(primitives.sort(buffers, bytes, 1, begin, end, workspace, stream()));
  };
  EXPECT_THROW(sort(3, 0, 8), InvalidArgument);
  EXPECT_THROW(sort(4, 9, 8), InvalidArgument);
  EXPECT_THROW(sort(4, 0, 33), InvalidArgument);
  EXPECT_THROW(sort(8, 0, 65), InvalidArgument);
  EXPECT_THROW(primitives.gather(items.data(), 0, indices.data(), 1, out.data(), stream()), InvalidArgument);
  EXPECT_THROW(primitives.gather(items.data(), 65536, indices.data(), 1, out.data(), stream()), InvalidArgument);
  const std::uint64_t beyond = std::uint64_t{1} << 32;
  EXPECT_THROW(primitives.exclusive_scan(indices.data(), beyond, out.data(), nullptr, workspace, stream()),
               InvalidArgument);
  EXPECT_THROW(primitives.exclusive_scan_wrapping(indices.data(), beyond, indices.data(), nullptr, workspace, stream()),
               InvalidArgument);
  const auto sort_many = [&](std::uint64_t n, bool values) {
    SortBuffers many = buffers;
    if (values) many.values[0] = many.values[1] = indices.data();
    static_cast<void>(primitives.sort(many, 4, n, 0, 8, workspace, stream()));
  };
  EXPECT_THROW(sort_many(beyond, true), InvalidArgument);
  EXPECT_THROW(sort_many((std::uint64_t{1} << 40) + 1, false), InvalidArgument);
}

TEST_P(Arguments, OfOperationsAreChecked) {
  Operations& operations = backend().operations();
  PredicateProgram program;
  program.columns = {"intensity"};
  const auto predicate = operations.prepare(program);
  const auto kept = room<std::uint32_t>(1);
  Workspace workspace(backend().memory(), std::size_t{1} << 20);
  PointInput input;
  input.positions = Positions::packed(static_cast<const Record32*>(nullptr));
  const SelectOutputs outputs{kept.data()};
  // A column too few.
  EXPECT_THROW(operations.select(*predicate, input, outputs, workspace, stream()), InvalidArgument);
  const auto plain = operations.prepare(PredicateProgram{});
  input.count = kMaxPoints + 1;
  EXPECT_THROW(operations.select(*plain, input, outputs, workspace, stream()), InvalidArgument);
  input.count = 0;
  ReduceSpec spec;
  spec.grid = make_cell_grid(GridSpec{}, CoordinateFrame{});
  ReduceOutputs reduced;
  reduced.kept = kept.data();
  spec.max_per_cell = 0;
  EXPECT_THROW(operations.reduce_cells(*plain, spec, input, reduced, workspace, stream()), InvalidArgument);
  spec.policy = KeepPolicy::kCentroid;
  spec.max_per_cell = 2;
  EXPECT_THROW(operations.reduce_cells(*plain, spec, input, reduced, workspace, stream()), InvalidArgument);
  // A predicate of another backend.
  const auto other = make_backend(std::string(GetParam()) == "serial" ? "cpu" : "serial");
  const auto foreign = other->operations().prepare(PredicateProgram{});
  EXPECT_THROW(operations.select(*foreign, input, outputs, workspace, stream()), InvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Backends, Arguments, testing::Values("serial", "cpu", "cuda", "thrust"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace sluice::test
