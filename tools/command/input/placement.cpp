// --placement, --shares: which member of a set of devices holds what.
#include <CLI/CLI.hpp>

#include "command/input/training.hpp"
#include "command/shared/command.hpp"
#include "kith/placement.hpp"

namespace kith::command {

void add_placement_options(CLI::App& app, TrainingFlags& flags) {
  CLI::Option* option =
      app.add_option("--placement", flags.placement,
                     "How several devices share the work: automatic, split (each holds a part of the rows), "
                     "replicate (each holds all rows and searches for a part of the queries)");
  option->type_name("NAME")->capture_default_str();
  check_by(app, option, "--placement", [](const std::string& text) { placement_named(text); });
  app.add_option("--shares", flags.shares,
                 "Shares of the work for several devices, such as 3,1 (default: by their speeds)")
      ->type_name("X,X,...")
      ->delimiter(',')
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace kith::command
