#include "command/shared/program.hpp"

#include <cstdio>
#include <new>
#include <string>

#include "command/shared/interrupt.hpp"
#include "command/shared/named_files.hpp"
#include "command/shared/output_file.hpp"
#include "command/shared/ranks.hpp"
#include "files/output.hpp"
#include "files/shown.hpp"
#include "kith/unstable/tuning.hpp"

namespace kith::command {
namespace {

int fail(Errc code, const std::string& message) {
  const std::string told = code == Errc::interrupted ? for_whom_it_was_stopped(message) : message;
  const std::string line = "kith: " + std::string(name(code)) + ": " + files::shown_in_line(told) + "\n";
  if (speaks()) std::fwrite(line.data(), 1, line.size(), stderr);
  return exit_code(code);
}

}  // namespace

int reported(const std::function<int()>& body) {
  try {
    return body();
  } catch (const Error& error) {
    return fail(error.code(), error.what());
  } catch (const ClosedPipe&) {
    return exit_closed_pipe;
  } catch (const files::ClosedPipe&) {
    return exit_closed_pipe;
  } catch (const std::bad_alloc&) {
    return fail(
        Errc::out_of_memory,
        "kith: the host has no memory left for this; use fewer rows, or a smaller --place memory-limit");
  } catch (const std::exception& error) {
    return fail(Errc::device_failure,
                std::string("kith: unexpected: ") + error.what() + "; run `kith doctor` and report it");
  }
}

int run_and_warn(const Subcommand& subcommand) {
  struct Warn {
    ~Warn() {
      tell_written();
      for (const std::string& warning : tuning_warnings()) note(warning);
    }
  } warn;
  if (!can_make_threads())
    note(
        "no thread can be made here, so kith works on one, and a stop leaves unfinished files behind; a "
        "limit of processes may be the reason (ulimit -u, or the pids of a container)");
  check_named_files(*subcommand.app);
  return subcommand.run();
}

}  // namespace kith::command
