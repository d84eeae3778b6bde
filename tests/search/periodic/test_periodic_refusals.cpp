// Tests what an Index in a periodic box refuses: docs/contract.md, section 3.
#include <cmath>

#include "search/periodic/boxed.hpp"

namespace kith::tests {
namespace {

TEST_SUITE_BEGIN("device");

std::string refused_box(const Lengths& box, IndexOptions options = {}, Metric metric = Metric::l2) {
  const std::vector<float> rows{1, 2, 3, 4};
  options.box = box;
  return error_of([&] { Index(device(), RowsView(rows.data(), 2, 2), metric, options); });
}

TEST_CASE("periodic: what is refused") {
  CHECK(
      refused_box({1}) ==
      "invalid_argument: index: the box has 1 length for rows of 2 columns; give one a column, 0 for an open "
      "one");
  CHECK(refused_box({1, 2, 3}).starts_with(
      "invalid_argument: index: the box has 3 lengths for rows of 2 columns"));
  const std::string advice = "; give a length above 0 that a float can have, or 0 for an open column";
  CHECK(refused_box({1, -2}) == "invalid_argument: index: the box is -2 long in column 1" + advice);
  CHECK(refused_box({std::nan(""), 2}) ==
        "invalid_argument: index: the box is nan long in column 0" + advice);
  CHECK(refused_box({HUGE_VAL, 2}) == "invalid_argument: index: the box is inf long in column 0" + advice);
  CHECK(refused_box({1e-60, 2}) == "invalid_argument: index: the box is 1e-60 long in column 0" + advice);
  CHECK(refused_box({1, 1e60}) == "invalid_argument: index: the box is 1e+60 long in column 1" + advice);
  for (const Metric metric : {Metric::cosine, Metric::negative_dot})
    CHECK(refused_box({1, 2}, {}, metric) ==
          "invalid_argument: index: a box is for differences of values, and " + std::string(name(metric)) +
              " is none of l2, squared_l2, l1 and linf; leave it out, or choose one of these");
  CHECK(refused_box({1, 2}, {.centre = {1, 2}}) ==
        "invalid_argument: index: there are a box, into which values are moved, and a centre; leave one of "
        "them "
        "out");
  const std::vector<std::uint8_t> bytes{1, 2, 3, 4};
  CHECK(error_of([&] {
          Index(device(), RowsView(bytes.data(), Element::u8, 2, 2), Metric::l2, in_box({9, 9}));
        }) ==
        "invalid_argument: index: the training rows are u8, and a box is for f32 and f64; give these, or "
        "leave the "
        "box out");
  const double large[] = {1e300, 1e300};
  IndexOptions rounds = in_box({9, 0});
  rounds.arithmetic = Arithmetic::f32;
  CHECK(
      error_of([&] { Index(device(), MatrixView<const double>(large, 1, 2), Metric::l2, rounds); })
          .starts_with(
              "invalid_argument: index: training row 0, column 1 is 1e+300, which is too large for a float"));
  const float bad[] = {1, NAN};
  CHECK(error_of([&] {
          Index(device(), RowsView(bad, 1, 2), Metric::l2, in_box({9, 9}));
        }).starts_with("invalid_argument: index: training row 0, column 1"));
  const std::vector<float> few{1, 2, 3, 4};
  const Index index(device(), RowsView(few.data(), 2, 2), Metric::l2, in_box({9, 9}));
  CHECK(
      error_of([&] { index.search(RowsView(few.data(), 2, 2), 1, {.proposer = Proposer::gemm}); }) ==
      "unsupported: search: proposer gemm works by inner products, from which l2 in a periodic box does not "
      "follow; choose proposer none");
  CHECK(error_of([&] { index.search(RowsView(few.data(), 2, 2), 1, {.fused = true}); }) ==
        "unsupported: search: the fused step is not for rows in a periodic box; drop the demand for it");
}

TEST_CASE("periodic: a device that ignores the box is found, and refused") {
  if (device().info().backend != "planted") return;
  const Device wrong = open_device("planted:18");
  const std::vector<float> rows{1, 2, 3, 4};
  const Index index(wrong, RowsView(rows.data(), 2, 2), Metric::l1, in_box({9, 0}));
  const std::string why =
      "planted:18: distances by l1 in a periodic box were wrong in a test of 77 rows; choose boxes, or "
      "update the "
      "device's driver";
  CHECK(error_of([&] { index.search(RowsView(rows.data(), 2, 2), 1); }) == "unsupported: search: " + why);
  const float radius = 1;
  CHECK(error_of([&] {
          index.within(RowsView(rows.data(), 2, 2), {&radius, 1});
        }) == "unsupported: within: " + why);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
