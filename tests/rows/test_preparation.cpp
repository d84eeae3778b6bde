// Tests categories and scalings of rows before they are searched: docs/contract.md, section 3.
#include "common/device.hpp"
#include "common/environment.hpp"
#include "kith/parse.hpp"
#include "kith/preparation.hpp"

namespace kith::tests {
namespace {

using Columns = std::vector<std::int64_t>;
using Floats = std::vector<float>;
using Steps = std::vector<Scaling>;

PreparationOptions scaled(Steps scalings) {
  return {std::move(scalings), {}, Categories::ordinal};
}

PreparationOptions one_hot(Columns columns, Steps scalings = {}) {
  return {std::move(scalings), std::move(columns), Categories::one_hot};
}

/// Implements the contract again, column by column, and finishes one scaling of all columns before the next.
class Oracle {
 public:
  Oracle(const Matrix& train, const Matrix& rows, const Steps& scalings) {
    for (std::int64_t d = 0; d < train.cols; ++d) {
      fitted_.emplace_back();
      made_.emplace_back();
      for (std::int64_t r = 0; r < train.rows; ++r)
        fitted_.back().push_back(static_cast<double>(train.view()(r, d)));
      for (std::int64_t r = 0; r < rows.rows; ++r)
        made_.back().push_back(static_cast<double>(rows.view()(r, d)));
    }
    for (const Scaling scaling : scalings) {
      if (scaling == Scaling::l2_rows) {
        by_norm(fitted_);
        by_norm(made_);
      } else {
        for (std::size_t d = 0; d < fitted_.size(); ++d) by_column(scaling, d);
      }
    }
  }

  Floats floats() const {
    Floats all;
    for (std::size_t r = 0; r < made_[0].size(); ++r)
      for (const auto& column : made_) all.push_back(static_cast<float>(column[r]));
    return all;
  }

 private:
  using Table = std::vector<std::vector<double>>;  ///< [dims][rows]

  static void by_norm(Table& table) {
    for (std::size_t r = 0; r < table[0].size(); ++r) {
      double sum = 0;
      for (const auto& column : table) sum += column[r] * column[r];
      for (auto& column : table)
        if (sum != 0) column[r] /= std::sqrt(sum);
    }
  }

  void by_column(Scaling scaling, std::size_t d) {
    const std::vector<double> column = fitted_[d];
    const auto n = static_cast<double>(column.size());
    double shift = column[0], divisor = 0;
    if (scaling == Scaling::standardize || scaling == Scaling::centre) {
      double sum = 0, squares = 0;
      for (const double x : column) sum += x - column[0];
      shift = column[0] + sum / n;
      if (scaling == Scaling::centre) return divide(d, shift, 1);
      for (const double x : column) squares += (x - shift) * (x - shift);
      divisor = std::sqrt(squares / n);
    } else {
      double largest = column[0];
      for (const double x : column) shift = std::fmin(shift, x), largest = std::fmax(largest, x);
      divisor = largest - shift;
    }
    divide(d, shift, divisor == 0 ? 1 : divisor);
  }

  void divide(std::size_t d, double shift, double divisor) {
    for (double& x : fitted_[d]) x = (x - shift) / divisor;
    for (double& x : made_[d]) x = (x - shift) / divisor;
  }

