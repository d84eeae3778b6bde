// Classifiers and regressors take every option of an Index: they have the rows, and so the answers, of those
// that are made of an Index with the same options.
#include "common/environment.hpp"
#include "common/parted/half_rows.hpp"
#include "kith/classifier.hpp"
#include "kith/regressor.hpp"

namespace kith::tests {
namespace {

constexpr std::int64_t n = 300, m = 40, k = 7;

using Numbers = std::vector<std::int64_t>;

/// Holds answers and weights of rows, in the order of the rows as given or of the numbers that they get.
struct Answers {
  Numbers labels;
  std::vector<double> values;
  std::vector<float> weights;

  explicit Answers(Numbers order) {
    for (const std::int64_t t : order) {
      labels.push_back(t * 7 % 4 * 10);
      values.push_back(static_cast<double>(t % 13) / 7);
      weights.push_back(0.5f + static_cast<float>(t % 5));
    }
  }
};

/// Returns the rows as given.
Numbers all_rows() {
  Numbers rows(n);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

/// Returns the rows in the order of their ids.
Numbers rows_by_id(const Numbers& ids) {
  Numbers rows = all_rows();
  if (!ids.empty())
    std::sort(rows.begin(), rows.end(), [&](auto a, auto b) { return ids[size(a)] < ids[size(b)]; });
  return rows;
}

void check_same_rows(const Index& index, const Index& expected) {
  CHECK(index.numbers() == expected.numbers());
  CHECK(index.first_row() == expected.first_row());
  CHECK(index.features() == expected.features());
  CHECK(index.centre() == expected.centre());
  CHECK(index.residence() == expected.residence());
}

/// Returns what the members of a set held, and for how many queries they searched, in a classification.
std::vector<std::pair<std::int64_t, std::int64_t>> parts_of(const Classifier& classifier,
                                                            const RowsView& queries) {
  Trace trace;
  classifier.classify(queries, k, SearchOptions{}, &trace);
  std::vector<std::pair<std::int64_t, std::int64_t>> parts;
  for (const MemberTrace& member : trace.members) parts.emplace_back(member.rows, member.queries);
  return parts;
}

void check_answers(const Classifier& made, const Classifier& of_index, const RowsView& queries) {
  check_same_rows(made.index(), of_index.index());
  CHECK(made.sample_weights() == of_index.sample_weights());
  CHECK(made.codes() == of_index.codes());
  CHECK(parts_of(made, queries) == parts_of(of_index, queries));
  for (const Weights weights : {Weights::uniform, Weights::distance}) {
    const VotingOptions voting{.weights = weights};
    const Classification found = made.classify(queries, k, voting),
                         expected = of_index.classify(queries, k, voting);
    CHECK(found.label == expected.label);
    CHECK(found.votes == expected.votes);
    CHECK(bits(found.scores) == bits(expected.scores));
    CHECK(found.neighbors == expected.neighbors);
    const std::vector<float> radius{expected.neighbors.distance[2]};
    const RadiusClassification around = made.classify_within(queries, radius, voting),
                               right = of_index.classify_within(queries, radius, voting);
    CHECK(around.label == right.label);
    CHECK(around.neighbors == right.neighbors);
  }
}

/// Checks that a Classifier and a Regressor of these rows are those of an Index of them.
void check_options(const Device& on, const RowsView& train, const RowsView& queries,
                   const IndexOptions& options) {
  const Answers given(all_rows()), ordered(rows_by_id(options.ids));
  const Index index(on, train, Metric::l2, options);
  const Regressor made(on, train, given.values, Metric::l2, options, given.weights),
      of_index(index, ordered.values, ordered.weights);
  check_same_rows(made.index(), index);
  check_answers(Classifier(on, train, given.labels, Metric::l2, options, given.weights),
                Classifier(index, ordered.labels, ordered.weights), queries);
  CHECK(made.values() == ordered.values);
  CHECK(made.sample_weights() == ordered.weights);
  const Regression found = made.regress(queries, k), expected = of_index.regress(queries, k);
  CHECK(found.value == expected.value);
  CHECK(found.neighbors == expected.neighbors);
}

/// Checks that rows with answers are refused as an Index of the rows is.
template <class Trained, class Rows>
void check_refused_alike(const Trained& trained, const Rows& index) {
  const std::string refused = error_of(index);
  CHECK(refused != "nothing was thrown");
  CHECK(error_of(trained) == refused);
}

/// Has rows and queries of floats with many ties.
struct Floats {
  Matrix train = hard_rows(DataKind::grid, Set::train, n, 3, Metric::l2),
         queries = hard_rows(DataKind::grid, Set::queries, m, 3, Metric::l2);
};

/// Has rows and queries of doubles that are far from 0.
struct Doubles {
  std::vector<double> train = map_points(n, 1), queries = map_points(m, 2);
  RowsView rows() const { return MatrixView<const double>(train.data(), n, 3); }
  RowsView asked() const { return MatrixView<const double>(queries.data(), m, 3); }
};

TEST_SUITE_BEGIN("device");

TEST_CASE("options of rows with answers: columns, numbers, a shard and room for more") {
  const Floats data;
  Numbers ids;
  for (std::int64_t t = 0; t < n; ++t) ids.push_back((t * 37) % n + 11);
  for (const IndexOptions& options : {IndexOptions{.features = {2, 0}}, IndexOptions{.first_row = 1000},
                                      IndexOptions{.ids = ids}, IndexOptions{.reserve = 2 * n}})
    check_options(device(), data.train, data.queries, options);
  const IndexOptions no_room{.reserve = -1}, shard{.largest = flt_max};
  check_refused_alike(
      [&] { Classifier(device(), data.train, Answers(all_rows()).labels, Metric::l2, no_room); },
      [&] { Index(device(), data.train, Metric::l2, no_room); });
  const Matrix rows = matrix(2, {1, 2, 3, 4}), large = matrix(2, {2, 2});
  check_refused_alike(
      [&] {
        Classifier(device(), rows, Numbers{1, 2}, Metric::negative_dot, shard).predict(large, 1);
      },
      [&] { Index(device(), rows, Metric::negative_dot, shard).search(large, 1); });
}

TEST_CASE("options of rows with answers: a centre, learned and given") {
  const Doubles data;
  const IndexOptions learned{.learn_centre = true};
  check_options(device(), data.rows(), data.asked(), learned);
  const std::vector<double> centre = Index(device(), data.rows(), Metric::l2, learned).centre();
  CHECK(centre[0] != 0);
  check_options(device(), data.rows(), data.asked(), {.centre = centre});
  const Answers answers(all_rows());
  const IndexOptions single{.arithmetic = Arithmetic::f32};
  check_refused_alike([&] { Classifier(device(), data.rows(), answers.labels, Metric::l2, single); },
                      [&] { Index(device(), data.rows(), Metric::l2, single); });
  check_refused_alike([&] { Regressor(device(), data.rows(), answers.values, Metric::cosine, learned); },
                      [&] { Index(device(), data.rows(), Metric::cosine, learned); });
}

TEST_CASE("options of rows with answers: rows of halves and bytes stay as they are") {
  if (!lands_halves()) return;
  for (const Element element : halves) {
    // A device with little memory must have room for the scratch of many threads.
    const Matrix rows = rows_of_halves(n, 32, element, 65), queries = rows_of_halves(m, 32, element, 66);
    const Stored stored(rows, element);
    for (const std::int64_t reserve : {std::int64_t{0}, std::int64_t{1}})
      check_options(one_device(), stored.view(), queries, {.reserve = reserve});
    check_options(device_of(HalvesAndFloats::crowd(rows)), stored.view(), queries, {.reserve = 1});
  }
  const Stored bytes(hard_rows(DataKind::integers, Set::train, n, 16, Metric::l2), Element::u8);
  check_options(device(), bytes.view(), bytes.view().slice(0, m), {.reserve = n + 1});
}

TEST_CASE("options of rows with answers: placed on a set of devices") {
  const Floats floats;
  const Doubles doubles;
  for (const Placement placement : {Placement::automatic, Placement::split, Placement::replicate}) {
    CAPTURE(name(placement));
    IndexOptions options{.placement = placement, .shares = {1, 0, 2}};
    check_options(set_of(3), floats.train, floats.queries, options);
    options.learn_centre = true;
    check_options(set_of(3), doubles.rows(), doubles.asked(), options);
  }
  const auto parts = [&](Placement placement) {
    const IndexOptions options{.placement = placement, .shares = {1, 0, 2}};
    return parts_of(Classifier(set_of(3), floats.train, Answers(all_rows()).labels, Metric::l2, options),
                    floats.queries);
  };
  CHECK(parts(Placement::split).size() == 2);
  CHECK(parts(Placement::split) != parts(Placement::replicate));
  const IndexOptions wrong{.shares = {1, 2}};
  check_refused_alike(
      [&] { Classifier(set_of(3), floats.train, Answers(all_rows()).labels, Metric::l2, wrong); },
      [&] { Index(set_of(3), floats.train, Metric::l2, wrong); });
}

TEST_CASE("options of rows with answers: rows that a source keeps are those of an Index of it") {
  const Floats data;
  const Answers answers(all_rows());
  const Classifier resident(device(), data.train, answers.labels, Metric::l2, {}, answers.weights);
  for (const Residence residence : {Residence::stream, Residence::quantized}) {
    CAPTURE(name(residence));
    const IndexOptions options{.residence = residence};
    const std::string refused =
        "invalid_argument: index: residence " + std::string(name(residence)) +
        " is of rows that a source keeps; give memory_source(rows), and keep the rows";
    CHECK(error_of([&] { Classifier(device(), data.train, answers.labels, Metric::l2, options); }) ==
          refused);
    CHECK(error_of([&] { Regressor(device(), data.train, answers.values, Metric::l2, options); }) == refused);
    if (residence == Residence::quantized && !has(Proposer::int8)) continue;
    const Index kept(device(), memory_source(data.train), Metric::l2, options);
    CHECK(kept.residence() == residence);
    const Classification found = Classifier(kept, answers.labels, answers.weights).classify(data.queries, k),
                         expected = resident.classify(data.queries, k);
    CHECK(found.label == expected.label);
    CHECK(bits(found.scores) == bits(expected.scores));
    CHECK(found.neighbors == expected.neighbors);
    CHECK(Regressor(kept, answers.values).predict(data.queries, k) ==
          Regressor(device(), data.train, answers.values).predict(data.queries, k));
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
