// Tests rows that are added and removed while numbers stay: docs/contract.md, section 2, "More rows,
// fewer rows".
#include "common/proposers.hpp"
#include "kith/classifier.hpp"
#include "kith/evaluation.hpp"
#include "kith/filter.hpp"
#include "kith/index.hpp"
#include "kith/keys.hpp"
#include "kith/regressor.hpp"

namespace kith::tests {
namespace {

using Numbers = std::vector<std::int64_t>;

SearchOptions filtered_by(const RowFilter& filter) {
  return {.filter = filter};
}

TEST_SUITE_BEGIN("device");

TEST_CASE("updates: a number is given once, whatever comes and goes") {
  const Matrix zero = matrix(1, {0});
  const Index all(device(), matrix(1, {5, 1, 2, 1}), Metric::l1);
  const Index fewer = all.without(Numbers{1});
  CHECK(fewer.search(zero, 3) == Neighbors{1, 3, {1, 2, 5}, {3, 2, 0}});
  CHECK(all.search(zero, 2) == Neighbors{1, 2, {1, 1}, {1, 3}});  // the old index is unchanged
  CHECK(fewer.rows() == 3);
  CHECK(fewer.next_row() == 4);
  CHECK(fewer.positions() == 4);
  CHECK(fewer.numbers() == Numbers{0, 2, 3});
  const Index packed = fewer.compact();
  CHECK(packed.search(zero, 3) == Neighbors{1, 3, {1, 2, 5}, {3, 2, 0}});
  CHECK(packed.next_row() == 4);
  const Index more = packed.with(matrix(1, {0, 1}));
  CHECK(more.search(zero, 5) == Neighbors{1, 5, {0, 1, 1, 2, 5}, {4, 3, 5, 2, 0}});
  const Index last = more.without(Numbers{5, 3}).compact().with(matrix(1, {3}));
  CHECK(last.numbers() == Numbers{0, 2, 4, 6});
  CHECK(last.search(zero, 4) == Neighbors{1, 4, {0, 2, 3, 5}, {4, 2, 6, 0}});
}

TEST_CASE("updates: ids are put in order, and ties go by id") {
  const Matrix zero = matrix(1, {0});
  const Index index(device(), matrix(1, {1, 2, 1, 0}), Metric::l1, {{}, 0, 0, {900, 7, 30, 1000000000000}});
  CHECK(index.search(zero, 4) == Neighbors{1, 4, {0, 1, 1, 2}, {1000000000000, 30, 900, 7}});
  CHECK(index.next_row() == 1000000000001);
  CHECK(index.positions() == 4);
  CHECK(index.numbers() == Numbers{7, 30, 900, 1000000000000});
  const Index fewer = index.without(Numbers{30});
  CHECK(fewer.search(zero, 3) == Neighbors{1, 3, {0, 1, 2}, {1000000000000, 900, 7}});
  const Index on = fewer.compact().with(matrix(1, {1}));
  CHECK(on.search(zero, 3) == Neighbors{1, 3, {0, 1, 1}, {1000000000000, 900, 1000000000001}});
  const Index own = on.with(matrix(1, {1, 0}), Numbers{2000000000005, 2000000000000});
  CHECK(own.search(zero, 5) ==
        Neighbors{1, 5, {0, 0, 1, 1, 1}, {1000000000000, 2000000000000, 900, 1000000000001, 2000000000005}});
  // A filter goes by position: of 7, 30 (removed), 900, 10^12, 10^12 + 1, 2 * 10^12, 2 * 10^12 + 5.
  const RowFilter filter = RowFilter::only(own.positions(), Numbers{0, 1, 4, 6});
  CHECK(own.search(zero, 3, filtered_by(filter)) ==
        Neighbors{1, 3, {1, 1, 2}, {1000000000001, 2000000000005, 7}});
  const Index later = Index(device(), matrix(1, {4, 3}), Metric::l1).with(matrix(1, {2}), Numbers{77});
  CHECK(later.numbers() == Numbers{0, 1, 77});
}

TEST_CASE("updates: refusals say what is wrong, and what to do") {
  const Matrix three = matrix(1, {1, 2, 3});
  const Index index(device(), three, Metric::l1);
  const auto refusal = [](const Index& from, const Numbers& rows) {
    return error_of([&] { from.without(rows); });
  };
  const std::string missing = "invalid_argument: index: there is no row ";
  const std::string name_others =
      " to remove, or it was removed before; name rows that are there, of which the next would be 3";
  CHECK(refusal(index, {3}) == missing + "3" + name_others);
  CHECK(refusal(index, {-1}) == missing + "-1" + name_others);
  CHECK(refusal(index.without(Numbers{1}), {1}) == missing + "1" + name_others);
  CHECK(refusal(index.without(Numbers{1}).compact(), {1}) == missing + "1" + name_others);
  CHECK(refusal(index, {2, 2}) == "invalid_argument: index: row 2 is named twice; name each once");
  CHECK(refusal(index, {0, 1, 2}) ==
        "invalid_argument: index: all 3 rows would be removed; leave at least one");
  const auto refused_ids = [&](const Numbers& ids, std::int64_t first_row = 0) {
    return error_of([&] { Index(device(), three, Metric::l1, {{}, first_row, 0, ids}); });
  };
  CHECK(refused_ids({1, 2}) == "invalid_argument: index: 2 ids for 3 rows; give one a row, or none");
  CHECK(refused_ids({4, 1, 4}) ==
        "invalid_argument: index: rows 0 and 2 both have the id 4; give each its own");
  CHECK(refused_ids({4, -1, 5}) ==
        "invalid_argument: index: the id of row 1 is -1; choose from 0 to 9223372036854775806");
  CHECK(refused_ids({4, 5, 9}, 7) ==
        "invalid_argument: index: first_row = 7 with ids, which are numbers of all shards already; leave "
        "first_row out");
  CHECK(error_of([&] { index.with(matrix(1, {1}), Numbers{2}); }) ==
        "invalid_argument: index: the id of row 0 is 2; choose from 3 to 9223372036854775806, since numbers "
        "are not given again");
  CHECK(index.without({}).rows() == 3);
}

TEST_CASE("updates: k counts the rows that are there, and a removed row is no query of its own") {
  const Matrix rows = matrix(1, {1, 2, 4, 8});
  const Index index = Index(device(), rows, Metric::l1).without(Numbers{1});
  CHECK(error_of([&] { index.search(rows, 4); }) ==
        "invalid_argument: search: k = 4 is out of range for an index of 3 rows; choose k from 1 to 3");
  const auto self = [](std::int64_t first) { return SearchOptions{.self = first}; };
  const Matrix two = matrix(1, {4, 8});
  for (const Index& at : {index, index.compact()}) {
    CHECK(at.search(two, 2, self(2)) == Neighbors{2, 2, {3, 4, 4, 7}, {0, 3, 2, 0}});
    CHECK(error_of([&] { at.search(two, 1, self(1)); }) ==
          "invalid_argument: search: self = 1 with 2 queries, but row 1 is removed; ask about rows that are "
          "there");
    CHECK(error_of([&] { at.search(two, 3, self(2)); }) ==
          "invalid_argument: search: k = 3 is out of range for an index of 3 rows, each left out of its own "
          "list; choose k from 1 to 2");
    CHECK(error_of([&] { at.search(two, 1, self(3)); }).starts_with("invalid_argument: search: self = 3 "));
    const RadiusNeighbors near = at.within(two, std::vector<float>{4}, self(2));
    CHECK(near == RadiusNeighbors{2, {0, 2, 3}, {3, 4, 4}, {0, 3, 2}});
  }
}

TEST_CASE("updates: keys carry numbers") {
  const Matrix zero = matrix(1, {0});
  const Index shard = Index(device(), matrix(1, {3, 1, 2}), Metric::l1, {{}, 40}).without(Numbers{1});
  for (const Index& at : {shard, shard.compact()}) {
    CHECK(at.search_keys(zero, 3).row == Numbers{42, 40, -1});
    CHECK(at.within_keys(zero, std::vector<float>{2.5f}).row == Numbers{42});
    CHECK(at.first_row() == 40);
  }
  CHECK(shard.compact().with(zero).search_keys(zero, 2).row == Numbers{43, 42});
  const Index named(device(), matrix(1, {3, 1, 2}), Metric::l1, {{}, 0, 0, {9, 70, 8}});
  CHECK(named.without(Numbers{70}).search_keys(zero, 2).row == Numbers{8, 9});
}

TEST_CASE("updates: votes and means are those of the rows that are there") {
  const Matrix rows = matrix(1, {0, 1, 2, 3, 4});
  const Numbers labels = {7, 7, 9, 9, 9};
  const Matrix query = matrix(1, {0});
  const Classifier all(device(), rows, labels, Metric::l1);
  const Classifier fewer = all.without(Numbers{0, 1});
  CHECK(all.predict(query, 3) == Numbers{7});
  for (const Classifier& at : {fewer, fewer.compact()}) {
    const Classification found = at.classify(query, 3);
    CHECK(found.label == Numbers{9});
    CHECK(at.classes() == Numbers{7, 9});
    CHECK(found.votes == std::vector<std::uint32_t>{0, 3});
    CHECK(found.neighbors == Neighbors{1, 3, {2, 3, 4}, {2, 3, 4}});
    const RadiusClassification within = at.classify_within(query, std::vector<float>{3});
    CHECK(within.votes == std::vector<std::uint32_t>{0, 2});
    CHECK(within.neighbors.row == Numbers{2, 3});
    CHECK(at.sweep(query, Numbers{1, 3}).neighbors.row == Numbers{2, 3, 4});
  }
  const Classifier grown =
      fewer.compact().with(matrix(1, {0}), MatrixView<const std::int64_t>(&labels[0], 1, 1));
  CHECK(grown.classify(query, 2).neighbors.row == Numbers{5, 2});
  CHECK(grown.classify(query, 2).votes == std::vector<std::uint32_t>{1, 1});

  const std::vector<double> values = {1, 2, 4, 8, 16};
  const Regressor whole(device(), rows, MatrixView<const double>(values.data(), 5, 1), Metric::l1, {},
                        {1, 1, 1, 3, 1});
  const Regressor rest = whole.without(Numbers{0, 2});
  for (const Regressor& at : {rest, rest.compact()}) {
    CHECK(at.regress(query, 2).value == std::vector<double>{(2 + 3 * 8) / 4.0});
    CHECK(at.regress(query, 2).neighbors.row == Numbers{1, 3});
    const RadiusRegression within = at.regress_within(query, std::vector<float>{4});
    CHECK(within.value == std::vector<double>{(2 + 3 * 8 + 16) / 5.0});
    CHECK(within.neighbors.row == Numbers{1, 3, 4});
  }
  const double ten = 10;
  const Regressor longer = rest.compact().with(query, MatrixView<const double>(&ten, 1, 1));
  CHECK(longer.regress(query, 2).value == std::vector<double>{6});
  CHECK(longer.regress(query, 2).neighbors.row == Numbers{5, 1});
  const std::vector<double> left = {2, 8, 16};
  const Regressor of_index(rest.index(), MatrixView<const double>(left.data(), 3, 1));
  CHECK(of_index.regress(query, 2).value == std::vector<double>{5});
}

TEST_CASE("updates: labels, values and weights go where their ids go") {
  const Matrix rows = matrix(1, {3, 1, 2, 1}), query = matrix(1, {0});
  const Numbers ids = {40, 70, 8, 9}, labels = {5, 6, 7, 8, 1, 2, 3, 4};  // two per row
  const Matrix more = matrix(1, {0, 0});
  const Numbers later = {90, 80}, new_labels = {9, 10, 11, 12};
  const MatrixView<const std::int64_t> two(labels.data(), 4, 2), new_two(new_labels.data(), 2, 2);
  const std::vector<float> weights = {1, 2, 4, 8};
  const IndexOptions named{.ids = ids};
  const Classifier all(device(), rows, two, Metric::l1, named, weights);
  CHECK(all.index().numbers() == Numbers{8, 9, 40, 70});
  CHECK(all.sample_weights() == std::vector<float>{4, 8, 1, 2});
  CHECK(all.classify(query, 2).neighbors == Neighbors{1, 2, {1, 1}, {9, 70}});  // the smaller id wins the tie
  CHECK(all.predict(query, 1) == Numbers{3, 4});
  CHECK(all.without(Numbers{9}).compact().predict(query, 1) == Numbers{7, 8});
  const Classifier grown = all.with(more, new_two, std::vector<float>{16, 32}, later);
  CHECK(grown.predict(query, 1) == Numbers{11, 12});
  CHECK(grown.sample_weights() == std::vector<float>{4, 8, 1, 2, 32, 16});
  CHECK(grown.index().next_row() == 91);

  const std::vector<double> values = {1, 2, 4, 8}, new_values = {16, 32};
  const Regressor means(device(), rows, values, Metric::l1, named, weights);
  CHECK(means.values() == std::vector<double>{4, 8, 1, 2});
  CHECK(means.regress(query, 2).value == std::vector<double>{(8 * 8 + 2 * 2) / 10.0});
  CHECK(means.regress(query, 2).neighbors.row == Numbers{9, 70});
  const Regressor longer = means.with(more, {new_values.data(), 2, 1}, std::vector<float>{1, 3}, later);
  CHECK(longer.regress(query, 2).value == std::vector<double>{(3 * 32 + 16) / 4.0});
  CHECK(longer.regress(query, 1).neighbors.row == Numbers{80});

  const IndexOptions twice{.ids = {7, 8, 7, 9}};
  const std::string refused = "invalid_argument: index: rows 0 and 2 both have the id 7; give each its own";
  CHECK(error_of([&] { Classifier(device(), rows, two, Metric::l1, twice); }) == refused);
  CHECK(error_of([&] { Regressor(device(), rows, values, Metric::l1, twice); }) == refused);
  CHECK(error_of([&] {
          all.with(more, new_two, {}, Numbers{70, 71});
        }) == error_of([&] {
          all.index().with(more, Numbers{70, 71});
        }));
}

TEST_CASE("updates: who evaluates a classifier with ids gives its rows in their order") {
  const Matrix rows = matrix(1, {10, 0, 11, 1});
  const Numbers ids = {7, 3, 5, 1}, labels = {9, 7, 9, 7};
  const Classifier named(device(), rows, labels, Metric::l1, {.ids = ids});
  const Matrix ordered = matrix(1, {1, 0, 11, 10});
  CHECK(leave_one_out(named, ordered, 1).correct == Numbers{4});
  CHECK(cross_validate(named, ordered, Numbers{0, 1, 0, 1}, 1).correct == Numbers{4});
}

TEST_CASE("updates: who evaluates a classifier gives the rows that are left") {
  const Matrix rows = matrix(1, {0, 1, 2, 10, 11, 12});
  const Numbers labels = {7, 7, 7, 9, 9, 9};
  const Classifier fewer = Classifier(device(), rows, labels, Metric::l1).without(Numbers{1, 4});
  const Matrix left = matrix(1, {0, 2, 10, 12});
  CHECK(error_of([&] { leave_one_out(fewer, left, 1); }) ==
        "invalid_argument: leave_one_out: 2 rows of the classifier are removed; compact() it first, and give "
        "the rows that are left");
  CHECK(leave_one_out(fewer.compact(), left, 1).correct == Numbers{4});
  const Numbers folds = {0, 1, 0, 1};
  CHECK(cross_validate(fewer.compact(), left, folds, 2).correct[0] == 4);
  CHECK(evaluate(fewer, matrix(1, {1, 11}), Numbers{7, 9}, 2).correct[0] == 2);
}

TEST_CASE("updates: an index and its snapshots share what is made of the rows") {
  const Matrix train = hard_rows(DataKind::integers, Set::train, 3000, 16, Metric::squared_l2);
  const Matrix queries = hard_rows(DataKind::integers, Set::queries, 20, 16, Metric::squared_l2);
  const Index index(device(), train, Metric::squared_l2);
  for_each_proposer([&](Proposer proposer) {
    SearchOptions options{.proposer = proposer};
    index.prepare(20, 3, options);
    const Index fewer = index.without(Numbers{5});
    CHECK(fewer.memory_bytes() == index.memory_bytes());
    Trace trace;
    fewer.search(queries, 3, options, &trace);
    CHECK(trace.quantized_bytes == 0);
    CHECK(fewer.memory_bytes() == index.memory_bytes());
  });
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
