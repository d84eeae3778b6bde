#include "command/input/training.hpp"

#include <algorithm>
#include <utility>

#include "command/input/elements.hpp"
#include "command/input/index_input.hpp"
#include "command/input/read_as.hpp"
#include "command/input/source_input.hpp"
#include "command/input/training_parts.hpp"
#include "command/rows/group_column.hpp"
#include "kith/parse.hpp"

namespace kith::command {
namespace {

/// Copies `rows` of `values`, which have `width` values each.
template <class T>
void keep(const std::vector<std::int64_t>& rows, std::size_t width, std::vector<T>& values) {
  if (values.empty()) return;
  std::vector<T> some;
  some.reserve(rows.size() * width);
  for (const std::int64_t row : rows) {
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(row) * width);
    some.insert(some.end(), from, from + static_cast<std::ptrdiff_t>(width));
  }
  values = std::move(some);
}

/// Removes rows with a missing value from the rows that are searched.
void leave_incomplete_out(Rows& rows) {
  std::vector<std::int64_t> complete = complete_rows(view(rows.table));
  if (static_cast<std::int64_t>(complete.size()) == rows.table.rows) return;
  const auto cols = static_cast<std::size_t>(rows.table.cols);
  for (const std::int64_t row : complete) {
    const float* from = rows.table.values.data() + static_cast<std::size_t>(row) * cols;
    rows.prepared.insert(rows.prepared.end(), from, from + cols);
  }
  std::vector<double> doubles;
  for (const std::int64_t row : complete) {
    if (rows.doubles.empty()) break;
    const double* from = rows.doubles.data() + static_cast<std::size_t>(row) * cols;
    doubles.insert(doubles.end(), from, from + cols);
  }
  rows.doubles = std::move(doubles);
  rows.kept = std::move(complete);
}

/// Says how many rows have a missing value: `FILE: 3 of 10 rows`.
std::string missing_rows(const Rows& rows) {
  return rows.table.path + ": " + std::to_string(rows.table.rows - rows.count()) + " of " +
         std::to_string(rows.table.rows) + (rows.table.rows == 1 ? " row" : " rows");
}

/// Applies --prepare missing=drop: removes incomplete rows, and all that belongs to them.
void drop_incomplete(const std::string& where, Training& training) {
  Rows& rows = training.rows;
  leave_incomplete_out(rows);
  if (!rows.kept) return;
  if (rows.kept->empty())
    refuse(where, rows.table.path +
                      ": every row misses a value, so --prepare missing=drop leaves none; fill them in by "
                      "mean, median or most-frequent");
  note(missing_rows(rows) + " left out, since a value is missing; the others keep their numbers");
  training.row_numbers = *rows.kept;
  const std::vector<std::int64_t>& kept = training.row_numbers;
  for (files::Labels& labels : training.labels) keep(kept, 1, labels.code);
  keep(kept, training.value_names.size(), training.values);
  keep(kept, 1, training.sample_weights);
}

/// Many rows in their place, which memory has no room for twice.
void apply_in_place(const Preparation& preparation, std::vector<float>& values, std::int64_t cols) {
  constexpr std::int64_t at_a_time = 1 << 20;  // values
  const std::int64_t rows = static_cast<std::int64_t>(values.size()) / cols;
  const std::int64_t step = std::max<std::int64_t>(1, at_a_time / cols);
  for (std::int64_t first = 0; first < rows; first += step) {
    float* const from = values.data() + first * cols;
    const std::vector<float> some = preparation.apply({from, std::min(step, rows - first), cols});
    std::copy(some.begin(), some.end(), from);
  }
}

MatrixView<const double> doubles_of(const Rows& rows) {
  return {rows.doubles.data(), rows.here(), rows.table.cols};
}

Preparation learned(const Rows& rows, const PreparationOptions& options) {
  return rows.doubles.empty() ? Preparation(rows.numbers(), options) : Preparation(doubles_of(rows), options);
}

/// What is searched, once incomplete rows are left out.
///   raw  the rows of the table stay as they are, too
void prepare(const Preparation& preparation, bool raw, Rows& rows) {
  rows.width = rows.table.cols;
  if (preparation.changes_nothing()) return;
  if (!rows.doubles.empty()) {
    rows.prepared = preparation.apply(doubles_of(rows));
    rows.width = preparation.width();
    rows.doubles = {};
    if (!raw) rows.table.values = {};
    return;
  }
  const MatrixView<const float> complete = rows.numbers();
  if (rows.prepared.empty() && !raw && preparation.width() == rows.width && rows.width > 0) {
    rows.prepared = std::move(rows.table.values);
    rows.table.values = {};
    apply_in_place(preparation, rows.prepared, rows.width);
  } else if (complete.rows() > 0) {
    rows.prepared = preparation.apply(complete);
  }
  rows.width = preparation.width();
}

/// Frees the floats of rows that are searched as doubles.
///   raw  they are shown
void keep_doubles_alone(bool raw, Rows& rows) {
  if (rows.doubles.empty() || raw) return;
  rows.table.values = {};
  rows.prepared = {};
}

/// Returns how queries are read: unseen=zero gives a new category 0 in all columns of a one-hot code.
TableFlags query_flags(const TrainingFlags& flags, const Training& training) {
  TableFlags tables = flags.tables;
  tables.keep_elements = keeps_elements(flags);
  const PreparationOptions& preparation = training.preparation.options();
  tables.unseen_is_new = preparation.categories == Categories::one_hot && !preparation.categorical.empty();
  if (preparation.missing != Missing::refuse) tables.missing = name(preparation.missing);
  const Preparation::Learned learned = training.preparation.learned();
  tables.doubles = flags.index_moves || training.arithmetic == Arithmetic::f64 || !learned.columns.empty() ||
                   !learned.fills.empty();
  tables.wide = training.arithmetic == Arithmetic::f64 && training.preparation.changes_nothing();
  tables.if_too_large = advice_if_too_large(flags);
  if (!tables.label_columns.empty() || !tables.target_columns.empty()) return tables;
  (training.values.empty() ? tables.label_columns : tables.target_columns) =
      training.answer_columns.empty() ? train_flags(flags).label_columns : training.answer_columns;
  if (training.answer_columns.empty()) tables.target_columns = train_flags(flags).target_columns;
  return tables;
}

/// Takes the doubles out of the table.
///   shown  the table keeps them, too
void take_doubles(bool shown, Rows& rows) {
  rows.doubles = shown ? rows.table.doubles : std::move(rows.table.doubles);
}

Rows prepared(const Training& training, bool raw, files::Table table) {
  const Preparation& preparation = training.preparation;
  Rows rows;
  rows.table = std::move(table);
  take_doubles(raw && training.arithmetic == Arithmetic::f64, rows);
  if (preparation.options().missing == Missing::drop) leave_incomplete_out(rows);
  tell_unanswered(rows);
  prepare(preparation, raw, rows);
  keep_doubles_alone(raw, rows);
  return rows;
}

}  // namespace

