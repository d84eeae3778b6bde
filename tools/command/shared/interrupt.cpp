#include "command/shared/interrupt.hpp"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <system_error>
#include <thread>

#include "command/shared/command.hpp"
#include "command/shared/ranks.hpp"
#include "files/output.hpp"
#include "kith/unfinished.hpp"

namespace kith::command {
namespace {

/// A search stops within one step. Work that cannot be asked to stop (a driver that compiles, a read
/// from a slow disk) gets this much time.
constexpr timespec patience = {1, 500'000'000};

/// The message after any stop: files appear whole or not at all.
constexpr std::string_view run_again = "no output is written: run it again";

constexpr std::string_view go_on = "give the same command again to go on";

constexpr std::string_view run_again_kept = ", with --checkpoint FILE to go on from where a stop comes";

/// Whether any code uses interrupt_token(); if not, a signal ends the process at once.
std::atomic<bool> listened_to = false;

/// Whether the same command would continue from here.
std::atomic<bool> is_kept = false;

/// Whether the search could have used --checkpoint, but it was not given.
std::atomic<bool> can_be_kept = false;

/// Whether all work is done, so that a stop comes too late.
std::atomic<bool> is_done = false;

/// Whether a thread waits for signals, or none is needed.
bool has_watcher = true;

/// The signal that came; 0 if none has.
std::atomic<int> caught = 0;

/// Never destroyed: the watching thread outlives main().
std::stop_source& source() {
  static std::stop_source& source = *new std::stop_source;
  return source;
}

/// Describes what a stop leaves of the work.
std::string what_next() {
  if (is_kept) return std::string(go_on);
  return std::string(run_again) + std::string(can_be_kept ? run_again_kept : "");
}

void wait_and_stop(sigset_t signals) {
  int signal_number = 0;
  sigwait(&signals, &signal_number);
  if (is_done) return;
  caught = signal_number;
  source().request_stop();
  if (listened_to) sigtimedwait(&signals, nullptr, &patience);
  remove_unfinished();
  const std::string text = "kith: interrupted: kith: stopped before it was done; " + what_next() + "\n";
  if (!speaks()) _exit(interrupted_code());
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) _exit(interrupted_code());
  _exit(interrupted_code());
}

}  // namespace

void watch_for_interrupts() {
  signal(SIGPIPE, SIG_IGN);
  sigset_t signals;
  sigemptyset(&signals);
  bool any = false;
  for (int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    sigaddset(&signals, number);
    any = true;
  }
  if (!any) return;
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  source();
  try {
    std::thread(wait_and_stop, signals).detach();
    has_watcher = true;
  } catch (const std::system_error&) {  // the next signal ends the command in the default way
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
    has_watcher = false;
  }
}

void tell_that_work_is_kept() {
  is_kept = true;
}

void tell_that_work_can_be_kept() {
  can_be_kept = true;
}

void ignore_interrupts() {
  is_done = true;
}

bool can_make_threads() {
  return has_watcher;
}

std::stop_token interrupt_token() {
  listened_to = true;
  return source().get_token();
}

void throw_if_interrupted(std::string_view where) {
  if (source().stop_requested())
    throw Error(Errc::interrupted, std::string(where) + ": stopped before it was done; " + what_next());
}

int interrupted_code() {
  const int number = caught;
  return number > 0 ? 128 + number : exit_interrupted;
}

std::string for_whom_it_was_stopped(std::string message) {
  constexpr std::string_view end = "nothing is returned";
  if (message.ends_with(end)) message.replace(message.size() - end.size(), end.size(), what_next());
  return message;
}

}  // namespace kith::command
