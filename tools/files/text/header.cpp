#include "files/text/header.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "files/text/decorated.hpp"
#include "files/text/number.hpp"

namespace kith::files {
namespace {

const char* const as_header = "takes its first line as a header, ";
const char* const as_row = "takes its first line as a row, though ";
const char* const say_no = "; say --header no if it is a row";
const char* const say_yes = "; say --header yes if they are names";

class HeaderRules {
 public:
  HeaderRules(const Layout& layout, const Table* like)
      : sample_(layout.sample), first_(sample_[0]), decimal_(layout.decimal), like_(like) {
    rows_ = sample_.size() - 1;
    for (std::size_t c = 0; c < first_.size(); ++c) columns_.push_back(column_below(c));
  }

  HeaderGuess guess(const std::vector<std::string>& named) const {
    if (like_ && like_->header && repeats(like_->column_names)) return {true, {}};
    if (name_over_number()) return {true, {}};
    for (const std::string& name : named)
      if (!is_whole(name) && std::find(first_.begin(), first_.end(), name) != first_.end())
        return {true, as_header + ("for it holds " + in_quotes(name)) + say_no};
    if (rows_ == 0 || sample_[1].size() != first_.size()) return {};
    if (nameless_over_row_numbers()) return {true, {}};
    if (like_) return {};
    const auto numbers =
        std::count_if(first_.begin(), first_.end(), [&](auto& cell) { return is_finite(cell); });
    if (numbers == static_cast<std::ptrdiff_t>(first_.size())) return numbers_above();
    return numbers > 0 ? both_above() : texts_above();
  }

 private:
  /// What the cells of a column below the first record are.
  struct Column {
    bool numbers = false, texts = false;  ///< all of them, marks of missing values aside
    bool fractions = false;               ///< some numbers are not whole
    double least = 0, most = 0;           ///< of numbers

    bool is_outside(double value) const { return value < least || value > most; }
    /// Farther from all than they are from each other.
    bool is_far_outside(double value) const {
      return most > least && (value < least - (most - least) || value > most + (most - least));
    }
  };

  bool is_numberlike(std::string_view cell) const {
    if (parse_number(cell, decimal_).kind != Number::not_a_number) return true;
    const Decoration::Kind kind = decoration_of(cell, decimal_).kind;
    return kind != Decoration::none && kind != Decoration::unit;
  }

  static bool is_whole(const std::string& text) {
    std::int64_t ignored = 0;
    return parse_whole(text, ignored);
  }

  Column column_below(std::size_t c) const {
    Column column;
    bool any = false, numbers = true, texts = true;
    for (std::size_t r = 1; r <= rows_; ++r) {
      if (c >= sample_[r].size() || is_missing_marker(sample_[r][c])) continue;
      const bool number = is_numberlike(sample_[r][c]);
      const double value = parse_wide(sample_[r][c], decimal_).value;
      column.least = any ? std::min(column.least, value) : value;
      column.most = any ? std::max(column.most, value) : value;
      column.fractions |= number && value != std::trunc(value);
      any = true;
      numbers &= number;
      texts &= !number;
    }
    column.numbers = any && numbers;
    column.texts = any && texts;
    return column;
  }

  /// Whether the first record holds all of `names` in their order, perhaps with others among them.
  bool repeats(const std::vector<std::string>& names) const {
    std::size_t same = 0;
    for (const std::string& cell : first_)
      if (same < names.size() && cell == names[same]) ++same;
    return same == names.size();
  }

  bool name_over_number() const {
    if (rows_ == 0 || sample_[1].size() != first_.size()) return false;
    for (std::size_t c = 0; c < first_.size(); ++c)
      if (!is_missing_marker(first_[c]) && !is_numberlike(first_[c]) &&
          (columns_[c].numbers || is_numberlike(sample_[1][c])))
        return true;
    return false;
  }

  /// The index that pandas writes: no name, and 0, 1, 2, ... below, beside columns that have names.
  bool nameless_over_row_numbers() const {
    if (!first_[0].empty() || first_.size() < 2 || !columns_[0].numbers) return false;
    for (std::size_t c = 1; c < first_.size(); ++c)
      if (is_missing_marker(first_[c])) return false;
    for (std::size_t r = 1; r <= rows_; ++r) {
      std::int64_t number = 0, next = 0;
      if (!parse_whole(sample_[r][0], number)) return false;
      if (r < rows_ && (!parse_whole(sample_[r + 1][0], next) || next != number + 1)) return false;
    }
    return true;
  }

  bool is_finite(const std::string& cell) const {
    return parse_number(cell, decimal_).kind == Number::finite;
  }

  double first_number(std::size_t c) const { return parse_wide(first_[c], decimal_).value; }

  /// Whether each number of a record is larger than the one before it, by exactly 1 where `by_one`.
  bool ascends(const Record& record, bool by_one) const {
    for (std::size_t c = 0; c + 1 < record.size(); ++c) {
      const WideNumber a = parse_wide(record[c], decimal_), b = parse_wide(record[c + 1], decimal_);
      if (a.kind != Number::finite || b.kind != Number::finite || !(b.value > a.value)) return false;
      if (by_one && b.value != a.value + 1) return false;
    }
    return true;
  }

  bool below_ascends(bool by_one) const {
    return std::any_of(sample_.begin() + 1, sample_.end(),
                       [&](const Record& record) { return ascends(record, by_one); });
  }

