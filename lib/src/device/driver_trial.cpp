#include "device/driver_trial.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>  // secure_getenv
#include <string.h>  // strsignal
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <memory>
#include <sstream>

#include "device/loader.hpp"
#include "kith/export.hpp"

extern char** environ;

namespace kith {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// The time that the helper itself may take, in addition to that of the driver.
constexpr int helper_ms = 3000;

constexpr unsigned mib_shift = 20;

/// Returns how much address space drivers may need. PoCL 3.1 starts a thread for each core. With 246 to 266
/// MiB left, it loads, but cannot start two threads, and ends the process.
std::uint64_t enough_address_space() {
  constexpr std::uint64_t loaded = 256, a_thread = 16;  // MiB
  return (loaded + a_thread * static_cast<std::uint64_t>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L)))
         << mib_shift;
}

/// The memory that this process may take between the trial of a driver and its use: threads, and what
/// malloc keeps.
constexpr std::uint64_t between_trial_and_use = std::uint64_t{64} << mib_shift;

/// Returns how many seconds a driver may take: KITH_DRIVER_SECONDS, 1 to 3600; else 20, because a GPU that is
/// idle takes several.
int patience_s() {
  const char* text = secure_getenv("KITH_DRIVER_SECONDS");
  const int asked = text ? std::atoi(text) : 0;
  return asked >= 1 && asked <= 3600 ? asked : 20;
}

constexpr std::size_t stack_bytes = std::size_t{1} << 16;

/// A helper that is being started, with a stack for the process that starts it.
struct Start {
  const char* program = nullptr;
  char* const* words = nullptr;
  int reads = -1, writes = -1;  // the ends of the pipe for the helper's answer
  bool stays = false;           // the process that starts the helper remains its parent until the helper ends
  int error = 0;
  std::atomic<bool> done = false;
  alignas(16) char stack[stack_bytes];
};

/// Returns whether an orphaned helper would become a child of this process. Orphans become children of the
/// first process, or of one that has asked for them.
bool inherits_orphans() {
  int asked = 0;
  return getpid() == 1 || (prctl(PR_GET_CHILD_SUBREAPER, &asked) == 0 && asked != 0);
}

/// Waits for the helper, in a process that shares the memory of the host program and nothing else. After
/// `done` it calls no function of the C library that may set errno, because it shares errno with the thread
/// that called clone().
[[noreturn]] void stay_with(pid_t helper, Start& start) {
  signal(SIGCHLD, SIG_DFL);
  close(start.reads);
  close(start.writes);
  syscall(SYS_close_range, 0u, ~0u, 0u);
  start.done = true;
  if (helper > 0) syscall(SYS_wait4, helper, nullptr, 0, nullptr);
  for (;;) syscall(SYS_exit, 0);
}

/// Starts the helper from a process without memory of its own, which ends at once. The helper then belongs to
/// the system, and the host program notices neither process. clone() calls this.
int start_apart(void* argument) {
  Start& start = *static_cast<Start*>(argument);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, start.writes, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t helper = 0;
  start.error = posix_spawn(&helper, start.program, &files, &attributes, start.words, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (start.stays) stay_with(start.error == 0 ? helper : 0, start);
  return 0;
}

/// Waits until the helper has been started or has failed to start. Returns the process that remains its
/// parent; 0 if that has ended.
pid_t started(pid_t apart, Start& start) {
  if (!start.stays) {
    while (waitpid(apart, nullptr, static_cast<int>(__WCLONE)) < 0 && errno == EINTR) {
    }
    return 0;
  }
  constexpr useconds_t a_moment = 200;
  while (!start.done) {
    if (waitpid(apart, nullptr, static_cast<int>(__WCLONE) | WNOHANG) == apart) return 0;
    usleep(a_moment);
  }
  return apart;
}

/// The trial of one driver.
struct Trial {
  int answers = -1;  // where its answer is read; -1: it could not be started, because of `error`
  int error = 0;
  pid_t parent = 0;  // parent of the helper, if this process would otherwise become its parent
  std::unique_ptr<Start> start;
};

/// Returns how many bytes of address space this process may still use; 0 if unlimited or unknown.
std::uint64_t address_space_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 0;
  std::uint64_t pages = 0;
  if (!(std::ifstream("/proc/self/statm") >> pages)) return 0;
  const auto taken = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return std::max<std::uint64_t>(limit.rlim_cur, taken + 1) - taken;
}

/// Starts the helper that tries the driver of one plug-in file.
///   bytes  address space that the driver may take; 0: unlimited
Trial start_helper(const fs::path& helper, const fs::path& library, const fs::path& file,
                   std::uint64_t bytes) {
  Trial trial;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    trial.error = errno;
    return trial;
  }
  std::string words[] = {helper.string(), library.string(), file.string(), std::to_string(patience_s()),
                         std::to_string(bytes)};
  char* pointers[] = {words[0].data(), words[1].data(), words[2].data(),
                      words[3].data(), words[4].data(), nullptr};
  trial.start = std::make_unique<Start>();
  Start& start = *trial.start;
  start.program = words[0].c_str();
  start.words = pointers;
  start.reads = ends[0];
  start.writes = ends[1];
  start.stays = inherits_orphans();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // no signal handler may run in shared memory
  // The process sends no signal when it ends, so that the host program's wait() does not return it.
  const int apart =
      clone(start_apart, start.stack + stack_bytes, CLONE_VM | (start.stays ? 0 : CLONE_VFORK), &start);
  trial.error = apart < 0 ? errno : 0;
  if (apart > 0) {
    trial.parent = started(apart, start);
    trial.error = start.error;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(ends[1]);
  if (trial.error == 0) {
    trial.answers = ends[0];
  } else {
    close(ends[0]);
  }
  return trial;
}

