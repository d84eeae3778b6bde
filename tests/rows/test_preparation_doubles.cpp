// Tests the preparation of rows of doubles, which are rounded once, at the end: docs/contract.md, section 3.
#include "common/device.hpp"
#include "kith/index.hpp"
#include "kith/preparation.hpp"

namespace kith::tests {
namespace {

using Doubles = std::vector<double>;
using Floats = std::vector<float>;

MatrixView<const double> doubles(const Doubles& values, std::int64_t cols) {
  return {values.data(), static_cast<std::int64_t>(values.size()) / cols, cols};
}

PreparationOptions by_steps(std::vector<Scaling> scalings) {
  return {std::move(scalings), {}, Categories::ordinal};
}

std::vector<std::int64_t> nearest(const Floats& queries, const Floats& train) {
  const auto rows = [](const Floats& values) {
    return MatrixView<const float>(values.data(), static_cast<std::int64_t>(values.size() / 3), 3);
  };
  return Index(open_device("cpu"), rows(train)).search(rows(queries), 1).row;
}

TEST_CASE("preparation of doubles: of values that are floats it makes what it makes of the floats") {
  const Matrix train = hard_rows(DataKind::normal, Set::train, 50, 4, Metric::l2),
               rows = hard_rows(DataKind::normal, Set::queries, 9, 4, Metric::l2);
  const Doubles train_doubles(train.values.begin(), train.values.end()),
      row_doubles(rows.values.begin(), rows.values.end());
  for (const Scaling scaling : {Scaling::centre, Scaling::standardize, Scaling::min_max, Scaling::l2_rows})
    for (const Missing missing : {Missing::refuse, Missing::mean, Missing::median}) {
      PreparationOptions options = by_steps({scaling});
      options.missing = missing;
      const Preparation of_floats(train, options), of_doubles(doubles(train_doubles, 4), options);
      CHECK(of_floats.learned().columns == of_doubles.learned().columns);
      CHECK(of_floats.learned().fills == of_doubles.learned().fills);
      CHECK(bits(of_floats.apply(rows)) == bits(of_doubles.apply(doubles(row_doubles, 4))));
    }
}

TEST_CASE("preparation of doubles: centred points of a map keep the neighbours that they have in double") {
  const Doubles train = map_points(3000, 1), queries = map_points(300, 2);
  const std::vector<std::int64_t> right = nearest_in_double(queries, train);
  for (const Scaling scaling : {Scaling::centre}) {
    const Preparation centre(doubles(train, 3), by_steps({scaling}));
    CHECK(nearest(centre.apply(doubles(queries, 3)), centre.apply(doubles(train, 3))) == right);
  }
  // Rows that were rounded first give other answers, whatever is done afterwards.
  const Floats rounded(train.begin(), train.end()), asked(queries.begin(), queries.end());
  CHECK(nearest(asked, rounded) != right);
  const MatrixView<const float> late(rounded.data(), 3000, 3);
  const Preparation centre(late, by_steps({Scaling::centre}));
  CHECK(nearest(centre.apply(MatrixView<const float>(asked.data(), 300, 3)), centre.apply(late)) != right);
}

TEST_CASE("preparation of doubles: a value is the double that the steps make, rounded once") {
  const Doubles train{16777216.25, 1, /**/ 16777217, 2, /**/ 16777218.5, 6};
  const double mean = 16777216.25 + (0.75 + 2.25) / 3;
  const Preparation centre(doubles(train, 2), by_steps({Scaling::centre}));
  CHECK(centre.learned().columns[0].shift == Doubles{mean, 3});
  CHECK(centre.learned().columns[0].divisor == Doubles{1, 1});
  Floats expected;
  for (std::size_t i = 0; i < train.size(); ++i)
    expected.push_back(static_cast<float>(train[i] - (i % 2 == 0 ? mean : 3.0)));
  CHECK(bits(centre.apply(doubles(train, 2))) == bits(expected));
  // Values given as floats are rounded before the preparation sees them.
  CHECK(centre.apply(matrix(2, {16777216.25f, 1})) == Floats{static_cast<float>(16777216.0 - mean), -2});
}

TEST_CASE("preparation of doubles: categories are not centred, and missing values are filled before") {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const Doubles train{1e9 + 0.25, 2, /**/ 1e9 + 0.75, 0, /**/ none, 2};
  PreparationOptions options{{Scaling::centre}, {1}, Categories::one_hot, Missing::mean};
  const Preparation prepared(doubles(train, 2), options);
  CHECK(prepared.learned().fills == Doubles{1e9 + 0.5, 2});
  CHECK(prepared.learned().columns[0].shift == Doubles{1e9 + 0.5, 0, 0});
  CHECK(prepared.apply(doubles(train, 2)) == Floats{-0.25f, 0, 1, /**/ 0.25f, 1, 0, /**/ 0, 0, 1});
  options.categories = Categories::ordinal;
  CHECK(Preparation(doubles(train, 2), options).learned().columns[0].shift == Doubles{1e9 + 0.5, 0});
  CHECK(complete_rows(doubles(train, 2)) == std::vector<std::int64_t>{0, 1});
}

TEST_CASE("preparation of doubles: what is refused") {
  const double infinity = std::numeric_limits<double>::infinity(), none = std::nan("");
  const auto learned = [](const Doubles& train, const PreparationOptions& options) {
    return error_of([&] { Preparation(doubles(train, 2), options); });
  };
  CHECK(learned({1, 2, 3, none}, by_steps({Scaling::centre})) ==
        "invalid_argument: preparation: training row 1, column 1 holds NaN; make every value finite, or "
        "leave the row out");
  CHECK(learned({1, 2, infinity, 3}, by_steps({})) ==
        "invalid_argument: preparation: training row 1, column 0 holds an infinity; make every value finite, "
        "or leave the row out");
  CHECK(learned({1, 0.5}, {{}, {1}, Categories::ordinal}).find("training row 0, column 1 holds 0.5") !=
        std::string::npos);
  const Doubles train{1, 2, 3, 4}, large{1e300, 0};
  CHECK(error_of([&] {
          Preparation(doubles(train, 2), by_steps({Scaling::centre})).apply(doubles(large, 2));
        }).find("given row 0, column 0 becomes 1e+300, which is too large for a float") != std::string::npos);
}

}  // namespace
}  // namespace kith::tests
