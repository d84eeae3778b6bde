// All subcommands.
#include "command/shared/command.hpp"

namespace kith::command {

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
