// Searches for the best set of features: docs/contract.md, section 12.
#include <stop_token>

#include "common/environment.hpp"
#include "kith/classifier.hpp"
#include "kith/filter.hpp"
#include "kith/parse.hpp"
#include "structure/feature_oracle.hpp"

namespace kith::tests {
namespace {

void check_steps(const FeatureSelection& found, const std::vector<Set32>& expected,
                 const std::map<Set32, double>& scores, Set32 before) {
  REQUIRE(found.steps.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    const FeatureStep& step = found.steps[i];
    CHECK(step.features == listed(expected[i]));
    CHECK(step.score == scores.at(expected[i]));
    CHECK(step.added == (expected[i] > before));
    CHECK(Features{step.feature} == listed(expected[i] ^ before));
    before = expected[i];
  }
}

/// Returns the labels 0, 1, 2, 3, 0, 1, ...
Labels labels_of(std::int64_t n) {
  Labels labels;
  for (std::int64_t row = 0; row < n; ++row) labels.push_back(row % 4);
  return labels;
}

/// Returns rows of whole numbers with labels 0 to 3. The first feature tells much and is larger than the
/// others; the next two together tell everything.
Matrix samples_of(std::uint64_t seed, const Labels& labels, std::int64_t dims) {
  Matrix samples = hard_rows(DataKind::integers, Set::train, static_cast<std::int64_t>(labels.size()), dims,
                             Metric::squared_l2, seed);
  for (std::int64_t row = 0; row < samples.rows; ++row)
    for (std::int64_t d = 0; d < dims; ++d) {
      const std::int64_t label = labels[size(row)];
      float& value = samples.values[size(row * dims + d)];
      value = d == 0 ? 8 * std::fmod(value, 9.0f) + 40 * static_cast<float>(label) : std::fmod(value, 4.0f);
      if (d == 1) value += 6 * static_cast<float>(label % 2);
      if (d == 2) value += 6 * static_cast<float>(label / 2);
    }
  return samples;
}

FeatureSelectionOptions options_of(Criterion criterion, SelectionMethod method) {
  FeatureSelectionOptions options;
  options.criterion = criterion;
  options.method = method;
  return options;
}

TEST_CASE("feature selection: names, both ways") {
  for (const Criterion criterion : {Criterion::informativeness, Criterion::leave_one_out})
    CHECK(parse<Criterion>(name(criterion)) == criterion);
  for (const SelectionMethod method :
       {SelectionMethod::forward, SelectionMethod::backward, SelectionMethod::floating})
    CHECK(parse<SelectionMethod>(name(method)) == method);
  CHECK(error_of([] { parse<Criterion>("luck"); }) ==
        "invalid_argument: criterion: there is none called \"luck\"; choose one of informativeness, "
        "leave_one_out");
  CHECK(error_of([] { parse<SelectionMethod>("sideways"); }) ==
        "invalid_argument: selection method: there is none called \"sideways\"; choose one of forward, "
        "backward, floating");
}

TEST_SUITE_BEGIN("device");

// Feature 0 is noise, feature 2 separates the classes, and 1 is a copy of 2. Squared differences in feature 2
// are 1 within a class and 100, 121, 121, 144 between classes; in feature 0 they are 4, 4 and 0, 4, 4, 0.
const Matrix by_hand = matrix(3, {0, 0, 0, /**/ 2, 1, 1, /**/ 0, 11, 11, /**/ 2, 12, 12});
const Labels two_classes{1, 1, 2, 2};

TEST_CASE("feature selection: by hand") {
  const FeatureSelection found =
      select_features(device(), by_hand, two_classes, Metric::squared_l2,
                      options_of(Criterion::informativeness, SelectionMethod::forward));
  REQUIRE(found.steps.size() == 3);
  CHECK(found.steps[0].feature == 1);  // as good as feature 2, but the smaller number
  CHECK(found.steps[0].score == 121.5);
  CHECK(found.steps[1].features == Features{1, 2});
  CHECK(found.steps[1].score == 121.5);
  CHECK(found.steps[2].features == Features{0, 1, 2});
  CHECK(found.steps[2].score == 245.0 / 6);
  CHECK(found.best == Features{1});  // the smallest of the best sets
  CHECK(found.best_score == 121.5);
  CHECK(found.all_score == 245.0 / 6);
  CHECK(found.evaluated == 6);  // all features; 0, 1 and 2; 0 1 and 1 2

  const FeatureSelection back =
      select_features(device(), by_hand, two_classes, Metric::squared_l2,
                      options_of(Criterion::informativeness, SelectionMethod::backward));
  REQUIRE(back.steps.size() == 2);
  CHECK(back.steps[0].feature == 0);
  CHECK(back.steps[0].added == false);
  // Removing it costs as little as removing 2, but it is the smaller number.
  CHECK(back.steps[1].feature == 1);
  CHECK(back.best == Features{2});
  CHECK(back.evaluated == 6);
}

TEST_CASE("feature selection: leave-one-out by hand, and all features where none can be spared") {
  // By either feature alone the nearest row has another label; by both together it has the same.
  const Matrix samples = matrix(2, {0, 0, /**/ 1, 1, /**/ 5, 0, /**/ 6, 1, /**/ 0, 9, /**/ 1, 8});
  const Labels labels{1, 1, 2, 2, 3, 3};
  FeatureSelectionOptions options = options_of(Criterion::leave_one_out, SelectionMethod::backward);
  const FeatureSelection found = select_features(device(), samples, labels, Metric::squared_l2, options);
  CHECK(found.all_score == 1);
  CHECK(found.best == Features{0, 1});
  CHECK(found.best_score == 1);
  REQUIRE(found.steps.size() == 1);
  CHECK(found.steps[0].score == nearest_right(columns(samples, 2), labels));
  CHECK(found.steps[0].score < 1);
  options.least = 2;
  const FeatureSelection none = select_features(device(), samples, labels, Metric::squared_l2, options);
  CHECK(none.steps.empty());
  CHECK(none.best == Features{0, 1});
  CHECK(none.evaluated == 1);
}

TEST_CASE("feature selection: the steps that the scores of all sets give") {
  const int dims = 5;
  int dropped = 0;
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u})
    for (const Criterion criterion : {Criterion::informativeness, Criterion::leave_one_out}) {
      const Labels labels = labels_of(24);
      const Matrix samples = samples_of(seed, labels, dims);
      const auto scores = all_scores(samples, labels, criterion);
      for (const SelectionMethod method :
           {SelectionMethod::forward, SelectionMethod::backward, SelectionMethod::floating}) {
        CAPTURE_ALL(seed, name(criterion), name(method));
        const FeatureSelection found =
            select_features(device(), samples, labels, Metric::squared_l2, options_of(criterion, method));
        const std::vector<Set32> expected = path(scores, method, dims);
        const Set32 all = (1u << dims) - 1;
        check_steps(found, expected, scores, method == SelectionMethod::backward ? all : 0);
        CHECK(found.all_score == scores.at(all));
        double best = method == SelectionMethod::backward ? scores.at(all) : 0;
        for (const Set32 set : expected) best = std::max(best, scores.at(set));
        CHECK(found.best_score == best);
        Set32 chosen = 0;
        for (const std::int64_t d : found.best) chosen |= 1u << d;
        CHECK(scores.at(chosen) == best);
        for (const Set32 set : expected)
          if (scores.at(set) == best) CHECK(std::popcount(chosen) <= std::popcount(set));
        if (method == SelectionMethod::floating)
          for (const FeatureStep& step : found.steps) dropped += !step.added;
        else
          CHECK(found.evaluated == 15);  // 5 + 4 + 3 + 2 + 1
      }
    }
  CHECK(dropped > 0);
}

