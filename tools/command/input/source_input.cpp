#include "command/input/source_input.hpp"

#include <CLI/CLI.hpp>

#include "command/input/elements.hpp"
#include "command/shared/ranks.hpp"
#include "files/source.hpp"
#include "files/text/number.hpp"
#include "kith/parse.hpp"
#include "kith/placement.hpp"
#include "kith/source.hpp"

namespace kith::command {
namespace {

/// Returns the file that holds the rows.
const std::string& rows_file(const TrainingFlags& flags) {
  return flags.index.empty() ? flags.tables.train : flags.index;
}

double share_of_device(const std::string& text) {
  const files::WideNumber number = files::parse_wide(text);
  if (number.kind != files::Number::finite)
    throw Error(Errc::invalid_argument,
                "share: " + files::in_quotes(text) + " is no number; give one for each device, as 3,1");
  return number.value;
}

}  // namespace

std::vector<Key> placement_keys(TrainingFlags& flags) {
  return {{"placement", "NAME",
           "how several devices share the work: automatic, split (each holds a part of the rows), replicate "
           "(each holds all rows and searches for a part of the queries); else automatic",
           [&flags](const std::string& text) {
             parse<Placement>(text);
             flags.placement = text;
           }},
          {"shares", "X,X,...", "shares of the work for several devices, such as 3,1; else by their speeds",
           [&flags](const std::string& text) {
             flags.shares.clear();
             for (const std::string& one : split_commas(text)) flags.shares.push_back(share_of_device(one));
           }}};
}

std::vector<Key> rows_keys(TrainingFlags& flags) {
  std::vector<Key> keys = {
      {"residence", "WHAT",
       "where to keep the training rows: resident (on the device), stream (in their file; they pass through "
       "the device in chunks, within memory-limit), quantized (in their file; the device holds quantized "
       "rows), automatic (on the device if they fit, else stream); else resident",
       [&flags](const std::string& text) { flags.residence = parse<Residence>(text); }}};
  for (Key& key : placement_keys(flags)) keys.push_back(std::move(key));
  return keys;
}

void take_residence(const CLI::App& app, RowFlags& flags, bool rows) {
  TrainingFlags& training = flags.training;
  if (!training.residence) return;
  const std::string where = app.get_name();
  if (ranks())
    refuse(where, "--place residence is of the rows of one process, and there are " +
                      std::to_string(ranks()->size()) +
                      " ranks, of which each keeps its part on its device; leave it out");
  for (const char* option : {"--model", "--save-model"})
    if (app.get_option_no_throw(option) && app.count(option) > 0)
      refuse(where, "--place residence and " + std::string(option) +
                        " are both given, but a model has its rows in itself; leave one of them out");
  training.rows_in_memory = rows;
  if (!flags.plan.memory_limit.empty()) training.memory_limit = parse_bytes(flags.plan.memory_limit);
}

bool reads_by_ranges(const TrainingFlags& flags) {
  const std::string& file = rows_file(flags);
  if (!flags.residence || flags.rows_in_memory || flags.raw || !is_source_file(file)) return false;
  if (!flags.index.empty()) return true;  // its options are checked by take_index()
  const std::string& element = flags.tables.element;
  if (!flags.tables.format.empty() || !flags.scale.empty() || flags.centre ||
      (flags.tables.missing != "refuse" && flags.tables.missing != "pairwise") ||
      !(element.empty() || element == name(Element::bits)))
    return false;
  // Whether doubles would lose digits as floats is only known once all rows are read.
  return flags.arithmetic == Arithmetic::f64 || !is_wide(file_source(file)->info().element);
}

files::Table source_table(const TrainingFlags& flags, Training& training) {
  const bool bits = flags.tables.element == name(Element::bits);
  training.source = file_source(rows_file(flags), bits ? std::optional(Element::bits) : std::nullopt);
  const RowsInfo info = training.source->info();
  if (is_wide(info.element)) training.arithmetic = Arithmetic::f64;
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
