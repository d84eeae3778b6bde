// Tests what Preparation learns to put in place of missing values: docs/contract.md, section 3.
#include "common/device.hpp"
#include "kith/parse.hpp"
#include "kith/preparation.hpp"

using namespace kith;
using tests::error_of;

namespace {

const float gone = std::numeric_limits<float>::quiet_NaN();

std::vector<float> filled(Missing missing, const std::vector<float>& train, std::int64_t cols,
                          const std::vector<float>& rows, PreparationOptions options = {}) {
  options.missing = missing;
  const auto view = [&](const std::vector<float>& values) {
    return MatrixView<const float>(values.data(), static_cast<std::int64_t>(values.size()) / cols, cols);
  };
  return Preparation(view(train), options).apply(view(rows));
}

}  // namespace

TEST_CASE("preparation: mean, median and the most frequent, column by column") {
  const std::vector<float> train{1, 5, /**/ gone, 2, /**/ 4, gone, /**/ 10, 5, /**/ 1, 2};
  const std::vector<float> asked{gone, gone, /**/ 7, gone};
  CHECK(filled(Missing::mean, train, 2, asked) == std::vector<float>{4, 3.5f, 7, 3.5f});
  CHECK(filled(Missing::median, train, 2, asked) == std::vector<float>{2.5f, 3.5f, 7, 3.5f});
  CHECK(filled(Missing::most_frequent, train, 2, asked) == std::vector<float>{1, 2, 7, 2});
  CHECK(filled(Missing::median, {3, gone, 1, 8}, 1, {gone}) == std::vector<float>{3});
  CHECK(filled(Missing::mean, {1, 2, 3}, 1, {gone, 9}) == std::vector<float>{2, 9});  // nothing was missing
  CHECK(!std::signbit(filled(Missing::most_frequent, {-0.0f, 0.0f, 1}, 1, {gone})[0]));
  // A sum of floats would lose the 1, so it must be in double precision.
  CHECK(filled(Missing::mean, {1e8f, 1, -1e8f, gone}, 1, {gone}) == std::vector<float>{1.0f / 3});
}

TEST_CASE("preparation: filled in first, then categories, then scalings") {
  PreparationOptions options{.scalings = {Scaling::min_max}};
  CHECK(filled(Missing::mean, {0, gone, 10}, 1, {gone, 10}, options) == std::vector<float>{0.5f, 1});
  options.scalings = {Scaling::standardize};  // scales 0, 4, 8: the filled value is the mean
  CHECK(filled(Missing::median, {0, 8, gone}, 1, {gone}, options) == std::vector<float>{0});
  options = {};
  options.categorical = {0};
  options.categories = Categories::one_hot;
  for (const Missing missing : {Missing::mean, Missing::median, Missing::most_frequent})
    CHECK(filled(missing, {2, gone, 2, 5}, 1, {gone, 5}, options) == std::vector<float>{1, 0, 0, 1});
  options.categories = Categories::ordinal;
  CHECK(filled(Missing::mean, {2, gone, 2, 5}, 1, {gone, 5}, options) == std::vector<float>{2, 5});
}

TEST_CASE("preparation: missing values that are refused, and rows that are complete") {
  CHECK(error_of([] {
          filled(Missing::refuse, {1, gone}, 1, {});
        }) ==
        "invalid_argument: preparation: training row 1, column 0 holds NaN; make every value finite, or "
        "leave the row out");
  CHECK(error_of([] {
          filled(Missing::drop, {1, gone}, 1, {});
        }) ==
        "invalid_argument: preparation: training row 1, column 0 holds NaN; make every value finite, or "
        "leave the row out");
  CHECK(error_of([] {
          filled(Missing::mean, {1, gone, 2, gone}, 2, {});
        }) == "invalid_argument: preparation: column 1 has no value to learn from; leave the column out");
  CHECK(error_of([] {
          filled(Missing::mean, {1, INFINITY}, 1, {});
        }) ==
        "invalid_argument: preparation: training row 1, column 0 is inf; values must be finite, or NaN where "
        "they are missing");
  const std::vector<float> rows{1, 2, /**/ gone, 2, /**/ 3, 4, /**/ 5, gone};
  CHECK(complete_rows({rows.data(), 4, 2}) == std::vector<std::int64_t>{0, 2});
  for (const Missing missing : {Missing::refuse, Missing::drop, Missing::mean, Missing::median,
                                Missing::most_frequent, Missing::pairwise})
    CHECK(parse<Missing>(name(missing)) == missing);
  CHECK(error_of([] { parse<Missing>("average"); }) ==
        "invalid_argument: missing: there is none called \"average\"; choose one of refuse, drop, mean, "
        "median, most_frequent, pairwise");
}

