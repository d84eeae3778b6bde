// Labels and values in .csv, .tsv and .txt: files that belong to the rows of another.
#include <algorithm>
#include <map>

#include "files/columns/column_notes.hpp"
#include "files/columns/dictionary.hpp"
#include "files/columns/records.hpp"
#include "files/text/layout.hpp"
#include "files/text/number.hpp"
#include "formats.hpp"

namespace kith::files {
namespace {

void tell(const FileOptions& options, const std::string& text) {
  if (options.note) options.note(text);
}

/// The rows of a side file. Where it is known how many there are, that decides about the first line, once all
/// are read; else what it holds, as in a table.
class SideFile {
 public:
  SideFile(Source& source, Format format, const FileOptions& options, std::int64_t rows,
           const std::vector<std::string>& named)
      : open_(rows > 0 && options.header == Header::automatic),
        records_(source, format, undecided(options), nullptr, named),
        source_(source),
        options_(options) {
    // A first line that begins with nothing holds names: no label, no number is empty.
    named_ = records_.has_header() ||
             (options.header != Header::no && records_.columns() > 1 && is_index_name(first()[0]));
  }

  Records& records() { return records_; }
  const std::vector<std::string>& first() const { return records_.first(); }

  /// The column that is called so, or has this number. A name in the first line makes that a header.
  std::size_t column(const std::string& wanted) {
    const auto at = std::find(first().begin(), first().end(), wanted);
    std::int64_t number = 0;
    if (!open_ || at == first().end() || parse_whole(wanted, number)) return records_.require_column(wanted);
    named_ = true;
    return static_cast<std::size_t>(at - first().begin());
  }

  /// Whether the first column is an index that pandas wrote; tells so.
  bool leave_index_out() {
    if (records_.columns() < 2 || !named_ || !is_index_name(first()[0])) return false;
    tell(options_,
         source_.name() + ": column 1 has no name; it is taken as the index of pandas and left out");
    return true;
  }

  /// Reads the next line of data; returns false at the end. Skips the first line if it may be a header.
  bool next(std::vector<std::string_view>& cells) {
    const bool skip = !begun_ && !records_.has_header() && (named_ || open_);
    begun_ = true;
    if (skip && !records_.next(cells)) return false;
    return records_.next(cells);
  }

  bool has_names() const { return named_; }
  bool is_open() const { return open_ && !named_; }  ///< whether the first line is in doubt

  void tell_header(std::int64_t rows, const std::string& cell) const {
    tell(options_, source_.name() + ": the first line (" + printable(cell) +
                       ") is taken as a header, since " + std::to_string(rows) +
                       " lines are wanted and so many follow; --csv header= says otherwise");
  }

  void tell_label(const std::string& cell) const {
    tell(options_, source_.name() + ": the first line (" + printable(cell) +
                       ") is taken as a label, and no other line has it; give a line for each row, and "
                       "--csv header=yes if it is a name");
  }

 private:
  FileOptions undecided(FileOptions options) const {
    if (open_) options.header = Header::no;
    return options;
  }

