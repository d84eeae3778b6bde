// Tests rows of every element: storage never changes an answer (docs/contract.md, section 3).
#include "common/device.hpp"
#include "common/elements.hpp"
#include "common/oracle.hpp"
#include "kith/classifier.hpp"
#include "kith/evaluation.hpp"
#include "kith/feature_selection.hpp"
#include "kith/index.hpp"
#include "kith/parse.hpp"
#include "kith/regressor.hpp"
#include "kith/structure.hpp"
#include "kith/unstable/stages.hpp"

namespace kith::tests {
namespace {

/// Returns whole numbers that every element has.
Matrix small_numbers(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  Matrix made{rows, cols, {}};
  std::uint64_t state = seed;
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    made.values.push_back(static_cast<float>(state >> 59) + (i % cols == 0 ? 1.0f : 0.0f));
  }
  return made;
}

/// Returns all patterns of 16 bits that are numbers, as rows of one column.
Stored all_halves(Element element, float (*value_of)(std::uint16_t), Matrix& same) {
  std::vector<std::uint16_t> finite;
  for (std::uint32_t p = 0; p < 0x10000u; ++p)
    if (std::isfinite(value_of(static_cast<std::uint16_t>(p))))
      finite.push_back(static_cast<std::uint16_t>(p));
  const auto count = static_cast<std::int64_t>(finite.size());
  Stored stored(element, count, 1);
  same = {count, 1, {}};
  for (std::int64_t r = 0; r < count; ++r) {
    stored.put_pattern(r, 0, finite[size(r)]);
    same.values.push_back(value_of(finite[size(r)]));
  }
  return stored;
}

void check_all_halves(Element element, float (*value_of)(std::uint16_t), std::int64_t numbers) {
  CAPTURE(std::string(name(element)));
  Matrix same;
  const Stored rows = all_halves(element, value_of, same);
  REQUIRE(same.rows == numbers);
  const Matrix one = matrix(1, {1});
  CHECK(difference(stages::distance(device(), one, rows.view(), Metric::negative_dot),
                   chains(Metric::negative_dot, one, same)) == "");
  // The same rows as queries find their nearest of a few rows.
  const Matrix train = matrix(1, {0, -0x1p-133f, 0x1p-24f, 1, -65504, 3e38f});
  CHECK(Index(device(), train, Metric::l1).search(rows.view(), 2) ==
        Index(device(), train, Metric::l1).search(same, 2));
}

TEST_SUITE_BEGIN("device");

TEST_CASE("elements: all numbers of f16 and of bf16 are the float32 that they equal") {
  check_all_halves(Element::f16, value_of_f16, 65536 - 2 * 1024);
  check_all_halves(Element::bf16, value_of_bf16, 65536 - 2 * 128);
}

TEST_CASE("elements: every NaN and infinity of f16 and of bf16 is refused by row and column") {
  for (const Element element : {Element::f16, Element::bf16}) {
    const auto value_of = element == Element::f16 ? value_of_f16 : value_of_bf16;
    for (std::uint32_t p = 0; p < 0x10000u; ++p) {
      const auto pattern = static_cast<std::uint16_t>(p);
      const float value = value_of(pattern);
      if (std::isfinite(value)) continue;
      Stored rows(matrix(3, {1, 2, 3, 4, 5, 6}), element);
      rows.put_pattern(1, 2, pattern);
      const std::string refusal = error_of([&] { Index(device(), rows.view(), Metric::l2); });
      if (refusal == std::string("invalid_argument: index: training row 1, column 2 holds ") +
                         (std::isnan(value) ? "NaN" : "an infinity") +
                         "; make every value finite, or leave the row out")
        continue;
      CAPTURE(p);
      CHECK(refusal == "");
    }
  }
}

TEST_CASE("elements: rows and queries of any two elements, by each metric, with gaps at odd addresses") {
  const Matrix train = small_numbers(150, 7, 1), queries = small_numbers(12, 7, 2);
  for (const Metric metric : number_metrics) {
    const Neighbors expected = neighbors(metric, queries, train, 9);
    std::int64_t gap = 0;
    for (const Element of_train : number_elements)
      for (const Element of_queries : number_elements) {
        CAPTURE_ALL(name(metric), name(of_train), name(of_queries));
        gap = (gap + 1) % 4;
        const Stored rows(train, of_train, gap, gap), asked(queries, of_queries, 3 - gap, 1);
        CHECK(difference(Index(device(), rows.view(), metric).search(asked.view(), 9), expected) == "");
      }
  }
}

TEST_CASE("elements: columns of 0 and 255, as many as a sum of squares has exact, and one more") {
  for (const std::int64_t cols : {257, 258, 259}) {
    Matrix train{40, cols, {}}, queries{3, cols, {}};
    for (std::int64_t r = 0; r < 40; ++r)
      for (std::int64_t d = 0; d < cols; ++d) train.values.push_back(d < cols - r ? 0.0f : 255.0f);
    for (std::int64_t q = 0; q < 3; ++q)
      for (std::int64_t d = 0; d < cols; ++d) queries.values.push_back(q == 0 || d % 3 == q ? 255.0f : 0.0f);
    const Stored rows(train, Element::u8), asked(queries, Element::u8);
    for (const Metric metric : number_metrics) {
      if (metric == Metric::cosine) continue;  // row 0 has no direction
      CAPTURE_ALL(cols, name(metric));
      CHECK(difference(stages::distance(device(), asked.view(), rows.view(), metric),
                       chains(metric, queries, train)) == "");
      CHECK(difference(Index(device(), rows.view(), metric).search(asked.view(), 40),
                       neighbors(metric, queries, train, 40)) == "");
    }
  }
}

TEST_CASE("elements: all numbers of one byte") {
  Matrix without_sign{256, 1, {}}, with_sign{256, 1, {}};
  Stored u8(Element::u8, 256, 1), i8(Element::i8, 256, 1);
  for (int value = 0; value < 256; ++value) {
    without_sign.values.push_back(static_cast<float>(value));
    with_sign.values.push_back(static_cast<float>(value - 128));
    u8.put_pattern(value, 0, static_cast<std::uint8_t>(value));
    i8.put_pattern(value, 0, static_cast<std::int8_t>(value - 128));
  }
  const Matrix one = matrix(1, {1});
  CHECK(stages::distance(device(), one, u8.view(), Metric::negative_dot) ==
        chains(Metric::negative_dot, one, without_sign));
  CHECK(stages::distance(device(), one, i8.view(), Metric::negative_dot) ==
        chains(Metric::negative_dot, one, with_sign));
}

/// Checks that every call gives the same answer for rows of `element` as for the same rows of floats.
void check_all_calls(Element element) {
  CAPTURE(std::string(name(element)));
  const Metric metric = Metric::l2;
  const Matrix train = small_numbers(90, 5, 3), queries = small_numbers(11, 5, 4),
               more = small_numbers(8, 5, 5);
  const Stored rows(train, element, 1), asked(queries, element, 3, 1), added(more, element);
  std::vector<std::int64_t> labels, folds, truth;
  std::vector<double> values;
  for (std::int64_t r = 0; r < 98; ++r) {
    labels.push_back(r % 7 % 3);
    folds.push_back(r % 4);
    values.push_back(static_cast<double>(r % 11));
  }
  for (std::int64_t q = 0; q < 11; ++q) truth.push_back(q % 3);
  const std::span first(labels.data(), 90), last(labels.data() + 90, 8);
  const std::vector<float> radius{9};

  const Index index(device(), rows.view(), metric), right(device(), train, metric);
  CHECK(index.with(added.view()).search(asked.view(), 12) == right.with(more).search(queries, 12));
  CHECK(index.within(asked.view(), radius) == right.within(queries, radius));
  CHECK(Index(device(), rows.view(), metric, {{3, 1}}).search(asked.view(), 4) ==
        Index(device(), train, metric, {{3, 1}}).search(queries, 4));

  const Classifier classifier(device(), rows.view(), first, metric),
      by_floats(device(), train, first, metric);
  CHECK(classifier.predict(asked.view(), 5) == by_floats.predict(queries, 5));
  CHECK(classifier.kneighbors(asked.view(), 5) == by_floats.kneighbors(queries, 5));
  CHECK(classifier.classify_within(asked.view(), radius).label ==
        by_floats.classify_within(queries, radius).label);
  CHECK(evaluate(classifier, asked.view(), truth, 9) == evaluate(by_floats, queries, truth, 9));
  CHECK(leave_one_out(classifier, rows.view(), 9) == leave_one_out(by_floats, train, 9));
  CHECK(cross_validate(classifier, rows.view(), std::span(folds).first(90), 9) ==
        cross_validate(by_floats, train, std::span(folds).first(90), 9));

  const MatrixView<const double> of_rows(values.data(), 90, 1);
  CHECK(Regressor(device(), rows.view(), of_rows, metric).predict(asked.view(), 5) ==
        Regressor(device(), train, of_rows, metric).predict(queries, 5));

  const Structure structure(device(), rows.view(), first, metric), of_floats(device(), train, first, metric);
  CHECK(structure.with(added.view(), last).class_matrix().mean ==
        of_floats.with(more, last).class_matrix().mean);
  CHECK(structure.classify(asked.view()) == of_floats.classify(queries));
  const std::vector<std::vector<std::int64_t>> sets{{0, 2}, {}};
  CHECK(class_matrices(device(), rows.view(), first, metric, sets)[1].mean ==
        class_matrices(device(), train, first, metric, sets)[1].mean);
  for (const Criterion criterion : {Criterion::informativeness, Criterion::leave_one_out}) {
    FeatureSelectionOptions options;
    options.criterion = criterion;
    CHECK(select_features(device(), rows.view(), first, metric, options).best ==
          select_features(device(), train, first, metric, options).best);
  }

  const stages::Candidates few{1, 3, {3}, {4, 9, 80}};
  const Stored one(Matrix{1, 5, {queries.values.begin(), queries.values.begin() + 5}}, element);
  CHECK(stages::rerank(device(), one.view(), rows.view(), metric, few) ==
        stages::rerank(device(), Matrix{1, 5, {queries.values.begin(), queries.values.begin() + 5}}, train,
                       metric, few));
  if (device().info().fused_max_k >= 3) {
    CHECK(stages::nearest(device(), asked.view(), rows.view(), metric, 3, 1).keys ==
          stages::nearest(device(), queries, train, metric, 3, 1).keys);
  }
}

TEST_CASE("elements: every call that takes rows answers as of floats") {
  for (const Element element : number_elements) check_all_calls(element);
}

TEST_CASE("elements: what no rows can be is refused, with the values") {
  const Stored rows(matrix(3, {1, 2, 3, 4, 5, 6}), Element::f16);
  const auto refusal = [](const RowsView& given) {
    return error_of([&] { Index(device(), given, Metric::l2); });
  };
  RowsView view = rows.view();
  view.where = Where::cuda;
  const std::string spec = device().info().spec;
  const std::string said = refusal(view);
  CHECK(said.starts_with("unsupported: index: the training rows lie on a CUDA device, and " + spec));
  view = rows.view();
  view.stream_or_queue = &view;
  CHECK(refusal(view) ==
        "unsupported: index: the training rows lie on the host and have a stream; leave the stream out");
  view = rows.view();
  view.offset_bytes = -2;
  CHECK(refusal(view) ==
        "invalid_argument: index: the training rows begin -2 bytes behind their address; give 0 or more");
  view = rows.view();
  view.stride_bytes = 5;
  CHECK(refusal(view) ==
        "invalid_argument: index: the training rows are [2, 3] of f16 with a stride of 5 bytes, so that they "
        "overlap; give at least 6");
  view.stride_bytes = 4;
  CHECK(refusal(view) ==
        "invalid_argument: index: the training rows are [2, 3] with a stride of 2, so that they overlap; the "
        "stride counts elements from one row to the next, at least 3");
  CHECK(refusal(RowsView(nullptr, Element::u8, 2, 3)) ==
        "invalid_argument: index: the training rows are [2, 3] but have no address (a null pointer); give "
        "that of the first element");
  view = RowsView(nullptr, Element::u8, 2, 3);
  view.offset_bytes = 8;
  CHECK(refusal(view) == "invalid_argument: index: the training rows have an offset but no data; give both");
}

TEST_SUITE_END();

TEST_CASE("elements: names, and bytes of a row, whatever the number of columns") {
  for (const Element element : all_elements) CHECK(parse<Element>(name(element)) == element);
  CHECK(parse<Element>("BF16") == Element::bf16);
  CHECK(
      error_of([] { parse<Element>("f64"); }) ==
      "invalid_argument: element: there is none called \"f64\"; choose one of f32, f16, bf16, u8, i8, bits");
  CHECK(row_bytes(Element::bits, 0) == 0);
  CHECK(row_bytes(Element::bits, 1) == 1);
  CHECK(row_bytes(Element::bits, 8) == 1);
  CHECK(row_bytes(Element::bits, 9) == 2);
  CHECK(row_bytes(Element::bf16, 3) == 6);
  CHECK(row_bytes(Element::f32, INT64_MAX) == INT64_MAX / 4 * 4);
}

}  // namespace
}  // namespace kith::tests
