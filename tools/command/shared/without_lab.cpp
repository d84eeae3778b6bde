// In place of the laboratory where kith is built without it (KITH_LAB=OFF): its subcommands say what to do.
#include "command/shared/command.hpp"

namespace kith::command {

Subcommand add_compare(CLI::App& parent) {
  return add_left_out(parent, "compare");
}
Subcommand add_verify(CLI::App& parent) {
  return add_left_out(parent, "verify");
}
Subcommand add_reproduce(CLI::App& parent) {
  return add_left_out(parent, "reproduce");
}
Subcommand add_bench(CLI::App& parent) {
  return add_left_out(parent, "bench");
}
Subcommand add_tune(CLI::App& parent) {
  return add_left_out(parent, "tune");
}

}  // namespace kith::command
