// Fuzzes readers of words: the command line, and the values of its options.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "command/input/query_flags.hpp"
#include "command/input/voting_flags.hpp"
#include "command/shared/named_files.hpp"
#include "command/words/command_line.hpp"
#include "fuzz.hpp"

namespace kith::fuzz {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// Splits an input into lines: one word or list per line. NUL becomes 0, since a process gets no argument
/// with a NUL.
std::vector<std::string> read_lines(FuzzedDataProvider& input) {
  std::string text = input.ConsumeRemainingBytesAsString();
  std::replace(text.begin(), text.end(), '\0', '0');
  return lines_of(text);
}

/// Parses a command line, one word per line, up to where a subcommand would start its work.
void read_options(FuzzedDataProvider& input) {
  static command::CommandLine line;
  attempt("", false, [&] {
    const std::vector<std::string> words = read_lines(input);
    const int code = line.run(words, [](const command::Subcommand& subcommand) {
      command::check_named_files(*subcommand.app);
      return command::exit_ok;
    });
    require(code == command::exit_ok || words.empty(), "parsing ends with an exit code");
  });
}

/// Returns training rows that the words refer to.
command::Training known_rows() {
  command::Training known;
  files::Table& table = known.rows.table;
  table.path = "train.csv";
  table.rows = 4;
  table.cols = 3;
  table.text = table.header = true;
  table.column_names = {"colour", "size", "petal width"};
  table.categories = {{0, {"blue", "red"}}};
  table.values = {0, 1, 2, 1, 3, 4, 1, 0, 5, 0, 2, 2};
  table.labels = {{0, 1, 2, 1}, {"cat", "dog", "newt, small"}};
  known.rows.width = table.cols;
  known.labels = {table.labels};
  return known;
}

void check_vote(const std::string& priors, const std::string& ranks, const files::Labels& labels) {
  command::VotingFlags flags;
  if (!priors.empty()) flags.priors = command::split_commas(priors);
  if (!ranks.empty()) flags.weights = "rank", flags.rank_weights = command::split_commas(ranks);
  const VotingOptions voting = command::voting_options("classify", flags, &labels, {0, 1, 2}, 3);
  require(voting.priors.empty() || voting.priors.size() == 3, "priors are not one a class");
  require(voting.rank_weights.empty() || voting.rank_weights.size() >= 3, "too few weights of ranks");
}

/// Reads the values of options, one per line: --features and --drop, --radius, the keys priors, rank-weights
/// and no-label of --votes, and queries.
void read_words(FuzzedDataProvider& input) {
  command::TrainingFlags flags;
  flags.tables.unseen = pick(input, {"refuse", "zero"});
  flags.tables.missing = pick(input, {"refuse", "mean"});
  const Metric metric = pick(input, {Metric::l2, Metric::cosine, Metric::negative_dot});
  std::vector<std::string> lines = read_lines(input);
  lines.resize(std::max<std::size_t>(lines.size(), 5));
  static const command::Training known = known_rows();
  const files::Table& table = known.rows.table;
  if (!lines[0].empty())
    for (std::string* const list : {&flags.features, &flags.drop}) {
      *list = lines[0];
      attempt("classify: ", false, [&] {
        const auto counted = command::counted_columns("classify", flags, table);
        for (const std::int64_t one : counted) require(one >= 0 && one < table.cols, "no such column");
      });
      list->clear();
    }
  if (!lines[1].empty())
    attempt("--metric-params: ", false, [&] { command::parse_metric_params("{" + lines[1]); });
  if (!lines[1].empty())
    attempt("classify: ", false, [&] {
      command::QueryFlags query_flags;
      query_flags.radius = lines[1];
      command::radius_of("classify", query_flags.radius, metric, Arithmetic::f32);
    });
  attempt("classify: ", false, [&] { check_vote(lines[2], lines[3], table.labels); });
  attempt("classify: ", false, [&] { command::AnswerNames("classify", table.labels, lines[4], ""); });
  const std::vector<std::string> queries(lines.begin() + 5, lines.end());
  if (queries.empty()) return;
  attempt("", false, [&] {
    const command::Rows rows = command::parse_prepared_queries(flags, queries, known);
    files::ReadOptions options;
    options.missing = flags.tables.missing != "refuse";
    check_table(rows.table, options);
  });
}

constexpr Reader readers[] = {{"options", read_options}, {"words", read_words}};

}  // namespace

std::span<const Reader> word_readers() {
  return readers;
}

}  // namespace kith::fuzz