  Table fitted_, made_;
};

TEST_CASE("preparation: names") {
  for (const Scaling scaling : {Scaling::centre, Scaling::standardize, Scaling::min_max, Scaling::l2_rows})
    CHECK(parse<Scaling>(name(scaling)) == scaling);
  CHECK(parse<Scaling>("Center") == Scaling::centre);
  for (const Categories categories : {Categories::ordinal, Categories::one_hot})
    CHECK(parse<Categories>(name(categories)) == categories);
  CHECK(name(Scaling::min_max) == "min_max");
  CHECK(error_of([] { parse<Scaling>("robust"); }) ==
        "invalid_argument: scaling: there is none called \"robust\"; choose one of centre, standardize, "
        "min_max, l2_rows");
  CHECK(error_of([] { parse<Categories>("dummy"); }) ==
        "invalid_argument: categories: there is none called \"dummy\"; choose one of ordinal, one_hot");
}

TEST_CASE("preparation: without options nothing changes") {
  const Matrix rows = matrix(2, {1, -0.0f, denormal, flt_max});
  for (const Preparation& none : {Preparation(), Preparation(rows, {}),
                                  Preparation(matrix(2, {1, 7}), {{}, {1}, Categories::ordinal})}) {
    CHECK(none.changes_nothing());
    if (none.options().categorical.empty()) CHECK(bits(none.apply(rows)) == bits(rows.values));
  }
  CHECK(Preparation().dims() == 0);
  CHECK(Preparation().width() == 0);
  CHECK(Preparation().sources().empty());
  CHECK(Preparation(rows, {}).width() == 2);
  CHECK(Preparation(rows, {}).sources() == Columns{0, 1});
  CHECK(Preparation().apply(matrix(3, {1, 2, 3})) == Floats{1, 2, 3});
  CHECK_FALSE(Preparation(rows, scaled({Scaling::l2_rows})).changes_nothing());
}

TEST_CASE("preparation: each scaling, worked out on paper") {
  // The sum of equal values 0.1f is rounded, and yet the column must become 0.
  const Matrix train = matrix(3, {1, 0.1f, 0, /**/ 3, 0.1f, 0, /**/ 5, 0.1f, 6, /**/ 7, 0.1f, 2});
  const Matrix rows = matrix(3, {4, 0.1f, 2, /**/ 9, 1.1f, -4});
  const double deviation = std::sqrt(5.0);  // the deviation of 1, 3, 5, 7 from 4: (9 + 1 + 1 + 9) / 4
  const auto float_of = [](double value) { return static_cast<float>(value); };
  const double tenth = static_cast<double>(0.1f);

  const Preparation standardized(train, scaled({Scaling::standardize}));
  CHECK(standardized.apply(rows) == Floats{0, 0, 0, /**/ float_of(5 / deviation),
                                           float_of(static_cast<double>(1.1f) - tenth),
                                           float_of(-6 / std::sqrt(6.0))});
  CHECK(standardized.learned().columns[0].shift == std::vector<double>{4, tenth, 2});
  CHECK(standardized.learned().columns[0].divisor == std::vector<double>{deviation, 1, std::sqrt(6.0)});

  const Preparation ranged(train, scaled({Scaling::min_max}));
  CHECK(ranged.apply(train) == Floats{0, 0, 0, /**/ float_of(2.0 / 6), 0, 0, /**/ float_of(4.0 / 6), 0, 1,
                                      /**/ 1, 0, float_of(2.0 / 6)});
  CHECK(ranged.apply(rows)[3] == float_of(8.0 / 6));
  CHECK(ranged.apply(rows)[5] == float_of(-4.0 / 6));

  const Preparation unit(train, scaled({Scaling::l2_rows}));
  CHECK(unit.apply(matrix(3, {3, 0, -4, /**/ 0, 0, 0, /**/ 0, denormal, 0})) ==
        Floats{float_of(3.0 / 5), 0, float_of(-4.0 / 5), /**/ 0, 0, 0, /**/ 0, 1, 0});
}

TEST_CASE("preparation: scalings in order, each learned from the one before, as the contract says") {
  const std::vector<Steps> orders = {{Scaling::standardize},
                                     {Scaling::min_max, Scaling::standardize},
                                     {Scaling::standardize, Scaling::min_max},
                                     {Scaling::l2_rows, Scaling::standardize, Scaling::l2_rows},
                                     {Scaling::standardize, Scaling::min_max, Scaling::l2_rows}};
  for (const DataKind kind : {DataKind::normal, DataKind::grid, DataKind::clusters})
    for (const Steps& steps : orders) {
      CAPTURE_ALL(workloads::name(kind), steps.size());
      const Matrix train = hard_rows(kind, Set::train, 61, 7, Metric::l2);
      const Matrix rows = hard_rows(kind, Set::queries, 23, 7, Metric::l2);
      const Preparation preparation(train, scaled(steps));
      CHECK(bits(preparation.apply(rows)) == bits(Oracle(train, rows, steps).floats()));
      CHECK(bits(preparation.apply(train)) == bits(Oracle(train, train, steps).floats()));
    }
}

TEST_CASE("preparation: one_hot in place of its column, and the code as it is") {
  const Matrix train = matrix(4, {9, 5, 1, 7, /**/ 8, 0, 1, 1000000, /**/ 7, 5, 1, 3});
  const Preparation preparation(train, one_hot({3, 1}));
  CHECK(preparation.dims() == 4);
  CHECK(preparation.width() == 7);
  CHECK(preparation.options().categorical == Columns{1, 3});
  CHECK(preparation.sources() == Columns{0, 1, 1, 2, 3, 3, 3});
  CHECK(preparation.learned().categories == std::vector<Columns>{{0, 5}, {3, 7, 1000000}});
  CHECK(preparation.apply(train) ==
        Floats{9, 0, 1, 1, 0, 1, 0, /**/ 8, 1, 0, 1, 0, 0, 1, /**/ 7, 0, 1, 1, 1, 0, 0});
  // The categories 4 and 16777215 are new.
  CHECK(preparation.apply(matrix(4, {0.5f, 4, -2, 16777215})) == Floats{0.5f, 0, 0, -2, 0, 0, 0});

  const Preparation ordinal(train, {{Scaling::min_max}, {1, 3}, Categories::ordinal});
  CHECK(ordinal.width() == 4);
  CHECK(ordinal.apply(matrix(4, {8, 10, 1, 1000000})) == Floats{0.5f, 2, 0, 1});
  CHECK_FALSE(ordinal.changes_nothing());
  CHECK_FALSE(preparation.changes_nothing());

  // Columns of categories are scaled like all others: 1, 0, 1 has mean 2 / 3.
  const Preparation both(train, one_hot({1}, {Scaling::standardize}));
  const double mean = 2.0 / 3, deviation = std::sqrt((2 * (1 - mean) * (1 - mean) + mean * mean) / 3);
  CHECK(both.apply(train)[2] == static_cast<float>((1 - mean) / deviation));
}

TEST_CASE("preparation: the same bits for rows one by one, rows that stand apart, and any environment") {
  const std::int64_t m = 3000, dims = 24;
  const Matrix train = hard_rows(DataKind::normal, Set::train, 40, dims, Metric::l2);
  const Matrix rows = hard_rows(DataKind::normal, Set::queries, m, dims, Metric::l2);
  const PreparationOptions options = scaled({Scaling::standardize, Scaling::l2_rows, Scaling::min_max});
  const Floats expected = Preparation(train, options).apply(rows);
  Floats each;
  for (std::int64_t r = 0; r < m; ++r)
    for (const float value : Preparation(Spread(train, 3).view(), options).apply(rows.view().slice(r, 1)))
      each.push_back(value);
  CHECK(bits(each) == bits(expected));
  for (const HostileSetting setting : hostile_settings) {
    CAPTURE(std::string(name(setting)));
    Floats found;
    bool kept = false;
    {
      const HostileEnvironment environment(setting);
      found = Preparation(train, options).apply(Spread(rows, 1).view());
      kept = environment.still_set();
    }
    CHECK(kept);
    CHECK(bits(found) == bits(expected));
  }
}

TEST_CASE("preparation: what is refused, and where it is") {
  const auto learned = [](const Matrix& train, const PreparationOptions& options) {
    return error_of([&] { Preparation(train, options); });
  };
  const Matrix train = matrix(2, {1, 2, /**/ 3, 4});
  CHECK(learned(matrix(2, {1, 2, 3, std::nanf("")}), {}) ==
        "invalid_argument: preparation: training row 1, column 1 holds NaN; make every value finite, or "
        "leave the row out");
  CHECK(learned(train, one_hot({2})) ==
        "invalid_argument: preparation: there is no column 2 to hold categories; columns are 0 to 1");
  CHECK(learned(train, one_hot({-1})) ==
        "invalid_argument: preparation: there is no column -1 to hold categories; columns are 0 to 1");
  CHECK(learned(train, one_hot({1, 0, 1})) ==
        "invalid_argument: preparation: column 1 holds categories twice; name it once");
  CHECK(learned({0, 2, {}}, {}) ==
        "invalid_argument: preparation: there are 0 training rows of 2 columns; give at least one of each");
  for (const auto& [value, text] : {std::pair{0.5f, "0.5"}, {-1.0f, "-1"}, {16777216.0f, "16777216"}})
    for (const Categories categories : {Categories::ordinal, Categories::one_hot}) {
      const Matrix rows = matrix(2, {0, 3, /**/ value, 4});
      const std::string rest = std::string("row 1, column 0 holds ") + text +
                               ", which is no category; categories are whole numbers from 0 to 16777215";
      CHECK(learned(rows, {{}, {0}, categories}) == "invalid_argument: preparation: training " + rest);
      const Preparation preparation(train, {{}, {0}, categories});
      CHECK(error_of([&] { preparation.apply(rows); }) == "invalid_argument: preparation: given " + rest);
    }

  const Preparation preparation(train, one_hot({0}, {Scaling::standardize}));
  CHECK(error_of([&] {
          preparation.apply(matrix(3, {1, 2, 3}));
        }) ==
        "invalid_argument: preparation: the rows have 3 columns, the training rows had 2; give the same "
        "columns");
  CHECK(error_of([&] {
          preparation.apply(matrix(2, {1, 2, /**/ 1, -inf}));
        }) ==
        "invalid_argument: preparation: given row 1, column 1 holds an infinity; make every value finite, or "
        "leave the row out");
  // Column 1 becomes column 2 behind two categories; it is named as the caller knows it.
  const Preparation narrow(matrix(2, {0, 0, /**/ 1, 0.5f}), one_hot({0}, {Scaling::min_max}));
  CHECK(narrow.apply(matrix(2, {0, flt_max / 2})) == Floats{1, 0, flt_max});
  CHECK(error_of([&] {
          narrow.apply(matrix(2, {1, 2, /**/ 1, flt_max}));
        }) ==
        "invalid_argument: preparation: given row 1, column 1 becomes 6.80564693e+38, which is too large for "
        "a float (3.40282347e+38); leave the row out, or scale in another way");
  // Its norm exceeds a double, so the row is not divided by it.
  const Preparation small(matrix(1, {0, denormal}),
                          scaled({Scaling::min_max, Scaling::min_max, Scaling::l2_rows}));
  CHECK(small.apply(matrix(1, {1})) == Floats{1});
  Preparation::Learned tiny = small.learned();
  tiny.columns[1].divisor[0] = 1e-150;
  CHECK(error_of([&] {
          Preparation(tiny).apply(matrix(1, {1}));
        }).starts_with("invalid_argument: preparation: given row 0, column 0 becomes 7.13623846e+194, "));
}

TEST_CASE("preparation: what was learned elsewhere, and parts that do not fit") {
  const Matrix train = hard_rows(DataKind::normal, Set::train, 20, 3, Metric::l2);
  const Matrix categories = matrix(3, {1, 0, 2, /**/ 2, 5, 2});
  const Preparation first(categories, one_hot({1, 2}, {Scaling::standardize, Scaling::l2_rows}));
  const Preparation::Learned good = first.learned();
  const Preparation again(good);
  CHECK(again.width() == 4);
  CHECK(again.sources() == first.sources());
  CHECK(bits(again.apply(categories)) == bits(first.apply(categories)));
  CHECK(Preparation(Preparation().learned()).apply(train) == train.values);

  const auto refused = [&](auto change) {
    Preparation::Learned bad = good;
    change(bad);
    return error_of([&] { Preparation{std::move(bad)}; });
  };
  const std::string start = "invalid_argument: preparation: ";
  CHECK(refused([](auto& l) { l.dims = 0; }) ==
        start + "it was learned from rows of 0 columns; there must be at least one");
  CHECK(refused([](auto& l) { l.dims = -3; }) ==
        start + "it was learned from rows of -3 columns; there must be at least one");
  CHECK(refused([](auto& l) { l.dims = 2; }) ==
        start + "there is no column 2 to hold categories; columns are 0 to 1");
  CHECK(refused([](auto& l) {
          l.options.categorical = {2, 1};
        }) == start + "the columns that hold categories are not in ascending order; sort them");
  CHECK(refused([](auto& l) { l.categories.pop_back(); }) ==
        start +
            "there are 1 lists of categories for 2 columns of one_hot, and parameters of 2 scalings for 2; "
            "give one each");
  CHECK(refused([](auto& l) { l.options.categories = Categories::ordinal; }) ==
        start +
            "there are 2 lists of categories for 0 columns of one_hot, and parameters of 2 scalings for 2; "
            "give one each");
  CHECK(refused([](auto& l) { l.columns.pop_back(); }) ==
        start +
            "there are 2 lists of categories for 2 columns of one_hot, and parameters of 1 scalings for 2; "
            "give one each");
  for (const Columns& list : {Columns{}, {5, 0}, {0, 0}, {-1, 0}, {0, 16777216}})
    CHECK(refused([&](auto& l) { l.categories[0] = list; }) ==
          start +
              "the categories of column 1 are not ascending whole numbers from 0 to 16777215; learn them "
              "from training rows");
  const std::string scaling = start +
                              "standardize has not one finite shift and one finite divisor above 0 for each "
                              "of 4 columns; learn them from training rows";
  for (const double bad : {0.0, -1.0, std::nan(""), static_cast<double>(inf)})
    CHECK(refused([&](auto& l) { l.columns[0].divisor[3] = bad; }) == scaling);
  CHECK(refused([](auto& l) { l.columns[0].shift[3] = std::nan(""); }) == scaling);
  CHECK(refused([](auto& l) { l.columns[0].shift.push_back(0); }) == scaling);
  CHECK(refused([](auto& l) { l.columns[0].divisor.pop_back(); }) == scaling);
  CHECK(refused([](auto& l) { l.columns[1].shift = {1}; }) ==
        start +
            "l2_rows has not one finite shift and one finite divisor above 0 for each of 0 columns; learn "
            "them from training rows");
}

}  // namespace
}  // namespace kith::tests