  /// The columns of numbers whose first number passes `test`, those of text aside.
  template <class Test>
  bool all_first(Test test) const {
    for (std::size_t c = 0; c < first_.size(); ++c)
      if (is_finite(first_[c]) && !columns_[c].texts && !test(columns_[c], first_number(c))) return false;
    return true;
  }

  bool are_years() const {
    return all_first([](const Column& column, double value) {
             return value >= 1900 && value <= 2100 && value == std::trunc(value) && column.is_outside(value);
           }) &&
           (ascends(first_, false) || ascends({first_.rbegin(), first_.rend()}, false));
  }

  /// A header of numbers counts, as 2019,2020,2021 or 0,1,2, ..., and no row below does; or its numbers are
  /// far from those below.
  HeaderGuess numbers_above() const {
    const std::size_t size = first_.size();
    const bool counts = size > 1 && ascends(first_, true) && is_whole(first_[0]) && !below_ascends(true);
    const bool ascending = size > 4 && ascends(first_, false) && !below_ascends(false);
    const auto outside = [](const Column& column, double value) { return column.is_outside(value); };
    const auto far = [](const Column& column, double value) { return column.is_far_outside(value); };
    const auto over = [&](auto what) { return std::any_of(columns_.begin(), columns_.end(), what); };
    const std::string numbers = "its numbers " + printable(first_[0]) + " to " + printable(first_.back());
    constexpr std::size_t enough_rows = 3, many_rows = 10;
    const bool from_0 = first_number(0) == 0, positions = from_0 || first_number(0) == 1;
    const bool enough = size > 4 || (size > 2 && from_0 && rows_ >= many_rows &&
                                     over([](const Column& column) { return column.fractions; }));
    if (counts && rows_ > 1 &&
        (are_years() || over([](const Column& column) { return column.texts; }) || (positions && enough)))
      return {true, as_header + ("for " + numbers + " count columns") + say_no};
    if (rows_ < enough_rows) return {};
    const bool all_far = size > 1 && all_first(far);
    if (all_far && are_years()) return {true, as_header + ("for " + numbers + " are years") + say_no};
    if (size > 2 && (counts || ascending) && (all_first(outside) || (counts && positions)))
      return {false, as_row + (numbers + " ascend and those below are others") + say_yes};
    if (all_far) return {false, as_row + (numbers + " are far from those below") + say_yes};
    return {};
  }

  /// How likely a row with the first one's texts is, where none of them occurs below: a text that is met once
  /// in a column is as rare there as a row with such a text. 1: some do occur, or are no texts over texts.
  double chance_of_texts() const {
    double chance = 1;
    for (std::size_t c = 0; c < first_.size(); ++c) {
      if (is_finite(first_[c])) continue;
      if (!columns_[c].texts || is_missing_marker(first_[c]) || is_numberlike(first_[c])) return 1;
      std::map<std::string_view, std::size_t> times;
      for (std::size_t r = 1; r <= rows_; ++r)
        if (c < sample_[r].size()) ++times[sample_[r][c]];
      if (times.count(first_[c]) > 0) return 1;
      const auto once =
          std::count_if(times.begin(), times.end(), [](const auto& entry) { return entry.second == 1; });
      chance *= static_cast<double>(std::max<std::ptrdiff_t>(once, 1)) / static_cast<double>(rows_ + 1);
    }
    return chance;
  }

  /// Columns called 0, 1, 2, ... or 2010, 2020, ..., and one with a name, over text.
  HeaderGuess both_above() const {
    const double texts = chance_of_texts();
    const auto outside = [](const Column& column, double value) { return column.is_outside(value); };
    Record numbers;
    for (const std::string& cell : first_)
      if (is_finite(cell)) numbers.push_back(cell);
    const bool counts = numbers.size() > 1 && ascends(numbers, true) && is_whole(numbers[0]);
    const bool all_outside = all_first(outside);
    if (texts == 1 || !(counts || all_outside)) return {};
    double chance = texts * (counts ? 1 / static_cast<double>(rows_ + 1) : 1);
    for (std::size_t i = 0; all_outside && i < numbers.size(); ++i)
      chance *= 2 / static_cast<double>(rows_ + 1);
    return by_chance(chance, "its texts do not occur below, and its numbers are others");
  }

  static HeaderGuess by_chance(double chance, const std::string& why) {
    constexpr double sure = 0.05;
    const bool header = chance <= sure;
    return {header, header ? as_header + ("for " + why) + say_no : as_row + why + say_yes};
  }

  /// Where all columns are text: a row's texts would occur again, a header's do not.
  HeaderGuess texts_above() const {
    const double chance = chance_of_texts();
    if (chance == 1) return {};
    return by_chance(chance,
                     first_.size() == 1 ? "its text does not occur below" : "none of its texts occurs below");
  }

  const std::vector<Record>& sample_;
  const Record& first_;
  char decimal_;
  const Table* like_;
  std::size_t rows_ = 0;  ///< of the sample, below the first
  std::vector<Column> columns_;
};

}  // namespace

bool is_index_name(const std::string& name) {
  return name.empty() || name == "Unnamed: 0";
}

HeaderGuess guess_header(const Layout& layout, const Table* like, const std::vector<std::string>& named) {
  if (layout.sample.empty()) return {};
  return HeaderRules(layout, like).guess(named);
}

}  // namespace kith::files
