// kith: the command.
#include <cstdio>
#include <new>
#include <string>

#include "command/shared/command.hpp"
#include "command/shared/command_line.hpp"
#include "command/shared/interrupt.hpp"
#include "command/shared/named_files.hpp"
#include "files/output.hpp"
#include "files/shown.hpp"
#include "kith/tuning.hpp"

namespace {

using namespace kith::command;

int fail(kith::Errc code, const std::string& message) {
  const std::string told = code == kith::Errc::interrupted ? for_whom_it_was_stopped(message) : message;
  const std::string line =
      "kith: " + std::string(kith::name(code)) + ": " + kith::files::shown_in_line(told) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  return exit_code(code);
}

/// Afterwards, or when it fails, say once which files of `kith tune` were not believed.
int run_and_warn(const Subcommand& subcommand) {
  struct Warn {
    ~Warn() {
      for (const std::string& warning : kith::tuning_warnings()) note(warning);
    }
  } warn;
  if (!can_make_threads())
    note(
        "no thread can be made here, so kith works on one, and a stop leaves unfinished files behind; a "
        "limit of "
        "processes may be the reason (ulimit -u, or the pids of a container)");
  check_named_files(*subcommand.app);
  return subcommand.run();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    watch_for_interrupts();
    return CommandLine().run({argv + 1, argv + argc}, run_and_warn);
  } catch (const kith::Error& error) {
    return fail(error.code(), error.what());
  } catch (const ClosedPipe&) {
    return exit_closed_pipe;
  } catch (const kith::files::ClosedPipe&) {
    return exit_closed_pipe;
  } catch (const std::bad_alloc&) {
    return fail(kith::Errc::out_of_memory,
                "kith: the host has no memory left for this; use fewer rows, or a smaller --memory-limit");
  } catch (const std::exception& error) {
    return fail(kith::Errc::device_failure,
                std::string("kith: unexpected: ") + error.what() + "; run `kith doctor` and report it");
  }
}
