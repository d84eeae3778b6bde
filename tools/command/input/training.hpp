// The rows that a subcommand learns from, and all that is told about them: labels or values, features,
// weights, which rows count, categories and scale. Queries are read and prepared in the same way.
//
//   TrainingFlags flags;
//   add_table_options(*app, flags.tables, "The column that holds the labels", false);  // no --queries
//   add_answer_options(*app, flags);                                                   // --labels
//   add_feature_option(*app, flags);                                                   // --features
//   add_preparation_options(*app, flags);                                              // --scale and others
//   ...
//   const Training training = read_training("structure", flags);
//   const Classifier classifier(device, training.rows.searched(), training.labels[0].code, metric,
//                               training.index_options(), training.sample_weights);
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command/input/tables.hpp"
#include "command/metric/metric_params.hpp"
#include "files/table.hpp"
#include "kith/classifier.hpp"
#include "kith/filter.hpp"
#include "kith/neighbors.hpp"
#include "kith/preparation.hpp"
#include "kith/source.hpp"

namespace kith::command {

/// The row number that `kith search` writes for a query that was not searched, because a value is missing.
inline constexpr std::int64_t no_neighbor = -1;

/// All of it. Each subcommand registers what it has a use for.
struct TrainingFlags {
  TableFlags tables;
  std::string index;                   ///< --index FILE, in place of tables.train
  bool index_rows = false;             ///< with --index: its rows are needed in host memory, too
  std::optional<Residence> residence;  ///< residence of --place
  bool rows_in_memory = false;         ///< with a residence: the rows are needed in host memory, too
  std::size_t memory_limit = 0;        ///< with a residence: the memory limit of a search
  std::string labels;                  ///< --labels FILE
  std::string values;                  ///< --values FILE
  std::string sample_weights;          ///< FILE
  std::string filter;                  ///< FILE
  std::string features;                ///< LIST
  std::string drop;                    ///< LIST
  bool keeps_columns = false;          ///< values of binary files in columns that do not count are kept
  std::vector<std::string> scale;
  bool centre = false;         ///< the key centre of --prepare: before all of `scale`
  bool takes_doubles = false;  ///< the subcommand has the key arithmetic of --prepare, and:
  Arithmetic arithmetic = Arithmetic::automatic;
  std::string
      single;  ///< why this call computes in single precision: `--save-model writes float32`; or empty
  bool index_moves = false;      ///< an index has a centre or a box: rows and queries go to it as doubles
  std::vector<std::string> box;  ///< LENGTHS
  std::vector<MetricParam> metric_params;
  std::string categories = "ordinal";
  std::string placement = "automatic";  ///< on a set of devices, as the next
  std::vector<double> shares;
  bool raw = false;                                                     ///< Rows::table.values is needed, too
  enum class Answers { none, labels, values } answers = Answers::none;  ///< what the subcommand learns
};

void add_answer_options(CLI::App& app, TrainingFlags& flags);                  ///< --labels
void add_value_options(CLI::App& app, TrainingFlags& flags);                   ///< --values, --target
Key sample_weight_key(TrainingFlags& flags);                                   ///< of --votes
void add_filter_option(CLI::App& app, TrainingFlags& flags);                   ///< --filter
void add_feature_option(CLI::App& app, TrainingFlags& flags);                  ///< --features, --drop
void add_metric_options(CLI::App& app, Metric& metric, TrainingFlags& flags);  ///< --metric, --metric-params
double length_from(const std::string& text);               ///< one of LENGTHS; throws invalid_argument
void add_box_option(CLI::App& app, TrainingFlags& flags);  ///< --box
Key centre_key(TrainingFlags& flags);                      ///< of --prepare
Key arithmetic_key(TrainingFlags& flags);                  ///< of --prepare, in subcommands that search
std::vector<Key> category_keys(TableFlags& flags);         ///< categorical and unseen of --prepare
CLI::Option* add_prepare_option(CLI::App& app, std::vector<Key> keys);
/// Adds --scale, and --prepare with all keys but arithmetic, and `more`.
void add_preparation_options(CLI::App& app, TrainingFlags& flags, std::vector<Key> more = {});
std::vector<Key> placement_keys(TrainingFlags& flags);  ///< placement and shares of --place

/// Training rows of classes alone, without queries: their file, --label-column, --labels, --features, and how
/// they are prepared.
void add_class_rows(CLI::App& app, TrainingFlags& flags);

/// Rows of a file, and as they are searched.
struct Rows {
  files::Table table;           ///< as they were read; without values if `prepared` has replaced them
  std::int64_t width = 0;       ///< columns as they are searched
  std::vector<double> doubles;  ///< [count(), table.cols] values to be prepared, or searched by an index
                                ///< with a centre, where the table had them
  std::vector<float> prepared;  ///< [count(), width]; empty if nothing changed them

  /// The rows of the table that are searched, ascending: those without a missing value. Absent: all.
  std::optional<std::vector<std::int64_t>> kept;

  std::int64_t count() const { return kept ? static_cast<std::int64_t>(kept->size()) : table.rows; }
  std::int64_t here() const { return table.held ? table.held->rows : count(); }  ///< all rows, or this rank's
  RowsView searched() const;                ///< [here(), width], as they are stored
  MatrixView<const float> numbers() const;  ///< the same, of rows that are stored as float32
  void free_values();                       ///< once an index has them

