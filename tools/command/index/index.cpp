// kith index: writes training rows to a file that any device opens.
#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "command/index/index.hpp"
#include "command/input/elements.hpp"
#include "command/input/index_input.hpp"
#include "command/rows/pieces.hpp"
#include "command/shared/output_file.hpp"
#include "command/words/place.hpp"
#include "files/source.hpp"
#include "kith/names.hpp"
#include "kith/parse.hpp"

namespace kith::command {
namespace {

/// An action of `kith index`: the options it needs, and those it refuses.
struct IndexAction {
  std::string_view name;
  int (*run)(const IndexFlags& flags);
  std::vector<const char*> needs, refuses;
};

void write_index(const Index& index, const std::string& path) {
  {
    ProgressBar bar("saving " + files::shown_name(path));
    save(index, path, {interrupt_token(), [&](double part) { bar.update(part); }});
  }
  note_written(path);
}

int build_index(const IndexFlags& flags) {
  TrainingFlags rows = flags.training;
  rows.keeps_columns = true;
  rows.tables.may_centre = true;
  admit_metric("index build", rows, flags.metric);
  const bool centred = std::exchange(rows.centre, false);
  rows.index_moves = rows.index_moves || centred;
  Training training = read_training("index", rows);
  training.learn_centre = centred;
  write_index(index_of(training, open_device(flags.device), flags.metric, false), flags.out);
  return exit_ok;
}

Index opened(const IndexFlags& flags) {
  IndexOptions placing{.placement = parse<Placement>(flags.training.placement),
                       .shares = flags.training.shares};
  return open_index_file(flags.file, open_device(flags.device), placing);
}

void write_changed(const Index& index, const IndexFlags& flags) {
  write_index(index, flags.out.empty() ? flags.file : flags.out);
}

int add_to_index(const IndexFlags& flags) {
  TrainingFlags more = flags.training;
  const IndexFileInfo info = index_file_info(flags.file);
  more.index_moves = info.centred || info.periodic;
  more.arithmetic = more.tables.element.empty() ? arithmetic_of(info) : Arithmetic::f32;
  if (compares_bits(info.metric) && more.tables.element.empty()) more.tables.element = name(Element::bits);
  if (takes_gaps(info.metric)) more.tables.missing = "pairwise";
  const Training training = read_training("index", more);
  write_changed(opened(flags).with(training.rows.searched()), flags);
  return exit_ok;
}

int remove_from_index(const IndexFlags& flags) {
  write_changed(opened(flags).without(flags.rows), flags);
  return exit_ok;
}

int compact_index(const IndexFlags& flags) {
  write_changed(opened(flags).compact(), flags);
  return exit_ok;
}

const std::vector<IndexAction>& index_actions() {
  static const std::vector<IndexAction> all = {
      {"build", build_index, {"--train", "--out"}, {"FILE", "--rows", "--json", "--verify"}},
      {"info",
       show_index,
       {"FILE"},
       {"--train", "--out", "--metric", "--metric-params", "--device", "--place", "--read element",
        "--features", "--drop", "--box", "--prepare centre", "--prepare arithmetic", "--rows"}},
      {"add",
       add_to_index,
       {"FILE", "--train"},
       {"--metric", "--metric-params", "--features", "--box", "--prepare centre", "--prepare arithmetic",
        "--rows", "--json", "--verify"}},
      {"remove",
       remove_from_index,
       {"FILE", "--rows"},
       {"--train", "--metric", "--metric-params", "--read element", "--features", "--drop", "--box",
        "--prepare centre", "--prepare arithmetic", "--json", "--verify"}},
      {"compact",
       compact_index,
       {"FILE"},
       {"--train", "--metric", "--metric-params", "--read element", "--features", "--drop", "--box",
        "--prepare centre", "--prepare arithmetic", "--rows", "--json", "--verify"}}};
  return all;
}

int run_index(const CLI::App& app, const IndexFlags& flags) {
  if (flags.action.empty()) refuse("index", "there is nothing to do; see `kith index --help`");
  std::vector<std::string> names;
  for (const IndexAction& action : index_actions()) {
    names.emplace_back(action.name);
    if (plain_name(flags.action) != action.name) continue;
    const std::string where = "index " + names.back();
    for (const char* option : action.needs)
      if (app.count(option) == 0) refuse(where, std::string(option) + " is missing; see `kith index --help`");
    for (const char* option : action.refuses)
      if (is_given(app, option)) refuse(where, std::string(option) + " means nothing to it; leave it out");
    if (action.name == "build") check_element_flags(app, flags.training.tables, flags.metric);
    check_model_path(where, "--out", flags.out);
    return action.run(flags);
  }
  refuse("index",
         "there is no \"" + files::shown_name(flags.action) + "\"; " + advice_on_name(flags.action, names));
}

}  // namespace

Subcommand add_index(CLI::App& parent) {
  auto flags = std::make_shared<IndexFlags>();
  CLI::App* app = parent.add_subcommand(
      "index", "Write training rows as an index file that any device opens; inspect and change such files");
  app->add_option("ACTION", flags->action,
                  "build: write --train to --out; info: show what FILE holds; add: add the rows of --train "
                  "to FILE; remove: remove --rows from FILE; compact: drop the memory of removed rows")
      ->type_name("");
  keeps_file(app->add_option("FILE", flags->file, "An index file, for all actions but build"));
  add_table_options(*app, flags->training.tables,
                    "Column of text files to leave out, because it holds labels: a name, or a number from 1; "
                    "-1 is the last",
                    false, {element_key(flags->training.tables)});
  app->get_option("--train")->required(false);
  writes_file(
      app->add_option("--out", flags->out, "Index file to write, by custom .kidx (default: replace FILE)"));
  add_numbers(*app, "--rows", flags->rows, "For remove: row numbers, separated by commas", 0);
  add_metric_options(*app, flags->metric, flags->training);
  add_feature_option(*app, flags->training);
  add_box_option(*app, flags->training);
  std::vector<Key> keys = category_keys(flags->training.tables);
  keys.insert(keys.begin(), {centre_key(flags->training), arithmetic_key(flags->training)});
  add_prepare_option(*app, std::move(keys));
  add_device_option(*app, flags->device);
  add_place_option(*app, placement_keys(flags->training));
  app->add_flag("--verify", flags->verify, "For info: read the whole FILE and compare it with its checksums");
  app->add_flag("--json", flags->json, "For info: print JSON");
  add_examples(*app, {"kith index build --train base.u8bin --metric l2 --out base.kidx",
                      "kith index info base.kidx --verify",
                      "kith index add base.kidx --train more.u8bin --out larger.kidx",
                      "kith index remove base.kidx --rows 3,1415",
                      "kith search --index base.kidx --queries query.u8bin -k 10"});
  return {app, [app, flags] { return run_index(*app, *flags); }};
}

}  // namespace kith::command
