// All subcommands of kith.
#include <CLI/CLI.hpp>

#include "command/shared/command.hpp"

namespace kith::command {

std::vector<Subcommand> all_subcommands(CLI::App& parent) {
  return {add_devices(parent), add_search(parent),      add_count(parent),     add_graph(parent),
          add_index(parent),   add_groundtruth(parent), add_recall(parent),    add_classify(parent),
          add_regress(parent), add_evaluate(parent),    add_structure(parent), add_select_features(parent),
          add_compare(parent), add_verify(parent),      add_tune(parent),      add_doctor(parent),
          add_manual(parent)};
}

}  // namespace kith::command
