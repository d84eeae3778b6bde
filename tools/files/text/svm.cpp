// .svm, .libsvm: `label index:value index:value ... # comment`; indices ascend, from 1 or from 0, what is
// absent is 0.
// Source: Chang, Lin, LIBSVM: a library for support vector machines, README.
#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "files/columns/dictionary.hpp"
#include "files/formats.hpp"
#include "files/text/lines.hpp"
#include "files/text/number.hpp"

namespace kith::files {
namespace {

constexpr std::int64_t largest_index = std::int64_t{1} << 31;

/// The next item of a line; empty at its end.
std::string_view next_item(std::string_view& rest) {
  constexpr std::string_view blanks = " \t";
  rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
  const std::string_view item = rest.substr(0, rest.find_first_of(blanks));
  rest.remove_prefix(item.size());
  return item;
}

/// Lines that hold more than a comment.
bool next_line(LineReader& lines, std::string_view& label, std::string_view& rest) {
  while (lines.next(rest)) {
    rest = rest.substr(0, rest.find('#'));
    label = next_item(rest);
    if (label.empty()) continue;
    if (label.find(':') != std::string_view::npos)
      lines.fail("begins with " + in_quotes(label) +
                 ", not with a label; write any number before it, such as 0");
    return true;
  }
  return false;
}

/// The first item of a line as a label.
void add_label(LabelReader& labels, const LineReader& lines, std::string_view text) {
  std::int64_t label = 0;
  if (!parse_whole(text, label))
    lines.fail("begins with " + in_quotes(text) +
               ", which is no label; labels of .svm are whole numbers, and numbers to be predicted are for "
               "kith regress");
  if (const std::string why = labels.add(text); !why.empty()) lines.fail(why);
}

/// The same as a number to be predicted.
double read_target(const LineReader& lines, std::string_view text) {
  const WideNumber number = parse_wide(text);
  if (number.kind != Number::finite)
    lines.fail("begins with " + in_quotes(text) + ", which is no number to be predicted; correct it");
  return number.value;
}

struct Numbered {
  std::uint32_t index;
  float value;
};

/// The index of an `index:value` item, and its value as text. `last` is the index before it in the line, or
/// -1.
std::pair<std::int64_t, std::string_view> split_entry(const LineReader& lines, std::string_view item,
                                                      std::int64_t last) {
  const std::size_t colon = item.find(':');
  std::int64_t index = 0;
  const auto [end, error] = std::from_chars(item.data(), item.data() + std::min(colon, item.size()), index);
  if (colon == std::string_view::npos || error != std::errc() || end != item.data() + colon)
    lines.fail("has " + in_quotes(item) + " where index:value belongs, such as 3:0.5; correct it");
  if (index < 0 || index > largest_index)
    lines.fail("has the index " + std::to_string(index) + " in " + in_quotes(item) + "; indices are 0 to " +
               std::to_string(largest_index));
  const std::uint64_t most = lines.limits().svm_columns;
  if (static_cast<std::uint64_t>(index) > most)
    lines.fail(
        "has the index " + std::to_string(index) + ", but a file may have " + std::to_string(most) +
        " columns at most; correct it, or allow more: --read max-columns=" + std::to_string(index + 1));
  if (index <= last)
    lines.fail("has the index " + std::to_string(index) + " after " + std::to_string(last) +
               "; the indices of a line ascend, each once");
  return {index, item.substr(colon + 1)};
}

class SvmReader {
 public:
  SvmReader(Source& source, const ReadOptions& options, Table& table)
      : source_(source), lines_(source), options_(options), table_(table), labels_(known()) {
    with_labels_ = !options.label_column.empty();
    with_targets_ = !options.target_columns.empty();
    if (options.label_optional && options.like && options.like->text) with_labels_ = with_targets_ = false;
    for (const std::string& column : wanted())
      if ((with_labels_ || with_targets_) && column != "1" && column != "label" && column != "target")
        throw Error(Errc::invalid_argument,
                    source.name() + ": has no column " + in_quotes(column) +
                        "; the labels of such a file begin its lines: leave that option out");
    if ((with_labels_ || with_targets_) && wanted().size() > 1)
      throw Error(Errc::invalid_argument, source.name() +
                                              ": lines begin with one label each; ask for one, not for " +
                                              std::to_string(wanted().size()));
    width_ = options.also;
  }