RowsView Rows::searched() const {
  if (!doubles.empty()) return doubles_of(*this);
  return table.stored.empty() ? RowsView(numbers()) : rows_view(table);
}

void Rows::free_values() {
  table.values = {};
  table.stored = {};
  prepared = {};
  doubles = {};
}

MatrixView<const float> Rows::numbers() const {
  return {prepared.empty() ? table.values.data() : prepared.data(), here(), width};
}

void tell_unanswered(const Rows& asked) {
  if (asked.kept)
    note(missing_rows(asked) +
         " without an answer, since a value is missing; --prepare missing=mean would fill it in");
}

void Rows::spread(RadiusNeighbors& found) const {
  if (!kept || found.first.empty()) return;
  std::vector<std::int64_t> first{0};
  std::size_t next = 0;
  for (std::int64_t row = 0; row < table.rows; ++row) {
    const bool searched = next < kept->size() && (*kept)[next] == row;
    const std::int64_t count = searched ? found.count(static_cast<std::int64_t>(next)) : 0;
    next += searched;
    first.push_back(first.back() + count);
  }
  found.first = std::move(first);
  found.queries = table.rows;
}

void check_k(const std::string& where, std::int64_t k, const Training& training, bool leave_one_out) {
  const files::Table& train = training.rows.table;
  const std::int64_t own = leave_one_out ? 1 : 0;  // no neighbour of its own
  const auto rows_of = [&](std::int64_t count) {
    return std::to_string(count) + (leave_one_out ? " other" : "") + (count == 1 ? " row" : " rows");
  };
  const auto refuse_k = [&](const std::string& but, const std::string& advice) {
    refuse(where, "k = " + std::to_string(k) + " but " + but + "; choose " + advice);
  };
  if (training.rows.kept && k > training.n() - own)
    refuse_k("--prepare missing=drop leaves " + rows_of(training.n() - own),
             "a smaller k, or fill missing values in");
  const std::int64_t most = train.rows - own;
  if (leave_one_out && most == 0)
    refuse(where, train.path + " holds 1 row, and no others to ask; give at least two");
  if (k > most)
    refuse_k(leave_one_out ? "each row of " + train.path + " has " + std::to_string(most) + " others"
                           : train.path + " holds " + rows_of(most),
             "k from 1 to " + std::to_string(most));
  if (training.filter && k > training.filter->count() - own)
    refuse_k("--filter leaves " + rows_of(training.filter->count() - own),
             "a smaller k, or let more rows count");
}

