// Reads .csv, .tsv and .txt: a record is a row, a cell is a value of a column.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "files/columns/column_notes.hpp"
#include "files/columns/dictionary.hpp"
#include "files/columns/records.hpp"
#include "files/columns/table_columns.hpp"
#include "files/formats.hpp"
#include "files/text/number.hpp"

namespace kith::files {
namespace {

constexpr std::int64_t most_categories = 1 << 24;  // codes must be exact float32

/// Columns that the caller calls by their names.
std::vector<std::string> names_asked_for(const ReadOptions& options) {
  std::vector<std::string> names{options.label_column, options.group_column};
  for (const auto* more : {&options.more_label_columns, &options.target_columns, &options.categorical})
    names.insert(names.end(), more->begin(), more->end());
  std::erase(names, "");
  return names;
}

class DelimitedReader {
 public:
  DelimitedReader(Source& source, Format format, const ReadOptions& options, Table& table)
      : records_(source, format, options, options.like, names_asked_for(options)),
        source_(source),
        options_(options),
        table_(table),
        columns_(records_, source, options, table) {
    for (std::size_t i = 0; i < columns_.label_count(); ++i)
      labels_.emplace_back(known_labels(i), options.labels_are_text);
    if (!options.group_column.empty())
      groups_.emplace(options.like ? &options.like->groups : nullptr, options.labels_are_text);
  }

  void read() {
    std::vector<std::string_view> cells;
    std::uint64_t empty = 0;
    while (records_.next(cells)) {
      has_value(cells) ? read_row(cells) : void(++empty);
    }
    if (records_.first_joined() > 0 && options_.quotes == Quotes::automatic && options_.note)
      options_.note(source_.name() + ":" + std::to_string(records_.first_joined()) +
                    ": a cell goes on over several lines, since its quotes hold them together; say --csv "
                    "quote=no if quotes are text");
    if (unseen_ > 0 && options_.note)
      options_.note(
          source_.name() + ": " + count_of(unseen_, "cell") + " with a text that does not occur in " +
          options_.like->path + (unseen_ == 1 ? " counts" : " count") +
          (options_.unseen_is_new ? " as no category" : " as category 0, the first text of the column"));
    if (empty > 0 && options_.note)
      options_.note(source_.name() + ": leaves out " + count_of(empty, "line") + " without any value");
    if (table_.rows == 0) source_.fail("holds no value in any row; a file of data has at least one row");
    finish();
  }

 private:
  const Labels* known_labels(std::size_t i) const {
    if (!options_.like || options_.like->labels.code.empty()) return nullptr;
    return i == 0 ? &options_.like->labels : &options_.like->more_labels[i - 1];
  }

  /// Of the columns that count, or an answer.
  bool has_value(const std::vector<std::string_view>& cells) const {
    for (std::size_t c = 0; c < cells.size(); ++c)
      if (!cells[c].empty() && (is_value(columns_[c]) || is_answer(columns_[c]))) return true;
    return cells.size() == 1;  // a file of one column: an empty cell is one
  }

  void read_row(const std::vector<std::string_view>& cells) {
    const std::size_t before = table_.values.size(), after = before + static_cast<std::size_t>(table_.cols);
    if (after > table_.values.capacity()) source_.require_room(multiply(after, sizeof(float)));
    table_.values.resize(after);
    if (options_.doubles) table_.doubles.resize(after);
    float* to = table_.values.data() + before;
    double* wide = options_.doubles ? table_.doubles.data() + before : nullptr;
    const std::size_t targets_before = table_.targets.size();
    if (columns_.has_targets()) table_.targets.resize(targets_before + options_.target_columns.size());
    bool answered = true;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      Column& column = columns_[c];
      if (column.kind == Column::target)
        answered &= read_target(c, cells[c], table_.targets[targets_before + column.answer]);
      else if (column.kind == Column::label)
        answered &= read_label(c, cells[c]);
      else if (column.kind == Column::group)
        read_group(c, cells[c]);
      else if (column.kind == Column::blank && !cells[c].empty())
        columns_.refuse_width();
      else if (is_value(column))
        place_value(c, cells[c], to, wide);
    }
    if (!answered) {
      table_.values[before] = std::numeric_limits<float>::quiet_NaN();
      if (options_.doubles) table_.doubles[before] = std::numeric_limits<double>::quiet_NaN();
    }
    ++table_.rows;
  }

