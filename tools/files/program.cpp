// Files that a program of its own reads for kith.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "source.hpp"

extern char** environ;

namespace kith::files {
namespace {

/// The program, with `in` as its stdin and `out` as its stdout. Returns an errno.
int start_program(const std::string& program, const std::vector<std::string>& words, int in, int out,
                  int& process) {
  std::vector<char*> arguments{const_cast<char*>(program.c_str())};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  sigset_t pipes;  // it ends where nobody reads it any more, whatever this program does
  sigemptyset(&pipes);
  sigaddset(&pipes, SIGPIPE);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &pipes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const int error = posix_spawn(&process, program.c_str(), &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

}  // namespace

void Source::pass_through(const std::string& program, const std::vector<std::string>& words) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw Error(Errc::out_of_memory,
                name_ + ": no pipe can be made: " + std::strerror(errno) + "; close some files");
  const int error = start_program(program, words, fd_, ends[1], program_);
  ::close(ends[1]);
  if (error != 0) {
    program_ = 0;
    ::close(ends[0]);
    fail(program + " cannot be run: " + std::strerror(error) + "; install kith again");
  }
  ::close(fd_);
  fd_ = ends[0];
  head_used_ = head_size_;
  file_read_ = bytes_read_ = 0;
  sized_ = false;
  was_passed_ = true;
}

void Source::name_part(const std::string& part) {
  name_ += ": " + printable(part);
}

void Source::end_program() {
  int status = 0;
  while (::waitpid(program_, &status, 0) < 0 && errno == EINTR) {
  }
  program_ = 0;
  if (status == 0) return;
  fail("cannot be read to its end: its reader " +
       (WIFSIGNALED(status) ? "was stopped by signal " + std::to_string(WTERMSIG(status))
                            : "ended with " + std::to_string(WEXITSTATUS(status))) +
       "; it is damaged: copy or download it again");
}

}  // namespace kith::files
