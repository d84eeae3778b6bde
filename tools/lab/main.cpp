// Runs kith-lab, the program for benchmarks and published experiments.
#include "command/shared/interrupt.hpp"
#include "command/shared/program.hpp"
#include "lab/subcommands.hpp"

int main(int argc, char** argv) {
  using namespace kith::command;
  return reported([&] {
    watch_for_interrupts();
    return CommandLine(lab_program()).run({argv + 1, argv + argc}, run_and_warn);
  });
}