TEST_CASE("feature selection: floating leaves what forward is caught in") {
  // Feature 0 alone is right for 6 of 8 rows and hides the others; features 1 and 2 together are
  // right for all.
  const Matrix samples = matrix(3, {0,   0, 0, /**/ 1,   0, 1, /**/ 100, 9, 9, /**/ 101, 9, 8,
                                    200, 9, 0, /**/ 201, 9, 1, /**/ 50,  0, 9, /**/ 150, 0, 8});
  const Labels labels{1, 1, 2, 2, 3, 3, 4, 4};
  const auto select = [&](SelectionMethod method) {
    return select_features(device(), samples, labels, Metric::squared_l2,
                           options_of(Criterion::leave_one_out, method));
  };
  const FeatureSelection caught = select(SelectionMethod::forward);
  CHECK(caught.best == Features{0});
  CHECK(caught.best_score == 0.75);
  const FeatureSelection found = select(SelectionMethod::floating);
  CHECK(found.best == Features{1, 2});
  CHECK(found.best_score == 1);
  REQUIRE(found.steps.size() == 5);
  CHECK(found.steps[2].features == Features{0, 1, 2});
  CHECK(found.steps[3].feature == 0);
  CHECK(found.steps[3].added == false);
  CHECK(found.steps[4].features == Features{0, 1, 2});
}