/// Returns the line that arrives at `from`; empty if the pipe ends without one; `overdue` if none comes
/// in time.
std::string read_answer(int from, Clock::time_point late) {
  std::string answer;
  for (char letter = 0;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(late - Clock::now()).count();
    pollfd ready{from, POLLIN, 0};
    const int polled = poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (polled < 0 && errno == EINTR) continue;
    if (polled == 0) return "overdue";
    if (polled < 0 || read(from, &letter, 1) != 1) return {};
    if (letter == '\n') return answer;
    answer += letter;
  }
}

/// Turns the answer of the helper (`answered`, `signal 11`, `exit 3`, `late`, or nothing in time) into
/// a sentence.
std::string sentence(const std::string& answer) {
  constexpr const char* advice = "; repair that driver, or remove it";
  const std::string asked = "when it was asked for devices";
  std::istringstream words(answer);
  std::string what;
  int number = 0;
  words >> what >> number;
  if (what == "answered") return {};
  if (what == "signal")
    return "its driver crashed " + asked + " (signal " + std::to_string(number) + ", " + strsignal(number) +
           ")" + advice;
  if (what == "exit")
    return "its driver ended the process " + asked + " (exit " + std::to_string(number) + ")" + advice;
  return "its driver did not answer within " + std::to_string(patience_s()) + " s " + asked + advice +
         ", or give it more time (KITH_DRIVER_SECONDS)";
}

/// Says that no process can be created. A driver then cannot start its threads either, and some drivers end
/// the process.
std::string without_processes(int error) {
  return std::string("its driver was not asked for devices, since no process can be made to try it in (") +
         strerror(error) + "); allow more processes (ulimit -u, or the pids of a container)";
}

/// Says that too little address space is left: some drivers load but cannot start their threads, and end
/// the process.
std::string without_address_space(std::uint64_t left) {
  return "its driver was not asked for devices, since " + std::to_string(left >> mib_shift) +
         " MiB of address space are left, and drivers may need " +
         std::to_string(enough_address_space() >> mib_shift) + "; allow more (ulimit -v)";
}

/// Returns what to say about a driver; empty if it may be loaded. `why` says what is wrong with the
/// helper itself.
std::string outcome(Trial& trial, Clock::time_point late, std::string& why) {
  if (trial.answers < 0) {
    if (trial.error == EAGAIN || trial.error == ENOMEM) return without_processes(trial.error);
    why = std::string("cannot be started (") + strerror(trial.error) + ")";
    return {};
  }
  const std::string answer = read_answer(trial.answers, late);
  close(trial.answers);
  if (answer == "overdue") {
    static_cast<void>(trial.start.release());  // a process that may still exist uses this stack
  } else if (trial.parent > 0) {
    waitpid(trial.parent, nullptr, static_cast<int>(__WCLONE));
  }
  if (answer == "no_process") return without_processes(EAGAIN);
  if (answer.empty() || answer == "no_library") {
    why = answer.empty() ? "ended without a word" : "cannot load " + library_file().string();
    return {};
  }
  return sentence(answer);
}

}  // namespace

std::vector<std::string> try_drivers(const std::vector<fs::path>& files, std::string& note) {
  const fs::path library = library_file(), helper = library.parent_path() / "kith" / "kith-ask-driver";
  if (library.empty()) {  // no helper may be started, because it might come from the current folder
    note =
        "libkith.so: is not where it was loaded from, so drivers are asked in this process, which one "
        "that crashes ends; start this program again";
    return std::vector<std::string>(files.size());
  }
  const std::uint64_t left = address_space_left();
  if (left > 0 && left < enough_address_space())
    return std::vector<std::string>(files.size(), without_address_space(left));
  std::vector<Trial> trials;
  trials.reserve(files.size());
  const std::uint64_t bytes = left > 0 ? left - between_trial_and_use : 0;
  for (const fs::path& file : files) trials.push_back(start_helper(helper, library, file, bytes));
  const auto late = Clock::now() + std::chrono::seconds(patience_s()) + std::chrono::milliseconds(helper_ms);
  std::vector<std::string> sentences;
  for (Trial& trial : trials) {
    std::string why;
    sentences.push_back(outcome(trial, late, why));
    if (!why.empty())
      note = helper.string() + ": " + why +
             ", so drivers are asked in this process, which one that crashes ends; install kith again";
  }
  return sentences;
}

}  // namespace kith

/// Loads this plug-in and asks it for its devices. Only kith-ask-driver calls this, in its own process.
extern "C" KITH_API void kith_ask_driver(const char* file) {
  const std::filesystem::path path = file;
  for (kith::PluginFile& plugin : kith::plugin_files({path.parent_path()})) {
    std::string why;
    if (plugin.path != path || !plugin.refusal.empty()) continue;
    if (const auto backend = kith::load_plugin(plugin, why)) kith::find_devices(*backend);
  }
}
