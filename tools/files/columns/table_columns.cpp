#include "files/columns/table_columns.hpp"

#include <algorithm>
#include <optional>

#include "files/formats.hpp"

namespace kith::files {

TableColumns::TableColumns(const Records& records, Source& source, const ReadOptions& options, Table& table)
    : records_(records), source_(source), options_(options), table_(table), columns_(records.columns()) {
  table.header = records.has_header();
  for (std::size_t c = 0; c < columns_.size(); ++c)
    columns_[c].nameless = !table_.header || records_.first()[c].empty();
  find_group();
  find_answers();
  std::int64_t places = 0;
  for (Column& column : columns_)
    if (!is_answer(column)) column.place = places++;
  place();
  leave_unchosen_out();
  if (options.like)
    follow(*options.like);
  else
    force_categories();
}

/// Columns that are no values, as the caller calls them: labels, then targets.
std::vector<std::string> TableColumns::wanted_answers() const {
  std::vector<std::string> wanted;
  if (!options_.label_column.empty()) wanted.push_back(options_.label_column);
  for (const auto* more : {&options_.more_label_columns, &options_.target_columns})
    wanted.insert(wanted.end(), more->begin(), more->end());
  return wanted;
}

/// Of queries: whether as many columns say that there are no answers. Where both files have names these say
/// it.
bool TableColumns::are_without_answers(const Table& like) const {
  const auto count = static_cast<std::int64_t>(columns_.size() - table_.left_out.size());  // without a group
  if (table_.header && like.header && !like.answer_names.empty()) return false;
  return count == like.cols || count == like.cols + static_cast<std::int64_t>(like.unread.size());
}

/// Finds the column of groups, by its name in the training file where both files have names.
void TableColumns::find_group() {
  const Table* const like = options_.like;
  if (options_.group_column.empty()) return;
  const std::string& name =
      like && table_.header && !like->group_name.empty() ? like->group_name : options_.group_column;
  const std::optional<std::size_t> found = like ? records_.find_column(name) : records_.require_column(name);
  if (!found)
    throw Error(Errc::invalid_argument, source_.name() + ": has no column " + name +
                                            ", which names groups; give files with this column");
  taken(*found).kind = Column::group;
  if (table_.header) table_.group_name = records_.first()[*found];
}

/// Find them all, or, where they may be absent, all or none.
void TableColumns::find_answers() {
  const Table* const like = options_.label_optional ? options_.like : nullptr;
  if (like && are_without_answers(*like)) return;
  std::vector<std::string> wanted = wanted_answers();
  const std::size_t label_count = wanted.size() - options_.target_columns.size();
  if (like && table_.header && like->header && like->answer_names.size() == wanted.size())
    wanted = like->answer_names;  // a number may be that of another column here
  std::vector<std::string> absent;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::optional<std::size_t> found =
        options_.label_optional ? records_.find_column(wanted[i]) : records_.require_column(wanted[i]);
    if (!found) {
      absent.push_back(wanted[i]);
      continue;
    }
    take_answer(*found, i, label_count);
  }
  if (!absent.empty() && absent.size() < wanted.size())
    throw Error(Errc::invalid_argument, source_.name() + ": has no column " + in_quotes(absent[0]) +
                                            ", but others of labels or targets; give all of them or none");
  if (absent.empty()) labels_ = label_count;
  std::sort(table_.left_out.begin(), table_.left_out.end());
}

/// Returns a column that is no value.
Column& TableColumns::taken(std::size_t at) {
  if (columns_[at].kind != Column::undecided)
    throw Error(Errc::invalid_argument, source_.name() + ": " + records_.column_text(at) +
                                            " is named twice as label, target or group; name it once");
  table_.left_out.push_back(static_cast<std::int64_t>(at));
  return columns_[at];
}

void TableColumns::take_answer(std::size_t at, std::size_t wanted, std::size_t label_count) {
  Column& column = taken(at);
  const bool is_label = wanted < label_count;
  column.kind = is_label ? Column::label : Column::target;
  has_targets_ |= !is_label;
  column.answer = is_label ? wanted : wanted - label_count;
  if (records_.has_header()) table_.answer_names.push_back(records_.first()[at]);
  if (is_label && column.answer == 0) table_.label_column = static_cast<std::int64_t>(at);
}

