#include "command/input/source_input.hpp"

#include <CLI/CLI.hpp>

#include "command/input/elements.hpp"
#include "command/shared/ranks.hpp"
#include "kith/source.hpp"

namespace kith::command {
namespace {

/// The file that has the rows.
const std::string& rows_file(const TrainingFlags& flags) {
  return flags.index.empty() ? flags.tables.train : flags.index;
}

}  // namespace

void add_residence_option(CLI::App& app, TrainingFlags& flags) {
  CLI::Option* option = app.add_option_function<std::string>(
      "--residence", [&flags](const std::string& text) { flags.residence = parse_residence(text); },
      "Where to keep the training rows: resident (on the device), stream (in their file; they pass through "
      "the "
      "device in chunks, within --memory-limit), quantized (in their file; the device holds quantized rows), "
      "automatic (on the device if they fit, else stream)");
  option->type_name("WHAT")->default_str(std::string(name(Residence::resident)));
  check_by(app, option, "--residence", [](const std::string& text) { parse_residence(text); });
}

void take_residence(const CLI::App& app, RowFlags& flags, bool rows) {
  TrainingFlags& training = flags.training;
  if (!training.residence) return;
  const std::string where = app.get_name();
  if (ranks())
    refuse(where, "--residence is of the rows of one process, and there are " +
                      std::to_string(ranks()->size()) +
                      " ranks, of which each keeps its part on its device; leave --residence out");
  for (const char* option : {"--model", "--save-model"})
    if (app.get_option_no_throw(option) && app.count(option) > 0)
      refuse(where, "--residence and " + std::string(option) +
                        " are both given, but a model has its rows in itself; leave one of them out");
  training.rows_in_memory = rows;
  if (!flags.plan.memory_limit.empty()) training.memory_limit = parse_bytes(flags.plan.memory_limit);
}

bool reads_by_ranges(const TrainingFlags& flags) {
  const std::string& file = rows_file(flags);
  if (!flags.residence || flags.rows_in_memory || flags.raw || !is_source_file(file)) return false;
  if (!flags.index.empty()) return true;  // its options are checked by take_index()
  const std::string& element = flags.tables.element;
  return flags.tables.format.empty() && flags.scale.empty() && !flags.centre &&
         flags.tables.missing == "refuse" && (element.empty() || element == name(Element::bits));
}

files::Table source_table(const TrainingFlags& flags, Training& training) {
  const bool bits = flags.tables.element == name(Element::bits);
  training.source = file_source(rows_file(flags), bits ? std::optional(Element::bits) : std::nullopt);
  const RowsInfo info = training.source->info();
  files::Table table;
  table.path = rows_file(flags);
  table.rows = info.rows;
  table.cols = table_columns(rows_file(flags), info.cols, bits);
  return table;
}

std::shared_ptr<const Source> source_of(const Training& training) {
  return training.source ? training.source : memory_source(training.rows.searched());
}

}  // namespace kith::command
