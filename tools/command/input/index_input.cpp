#include "command/input/index_input.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "command/input/elements.hpp"
#include "command/input/source_input.hpp"
#include "command/words/keys.hpp"

namespace kith::command {
namespace {

/// Widens rows to all columns that the caller has: columns that do not count are set to 0, and never read.
std::vector<unsigned char> widened(const IndexFileRows& from, std::int64_t dims) {
  const auto bytes = static_cast<std::size_t>(element_bytes(from.element));
  std::vector<unsigned char> rows(static_cast<std::size_t>(from.rows * dims) * bytes);
  for (std::int64_t r = 0; r < from.rows; ++r)
    for (std::int64_t c = 0; c < from.cols; ++c)
      std::memcpy(rows.data() +
                      static_cast<std::size_t>(r * dims + from.features[static_cast<std::size_t>(c)]) * bytes,
                  from.data.data() + static_cast<std::size_t>(r * from.cols + c) * bytes, bytes);
  return rows;
}

/// Widens a value for each column that counts likewise.
std::vector<double> widened(const std::vector<double>& values, const std::vector<std::int64_t>& features,
                            std::int64_t dims) {
  std::vector<double> all(static_cast<std::size_t>(dims));
  for (std::size_t c = 0; c < values.size(); ++c)
    all[features.empty() ? c : static_cast<std::size_t>(features[c])] = values[c];
  return all;
}

/// Explains how queries change if the centre is subtracted from the rows.
Preparation preparation_by(const IndexFileRows& from, std::int64_t dims) {
  if (from.centre.empty()) return {};
  std::vector<double> shift = widened(from.centre, from.features, dims);
  Preparation::Learned learned;
  learned.dims = dims;
  learned.options.scalings = {Scaling::centre};
  learned.columns.push_back({std::move(shift), std::vector<double>(static_cast<std::size_t>(dims), 1.0)});
  return Preparation(std::move(learned));
}

void read_rows(const std::string& path, files::Table& table, Training& training) {
  ActivityLine activity("reading " + files::shown_name(path));
  OpenOptions options{.stop = interrupt_token()};
  options.progress = [&](double part) { activity.update(part); };
  IndexFileRows from = read_index_rows(path, options);
  training.features = from.features;
  training.preparation = preparation_by(from, table.cols);
  if (!from.box.empty()) training.box = widened(from.box, from.features, table.cols);
  std::vector<unsigned char> rows = from.features.empty() ? std::move(from.data) : widened(from, table.cols);
  table.element = from.element;
  const auto take = [&](auto& values) {
    values.resize(rows.size() / sizeof(values[0]));
    std::memcpy(values.data(), rows.data(), rows.size());
  };
  if (from.element == Element::f32) {
    take(table.values);
  } else if (from.element == Element::f64) {
    take(table.doubles);
  } else {
    table.stored = std::move(rows);
  }
}

/// Lists the options that an index excludes, and why.
struct Excluded {
  std::string_view option, why, advice;
};

constexpr std::string_view decided = "an index has its rows, their columns and their metric",
                           unseen = "a report shows training rows, which an index does not keep for people";

constexpr std::array<Excluded, 11> excludes = {{{"--train", decided, ""},
                                                {"--read array", decided, ""},
                                                {"--model", decided, ""},
                                                {"--save-model", decided, ""},
                                                {"--features", decided, ""},
                                                {"--box", decided, ""},
                                                {"--scale", decided, ""},
                                                {"--prepare", decided, ""},
                                                {"--metric", decided, ""},
                                                {"--metric-params", decided, ""},
                                                {"--report", unseen, ", or give --train"}}};

void refuse_excluded(const CLI::App& app) {
  for (const auto& [option, why, advice] : excludes)
    if (is_given(app, option))
      refuse(app.get_name(), "--index and " + std::string(option) + " are both given, but " +
                                 std::string(why) + "; leave " + std::string(option) + " out" +
                                 std::string(advice));
}

void require_rows(const CLI::App& app) {
  if (is_given(app, "--train") || is_given(app, "--model")) return;
  const bool model = app.get_option_no_throw("--model") != nullptr;
  refuse(app.get_name(), std::string("there are no training rows; give --train FILE") +
                             (model ? ", --index FILE or --model FILE" : " or --index FILE"));
}

/// Answers come from files of their own.
void require_answer_file(const CLI::App& app, TrainingFlags::Answers answers) {
  using enum TrainingFlags::Answers;
  if (answers == labels && !is_given(app, "--labels"))
    refuse(app.get_name(), "an index has no labels; give --labels FILE");
  if (answers == values && !is_given(app, "--values"))
    refuse(app.get_name(), "an index has no values; give --values FILE");
}

/// Files that belong to rows go by the order of these, which an index may have lost.
void refuse_files_of_rows(const CLI::App& app, const std::string& path, const IndexFileInfo& info,
                          bool rows) {
  if (info.removed == 0 && info.positions == info.rows && info.next_row == info.positions) return;
  for (const std::string_view option : {"--filter", "--labels", "--values", "--leave-one-out"})
    if (is_given(app, option) || (rows && option == "--leave-one-out"))
      throw Error(Errc::unsupported, app.get_name() + ": " + path +
                                         ": rows were removed or have ids of their own, and files that "
                                         "belong to rows go by their order; leave " +
                                         std::string(option) + " out, or use the library");
}

/// Refuses a file whose rows have groups: the command would pair them with queries by their order alone.
void refuse_grouped(const CLI::App& app, const std::string& path, const IndexFileInfo& info) {
  const auto is_groups = [](const IndexFileSection& section) { return section.name == "groups"; };
  if (std::none_of(info.sections.begin(), info.sections.end(), is_groups)) return;
  throw Error(Errc::unsupported, app.get_name() + ": " + path +
                                     ": its rows have groups, and the command divides queries by the groups "
                                     "of --train alone; give the rows by --train, with --groups-column");
}

}  // namespace

void add_index_option(CLI::App& app, TrainingFlags& flags) {
  app.get_option("--train")->required(false);
  reads_file(
      app.add_option("--index", flags.index,
                     "Use the rows and the metric of a file by `kith index build` instead of --train"));
}

void take_index(const CLI::App& app, RowFlags& flags, bool rows) {
  TrainingFlags& training = flags.training;
  take_residence(app, flags, rows);
  if (training.index.empty()) return require_rows(app);
  refuse_excluded(app);
  require_answer_file(app, training.answers);
  const IndexFileInfo info = index_file_info(training.index);
  refuse_files_of_rows(app, training.index, info, rows);
  refuse_grouped(app, training.index, info);
  flags.metric = info.metric;
  training.index_moves = info.centred || info.periodic;
  training.index_rows = rows;
  if (rows && (info.metric == Metric::cosine || info.prepared))
    throw Error(Errc::unsupported, app.get_name() + ": " + training.index + ": an index " +
                                       (info.prepared ? "of prepared rows" : "of cosine") + " holds " +
                                       (info.prepared ? "these" : "unit rows") +
                                       ", which are not the rows that were given; give these by --train");
  if (compares_bits(info.metric) && training.tables.element.empty())
    training.tables.element = name(Element::bits);
}

Arithmetic arithmetic_of(const IndexFileInfo& info) {
  return info.element == Element::f64 ? Arithmetic::f64 : Arithmetic::f32;
}

files::Table index_table(const TrainingFlags& flags, Training& training) {
  const IndexFileInfo info = index_file_info(flags.index);
  training.arithmetic = arithmetic_of(info);
  files::Table table;
  table.path = flags.index;
  table.rows = info.rows - info.removed;
  table.cols = table_columns(flags.index, info.dims, compares_bits(info.metric));
  if (flags.index_rows || flags.residence)
    read_rows(flags.index, table, training);
  else
    training.index = flags.index;
  return table;
}

Index open_index_file(const std::string& path, const Device& device, const IndexOptions& placing) {
  return opening_index_file(path, [&](OpenOptions options) {
    options.placement = placing.placement;
    options.shares = placing.shares;
    return open_index(path, device, options);
  });
}

}  // namespace kith::command