void TableColumns::place() {
  table_.cols = 0;
  table_.column_names.clear();
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (!is_value(columns_[c])) continue;
    columns_[c].position = table_.cols++;
    if (table_.header) table_.column_names.push_back(records_.first()[c]);
  }
  if (table_.cols == 0)
    throw Error(Errc::invalid_argument, source_.name() +
                                            (table_.left_out.size() == 1 && table_.label_column >= 0
                                                 ? ": has the label column only"
                                                 : ": has columns of labels, targets and groups only") +
                                            "; a table needs one column of values at least");
}

/// Removes from the table the columns for which `is_out(column, name)` holds.
template <class IsOut>
void TableColumns::leave_out(Column::Kind kind, const IsOut& is_out) {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    Column& column = columns_[c];
    const std::string name = table_.header ? records_.first()[c] : "";
    if (!is_value(column) || !is_out(column, name)) continue;
    column.kind = kind;
    const auto at = std::lower_bound(table_.unread.begin(), table_.unread.end(), column.place);
    if (table_.header)
      table_.unread_names.insert(table_.unread_names.begin() + (at - table_.unread.begin()), name);
    table_.unread.insert(at, column.place);
    table_.left_out.push_back(static_cast<std::int64_t>(c));
  }
  std::sort(table_.left_out.begin(), table_.left_out.end());
  place();
}

void TableColumns::leave_unchosen_out() {
  if (!options_.choose) return;
  const std::vector<std::int64_t> chosen = options_.choose(table_);
  if (chosen.empty()) return;
  leave_out(Column::unread, [&](const Column& column, const std::string&) {
    return !std::binary_search(chosen.begin(), chosen.end(), column.position);
  });
}

/// What does not count in the training rows: by its place where all columns are here, else by its name.
/// What is here beyond that must be nameless and empty.
void TableColumns::leave_unread_out(const Table& like) {
  const auto has = [](const auto& all, const auto& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  if (table_.cols == like.cols + static_cast<std::int64_t>(like.unread.size())) {
    leave_out(Column::unread,
              [&](const Column& column, const std::string&) { return has(like.unread, column.position); });
    return;
  }
  const bool named = table_.header && like.header;
  if (named)
    leave_out(Column::unread, [&](const Column&, const std::string& name) {
      return has(like.unread_names, name) && !has(like.column_names, name);
    });
  if (table_.cols <= like.cols) return;
  leave_out(Column::blank, [&](const Column& column, const std::string& name) {
    return column.nameless && (named ? !has(like.column_names, name) : column.position >= like.cols);
  });
}

void TableColumns::refuse_width() {
  for (Column& column : columns_)
    if (column.kind == Column::blank) column.kind = Column::undecided;
  place();
  files::refuse_width(table_, *options_.like);
}

void TableColumns::force_categories() {
  for (const std::string& name : options_.categorical) {
    Column& column = columns_[records_.require_column(name)];
    if (!is_value(column)) continue;
    column.kind = Column::text;
    column.forced = true;
  }
}

/// Copies layout and dictionaries of the training table.
void TableColumns::follow(const Table& like) {
  leave_unread_out(like);
  if (table_.cols != like.cols) return;  // read_table() refuses it
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    Column& column = columns_[c];
    if (!is_value(column)) continue;
    const auto position = static_cast<std::size_t>(column.position);
    if (table_.header && like.header && table_.column_names[position] != like.column_names[position])
      throw Error(Errc::invalid_argument, source_.name() + ": " + records_.column_text(c) + " is " +
                                              in_quotes(like.column_names[position]) + " in " + like.path +
                                              "; give both files the same columns in the same order");
    column.kind = Column::number;
  }
  for (const Categories& categories : like.categories)
    for (Column& column : columns_)
      if (is_value(column) && column.position == categories.column) {
        column.kind = Column::text;
        column.dictionary = Dictionary(categories.names);
        column.forced = column.fixed = true;
      }
}

void TableColumns::leave_empty_out() {
  const auto is_empty = [](const Column& column) {
    return column.kind == Column::undecided && column.nameless && !column.marked;
  };
  std::vector<std::int64_t> others;
  for (const Column& column : columns_)
    if (is_value(column) && !is_empty(column)) others.push_back(column.position);
  if (static_cast<std::int64_t>(others.size()) == table_.cols) return;
  keep_values(table_, others);
  leave_out(Column::unread, [&](const Column& column, const std::string&) { return is_empty(column); });
}

}  // namespace kith::files