TEST_CASE("preparation: what stays missing does not count in what is learned") {
  const auto kept = [](std::vector<Scaling> scalings, const std::vector<float>& train, std::int64_t cols,
                       std::vector<std::int64_t> categorical = {}) {
    const MatrixView<const float> rows(train.data(), static_cast<std::int64_t>(train.size()) / cols, cols);
    const PreparationOptions options{std::move(scalings), std::move(categorical), Categories::one_hot,
                                     Missing::pairwise};
    const Preparation made(rows, options);
    CHECK(Preparation(made.learned()).apply(rows).size() == made.apply(rows).size());
    return made.apply(rows);
  };
  const auto same = [](const std::vector<float>& found, const std::vector<float>& right) {
    return std::equal(found.begin(), found.end(), right.begin(), right.end(),
                      [](float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); });
  };
  CHECK(same(kept({}, {1, gone, 3}, 1), {1, gone, 3}));
  CHECK(same(kept({Scaling::centre}, {gone, 1, 3}, 1), {gone, -1, 1}));
  CHECK(same(kept({Scaling::standardize}, {1, gone, 5}, 1), {-1, gone, 1}));
  CHECK(same(kept({Scaling::min_max}, {gone, 2, gone, 6, 4}, 1), {gone, 0, gone, 1, 0.5f}));
  for (const Scaling scaling : {Scaling::centre, Scaling::standardize, Scaling::min_max})
    CHECK(same(kept({scaling}, {7, gone, 7, gone}, 2), {0, gone, 0, gone}));
  CHECK(same(kept({}, {3, gone, 8}, 1, {0}), {1, 0, gone, gone, 0, 1}));
  CHECK(
      error_of([&] {
        kept({Scaling::l2_rows}, {1, gone}, 1);
      }) ==
      "invalid_argument: preparation: l2_rows divides by the norm of a whole row, of which missing=pairwise "
      "leaves values out; drop one of them");
  CHECK(error_of([&] {
          kept({}, {gone, 1, gone, 2}, 2, {0});
        }) == "invalid_argument: preparation: column 0 has no category to learn from; leave the column out");
  const double huge = 1.7e308, wide[] = {huge, -huge, 1, 2};
  const MatrixView<const double> far(wide, 4, 1);
  for (const Scaling scaling : {Scaling::standardize, Scaling::min_max}) {
    const PreparationOptions options{.scalings = {scaling}, .missing = Missing::pairwise};
    CHECK(error_of([&] { Preparation(far, options).apply(far); }).find("too large for a float") !=
          std::string::npos);
  }
}

TEST_CASE("preparation: fills that were learned elsewhere must fit") {
  PreparationOptions options{.categorical = {1}, .missing = Missing::most_frequent};
  const std::vector<float> train{1, 0, /**/ 2, 1};
  const Preparation::Learned good =
      Preparation(MatrixView<const float>(train.data(), 2, 2), options).learned();
  CHECK(good.fills == std::vector<double>{1, 0});
  CHECK(Preparation(good).learned().fills == good.fills);
  for (const std::vector<double>& fills :
       {std::vector<double>{}, {1}, {1, 0.5}, {1, -1}, {std::nan(""), 0}, {1e300, 0}}) {
    Preparation::Learned bad = good;
    bad.fills = fills;
    CHECK(error_of([&] { Preparation made(bad); }).starts_with("invalid_argument: preparation: there are "));
  }
  Preparation::Learned unasked = good;
  unasked.options.missing = Missing::refuse;
  CHECK(error_of([&] {
          Preparation made(unasked);
        }).starts_with("invalid_argument: preparation: there are 2 values in place"));
}
