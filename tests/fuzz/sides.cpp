// Fuzzes readers of files that accompany other rows: labels, values, queries, ground truth, filters.
#include <cmath>

#include "command/groundtruth/recall.hpp"
#include "command/input/query_flags.hpp"
#include "command/input/training.hpp"
#include "fuzz.hpp"

namespace kith::fuzz {
namespace {

const std::string endings[] = {".csv", ".tsv", ".txt", ".npy", ".svm", ".idx", ".ivecs", ".bvecs"};

std::string ending(FuzzedDataProvider& input) {
  return input.PickValueInArray(endings);
}

/// Returns training rows with five kinds of columns, read once.
///   answers  the label column; empty: none
const command::Training& training(const std::string& answers) {
  static const std::string text =
      "colour,size,weight,kind\n"
      "red,1,0.5,cat\nblue,3,-2,dog\nred,4,1e3,cat\n\"sea, green\",0,7,newt\n";
  const auto make = [](const std::string& name, const std::string& labels) {
    command::TrainingFlags flags;
    flags.tables.train = write_file(name, text);
    if (!labels.empty()) flags.tables.label_columns = {labels};
    flags.categories = labels.empty() ? "ordinal" : "one_hot";
    flags.scale = {"standardize"};
    return command::read_training("fuzz", flags);
  };
  static const command::Training plain = make("plain.csv", ""), labelled = make("labelled.csv", "kind");
  return answers.empty() ? plain : labelled;
}

void read_labels(FuzzedDataProvider& input) {
  static const files::Labels numbers{{3, 1, 7}, {}}, texts{{0, 1, 2}, {"cat", "dog", "newt"}};
  const std::string name = "labels" + ending(input);
  files::LabelOptions options(file_options(input, {}));
  options.column = pick(input, {"", "kind", "1", "-1"});
  options.column_optional = pick(input);
  options.rows = pick(input, {0, 1, 2, 3, 4, 5, 6, 0});
  options.known = pick(input, {static_cast<const files::Labels*>(nullptr), &numbers, &texts});
  const std::string path = write_file(name, input.ConsumeRemainingBytesAsString());
  attempt(path + ":", true, [&] { check_labels(files::read_labels(path, options), options.known); });
}

void read_values(FuzzedDataProvider& input) {
  const std::string name = "values" + ending(input);
  files::ValueOptions options(file_options(input, {}));
  const std::string column = pick(input, {"", "weight", "1", "-1"});
  if (!column.empty()) options.columns = {column};
  options.rows = pick(input, {0, 1, 2, 3, 4, 5, 6, 0});
  const std::string path = write_file(name, input.ConsumeRemainingBytesAsString());
  attempt(path + ":", true, [&] { check_values(files::read_values(path, options)); });
}

/// Reads queries for these training rows and prepares them in the same way.
void read_queries(FuzzedDataProvider& input) {
  command::TrainingFlags flags;
  using enum files::Header;
  flags.tables.reading.header = pick(input, {automatic, yes, no});
  flags.tables.reading.separator = pick(input, {'\0', ',', ';', '\t'});
  flags.tables.reading.decimal = pick(input, {'.', ','});
  flags.tables.unseen = pick(input, {"refuse", "zero"});
  const command::Training& known = training(pick(input, {"", "kind"}));
  if (!known.labels.empty()) flags.tables.label_columns = {"kind"};
  const std::string name = "queries" + ending(input);
  flags.tables.queries = write_file(name, input.ConsumeRemainingBytesAsString());
  attempt("", true, [&] {
    const command::Rows queries = command::read_prepared_queries(flags, known);
    files::ReadOptions options;
    options.like = &known.rows.table;
    options.label_optional = true;
    options.label_column = known.labels.empty() ? "" : "kind";
    options.unseen_is_new = !known.labels.empty() && flags.tables.unseen == "zero";
    // Preparing in place consumes the table's values, so they are checked in a table that keeps them.
    flags.raw = true;
    const command::Rows kept = command::read_prepared_queries(flags, known);
    check_table(kept.table, options);
    const MatrixView<const float> searched = queries.numbers();
    require(searched.rows() == queries.table.rows && searched.cols() == known.rows.width,
            "prepared queries have another shape");
    for (std::int64_t i = 0; i < searched.rows() * searched.cols(); ++i)
      require(std::isfinite(searched.data()[i]) && searched.data()[i] == kept.numbers().data()[i],
              "a prepared query is not finite, or another where it is prepared in place");
  });
}

/// Reads the true labels of three queries.
void read_truth(FuzzedDataProvider& input) {
  const command::Training& known = training("kind");
  command::TableFlags tables;
  tables.reading.header = pick(input, {files::Header::automatic, files::Header::yes, files::Header::no});
  tables.label_columns = {pick(input, {"kind", "1"})};
  files::Table queries;
  queries.path = "queries.csv";
  queries.rows = 3;
  command::QueryFlags query_flags;
  const std::string name = "truth" + ending(input);
  query_flags.truth = write_file(name, input.ConsumeRemainingBytesAsString());
  attempt("", true, [&] {
    const std::vector<files::Labels> truth =
        command::true_labels("fuzz", tables, query_flags, known, queries);
    require(truth.size() == 1 && truth[0].code.size() == 3, "the truth is not one label a query");
    check_labels(truth[0], &known.labels[0]);
  });
}

void read_filter(FuzzedDataProvider& input) {
  command::TableFlags tables;
  tables.reading.header = pick(input, {files::Header::automatic, files::Header::yes, files::Header::no});
  command::Training known = training("kind");
  if (pick(input)) known.row_numbers = {0, 2, 5, 9};
  const std::string path = write_file("filter" + ending(input), input.ConsumeRemainingBytesAsString());
  attempt("", true, [&] {
    const RowFilter filter = command::read_filter("fuzz", path, tables, known);
    require(filter.count() >= 0 && filter.count() <= known.n(), "a filter of more rows than there are");
  });
}

/// Reads neighbours in five formats, as the truth of a search or its result, and scores them.
void read_neighbors(FuzzedDataProvider& input) {
  const std::string name = pick(input, {"n.ibin", "n.bin", "n.ibin.gz", "n.ivecs", "n.csv", "n.npz"});
  const std::string path = write_file(name, input.ConsumeRemainingBytesAsString());
  attempt("", true, [&] {
    const files::NeighborLists lists = files::read_neighbors(path, {});
    const std::size_t places = static_cast<std::size_t>(lists.queries) * static_cast<std::size_t>(lists.k);
    require(lists.queries > 0 && lists.k > 0 && lists.rows.size() == places,
            "neighbours are not queries times k");
    require(!lists.has_distances() || lists.distances.size() == places, "distances are not one a neighbour");
    for (const std::int64_t row : lists.rows) require(row >= -1, "a row below -1");
    const command::Recall recall = command::score_recall(lists, lists, lists.k);
    require(recall.share() == 1 && recall.by_tie == 0, "a truth is not its own answer");
  });
}

constexpr Reader readers[] = {{"labels", read_labels},   {"values", read_values},
                              {"queries", read_queries}, {"truth", read_truth},
                              {"filter", read_filter},   {"neighbors", read_neighbors}};

}  // namespace

std::span<const Reader> side_readers() {
  return readers;
}

}  // namespace kith::fuzz