  void read() {
    for (std::string_view first, rest; next_line(lines_, first, rest);) {
      if (with_labels_) add_label(labels_, lines_, first);
      if (with_targets_) table_.targets.push_back(read_target(lines_, first));
      read_entries(rest);
      row_begin_.push_back(entries_.size());
    }
    table_.rows = static_cast<std::int64_t>(row_begin_.size()) - 1;
    if (table_.rows == 0) source_.fail("holds blank lines only; a file of data has at least one row");
    choose_base();
    place_values();
    if (with_labels_) table_.labels = labels_.finish();
    if (with_labels_ || with_targets_) table_.answer_names = {with_labels_ ? "label" : "target"};
  }

 private:
  const Labels* known() const {
    const bool any = options_.like && !options_.like->labels.code.empty();
    return any ? &options_.like->labels : nullptr;
  }

  std::vector<std::string> wanted() const {
    std::vector<std::string> all = options_.target_columns;
    if (!options_.label_column.empty()) all.push_back(options_.label_column);
    all.insert(all.end(), options_.more_label_columns.begin(), options_.more_label_columns.end());
    return all;
  }

  /// The `index:value` items of a line, appended to entries_.
  void read_entries(std::string_view rest) {
    const auto row = static_cast<std::int64_t>(row_begin_.size()) - 1;
    std::int64_t last = -1;
    for (std::string_view item = next_item(rest); !item.empty(); item = next_item(rest)) {
      const auto [index, text] = split_entry(lines_, item, last);
      last = index;
      if (index == 0) check_zero();
      if (text.empty() && !options_.missing)
        lines_.fail("has " + in_quotes(item) +
                    " and no value behind it; write index:value without a blank between them, such as 3:0.5");
      Number number = parse_number(text, '.', options_.wide);
      if (options_.missing && (number.kind == Number::nan || is_missing_marker(text)))
        number = {Number::finite, std::numeric_limits<float>::quiet_NaN()};
      if (number.kind != Number::finite) {
        const std::string_view advice = is_missing(number.kind, text) ? or_missing : std::string_view();
        lines_.fail("index " + std::to_string(index) + " " +
                    (options_.wide ? why_not_wide(number.kind, text)
                                   : why_not(number.kind, text, '.', options_.if_too_large)) +
                    std::string(advice));
      }
      const double wide = wide_of(text, number.value);
      if (!options_.doubles)
        digits_.add(row, index, wide, number.value);
      else if (!wholes_.knows(index) && is_rounded_whole(text, wide))
        wholes_.add({row, index, std::string(text), wide});
      entries_.push_back({static_cast<std::uint32_t>(index), number.value});
      if (options_.doubles) doubles_.push_back(wide);
    }
    if (last < 0) return;
    width_.largest = std::max(width_.largest, last);
    check_width(last);
  }

  std::int64_t base_of_like() const { return options_.like ? options_.like->first_index : -1; }

  std::int64_t width_of_like() const {
    return options_.like->cols + static_cast<std::int64_t>(options_.like->unread.size());
  }

  void check_zero() {
    width_.zero = own_zero_ = true;
    if (options_.first_index != 1 && base_of_like() != 1) return;
    lines_.fail(
        options_.first_index == 1
            ? "has the index 0, but --csv base=1 says that they begin at 1; leave it out, or say base=0"
            : "has the index 0, but those of " + options_.like->path +
                  " begin at 1; write both files alike, or read both with --csv base=0");
  }

  void check_width(std::int64_t last) const {
    if (!options_.like) return;
    const std::int64_t base = base_of_like() >= 0 ? base_of_like() : width_.zero ? 0 : 1;
    const std::int64_t dims = last - base + 1, most = width_of_like();
    if (dims <= most) return;
    throw Error(Errc::invalid_argument,
                source_.name() + ":" + std::to_string(lines_.number()) + ": has the index " +
                    std::to_string(last) + " but " + options_.like->path + " has " +
                    count_of(static_cast<std::uint64_t>(most), "column") +
                    "; queries need the columns of the training rows: leave higher indices out");
  }

