// Tests rows that the host describes wrongly: without an address, overlapping, or larger than any memory.
#include "common/device.hpp"
#include "kith/classifier.hpp"
#include "kith/index.hpp"
#include "kith/regressor.hpp"
#include "kith/unstable/stages.hpp"

using namespace kith;
using namespace kith::tests;

namespace {

using View = MatrixView<const float>;

const std::vector<float> nine{1, 2, 3, 4, 5, 6, 7, 8, 9};

/// Checks that all functions that take rows refuse `view` for the reason `why`; each names the rows in its
/// own words.
void check_refused(const View& view, const std::string& why) {
  const Index index(device(), View(nine.data(), 3, 3), Metric::l2);
  const std::vector<float> radius{1};
  CHECK(error_of([&] { Index(device(), view, Metric::l2); }) ==
        "invalid_argument: index: the training rows are " + why);
  CHECK(error_of([&] { index.with(view); }) == "invalid_argument: index: the added rows are " + why);
  CHECK(error_of([&] { index.search(view, 1); }) == "invalid_argument: search: the query rows are " + why);
  CHECK(error_of([&] { index.within(view, radius); }) ==
        "invalid_argument: within: the query rows are " + why);
  CHECK(error_of([&] { stages::distance(device(), view, View(nine.data(), 3, 3), Metric::l2); }) ==
        "invalid_argument: stages: the query rows are " + why);
}

}  // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("views: rows without an address are refused, no rows are not") {
  check_refused(View(nullptr, 3, 3),
                "[3, 3] but have no address (a null pointer); give that of the first element");
  const Index index(device(), View(nine.data(), 3, 3), Metric::l2);
  CHECK(index.search(View(nullptr, 0, 3), 1).row.empty());
  const std::vector<std::int64_t> labels{0, 1, 0};
  CHECK(error_of([&] {
          Classifier(device(), View(nine.data(), 3, 3), MatrixView<const std::int64_t>(nullptr, 3, 1));
        }) ==
        "invalid_argument: classifier: the label rows are [3, 1] but have no address (a null pointer); "
        "give that of the first element");
  CHECK(error_of(
            [&] { Regressor(device(), View(nine.data(), 3, 3), MatrixView<const double>(nullptr, 3, 1)); }) ==
        "invalid_argument: regressor: the value rows are [3, 1] but have no address (a null pointer); "
        "give that of the first element");
}

TEST_CASE("views: rows that overlap are refused; of one row the stride does not count") {
  check_refused(View(nine.data(), 3, 3, 2),
                "[3, 3] with a stride of 2, so that they overlap; the stride counts elements from one row to "
                "the next, at least 3");
  const Index index(device(), View(nine.data(), 3, 3), Metric::l2);
  CHECK(index.search(View(nine.data(), 1, 3, 0), 1).row == std::vector<std::int64_t>{0});
}

TEST_CASE("views: products of counts that no memory holds are refused, and computed without overflow") {
  check_refused(View(nine.data(), 3, 3, std::int64_t{1} << 61),
                "[3, 3], more than any memory holds; check the counts");
  const Index index(device(), View(nine.data(), 9, 1), Metric::l2);
  CHECK(error_of([&] { index.search(View(nine.data(), -1, 1), 1); }) ==
        "invalid_argument: search: the query rows are [-1, 1]; give 0 or more of each");
  CHECK(error_of([&] { index.search(View(nine.data(), std::int64_t{1} << 61, 1), 9); }) ==
        "invalid_argument: search: the query rows are [2305843009213693952, 1], more than any memory holds; "
        "check the counts");
}

TEST_SUITE_END();
