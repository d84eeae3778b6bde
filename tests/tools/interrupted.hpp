// Interrupts a program at work.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "common/shell.hpp"

namespace command_tests {

/// Runs a program, whose path is the first word, until it is `ready`; then interrupts it as Ctrl-C does.
inline Result interrupted(const Folder& folder, const std::vector<string>& words,
                          const std::function<bool()>& ready, const string& cache = {}) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::vector<char*> arguments;
    for (const string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    signal(SIGINT, SIG_DFL);
    if (!cache.empty()) setenv("XDG_CACHE_HOME", cache.c_str(), 1);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
      const string file = folder / (stream == STDOUT_FILENO ? "out" : "err");
      dup2(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666), stream);
    }
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!ready() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  kill(child, SIGINT);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  Result result{WIFEXITED(status) ? WEXITSTATUS(status) : 256, folder.read("out"), folder.read("err")};
  fs::remove(folder / "out");
  fs::remove(folder / "err");
  return result;
}

}  // namespace command_tests
