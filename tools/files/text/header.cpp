#include "files/text/header.hpp"

#include <algorithm>
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
    if (all_numbers_above()) return numbers_above();
    return texts_above();
  }

 private:
  /// What the cells of a column below the first record are.
  struct Column {
    bool numbers = false, texts = false;  ///< all of them, marks of missing values aside
    double least = 0, most = 0;           ///< of numbers
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

  bool all_numbers_above() const {
    return std::all_of(first_.begin(), first_.end(), [&](const std::string& cell) {
      return parse_number(cell, decimal_).kind == Number::finite;
    });
  }

  /// Whether each number of a record is larger than the one before it, by exactly 1 where `by_one`.
  bool ascends(const Record& record, bool by_one) const {
    for (std::size_t c = 0; c + 1 < record.size(); ++c) {
      const WideNumber a = parse_wide(record[c], decimal_), b = parse_wide(record[c + 1], decimal_);
      if (a.kind != Number::finite || b.kind != Number::finite || !(b.value > a.value)) return false;
      if (by_one && b.value != a.value + 1) return false;
    }
    return true;
  }

  /// A header of numbers counts, as 2019,2020,2021 or 0,1,2, ..., and no row below does.
  HeaderGuess numbers_above() const {
    const bool counts = first_.size() > 1 && ascends(first_, true) && is_whole(first_[0]);
    const bool ascending = first_.size() > 4 && ascends(first_, false);
    if (!counts && !ascending) return {};
    bool outside = true, over_text = false;
    for (std::size_t c = 0; c < first_.size(); ++c) {
      const double value = parse_wide(first_[c], decimal_).value;
      outside &= columns_[c].texts || value < columns_[c].least || value > columns_[c].most;
      over_text |= columns_[c].texts;
    }
    for (std::size_t r = 1; r <= rows_; ++r)
      if (ascends(sample_[r], counts)) return {};
    const double begin = parse_wide(first_[0], decimal_).value;
    const double end = parse_wide(first_.back(), decimal_).value;
    const bool years = begin >= 1900 && end <= 2100 && outside;
    const bool positions = first_.size() > 4 && (begin == 0 || begin == 1);
    if (counts && rows_ > 1 && (years || over_text || positions))
      return {true, as_header +
                        ("for its numbers " + printable(first_[0]) + " to " + printable(first_.back()) +
                         " count columns") +
                        say_no};
    constexpr std::size_t enough_rows = 3;
    if (outside && first_.size() > 2 && rows_ >= enough_rows)
      return {false, as_row +
                         ("its numbers " + printable(first_[0]) + " to " + printable(first_.back()) +
                          " ascend and those below are others") +
                         say_yes};
    return {};
  }

  /// Where all columns are text: a row's texts would occur again, a header's do not. How often they do says
  /// how sure that is: a text that is met once in a column is as rare there as a row with such a text.
  HeaderGuess texts_above() const {
    double chance = 1;
    for (std::size_t c = 0; c < first_.size(); ++c) {
      if (!columns_[c].texts || is_missing_marker(first_[c]) || is_numberlike(first_[c])) return {};
      std::map<std::string_view, std::size_t> times;
      for (std::size_t r = 1; r <= rows_; ++r)
        if (c < sample_[r].size()) ++times[sample_[r][c]];
      if (times.count(first_[c]) > 0) return {};
      const auto once =
          std::count_if(times.begin(), times.end(), [](const auto& entry) { return entry.second == 1; });
      chance *= static_cast<double>(std::max<std::ptrdiff_t>(once, 1)) / static_cast<double>(rows_ + 1);
    }
    constexpr double sure = 0.05;
    const bool header = chance <= sure;
    const std::string what =
        first_.size() == 1 ? "its text does not occur below" : "none of its texts occurs below";
    return {header, header ? as_header + ("for " + what) + say_no : as_row + what + say_yes};
  }

  const std::vector<Record>& sample_;
  const Record& first_;
  char decimal_;
  const Table* like_;
  std::size_t rows_ = 0;  ///< of the sample, below the first
  std::vector<Column> columns_;
};

}  // namespace

HeaderGuess guess_header(const Layout& layout, const Table* like, const std::vector<std::string>& named) {
  if (layout.sample.empty()) return {};
  return HeaderRules(layout, like).guess(named);
}

}  // namespace kith::files
