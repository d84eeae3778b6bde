// kith: the command.
#include "command/shared/interrupt.hpp"
#include "command/shared/program.hpp"
#include "command/words/command_line.hpp"

int main(int argc, char** argv) {
  using namespace kith::command;
  return reported([&] {
    watch_for_interrupts();
    return CommandLine().run({argv + 1, argv + argc}, run_and_warn);
  });
}