TEST_CASE("feature selection: most and least end the steps") {
  const Labels labels = labels_of(20);
  const Matrix samples = samples_of(3, labels, 4);
  FeatureSelectionOptions options = options_of(Criterion::informativeness, SelectionMethod::forward);
  options.most = 2;
  const FeatureSelection grown = select_features(device(), samples, labels, Metric::l1, options);
  CHECK(grown.steps.size() == 2);
  CHECK(grown.evaluated == 8);  // the set of all features, then 4 and 3 sets
  options.method = SelectionMethod::backward;
  options.least = 3;
  const FeatureSelection shrunk = select_features(device(), samples, labels, Metric::l1, options);
  CHECK(shrunk.steps.size() == 1);
  CHECK(shrunk.steps[0].features.size() == 3);
  CHECK(shrunk.evaluated == 5);
}

TEST_CASE("feature selection: infinity is above all numbers, NaN below") {
  // Feature 0 never varies: 0 / 0. Feature 1 gives a number. Feature 2 never varies within a class: x / 0.
  const Matrix samples = matrix(3, {7, 0, 1, /**/ 7, 1, 1, /**/ 7, 4, 2, /**/ 7, 5, 2});
  FeatureSelectionOptions options = options_of(Criterion::informativeness, SelectionMethod::forward);
  options.most = 1;
  const FeatureSelection found = select_features(device(), samples, two_classes, Metric::squared_l2, options);
  CHECK(found.best == Features{2});
  CHECK(found.best_score == double(inf));
  const Matrix without = columns(samples, 0b011);
  CHECK(select_features(device(), without, two_classes, Metric::squared_l2, options).best == Features{1});
  // With one class all scores are NaN, and the smallest feature numbers are taken.
  for (const SelectionMethod method : {SelectionMethod::forward, SelectionMethod::floating}) {
    const FeatureSelection none = select_features(device(), samples, Labels{4, 4, 4, 4}, Metric::squared_l2,
                                                  options_of(Criterion::informativeness, method));
    REQUIRE(none.steps.size() == 3);
    CHECK(none.steps[0].features == Features{0});
    CHECK(none.steps[1].features == Features{0, 1});
    CHECK(none.best == Features{0});
    CHECK(std::isnan(none.best_score));
    CHECK(std::isnan(none.all_score));
  }
}

TEST_CASE(
    "feature selection: the same steps and scores, and progress told, whatever the host program has set") {
  // Feature 1 never varies: its score, 0 / 0, is compared with numbers.
  const Matrix samples = matrix(3, {0, 7, 1, /**/ 1, 7, 3, /**/ 4, 7, 2, /**/ 5, 7, 2.5f});
  for (const Criterion criterion : {Criterion::informativeness, Criterion::leave_one_out})
    for (const SelectionMethod method :
         {SelectionMethod::forward, SelectionMethod::backward, SelectionMethod::floating}) {
      FeatureSelectionOptions options = options_of(criterion, method);
      const auto select = [&] {
        const FeatureSelection found =
            select_features(device(), samples, two_classes, Metric::squared_l2, options);
        return std::pair(found.best, found.best_score);
      };
      const auto expected = select();
      for (const HostileSetting setting : hostile_settings) {
        CAPTURE_ALL(name(criterion), name(method), name(setting));
        std::pair<Features, double> found;
        bool kept = true;
        {
          const HostileEnvironment hostile(setting);
          options.progress = [&](std::int64_t, std::int64_t) { kept = kept && hostile.still_set(); };
          found = select();
          kept = kept && hostile.still_set();
        }
        CHECK(found == expected);
        CHECK(kept);
      }
    }
}

