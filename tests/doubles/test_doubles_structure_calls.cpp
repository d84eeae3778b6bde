// Tests samples that join a class structure in double precision, classification by it, sets of features, and
// refusals: docs/contract.md, sections 11 and 12.
#include <stop_token>

#include "common/parted/sets.hpp"
#include "common/tuning.hpp"
#include "doubles/structure_oracle.hpp"
#include "kith/classifier.hpp"
#include "kith/evaluation.hpp"
#include "kith/feature_selection.hpp"

namespace kith::tests {
namespace {

using Sets = std::vector<std::vector<std::int64_t>>;

/// Returns only some columns.
DoubleMatrix columns_of_doubles(const DoubleMatrix& rows, const std::vector<std::int64_t>& columns) {
  DoubleMatrix some{rows.rows, static_cast<std::int64_t>(columns.size()), {}};
  for (std::int64_t r = 0; r < rows.rows; ++r)
    for (const std::int64_t column : columns) some.values.push_back(rows.view()(r, column));
  return some;
}

/// Returns the label of the nearest of `among` to each query.
std::vector<std::int64_t> labels_by_oracle(Metric metric, const DoubleMatrix& samples,
                                           const DoubleMatrix& queries,
                                           const std::vector<std::int64_t>& labels,
                                           const std::vector<std::int64_t>& among) {
  const auto lists = all_by_oracle(metric, samples, queries, [&](std::int64_t, std::int64_t t) {
    return among.empty() || std::find(among.begin(), among.end(), t) != among.end();
  });
  std::vector<std::int64_t> found;
  for (const auto& list : lists) found.push_back(labels[static_cast<std::size_t>(list[0].row)]);
  return found;
}

/// A set of features, and the share of samples whose nearest other sample has the same label.
double left_out_by_oracle(Metric metric, const DoubleMatrix& samples,
                          const std::vector<std::int64_t>& labels) {
  const StructureByOracle right(metric, samples, labels);
  const std::vector<std::size_t> nearest = right.nearest_others();
  std::size_t count = 0;
  for (std::size_t i = 0; i < right.n; ++i) count += right.codes[nearest[i]] == right.codes[i] ? 1 : 0;
  return static_cast<double>(count) / static_cast<double>(right.n);
}

TEST_SUITE("device") {
  TEST_CASE("doubles: a class structure of integers is that of the doubles that they equal") {
    const std::vector<std::int64_t> whole = {1700000000000001, 4, 1700000000000003, 9, 1700000000000008, 1};
    const DoubleMatrix same{3, 2, {whole.begin(), whole.end()}};
    const std::vector<std::int64_t> labels = {1, 2, 1};
    const MatrixView<const std::int64_t> rows(whole.data(), 3, 2);
    const Structure structure(device(), rows, labels), right(device(), same, labels);
    CHECK(structure.class_matrix().mean == right.class_matrix().mean);
    CHECK(structure.with(rows, labels).class_matrix().mean == right.with(same, labels).class_matrix().mean);
    const Sets sets = {{0}, {1}};
    const auto measured = [&](const RowsView& given) {
      return class_matrices(device(), given, labels, Metric::l1, sets);
    };
    CHECK(measured(rows)[0].mean == measured(same)[0].mean);
    CHECK(measured(rows)[1].mean == measured(same)[1].mean);
    const std::vector<std::int64_t> beyond = {1, 2, (std::int64_t{1} << 53) + 1};
    CHECK(error_of([&] { Structure(device(), MatrixView<const std::int64_t>(beyond.data(), 3, 1), labels); })
              .starts_with(
                  "invalid_argument: index: training row 2, column 0 holds 9007199254740993, beyond 2^53"));
  }

  TEST_CASE("doubles: samples join a class structure, before and after sums are made") {
    std::mt19937 random(41);
    for (const Metric metric : {Metric::l2, Metric::cosine})
      for (const DoubleData kind : {DoubleData::map, DoubleData::float_ulp, DoubleData::huge}) {
        const DoubleMatrix all = double_rows(kind, 90, 3, random);
        const std::vector<std::int64_t> labels = labels_by_chance(90, 4, random);
        const StructureByOracle right(metric, all, labels);
        const auto part = [&](std::int64_t first, std::int64_t count) {
          return RowsView(all.view().slice(first, count));
        };
        const auto some = [&](std::size_t first, std::size_t count) {
          return std::span(labels).subspan(first, count);
        };
        const Structure base(device(), part(0, 50), some(0, 50), metric);
        check_structure(base.with(part(50, 40), some(50, 40)), right);
        base.class_matrix();
        const Structure half = base.with(part(50, 1), some(50, 1));
        half.sample_classes();
        check_structure(half.with(part(51, 39), some(51, 39)), right);
        CHECK(base.index().rows() == 50);
      }
  }

  TEST_CASE("doubles: class structure of other elements is exact, if f64 is asked for") {
    std::mt19937 random(42);
    std::vector<float> floats;
    std::vector<std::uint8_t> bytes;
    for (int i = 0; i < 120; ++i) {
      floats.push_back(i % 9 == 0 ? 0x1p-149f : static_cast<float>(random() % 1000) / 7);
      bytes.push_back(static_cast<std::uint8_t>(random()));
    }
    const std::vector<std::int64_t> labels = labels_by_chance(40, 3, random);
    IndexOptions options;
    options.arithmetic = Arithmetic::f64;
    const Structure structure(device(), RowsView(floats.data(), 40, 3), labels, Metric::l1, options);
    DoubleMatrix same{40, 3, {floats.begin(), floats.end()}};
    check_structure(structure, {Metric::l1, same, labels});
    same.values.insert(same.values.end(), bytes.begin(), bytes.end());
    same.rows = 80;
    std::vector<std::int64_t> both = labels;
    both.insert(both.end(), labels.begin(), labels.end());
    check_structure(structure.with(RowsView(bytes.data(), Element::u8, 40, 3), labels),
                    {Metric::l1, same, both});
  }

  TEST_CASE("doubles: classification by samples, by prototypes, and by given distances") {
    std::mt19937 random(43);
    for (const Metric metric : structure_metrics)
      for (const DoubleData kind : {DoubleData::map, DoubleData::one_ulp, DoubleData::equal}) {
        CAPTURE_ALL(name(metric), static_cast<int>(kind));
        const DoubleMatrix samples = double_rows(kind, 60, 3, random),
                           queries = double_rows(kind, 20, 3, random);
        const std::vector<std::int64_t> labels = labels_by_chance(60, 5, random);
        const Structure structure(device(), samples, labels, metric);
        std::vector<double> raw;
        const DoubleMatrix rows = prepared_by_oracle(metric, samples),
                           asked = prepared_by_oracle(metric, queries);
        for (std::int64_t i = 0; i < 20 * 60; ++i)
          raw.push_back(
              chain_by_oracle(metric, asked.view().row(i / 60), rows.view().row(i % 60), rows.cols));
        const MatrixView<const double> given(raw.data(), 20, 60);
        for (const std::vector<std::int64_t>& among : Sets{{}, {41, 3, 17, 18}, {59}}) {
          const auto right = labels_by_oracle(metric, samples, queries, labels, among);
          CHECK(structure.classify(queries, among) == right);
          CHECK(structure.classify_distances(given, among) == right);
        }
      }
  }

  TEST_CASE("doubles: class matrices of sets of features are those of a structure of each set") {
    std::mt19937 random(44);
    for (const Metric metric : structure_metrics) {
      DoubleMatrix samples = double_rows(DoubleData::map, 70, 5, random);
      const std::vector<std::int64_t> labels = labels_by_chance(70, 4, random);
      const Sets sets = {{0}, {3, 1}, {}, {4, 2, 0}};
      for (const SearchOptions& options :
           {SearchOptions{}, SearchOptions{.query_tile = 9, .train_tile = 20, .threads = 3}}) {
        const std::vector<ClassMatrix> found =
            class_matrices(device(), samples, labels, metric, sets, options);
        REQUIRE(found.size() == sets.size());
        for (std::size_t s = 0; s < sets.size(); ++s) {
          std::vector<std::int64_t> columns = sets[s];
          std::sort(columns.begin(), columns.end());
          const StructureByOracle right(
              metric, columns.empty() ? samples : columns_of_doubles(samples, columns), labels);
          check_matrix(found[s], right);
          check_structure(Structure(device(), samples, labels, metric, {sets[s]}), right);
        }
      }
      // Columns that do not count are not read.
      samples.values[4] = std::numeric_limits<double>::quiet_NaN();
      CHECK_NOTHROW(class_matrices(device(), samples, labels, metric, Sets{{0, 1}}));
      CHECK_NOTHROW(Structure(device(), samples, labels, metric, {{0, 1}}).class_matrix());
      CHECK(
          error_of([&] {
            class_matrices(device(), samples, labels, metric, Sets{{0}, {4}});
          }) ==
          "invalid_argument: structure: sample row 0, column 4 holds NaN; make every value finite, or leave "
          "the row out");
    }
  }

  TEST_CASE("doubles: features are selected by doubles") {
    std::mt19937 random(45);
    // Only column 1 tells the classes apart, by digits that floats do not have.
    DoubleMatrix samples = double_rows(DoubleData::normal, 40, 3, random);
    std::vector<std::int64_t> labels;
    for (std::int64_t r = 0; r < 40; ++r) {
      labels.push_back(r % 2);
      samples.values[static_cast<std::size_t>(r * 3 + 1)] =
          1e9 + static_cast<double>(r % 2) * 10 + static_cast<double>(r) / 64;
    }
    for (const Criterion criterion : {Criterion::informativeness, Criterion::leave_one_out})
      for (const SelectionMethod method :
           {SelectionMethod::forward, SelectionMethod::backward, SelectionMethod::floating}) {
        CAPTURE_ALL(name(criterion), name(method));
        FeatureSelectionOptions options;
        options.criterion = criterion;
        options.method = method;
        const FeatureSelection found =
            select_features(device(), samples, labels, Metric::squared_l2, options);
        CHECK(found.arithmetic == Arithmetic::f64);
        CHECK(found.best == std::vector<std::int64_t>{1});
        for (const FeatureStep& step : found.steps) {
          const DoubleMatrix columns = columns_of_doubles(samples, step.features);
          CHECK(step.score == (criterion == Criterion::informativeness
                                   ? StructureByOracle(Metric::squared_l2, columns, labels).informativeness
                                   : left_out_by_oracle(Metric::squared_l2, columns, labels)));
        }
      }
  }

  TEST_CASE("doubles: features of other elements are selected by doubles, if f64 is asked for") {
    std::mt19937 random(46);
    std::vector<float> floats;
    for (int i = 0; i < 90; ++i) floats.push_back(static_cast<float>(random() % 1000) / 7);
    const std::vector<std::int64_t> labels = labels_by_chance(30, 2, random);
    FeatureSelectionOptions options;
    options.arithmetic = Arithmetic::f64;
    const FeatureSelection found =
        select_features(device(), RowsView(floats.data(), 30, 3), labels, Metric::l1, options);
    CHECK(found.arithmetic == Arithmetic::f64);
    const DoubleMatrix same{30, 3, {floats.begin(), floats.end()}};
    CHECK(found.all_score == StructureByOracle(Metric::l1, same, labels).informativeness);
    options.arithmetic = Arithmetic::f32;
    CHECK(error_of([&] {
            select_features(device(), same, labels, Metric::l1, options);
          }).starts_with("unsupported: select_features: the sample rows are f64"));
  }

  TEST_CASE("doubles: on a set of devices the first one computes class structure") {
    std::mt19937 random(47);
    const DoubleMatrix samples = double_rows(DoubleData::map, 60, 4, random);
    const StructureByOracle right(Metric::l2, samples, labels_by_chance(60, 3, random));
    const Device set = set_of(2);
    Trace by_one, by_set;
    const Structure structure(set, samples, right.labels, Metric::l2);
    check_structure(structure, right);
    structure.class_matrix({}, &by_set);
    Structure(one_device(), samples, right.labels, Metric::l2).class_matrix({}, &by_one);
    CHECK(by_set.plan.double_chains == by_one.plan.double_chains);
    check_matrix(class_matrices(set, samples, right.labels, Metric::l2, Sets{{}})[0], right);
  }

  TEST_CASE("doubles: who computes the chains of class structure") {
    std::mt19937 random(48);
    const DoubleMatrix samples = double_rows(DoubleData::map, 400, 3, random);
    const StructureByOracle right(Metric::l2, samples, labels_by_chance(400, 3, random));
    const auto ranker_of = [&](const Device& on, const SearchOptions& options) {
      const Structure structure(on, samples, right.labels, Metric::l2);
      Trace trace;
      check_matrix(structure.class_matrix(options, &trace), right);
      CHECK(trace.plan.workspace_bytes > 0);
      return trace.plan.double_chains;
    };
    if (device().info().backend == "cpu") {
      CHECK(ranker_of(device(), {.memory_limit = 9000}) == "by the device");
      return;
    }
    CHECK(ranker_of(device(), {.memory_limit = 9000})
              .starts_with("by the host, since "));  // the rows take 9,600 bytes
    if (device().info().backend != "opencl") return;
    const Variable without("KITH_CL_FP64", "off");
    CHECK(ranker_of(open_device(device_spec()), {}) ==
          "by the host, since it has no double precision (cl_khr_fp64)");
  }

  TEST_CASE("doubles: progress, stop, trace and refusals of class structure") {
    const DoubleMatrix samples{5, 1, {0, 1, 5, 6, 9}};
    const std::vector<std::int64_t> labels = {1, 1, 2, 2, 2};
    const Structure structure(device(), samples, labels);
    std::vector<double> fractions;
    SearchOptions options{.query_tile = 2, .train_tile = 3};
    options.progress = [&](const Progress& progress) { fractions.push_back(progress.fraction); };
    Trace trace;
    structure.class_matrix(options, &trace);
    CHECK(std::is_sorted(fractions.begin(), fractions.end()));
    CHECK(fractions.size() == 6);
    CHECK(fractions.back() == 1);
    CHECK(trace.query_tiles == 3);
    CHECK(trace.train_tiles == 2);
    CHECK(trace.ranked_doubles == 25);
    CHECK(trace.plan.reason ==
          "distances of a tile are added to the sums of their classes by the host, in double precision");
    CHECK(trace.plan.double_chains.starts_with("by the "));
    CHECK(trace.seconds.count("sum") == 1);
    fractions.clear();
    class_matrices(device(), samples, labels, Metric::l1, Sets{{0}, {}}, options);
    CHECK(std::is_sorted(fractions.begin(), fractions.end()));
    CHECK(fractions.size() == 12);
    CHECK(fractions.back() == 1);
    std::stop_source source;
    options.stop = source.get_token();
    options.progress = [&](const Progress&) { source.request_stop(); };
    CHECK(error_of([&] {
            structure.class_matrix(options);
          }).starts_with("interrupted: search: stopped after 1 of "));
    CHECK(error_of([&] { structure.distances(0, 5, options); }).starts_with("interrupted: "));
    CHECK(error_of([&] {
            structure.class_matrix({.memory_limit = 16});
          }).starts_with("out_of_memory: structure: one sample and 2 classes take "));

    CHECK(error_of([&] { structure.classify_distances(MatrixView<const float>()); }) ==
          "invalid_argument: structure: distances are f32, but the structure computes in f64; give distances "
          "as it does");
    const std::vector<double> bad = {1, 2, 3, 4, std::numeric_limits<double>::quiet_NaN()};
    CHECK(error_of([&] { structure.classify_distances(MatrixView<const double>(bad.data(), 1, 5)); }) ==
          "invalid_argument: structure: row 0, column 4 holds NaN; every distance must be a number");
    const std::vector<float> floats = {1, 2};
    const Structure single(device(), RowsView(floats.data(), 2, 1), std::vector<std::int64_t>{1, 2});
    CHECK(error_of([&] { single.classify_distances(MatrixView<const double>(bad.data(), 1, 2)); }) ==
          "invalid_argument: structure: distances are f64, but the structure computes in f32; give distances "
          "as it does");
    CHECK(error_of([&] {
            single.with(samples, labels);
          }).starts_with("unsupported: index: the added rows are f64"));
    CHECK(error_of([&] {
            structure.with(DoubleMatrix{1, 2, {1, 2}}, std::vector<std::int64_t>{1});
          }) == "invalid_argument: index: the added rows have 2 columns but the index has 1; give as many");
  }
}

}  // namespace
}  // namespace kith::tests