  void choose_base() {
    std::int64_t base = options_.first_index >= 0 ? options_.first_index : base_of_like();
    if (base < 0) {
      base = width_.zero ? 0 : 1;
      if (width_.zero && !own_zero_)
        throw Error(Errc::invalid_argument, source_.name() +
                                                ": has no index 0, but the queries have; write both files "
                                                "alike, or say --csv base=0 if these begin at 0, too");
      if (width_.zero && options_.note)
        options_.note(source_.name() +
                      ": the index 0 occurs, so indices begin at 0; --csv base= says otherwise");
    }
    table_.first_index = base;
    table_.cols = options_.like ? width_of_like() : width_.largest - base + 1;
    if (table_.cols < 1) source_.fail("holds labels and no values; a row needs index:value, such as 3:0.5");
  }

  void place_values() {
    const auto cols = static_cast<std::uint64_t>(table_.cols);
    source_.require_room(multiply(multiply(static_cast<std::uint64_t>(table_.rows), cols), sizeof(float)));
    table_.values.assign(static_cast<std::size_t>(table_.rows) * cols, 0.0f);
    const auto base = static_cast<std::uint32_t>(table_.first_index);
    for (std::size_t r = 0; r + 1 < row_begin_.size(); ++r)
      for (std::size_t i = row_begin_[r]; i < row_begin_[r + 1]; ++i)
        table_.values[r * cols + entries_[i].index - base] = entries_[i].value;
    if (options_.doubles) table_.doubles.assign(table_.values.size(), 0.0);
    for (std::size_t r = 0; options_.doubles && r + 1 < row_begin_.size(); ++r)
      for (std::size_t i = row_begin_[r]; i < row_begin_[r + 1]; ++i)
        table_.doubles[r * cols + entries_[i].index - base] = doubles_[i];
    table_.rounded = digits_.rounded();
    table_.equal_rows = digits_.equal_rows();
    table_.rounded_wholes = wholes_.rounded();
    for (RoundedColumn& column : table_.rounded) column.column -= table_.first_index;
    for (RoundedWhole& one : table_.rounded_wholes) one.column -= table_.first_index;
  }

  Source& source_;
  LineReader lines_;
  const ReadOptions& options_;
  Table& table_;
  LabelReader labels_;
  bool with_labels_ = false, with_targets_ = false;
  SvmWidth width_;         ///< of this file and of options_.also
  bool own_zero_ = false;  ///< whether the index 0 occurs in this one
  DigitsWatch digits_;
  WholesWatch wholes_;
  std::vector<Numbered> entries_;
  std::vector<double> doubles_;  ///< their values, where options_ want these
  std::vector<std::size_t> row_begin_{0};
};

}  // namespace

void read_svm(Source& source, const ReadOptions& options, Table& table) {
  SvmReader(source, options, table).read();
}

SvmWidth read_svm_width(Source& source) {
  LineReader lines(source);
  SvmWidth width;
  for (std::string_view label, rest; next_line(lines, label, rest);) {
    std::int64_t last = -1;
    for (std::string_view item = next_item(rest); !item.empty(); item = next_item(rest)) {
      last = split_entry(lines, item, last).first;
      width.zero = width.zero || last == 0;
    }
    width.largest = std::max(width.largest, last);
  }
  return width;
}

Labels read_svm_labels(Source& source, const Labels* known) {
  LineReader lines(source);
  LabelReader labels(known);
  for (std::string_view label, rest; next_line(lines, label, rest);) add_label(labels, lines, label);
  if (labels.size() == 0) source.fail("holds blank lines only; a file of data has at least one row");
  return labels.finish();
}

void read_svm_values(Source& source, Values& values) {
  LineReader lines(source);
  for (std::string_view first, rest; next_line(lines, first, rest);)
    values.values.push_back(read_target(lines, first));
  values.cols = 1;
  values.rows = static_cast<std::int64_t>(values.values.size());
  if (values.rows == 0) source.fail("holds blank lines only; a file of data has at least one row");
}

}  // namespace kith::files