  void place_value(std::size_t c, std::string_view cell, float*& to, double*& wide) {
    const float value = read_value(c, cell);
    *to++ = value;
    const bool number = columns_[c].kind == Column::number;
    if (!wide && (!number || options_.like)) return;
    const double exact = number ? wide_of(cell, value, options_.decimal) : static_cast<double>(value);
    if (wide && number && !wholes_.knows(columns_[c].position) && is_rounded_whole(cell, exact))
      wholes_.add({table_.rows, columns_[c].position, std::string(cell), exact});
    if (wide)
      *wide++ = exact;
    else
      digits_.add(table_.rows, columns_[c].position, exact, value);
  }

  float read_value(std::size_t c, std::string_view cell) {
    Column& column = columns_[c];
    if (options_.missing && is_missing(cell)) {
      column.marked |= !cell.empty();
      return std::numeric_limits<float>::quiet_NaN();
    }
    if (column.kind == Column::undecided) {
      if (cell.empty() && column.nameless) {  // as all of them may be: finish()
        if (column.first_empty == 0) column.first_empty = records_.line();
        return std::numeric_limits<float>::quiet_NaN();
      }
      if (column.first_empty > 0)
        records_.fail_at(column.first_empty, records_.column_text(c) + " " +
                                                 why_not(Number::not_a_number, "") + std::string(or_missing));
      decide(column, cell);
    }
    return column.kind == Column::number ? read_number(c, cell) : read_text(c, cell);
  }

  void decide(Column& column, std::string_view cell) const {
    const bool is_text = !cell.empty() && parse_number(cell, options_.decimal).kind == Number::not_a_number;
    column.kind = is_text ? Column::text : Column::number;
    column.first_text = cell;
    column.first_line = records_.line();
  }

  float read_number(std::size_t c, std::string_view cell) {
    const Number number = parse_number(cell, options_.decimal, options_.wide);
    if (number.kind != Number::finite) refuse_number(c, number.kind, cell);
    return number.value;
  }

  /// False: it is missing, and may be.
  bool read_target(std::size_t c, std::string_view cell, double& target) const {
    if (options_.missing_answers && is_missing(cell)) return false;
    const WideNumber number = parse_wide(cell, options_.decimal);
    if (number.kind != Number::finite) refuse(c, why_not_wide(number.kind, cell, options_.decimal));
    target = number.value;
    return true;
  }

  /// False: it is missing, and may be. Marks of missing values are labels like any other.
  bool read_label(std::size_t c, std::string_view cell) {
    Column& column = columns_[c];
    if (options_.missing_answers && cell.empty()) {
      labels_[column.answer].add_none();
      return false;
    }
    if (const std::string why = labels_[column.answer].add(cell); !why.empty()) refuse(c, why);
    column.watched.look_at(cell);
    return true;
  }

  void read_group(std::size_t c, std::string_view cell) {
    if (const std::string why = groups_->add(cell); !why.empty()) refuse(c, why);
    columns_[c].watched.look_at(cell);
  }

  float read_text(std::size_t c, std::string_view cell) {
    Column& column = columns_[c];
    if (cell.empty()) refuse_number(c, Number::not_a_number, cell);
    if (column.fixed) {
      const std::int64_t code = column.dictionary.find(cell);
      unseen_ += code < 0;
      if (code < 0 && options_.unseen_is_new) return static_cast<float>(column.dictionary.size());
      if (code < 0 && !options_.unseen_is_zero)
        refuse(c, "holds " + in_quotes(cell) + ", which does not occur in " + options_.like->path +
                      "; correct it, or count such cells as 0 with --prepare unseen=zero");
      return static_cast<float>(std::max<std::int64_t>(code, 0));
    }
    const std::int64_t known = column.dictionary.size(), code = column.dictionary.add(cell);
    if (code == known && !column.forced) check_text(c, cell);
    if (code >= most_categories)
      refuse(c,
             "holds the 16777217th distinct text; a column of categories has at most 16777216: leave it out");
    return static_cast<float>(code);
  }

  /// Refuses a number, or a text that may be meant as one, in a column of text.
  void check_text(std::size_t c, std::string_view cell) {
    const Column& column = columns_[c];
    const std::string forced = "say --prepare categorical=" + std::to_string(c + 1);
    const Number::Kind kind = parse_number(cell, options_.decimal).kind;
    if (kind != Number::not_a_number)
      refuse(c, (kind == Number::nan ? "holds " : "holds the number ") + in_quotes(cell) + ", but line " +
                    std::to_string(column.first_line) + " the text " + in_quotes(column.first_text) +
                    "; make the column text or numbers throughout, or " + forced +
                    std::string(is_missing(cell) || is_missing(column.first_text) ? or_missing : ""));
    if (!is_like_number(cell)) return;
    const bool may_be_header = records_.is_first() && options_.header == Header::automatic;
    refuse(c, "holds " + in_quotes(cell) + ", which is not read as a number; " +
                  number_advice(cell, options_.decimal) + ", or " + forced + " if it is a name" +
                  (may_be_header ? ", or --csv header=yes if it is that of the column" : ""));
  }

