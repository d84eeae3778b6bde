// In place of the laboratory where kith is built without it (KITH_LAB=OFF): its subcommands say what to do.
#include <CLI/CLI.hpp>

#include "command/shared/command.hpp"

namespace kith::command {
namespace {

/// Refused when its name is read, since its options are not known.
Subcommand left_out(CLI::App& parent, const std::string& name) {
  CLI::App* app = parent.add_subcommand(name, "Not in this build of kith (KITH_LAB=OFF)");
  app->preparse_callback([name](std::size_t) {
    throw Error(Errc::unsupported,
                name +
                    ": this kith is built without its laboratory (KITH_LAB=OFF); run "
                    "`tools/quickstart --lab` in kith's sources, or build it with KITH_LAB=ON");
  });
  return {app, [] { return exit_ok; }};
}

}  // namespace

Subcommand add_compare(CLI::App& parent) {
  return left_out(parent, "compare");
}
Subcommand add_verify(CLI::App& parent) {
  return left_out(parent, "verify");
}
Subcommand add_reproduce(CLI::App& parent) {
  return left_out(parent, "reproduce");
}
Subcommand add_bench(CLI::App& parent) {
  return left_out(parent, "bench");
}
Subcommand add_tune(CLI::App& parent) {
  return left_out(parent, "tune");
}

}  // namespace kith::command
