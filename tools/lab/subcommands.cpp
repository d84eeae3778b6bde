#include "lab/subcommands.hpp"

#include <CLI/CLI.hpp>

namespace kith::command {
namespace {

std::vector<Subcommand> lab_subcommands(CLI::App& parent) {
  return {add_bench(parent), add_reproduce(parent), add_placements(parent), add_manual(parent)};
}

}  // namespace

Program lab_program() {
  return {"kith-lab",
          "Benchmarks of kith, and published experiments on k-nearest-neighbour search, run again.",
          {"kith-lab bench --workload knn03 --device cpu", "kith-lab reproduce list",
           "kith-lab placements --stages distance=cpu,select=cuda:0"},
          lab_subcommands};
}

}  // namespace kith::command