  /// Notes columns that tell rows apart.
  void look_at_columns() {
    if (options_.like) return;
    ColumnNotes notes(table_);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const Column& column = columns_[c];
      if (column.kind == Column::number) notes.look_at_numbers(column.position);
      if (column.kind != Column::text || column.forced) continue;
      notes.look_at_texts(column.position, column.dictionary);
    }
    if (!options_.features_chosen && options_.note) notes.tell(options_);
  }

  /// Renumbers categories, which were numbered as they came, in the order of their names.
  void finish() {
    table_.rounded = digits_.rounded();
    table_.equal_rows = digits_.equal_rows();
    table_.rounded_wholes = wholes_.rounded();
    columns_.leave_empty_out();
    look_at_columns();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const Column& column = columns_[c];
      const bool nameless =
          column.kind == Column::text && column.dictionary.size() == 0;  // by --prepare categorical=
      if (column.kind == Column::undecided || nameless)
        throw Error(Errc::bad_file, source_.name() + ": " + records_.column_text(c) +
                                        " holds no value in any row; take the column out of the file");
      if (column.kind != Column::text) continue;
      if (!column.fixed) tell_marks(c);
      Categories categories{column.position, {}};
      if (column.fixed) {
        categories.names = names_of(column.position);
      } else {
        Dictionary::Sorted sorted = column.dictionary.sorted();
        for (std::int64_t r = 0; r < table_.rows; ++r) {
          float& value = table_.values[static_cast<std::size_t>(r * table_.cols + column.position)];
          if (!std::isnan(value))
            value = static_cast<float>(sorted.position[static_cast<std::size_t>(value)]);
          if (options_.doubles)
            table_.doubles[static_cast<std::size_t>(r * table_.cols + column.position)] =
                static_cast<double>(value);
        }
        categories.names = std::move(sorted.names);
      }
      table_.categories.push_back(std::move(categories));
    }
    for (std::size_t i = 0; i < labels_.size(); ++i)
      if (i == 0)
        table_.labels = labels_[i].finish();
      else
        table_.more_labels.push_back(labels_[i].finish());
    if (groups_) table_.groups = groups_->finish();
    for (std::size_t c = 0; c < columns_.size() && !options_.like; ++c)
      if (columns_[c].kind == Column::label || columns_[c].kind == Column::group)
        columns_[c].watched.tell(options_, source_.name() + ": " + records_.column_text(c),
                                 texts_of(columns_[c]));
  }

  /// Returns what was read of a column of labels or groups.
  const Labels& texts_of(const Column& column) const {
    if (column.kind == Column::group) return table_.groups;
    return column.answer == 0 ? table_.labels : table_.more_labels[column.answer - 1];
  }

  const std::vector<std::string>& names_of(std::int64_t position) const {
    const std::vector<Categories>& all = options_.like->categories;
    return std::find_if(all.begin(), all.end(), [&](const Categories& c) { return c.column == position; })
        ->names;
  }

  /// A cell that holds no number; where it is missing, what may be done about it.
  [[noreturn]] void refuse_number(std::size_t c, Number::Kind kind, std::string_view cell) const {
    const std::string why = options_.wide ? why_not_wide(kind, cell, options_.decimal)
                                          : why_not(kind, cell, options_.decimal, options_.if_too_large);
    refuse(c, why + std::string(is_missing(kind, cell) ? or_missing : ""));
  }

  /// Notes that a mark of a missing value became a category.
  void tell_marks(std::size_t c) const {
    if (!options_.note || options_.missing) return;
    for (const std::string_view mark : plain_marks)
      if (columns_[c].dictionary.find(mark) >= 0)
        options_.note(source_.name() + ": " + records_.column_text(c) + " holds " + in_quotes(mark) +
                      ", which is taken as a category; --prepare missing= takes it as a missing value");
  }

  [[noreturn]] void refuse(std::size_t c, const std::string& why) const {
    records_.fail(records_.column_text(c) + " " + why);
  }

  Records records_;
  Source& source_;
  const ReadOptions& options_;
  Table& table_;
  TableColumns columns_;
  std::uint64_t unseen_ = 0;  ///< cells of categories that the training rows do not have
  std::vector<LabelReader> labels_;
  std::optional<LabelReader> groups_;
  DigitsWatch digits_;
  WholesWatch wholes_;
};

}  // namespace

void read_delimited(Source& source, Format format, const ReadOptions& options, Table& table) {
  DelimitedReader(source, format, options, table).read();
}

}  // namespace kith::files
