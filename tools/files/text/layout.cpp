#include "files/text/layout.hpp"

#include <algorithm>
#include <cmath>

#include "files/text/number.hpp"

namespace kith::files {
namespace {

std::string name_of(char separator) {
  const auto found = std::find_if(separator_names.begin(), separator_names.end(),
                                  [&](const auto& one) { return one.second == separator; });
  return std::string(found->first);
}

/// A line `sep=;` with which a file for Excel begins; 0: there is none.
char take_separator_line(RecordReader& records, Layout& layout) {
  char separator = 0;
  records.count_lines(layout.skip, [&](std::string_view line) {
    if (line.size() > 2 && line.front() == '"' && line.back() == '"') line = line.substr(1, line.size() - 2);
    if (line.size() == 5 && (line.starts_with("sep=") || line.starts_with("SEP="))) separator = line.back();
    return false;
  });
  layout.skip += separator != 0;
  return separator;
}

/// Refuse lines at the top that begin with #, where others follow that do not.
void refuse_comments(const Source& source, RecordReader& records) {
  bool others = false;
  const std::int64_t count = records.count_lines(0, [&](std::string_view line) {
    others = !line.starts_with('#');
    return !others;
  });
  if (count > 0 && others)
    source.fail("has " + count_of(static_cast<std::uint64_t>(count), "line") +
                " at its top that begin with \"#\"; if they are comments, say --csv skip=" +
                std::to_string(count) + ", if they are rows, skip=0");
}

/// The cells of each record, where all have as many, and more than one; else 0.
std::size_t cells_of(const Sample& sample) {
  const std::vector<Record>& records = sample.records;
  if (sample.error || records.empty() || records[0].size() < 2) return 0;
  const auto same = [&](const Record& record) { return record.size() == records[0].size(); };
  return std::all_of(records.begin(), records.end(), same) ? records[0].size() : 0;
}

/// What separates cells in a file of which nothing else is known. Where commas are decimal signs, it is none.
char usual_separator(Format format, char decimal) {
  if (format == Format::csv) return decimal == ',' ? ';' : ',';
  return format == Format::tsv ? '\t' : ' ';
}

/// The one sign that cuts every line into as many cells, more than one; where none does, the usual one. What
/// two signs do is refused, unless tabs and blanks cut alike.
void find_separator(Source& source, RecordReader& records, Format format, const FileOptions& options,
                    Layout& layout) {
  const char own = usual_separator(format, options.decimal);
  layout.separator = own;
  layout.sample = records.sample(own, layout.skip);
  std::vector<std::pair<char, std::size_t>> fitting;
  if (const std::size_t cells = cells_of(layout.sample); cells > 0) fitting.emplace_back(own, cells);
  for (const char other : {',', ';', '\t', '|'}) {
    if (other == own || other == options.decimal) continue;
    Sample sample = records.sample(other, layout.skip);
    const std::size_t cells = cells_of(sample);
    const bool cuts_alike = own == ' ' && other == '\t' && sample.records == layout.sample.records;
    if (cells == 0 || cuts_alike) continue;
    fitting.emplace_back(other, cells);
    if (fitting.size() == 1) layout = {other, layout.skip, std::move(sample)};
  }
  if (fitting.size() > 1) {
    std::string list;
    for (const auto& [sign, cells] : fitting)
      list += (list.empty() ? "" : " or ") + name_of(sign) + " (" + count_of(cells, "cell") + " a line)";
    source.fail("its cells may be separated by " + list +
                "; say which, as in --csv sep=" + name_of(fitting[0].first));
  }
  if (layout.separator != own && options.note)
    options.note(source.name() + ": its cells are separated by " + name_of(layout.separator) + ", not by " +
                 name_of(own) + "; --csv sep=" + name_of(own) + " says otherwise");
}

/// Refuse lines above a table, which have fewer cells.
void refuse_lines_above(const Source& source, const Sample& sample) {
  const std::vector<Record>& records = sample.records;
  if (records.empty() || records[0].size() >= records.back().size()) return;
  const std::size_t cells = records.back().size();
  std::size_t first = records.size() - 1;
  while (records[first - 1].size() == cells) --first;
  if (first + 1 == records.size()) return;  // one line alone has more
  throw Error(Errc::bad_file,
              source.name() + ":" + std::to_string(sample.lines[0]) + ": has " +
                  count_of(records[0].size(), "cell") + ", but line " + std::to_string(sample.lines[first]) +
                  " and those behind it have " + std::to_string(cells) +
                  "; if the table begins there, say --csv skip=" + std::to_string(sample.lines[first] - 1) +
                  ", else give every row as many cells");
}

bool is_finite(std::string_view cell, char decimal) {
  return parse_number(cell, decimal).kind == Number::finite;
}

/// Neither a number, nor like one, nor the mark of a missing value.
bool may_be_name(std::string_view cell, char decimal) {
  return parse_number(cell, decimal).kind == Number::not_a_number && !is_missing_marker(cell) &&
         !is_like_number(cell);
}

/// The first record and those below it.
class FirstRecord {
 public:
  FirstRecord(const Sample& sample, char decimal) : decimal_(decimal), first_(sample.records[0]) {
    for (std::size_t r = 1; r < sample.records.size(); ++r)
      if (sample.records[r].size() == first_.size()) below_.push_back(&sample.records[r]);
  }

