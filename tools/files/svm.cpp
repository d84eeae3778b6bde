// .svm, .libsvm: `label index:value index:value ... # comment`; indices ascend from 1, what is absent is 0.
// Source: Chang, Lin, LIBSVM: a library for support vector machines, README.
#include <algorithm>
#include <charconv>

#include "dictionary.hpp"
#include "formats.hpp"
#include "lines.hpp"
#include "number.hpp"

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

/// Labels as they are read; where one is negative all become text: -1 and +1 are "-1" and "1".
class SvmLabels {
 public:
  explicit SvmLabels(const Labels* known) : known_(known), reader_(known) {}

  void add(const LineReader& lines, std::string_view text) {
    std::int64_t label = 0;
    if (!parse_whole(text, label))
      lines.fail("begins with " + in_quotes(text) + ", which is no label; labels of .svm are whole numbers");
    if (!known_) {
      label_.push_back(label);
    } else if (const std::string why =
                   known_->names.empty() ? reader_.add(label) : reader_.add(std::to_string(label));
               !why.empty()) {
      lines.fail(why);
    }
  }

  Labels finish() {
    if (known_) return reader_.finish();
    if (std::none_of(label_.begin(), label_.end(), [](std::int64_t label) { return label < 0; }))
      return {std::move(label_), {}};
    std::vector<std::int64_t> distinct = label_;
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    Labels labels;
    for (std::int64_t label : distinct) labels.names.push_back(std::to_string(label));
    for (std::int64_t label : label_)
      labels.code.push_back(std::lower_bound(distinct.begin(), distinct.end(), label) - distinct.begin());
    return labels;
  }

 private:
  const Labels* known_;
  LabelReader reader_;
  std::vector<std::int64_t> label_;
};

struct Entry {
  std::uint32_t column;
  float value;
};

/// The `index:value` items of a line, appended to `entries`.
void read_entries(const LineReader& lines, std::string_view rest, std::int64_t row,
                  std::vector<Entry>& entries, RoundingCount& rounding) {
  std::int64_t last = 0;
  for (std::string_view item = next_item(rest); !item.empty(); item = next_item(rest)) {
    const std::size_t colon = item.find(':');
    std::int64_t index = 0;
    const auto [end, error] = std::from_chars(item.data(), item.data() + std::min(colon, item.size()), index);
    if (colon == std::string_view::npos || error != std::errc() || end != item.data() + colon)
      lines.fail("has " + in_quotes(item) + " where index:value belongs, such as 3:0.5; correct it");
    if (index < 1 || index > largest_index)
      lines.fail("has the index " + std::to_string(index) + " in " + in_quotes(item) + "; indices are 1 to " +
                 std::to_string(largest_index));
    if (index <= last)
      lines.fail("has the index " + std::to_string(index) + " after " + std::to_string(last) +
                 "; the indices of a line ascend, each once");
    last = index;
    const std::string_view text = item.substr(colon + 1);
    const Number number = parse_number(text);
    if (number.kind != Number::finite)
      lines.fail("index " + std::to_string(index) + " " + why_not(number.kind, text));
    if (number.rounded) rounding.add(row, index - 1);
    entries.push_back({static_cast<std::uint32_t>(index - 1), number.value});
  }
}

}  // namespace

void read_svm(Source& source, const ReadOptions& options, Table& table) {
  LineReader lines(source);
  const Labels* known = options.like && !options.like->labels.code.empty() ? &options.like->labels : nullptr;
  SvmLabels labels(known);
  RoundingCount rounding;
  std::vector<Entry> entries;
  std::vector<std::size_t> row_begin{0};
  table.cols = options.like ? options.like->cols : 0;
  const std::int64_t most = options.like ? options.like->cols : largest_index;
  for (std::string_view label, rest; next_line(lines, label, rest);) {
    if (!options.label_column.empty()) labels.add(lines, label);
    read_entries(lines, rest, static_cast<std::int64_t>(row_begin.size()) - 1, entries, rounding);
    const std::int64_t dims = entries.size() > row_begin.back() ? std::int64_t{entries.back().column} + 1 : 0;
    if (dims > most)
      throw Error(Errc::invalid_argument, source.name() + ":" + std::to_string(lines.number()) +
                                              ": has the index " + std::to_string(dims) + " but " +
                                              options.like->path + " has " +
                                              count_of(static_cast<std::uint64_t>(most), "column") +
                                              "; queries need the columns of the training rows");
    table.cols = std::max(table.cols, dims);
    row_begin.push_back(entries.size());
  }
  table.rows = static_cast<std::int64_t>(row_begin.size()) - 1;
  if (table.rows == 0) source.fail("holds blank lines only; a file of data has at least one row");
  if (table.cols == 0) source.fail("holds labels and no values; a row needs index:value, such as 3:0.5");
  const auto cols = static_cast<std::uint64_t>(table.cols);
  source.require_memory(multiply(multiply(static_cast<std::uint64_t>(table.rows), cols), sizeof(float)));
  table.values.assign(static_cast<std::size_t>(table.rows) * cols, 0.0f);
  for (std::size_t r = 0; r + 1 < row_begin.size(); ++r)
    for (std::size_t i = row_begin[r]; i < row_begin[r + 1]; ++i)
      table.values[r * cols + entries[i].column] = entries[i].value;
  if (!options.label_column.empty()) table.labels = labels.finish();
  table.rounded = rounding.columns();
}

Labels read_svm_labels(Source& source, const Labels* known) {
  LineReader lines(source);
  SvmLabels labels(known);
  bool any = false;
  for (std::string_view label, rest; next_line(lines, label, rest); any = true) labels.add(lines, label);
  if (!any) source.fail("holds blank lines only; a file of data has at least one row");
  return labels.finish();
}

}  // namespace kith::files
