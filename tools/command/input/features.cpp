// --features and --drop: the columns that count.
#include <algorithm>
#include <charconv>
#include <optional>

#include "command/input/training.hpp"
#include "files/source.hpp"
#include "kith/names.hpp"

namespace kith::command {
namespace {

/// Finds the columns of a table that the words of a list name.
class FeatureList {
 public:
  FeatureList(const std::string& option, const files::Table& table) : option_(option), table_(table) {}

  std::vector<std::int64_t> parse(const std::string& list) {
    for (const std::string& word : split_commas(list)) take(word);
    std::sort(found_.begin(), found_.end());
    return found_;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(Errc::invalid_argument, option_ + ": " + what);
  }

  void take(const std::string& word) {
    if (const std::optional<std::int64_t> one = column(word)) return add(*one);
    // A name may hold the sign of a range, and a number may be negative: take the first cut that works.
    for (std::size_t cut = word.find('-', 1); cut != std::string::npos; cut = word.find('-', cut + 1)) {
      const std::optional<std::int64_t> from = column(word.substr(0, cut)), to = column(word.substr(cut + 1));
      if (!from || !to) continue;
      if (*from > *to) refuse("the range " + word + " runs backwards; give the smaller column first");
      for (std::int64_t c = *from; c <= *to; ++c) add(c);
      return;
    }
    const std::string one = closest_name(word, table_.column_names);
    refuse(table_.path + " has no column " + files::in_quotes(word) + "; " +
           (one.empty() ? choices() : "did you mean " + files::in_quotes(one) + "?"));
  }

  void add(std::int64_t column) {
    if (std::find(found_.begin(), found_.end(), column) != found_.end())
      refuse(table_.column_text(column) + " is named twice; name it once");
    found_.push_back(column);
  }

  /// Finds a column by its name or number; returns none if no column has that name.
  std::optional<std::int64_t> column(const std::string& word) const {
    const auto& names = table_.column_names;
    if (const auto name = std::find(names.begin(), names.end(), word); name != names.end()) {
      if (std::find(name + 1, names.end(), word) != names.end())
        refuse("several columns of " + table_.path + " are called " + files::in_quotes(word) +
               "; give the number of the one that is meant");
      return name - names.begin();
    }
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
    return by_number(number);
  }

  /// Numbers count all columns of the file, from 1 in text, from 0 elsewhere; if negative, from the end.
  std::optional<std::int64_t> by_number(std::int64_t number) const {
    const auto count = table_.cols + static_cast<std::int64_t>(table_.left_out.size());
    const std::int64_t in_file = number < 0 ? count + number : number - (table_.text ? 1 : 0);
    if (in_file < 0 || in_file >= count) return std::nullopt;
    const auto& absent = table_.left_out;
    const auto at = std::lower_bound(absent.begin(), absent.end(), in_file);
    if (at != absent.end() && *at == in_file)
      refuse("column " + std::to_string(in_file + 1) + " of " + table_.path +
             " holds labels or targets; leave it out");
    return in_file - (at - absent.begin());
  }

  std::string choices() const {
    constexpr std::size_t most_listed = 20;
    const std::string last = table_.column_text(table_.cols - 1);
    if (table_.column_names.empty())
      return "it has " + table_.column_text(0) + (table_.cols > 1 ? " to " + last : " only");
    std::string text = "its columns are called ";
    for (std::size_t c = 0; c < std::min(table_.column_names.size(), most_listed); ++c)
      text += (c ? ", " : "") + files::in_quotes(table_.column_names[c]);
    return text + (table_.column_names.size() > most_listed ? ", ..." : "");
  }

  const std::string option_;  ///< the beginning of messages
  const files::Table& table_;
  std::vector<std::int64_t> found_;
};

}  // namespace

std::vector<std::int64_t> counted_columns(const std::string& where, const TrainingFlags& flags,
                                          const files::Table& table) {
  std::vector<std::int64_t> counted;
  if (!flags.features.empty()) counted = FeatureList(where + ": --features", table).parse(flags.features);
  if (flags.drop.empty()) return counted;
  const std::vector<std::int64_t> dropped = FeatureList(where + ": --drop", table).parse(flags.drop);
  for (const std::int64_t column : dropped)
    if (std::binary_search(counted.begin(), counted.end(), column))
      refuse(where,
             table.column_text(column) + " is named by both --features and --drop; take it out of one");
  if (!counted.empty()) return counted;
  for (std::int64_t c = 0; c < table.cols; ++c)
    if (!std::binary_search(dropped.begin(), dropped.end(), c)) counted.push_back(c);
  if (counted.empty()) refuse(where, "--drop leaves no column of " + table.path + "; keep one at least");
  return counted;
}

}  // namespace kith::command
