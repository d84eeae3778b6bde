// kith-mpi runs the command by the ranks of an MPI program, each with a part of the training rows.
#include <mpi.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "command/shared/interrupt.hpp"
#include "command/shared/named_files.hpp"
#include "command/shared/program.hpp"
#include "command/words/command_line.hpp"
#include "kith/mpi.hpp"
#include "mpi_ranks.hpp"

namespace {

using namespace kith::command;

constexpr std::array shared_subcommands = {"search", "classify", "regress", "groundtruth"};

int run_shared(const Subcommand& subcommand) {
  const std::string name = subcommand.app->get_name();
  if (std::find(shared_subcommands.begin(), shared_subcommands.end(), name) == shared_subcommands.end())
    refuse(name, "ranks do not share it; use `kith " + name +
                     "`. kith-mpi has search, classify, regress and groundtruth");
  refuse_stdin(*subcommand.app);
  return run_and_warn(subcommand);
}

/// Ends MPI, after everything has been written and reported. MPI_Finalize() of Open MPI 5.0 sometimes waits
/// for dead ranks, or for ranks that die in it. If MPI lets other ranks live after a death, this rank waits
/// only so long.
void end_mpi(const MpiRanks& ranks, int code) {
  constexpr std::chrono::seconds patience{10};
  if (ranks.lost()) std::_Exit(code);
  if (kith::mpi::has_survivors())
    std::thread([code, patience] {
      std::this_thread::sleep_for(patience);
      std::_Exit(code);
    }).detach();
  MPI_Finalize();
}

}  // namespace

int main(int argc, char** argv) {
  watch_for_interrupts();  // before MPI starts threads
  int allowed = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &allowed);
  MpiRanks ranks;
  set_ranks(&ranks);
  draw_on_stderr_of(::getppid());
  std::vector<std::unique_ptr<CommandLine>> lines;  // never freed, since options are known by address
  const int code = reported([&] {
    return ranks.run([&] {
      lines.push_back(std::make_unique<CommandLine>());
      return lines.back()->run({argv + 1, argv + argc}, run_shared);
    });
  });
  ignore_interrupts();
  end_mpi(ranks, code);
  return code;
}