  /// A column of numbers below a name would be refused if that were a row.
  bool has_name_over_number() const {
    for (std::size_t c = 0; c < first_.size() && !below_.empty(); ++c) {
      const std::string& cell = (*below_[0])[c];
      if (may_be_name(first_[c], decimal_) && (is_finite(cell, decimal_) || is_like_number(cell)))
        return true;
    }
    return false;
  }

  bool has_numbers() const {
    return any([&](const auto& cell) { return is_finite(cell, decimal_); });
  }
  bool has_names() const {
    return any([&](const auto& cell) { return may_be_name(cell, decimal_); });
  }

  /// Whether its numbers may be names: they count by one, as years do, or each is far from all below it.
  bool has_unlike_numbers() const {
    for (std::size_t c = 0; c < first_.size(); ++c)
      for (const Record* record : below_)
        if (may_be_name(first_[c], decimal_) && (*record)[c] == first_[c]) return false;
    const auto counts_below = [&](const Record* record) { return counts(*record); };
    if (!below_.empty() && counts(first_) && std::none_of(below_.begin(), below_.end(), counts_below))
      return true;
    constexpr std::size_t enough = 3;
    if (below_.size() < enough || first_.size() < 2) return false;
    for (std::size_t c = 0; c < first_.size(); ++c)
      if (is_finite(first_[c], decimal_) && !is_far(c)) return false;
    return true;
  }

 private:
  template <class Test>
  bool any(const Test& test) const {
    return std::any_of(first_.begin(), first_.end(), test);
  }
  double value(const std::string& cell) const { return parse_wide(cell, decimal_).value; }

  /// Three numbers or more, each one more than the one before, or each one less.
  bool counts(const Record& record) const {
    std::vector<double> values;
    for (std::size_t c = 0; c < record.size(); ++c)
      if (is_finite(first_[c], decimal_)) values.push_back(value(record[c]));
    constexpr std::size_t enough = 3;
    const double step = values.size() < enough ? 0 : values[1] - values[0];
    for (std::size_t i = 1; i < values.size(); ++i)
      if (values[i] - values[i - 1] != step) return false;
    return std::fabs(step) == 1;
  }

  /// Farther from the numbers below than these are from each other.
  bool is_far(std::size_t column) const {
    double least = INFINITY, most = -INFINITY;
    for (const Record* record : below_) {
      if (!is_finite((*record)[column], decimal_)) continue;
      least = std::min(least, value((*record)[column]));
      most = std::max(most, value((*record)[column]));
    }
    const double first = value(first_[column]), spread = most - least;
    return spread > 0 && (first < least - spread || first > most + spread);
  }

  char decimal_;
  const Record& first_;
  std::vector<const Record*> below_;  ///< those with as many cells
};

/// Whether a record holds all of `names` in their order, perhaps with others among them.
bool repeats(const Record& record, const std::vector<std::string>& names) {
  std::size_t same = 0;
  for (const std::string& cell : record)
    if (same < names.size() && cell == names[same]) ++same;
  return same == names.size();
}

}  // namespace

Layout find_layout(Source& source, RecordReader& records, Format format, const FileOptions& options) {
  Layout layout;
  layout.skip = std::max<std::int64_t>(options.skip, 0);
  const char said = take_separator_line(records, layout);
  if (options.skip < 0 && !said) refuse_comments(source, records);
  layout.separator = options.separator ? options.separator : said;
  if (layout.separator)
    layout.sample = records.sample(layout.separator, layout.skip);
  else
    find_separator(source, records, format, options, layout);
  refuse_lines_above(source, layout.sample);
  return layout;
}

bool find_header(const Source& source, const Sample& sample, const FileOptions& options, const Table* like,
                 const std::vector<std::string>& named) {
  if (options.header == Header::yes || options.header == Header::no) return options.header == Header::yes;
  if (sample.records.empty()) return false;
  const Record& first = sample.records[0];
  if (like && like->header && repeats(first, like->column_names)) return true;
  std::int64_t number = 0;
  for (const std::string& name : named)
    if (!parse_whole(name, number) && std::find(first.begin(), first.end(), name) != first.end()) return true;
  const FirstRecord record(sample, options.decimal);
  if (record.has_name_over_number()) return true;
  if (options.header == Header::names) return record.has_names();
  const bool may_be_names = record.has_numbers() ? record.has_unlike_numbers() : record.has_names();
  if (like || !may_be_names) return false;
  if (sample.error) std::rethrow_exception(sample.error);
  const auto cell = std::find_if(first.begin(), first.end(), [](const auto& one) { return !one.empty(); });
  const bool alone = static_cast<std::size_t>(std::count(first.begin(), first.end(), "")) + 1 == first.size();
  throw Error(
      Errc::bad_file,
      source.name() + ":" + std::to_string(sample.lines[0]) + ": " + in_quotes(*cell) +
          " may be the name of a column or a value; say --csv header=yes or header=no" +
          (alone && first.size() > 1 ? ", or skip=" + std::to_string(sample.lines[0]) + " if it is a title"
                                     : ""));
}

bool is_index_name(const std::string& name) {
  return name.empty() || name == "Unnamed: 0";
}

}  // namespace kith::files