namespace {

/// Returns the lengths of --box for all columns of the rows, 0 for those that do not count.
///   features  columns that count; empty: all
std::vector<double> box_from(const TrainingFlags& flags, const std::vector<std::int64_t>& features,
                             std::int64_t columns) {
  std::vector<double> lengths;
  for (const std::string& text : flags.box) lengths.push_back(length_from(text));
  if (lengths.empty() || features.size() != lengths.size())
    return lengths;  // an Index refuses another number
  std::vector<std::int64_t> ordered = features;
  std::sort(ordered.begin(), ordered.end());
  std::vector<double> all(static_cast<std::size_t>(columns));
  for (std::size_t i = 0; i < lengths.size(); ++i) all[static_cast<std::size_t>(ordered[i])] = lengths[i];
  return all;
}

}  // namespace

Training read_training(const std::string& where, const TrainingFlags& flags) {
  Training training;
  training.placement = parse<Placement>(flags.placement);
  training.shares = flags.shares;
  files::Table& table = training.rows.table;
  check_arithmetic(where, flags);
  check_groups(where, flags);
  const TableFlags tables = read_as_needed(flags, train_flags(flags));
  if (flags.arithmetic == Arithmetic::f64) training.arithmetic = Arithmetic::f64;
  training.residence = flags.residence;
  training.memory_limit = flags.memory_limit;
  const auto choose = [&](const files::Table& all) {
    return flags.keeps_columns && !all.text ? std::vector<std::int64_t>()
                                            : counted_columns(where, flags, all);
  };
  table = reads_by_ranges(flags) ? source_table(flags, training)
          : flags.index.empty()  ? read_train(tables, !flags.features.empty(), choose)
                                 : index_table(flags, training);
  if (tables.may_double && !table.doubles.empty()) training.arithmetic = Arithmetic::f64;
  take_labels(where, flags, training);
  take_values(where, flags, training);
  if (!flags.sample_weights.empty())
    training.sample_weights = read_weights(where, flags.sample_weights, flags.tables, table);
  training.rows.width = table.cols;
  take_doubles(flags.raw && training.arithmetic == Arithmetic::f64, training.rows);
  if (flags.tables.missing == "drop") drop_incomplete(where, training);
  take_groups(flags.tables, training);
  if (!flags.filter.empty()) training.filter = read_filter(where, flags.filter, flags.tables, training);
  if (!flags.index.empty()) return training;  // an index is prepared, and has its arithmetic
  const bool whole =
      training.source || table.element == Element::bits || (flags.keeps_columns && !table.text);
  if (whole) training.features = counted_columns(where, flags, table);
  training.box = box_from(flags, training.features, table.cols);
  const auto take_params = [&] {
    training.metric_options =
        metric_options_of(where, flags.metric_params, training.features, training.rows.width);
  };
  if (training.source) {
    take_params();
    return training;  // nothing is prepared: reads_by_ranges()
  }
  if (table.stored.empty() && !table.held)  // else nothing is prepared: keeps_elements(), takes_part()
    training.preparation = learned(training.rows, preparation_options(where, flags, table));
  prepare(training.preparation, flags.raw, training.rows);
  keep_doubles_alone(flags.raw, training.rows);
  take_params();
  return training;
}

Rows read_prepared_queries(const TrainingFlags& flags, const Training& training) {
  const bool drops = flags.tables.train.empty() && !flags.drop.empty();  // of --model or --index
  const auto choose = [&](const files::Table& all) { return counted_columns("--queries", flags, all); };
  return prepared(training, flags.raw,
                  read_queries(query_flags(flags, training), training.rows.table,
                               drops ? ChooseColumns(choose) : ChooseColumns()));
}

Rows parse_prepared_queries(const TrainingFlags& flags, const std::vector<std::string>& rows,
                            const Training& training) {
  return prepared(training, flags.raw,
                  parse_queries(query_flags(flags, training), rows, training.rows.table));
}

}  // namespace kith::command
