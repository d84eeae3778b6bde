#include "device/driver_trial.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>  // secure_getenv
#include <string.h>  // strsignal
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <sstream>

#include "device/loader.hpp"
#include "kith/export.hpp"

extern char** environ;

namespace kith {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// What the helper itself may take, beside the time that a driver has.
constexpr int helper_ms = 3000;

/// Seconds that a driver has: KITH_DRIVER_SECONDS, 1 to 3600; else 20, as a cold GPU takes some.
int patience_s() {
  const char* text = secure_getenv("KITH_DRIVER_SECONDS");
  const int asked = text ? std::atoi(text) : 0;
  return asked >= 1 && asked <= 3600 ? asked : 20;
}

struct Start {
  const char* program;
  char* const* words;
  int answers;  // the end of the pipe to write to
  int error;
};

/// Start the helper from a process without memory of its own, which ends at once: the helper then belongs to
/// the system, and the host program hears of neither. Called by clone().
int start_apart(void* argument) {
  Start& start = *static_cast<Start*>(argument);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, start.answers, STDOUT_FILENO);
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
  return 0;
}

/// The end of a pipe that the helper's answer comes from; -1, with the reason in `why`.
int start_helper(const fs::path& helper, const fs::path& library, const fs::path& file, std::string& why) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    why = strerror(errno);
    return -1;
  }
  std::string words[] = {helper.string(), library.string(), file.string(), std::to_string(patience_s())};
  char* pointers[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
  Start start{words[0].c_str(), pointers, ends[1], 0};
  constexpr std::size_t stack_bytes = std::size_t{1} << 16;
  const auto stack = std::make_unique<char[]>(stack_bytes);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // no handler of the host runs in what shares its memory
  // Without a signal to send at its end, it is none of those that the host program's wait() returns.
  const int apart = clone(start_apart, stack.get() + stack_bytes, CLONE_VM | CLONE_VFORK, &start);
  const int error = apart < 0 ? errno : start.error;
  while (apart > 0 && waitpid(apart, nullptr, static_cast<int>(__WCLONE)) < 0 && errno == EINTR) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(ends[1]);
  if (error == 0) return ends[0];
  why = strerror(error);
  close(ends[0]);
  return -1;
}

/// All that comes from `from` until its end, or `late`.
std::string read_answer(int from, Clock::time_point late) {
  std::string answer;
  for (char buffer[256];;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(late - Clock::now()).count();
    pollfd ready{from, POLLIN, 0};
    const int polled = poll(&ready, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (polled < 0 && errno == EINTR) continue;
    const ssize_t got = polled > 0 ? read(from, buffer, sizeof buffer) : 0;
    if (got <= 0) return answer;
    answer.append(buffer, static_cast<std::size_t>(got));
  }
}

/// What the helper says (`answered`, `signal 11`, `exit 3`, `late`, or nothing) as a sentence.
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

}  // namespace

std::vector<std::string> try_drivers(const std::vector<fs::path>& files, std::string& note) {
  const fs::path library = library_file(), helper = library.parent_path() / "kith" / "kith-ask-driver";
  std::vector<int> answers;
  for (const fs::path& file : files) {
    std::string why;
    answers.push_back(start_helper(helper, library, file, why));
    if (!why.empty())
      note = helper.string() + ": cannot be started (" + why +
             "), so drivers are asked in this process, which one that crashes ends; install kith again";
  }
  const auto late = Clock::now() + std::chrono::seconds(patience_s()) + std::chrono::milliseconds(helper_ms);
  std::vector<std::string> sentences;
  for (const int from : answers) {
    sentences.push_back(from < 0 ? std::string() : sentence(read_answer(from, late)));
    if (from >= 0) close(from);
  }
  return sentences;
}

}  // namespace kith

/// For kith-ask-driver alone, in a process of its own: load this plug-in and ask it for its devices.
extern "C" KITH_API void kith_ask_driver(const char* file) {
  const std::filesystem::path path = file;
  for (kith::PluginFile& plugin : kith::plugin_files({path.parent_path()})) {
    std::string why;
    if (plugin.path != path || !plugin.refusal.empty()) continue;
    if (const auto backend = kith::load_plugin(plugin, why)) kith::find_devices(*backend);
  }
}
