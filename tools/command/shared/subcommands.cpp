// All subcommands.
#include <CLI/CLI.hpp>

#include "command/shared/command.hpp"

namespace kith::command {

Subcommand add_left_out(CLI::App& parent, const std::string& name) {
  CLI::App* app = parent.add_subcommand(name, "Not in this build of kith (KITH_LAB=OFF)");
  app->preparse_callback([name](std::size_t) {
    throw Error(Errc::unsupported,
                name +
                    ": this kith is built without its laboratory (KITH_LAB=OFF); run "
                    "`tools/quickstart --lab` in kith's sources, or build it with KITH_LAB=ON");
  });
  return {app, [] { return exit_ok; }};
}

std::vector<Subcommand> all_subcommands(CLI::App& parent) {
  std::vector<Subcommand> all = {add_devices(parent),   add_search(parent),          add_graph(parent),
                                 add_index(parent),     add_groundtruth(parent),     add_recall(parent),
                                 add_classify(parent),  add_regress(parent),         add_evaluate(parent),
                                 add_structure(parent), add_select_features(parent), add_compare(parent),
                                 add_verify(parent),    add_reproduce(parent),       add_bench(parent),
                                 add_tune(parent),      add_doctor(parent),          add_manual(parent)};
  for (const Subcommand& subcommand : all) add_quiet_option(*subcommand.app);
  return all;
}

}  // namespace kith::command