  /// Answers of the searched rows, `width` each, become those of all rows of the table; others get `none`.
  template <class T>
  void spread(std::vector<T>& answers, std::size_t width, T none) const {
    if (!kept || (answers.empty() && !kept->empty())) return;  // no such answers were asked for
    std::vector<T> all(static_cast<std::size_t>(table.rows) * width, none);
    for (std::size_t i = 0; i < kept->size(); ++i)
      for (std::size_t c = 0; c < width; ++c)
        all[static_cast<std::size_t>((*kept)[i]) * width + c] = answers[i * width + c];
    answers = std::move(all);
  }
  void spread(RadiusNeighbors& found) const;  ///< others get empty lists
};

/// Numbers the rows that are searched: no list has rows that --prepare missing=drop leaves out.
struct Training {
  Rows rows;
  std::string index;                     ///< the index file that holds the rows, if they are not in memory
  std::shared_ptr<const Source> source;  ///< the rows, if they are only read by ranges
  std::optional<Residence> residence;    ///< as in TrainingFlags
  std::size_t memory_limit = 0;          ///< likewise
  std::vector<files::Labels> labels;     ///< one per output; empty if no command asks for labels
  std::vector<std::string> label_names;  ///< [outputs], as they were asked for
  std::vector<double> values;            ///< [n, outputs] of --values or --target; else empty
  std::vector<std::string> value_names;  ///< [outputs]
  Preparation preparation;
  Arithmetic arithmetic = Arithmetic::f32;     ///< or f64: rows and queries keep the digits of doubles
  bool learn_centre = false;                   ///< an index of the rows learns one
  std::vector<double> box;                     ///< IndexOptions::box
  IndexOptions metric_options;                 ///< what the metric takes, and nothing else
  std::vector<std::int64_t> features;          ///< columns of rows.searched() that count; empty: all
  std::vector<float> sample_weights;           ///< [n], or empty
  Placement placement = Placement::automatic;  ///< on a set of devices, as the next
  std::vector<double> shares;
  std::optional<RowFilter> filter;
  std::vector<std::int64_t> groups;         ///< borders of the groups of rows, with --groups-column
  std::vector<std::int64_t> group_codes;    ///< of each group, in the codes of its column
  std::vector<std::int64_t> row_numbers;    ///< [n] in their file; empty: 0, 1, 2, ...
  std::vector<std::string> answer_columns;  ///< of a model: where queries may have the truth

  std::int64_t n() const { return rows.count(); }
  /// Returns the number in its file of the training row `t`.
  std::int64_t file_row(std::int64_t t) const {
    return row_numbers.empty() ? t : row_numbers[static_cast<std::size_t>(t)];
  }
  IndexOptions index_options() const {
    IndexOptions options = metric_options;
    options.features = features;
    options.placement = placement;
    options.shares = shares;
    options.arithmetic = arithmetic;
    options.box = box;
    if (residence) options.residence = *residence;
    options.memory_limit = memory_limit;
    options.groups = groups;
    return options;
  }
  /// For SearchOptions::filter; this object must outlive the search.
  FilterWords filter_words() const { return filter ? FilterWords(filter->view()) : FilterWords(); }
};

/// Throws invalid_argument: neither --labels nor --label-column is given, nor a .svm file, which has labels;
/// for values --values and --target. Before anything is read.
void require_answers(const std::string& where, const TrainingFlags& flags);

/// Advises nobody to centre rows if that changes the distances of the metric. Throws invalid_argument: they
/// are centred all the same; --metric-params has what the metric does not take. Rows for haversine are then
/// read as doubles.
void admit_metric(const std::string& where, TrainingFlags& flags, Metric metric);

/// read_training() of one label column. Throws invalid_argument: there are several.
Training read_classes(const std::string& where, const TrainingFlags& flags);

/// Throws invalid_argument: k is larger than the number of rows that --filter and leave-one-out leave.
void check_k(const std::string& where, std::int64_t k, const Training& training, bool leave_one_out);

/// Reads the training file and what belongs to it, fits the preparation and applies it. The rows are doubles
/// if --prepare arithmetic=f64 says so, or if float32 would lose digits and nothing rounds them anyway.
///   where  the subcommand, for messages
/// Throws invalid_argument: labels, values or weights are not one a row; a row of --filter or a feature that
///                          is not there or twice; --scale or a key of --prepare that nothing is called.
///        bad_file:         as files::read_table() does.
Training read_training(const std::string& where, const TrainingFlags& flags);

/// Reads the rows of a training file that a --filter file names; rows that were dropped do not count anyway.
/// Throws invalid_argument: a row that does not exist. bad_file: as files::read_labels() does.
RowFilter read_filter(const std::string& where, const std::string& path, const TableFlags& flags,
                      const Training& training);

/// Returns the columns of a table that --features and --drop leave. Their lists hold names, numbers as in
/// messages (from 1 in text, from 0 in binary files; negative: from the end), and ranges: `2-5,petal width`.
///   returns  ascending; empty: all
/// Throws invalid_argument: one that is not there, or twice; none is left.
std::vector<std::int64_t> counted_columns(const std::string& where, const TrainingFlags& flags,
                                          const files::Table& table);

/// Reads the queries of --queries, prepared as the training rows were; their label column may be absent.
Rows read_prepared_queries(const TrainingFlags& flags, const Training& training);

/// Reads queries from the command line, and prepares them in the same way.
Rows parse_prepared_queries(const TrainingFlags& flags, const std::vector<std::string>& rows,
                            const Training& training);

/// Describes what --scale and --prepare decide.
PreparationOptions preparation_options(const std::string& where, const TrainingFlags& flags,
                                       const files::Table& train);

}  // namespace kith::command