  bool open_;
  Records records_;
  Source& source_;
  const FileOptions& options_;
  bool named_ = false, begun_ = false;
};

std::size_t label_column(Source& source, SideFile& file, const LabelOptions& options) {
  const std::size_t columns = file.records().columns();
  const bool there =
      std::find(file.first().begin(), file.first().end(), options.column) != file.first().end();
  const bool asked = !options.column.empty() && (!options.column_optional || (columns > 1 && there));
  if (asked) return file.column(options.column);
  if (columns == 1) return 0;
  if (columns == 2 && file.leave_index_out()) return 1;
  std::string begins;
  for (std::size_t c = 0; c < std::min<std::size_t>(columns, 8); ++c)
    begins += (c ? ", " : "") + in_quotes(file.first()[c]);
  throw Error(Errc::invalid_argument,
              source.name() + ": has " + count_of(columns, "column") + " and begins with " + begins +
                  "; labels are one a line, or say which column they are: --label-column");
}

/// Whether the first label occurs nowhere else, and each of the others does.
bool only_first_is_alone(const std::vector<std::int64_t>& codes) {
  std::map<std::int64_t, std::size_t> counts;
  for (const std::int64_t code : codes) ++counts[code];
  return counts.size() > 1 && std::all_of(counts.begin(), counts.end(), [&](const auto& entry) {
           return (entry.second == 1) == (entry.first == codes[0]);
         });
}

bool is_name(const std::string& cell, char decimal) {
  return parse_number(cell, decimal).kind == Number::not_a_number;
}

}  // namespace

Labels read_delimited_labels(Source& source, Format format, const LabelOptions& options) {
  std::vector<std::string> named;
  if (!options.column.empty()) named.push_back(options.column);
  SideFile file(source, format, options, options.rows, named);
  const std::size_t column = label_column(source, file, options);
  Records& records = file.records();
  LabelReader reader(options.known, options.labels_are_text);
  LabelWatch watched;
  const std::int64_t first_line = records.line();
  for (std::vector<std::string_view> cells; file.next(cells); watched.look_at(cells[column]))
    if (const std::string why = reader.add(cells[column]); !why.empty())
      records.fail(records.column_text(column) + " " + why);
  bool headed = false;
  if (file.is_open()) {
    // Of numbers only 0 is a header, as pandas calls a column without a name. A name over numbers always is.
    const std::string& first = file.first()[column];
    const bool name = is_name(first, '.'), more = static_cast<std::int64_t>(reader.size()) == options.rows;
    if (!(name && reader.size() > 0 && reader.holds_numbers())) {
      headed = more && (name || first == "0");
      if (headed)
        file.tell_header(options.rows, first);
      else if (const std::string why = reader.add_first(first); !why.empty())
        records.fail_at(std::max<std::int64_t>(first_line, 1), records.column_text(column) + " " + why);
      else
        watched.look_at(first);
    }
  }
  if (reader.size() == 0) source.fail(std::string(no_rows));
  Labels labels = reader.finish();
  if (file.is_open() && !headed && is_name(file.first()[column], '.') && only_first_is_alone(labels.code))
    file.tell_label(file.first()[column]);
  if (!options.known) watched.tell(options, source.name(), labels);
  return labels;
}

namespace {

std::vector<std::size_t> value_columns(SideFile& file, const ValueOptions& options) {
  std::vector<std::size_t> columns;
  for (const std::string& wanted : options.columns) columns.push_back(file.column(wanted));
  if (!columns.empty()) return columns;
  for (std::size_t c = file.leave_index_out() ? 1 : 0; c < file.records().columns(); ++c)
    columns.push_back(c);
  return columns;
}

/// Whether the first line is 0, 1, ..., as pandas calls columns without names.
bool counts_from_zero(const std::vector<std::string>& first, const std::vector<std::size_t>& columns) {
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (first[columns[i]] != std::to_string(i)) return false;
  return true;
}

/// The numbers of one line.
template <class Cell>
std::vector<double> numbers_of(const Records& records, char decimal, std::int64_t line,
                               const std::vector<Cell>& cells, const std::vector<std::size_t>& columns) {
  std::vector<double> values;
  for (const std::size_t c : columns) {
    const WideNumber number = parse_wide(cells[c], decimal);
    if (number.kind != Number::finite)
      records.fail_at(line, records.column_text(c) + " " + why_not_wide(number.kind, cells[c], decimal));
    values.push_back(number.value);
  }
  return values;
}

}  // namespace

void read_delimited_values(Source& source, Format format, const ValueOptions& options, Values& values) {
  FileOptions how = options;
  if (options.rows == 0 && how.header == Header::automatic) how.header = Header::names;
  SideFile file(source, format, how, options.rows, options.columns);
  const std::vector<std::size_t> columns = value_columns(file, options);
  Records& records = file.records();
  const char decimal = options.decimal;
  const std::int64_t first_line = std::max<std::int64_t>(records.line(), 1);
  values.cols = static_cast<std::int64_t>(columns.size());
  for (std::vector<std::string_view> cells; file.next(cells); ++values.rows) {
    const std::vector<double> line = numbers_of(records, decimal, records.line(), cells, columns);
    values.values.insert(values.values.end(), line.begin(), line.end());
  }
  bool header = file.has_names();
  if (file.is_open()) {
    const std::vector<std::string>& first = file.first();
    header = values.rows > 0 && std::any_of(columns.begin(), columns.end(), [&](std::size_t c) {
               return is_name(first[c], decimal) && !is_missing(first[c]);
             });
    if (!header && values.rows == options.rows && counts_from_zero(first, columns)) {
      file.tell_header(options.rows, first[columns[0]]);
      header = true;
    }
    if (!header) {
      const std::vector<double> line = numbers_of(records, decimal, first_line, first, columns);
      values.values.insert(values.values.begin(), line.begin(), line.end());
      ++values.rows;
    }
  }
  if (values.rows == 0) source.fail(std::string(no_rows));
  for (std::size_t i = 0; header && i < columns.size(); ++i)
    values.column_names.push_back(file.first()[columns[i]]);
}

}  // namespace kith::files