TEST_CASE("feature selection: leave-one-out with several neighbours and weights") {
  const Labels labels = labels_of(30);
  const Matrix samples = samples_of(9, labels, 3);
  FeatureSelectionOptions options = options_of(Criterion::leave_one_out, SelectionMethod::backward);
  options.k = 5;
  options.voting.weights = Weights::distance;
  const FeatureSelection found = select_features(device(), samples, labels, Metric::squared_l2, options);
  const Classifier classifier(device(), samples, labels, Metric::squared_l2);
  SearchOptions alone{.self = 0};
  const Labels given = classifier.classify(samples, 5, options.voting, alone).label;
  double right = 0;
  for (std::size_t row = 0; row < labels.size(); ++row) right += given[row] == labels[row];
  CHECK(found.all_score == right / 30);
}

TEST_CASE("feature selection: progress, a stop, and what a caller throws") {
  const Labels labels = labels_of(20);
  const Matrix samples = samples_of(3, labels, 4);
  const auto select = [&](const FeatureSelectionOptions& options) {
    return select_features(device(), samples, labels, Metric::squared_l2, options);
  };
  for (const SelectionMethod method :
       {SelectionMethod::forward, SelectionMethod::backward, SelectionMethod::floating}) {
    FeatureSelectionOptions options = options_of(Criterion::leave_one_out, method);
    std::vector<std::pair<std::int64_t, std::int64_t>> seen;
    options.progress = [&](std::int64_t done, std::int64_t expected) { seen.emplace_back(done, expected); };
    const FeatureSelection found = select(options);
    REQUIRE(seen.size() == size(found.evaluated));
    for (std::size_t i = 0; i < seen.size(); ++i) {
      CHECK(seen[i].first == static_cast<std::int64_t>(i) + 1);
      CHECK(seen[i].second >= seen[i].first);
      if (method != SelectionMethod::floating) CHECK(seen[i].second == 10);
    }
    options.progress = [](std::int64_t done, std::int64_t) {
      if (done == 3) throw std::string("enough");
    };
    CHECK_THROWS_AS(select(options), std::string);
  }
  FeatureSelectionOptions options;
  std::stop_source stop;
  options.plan.stop = stop.get_token();
  options.progress = [&](std::int64_t, std::int64_t) { stop.request_stop(); };
  CHECK(error_of([&] { select(options); }) ==
        "interrupted: select_features: stopped after 1 sets, as was asked; nothing is returned");
}

TEST_CASE("feature selection: bad input") {
  const auto error = [](auto change) {
    FeatureSelectionOptions options;
    change(options);
    return error_of([&] { select_features(device(), by_hand, two_classes, Metric::squared_l2, options); });
  };
  CHECK(error([](auto& options) { options.most = 4; }) ==
        "invalid_argument: select_features: most = 4 of 3 features; choose 0 (all) ... 3");
  CHECK(error([](auto& options) { options.most = -1; }) ==
        "invalid_argument: select_features: most = -1 of 3 features; choose 0 (all) ... 3");
  CHECK(error([](auto& options) { options.least = 0; }) ==
        "invalid_argument: select_features: least = 0 of 3 features; choose 1 ... 3");
  CHECK(error([](auto& options) {
          options.criterion = Criterion::leave_one_out;
          options.k = 4;
        }) == "invalid_argument: select_features: k = 4, but a row has 3 others; choose k from 1 to 3");
  CHECK(error([](auto& options) { options.plan.self = 0; }) ==
        "invalid_argument: select_features: the plan has self, which is set where it is needed; leave it "
        "empty");
  CHECK(error([](auto& options) { options.plan.radius = 1; }) ==
        "invalid_argument: select_features: the plan has a radius, but the k nearest vote; leave it out");
  const RowFilter filter(4);
  CHECK(error([&](auto& options) { options.plan.filter = filter; }) ==
        "invalid_argument: select_features: the plan has a filter; give the rows that count instead");
  CHECK(error_of([] {
          select_features(device(), {nullptr, 0, 3}, {}, Metric::l1, {});
        }) ==
        "invalid_argument: select_features: the samples are [0, 3]; give at least one row and one column");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
