// kith-ask-driver LIBKITH PLUGIN SECONDS BYTES: loads a plug-in and asks it for its devices, in a process
// that may crash or hang, within BYTES bytes of address space (0: unlimited). Prints one line on stdout:
// `answered`, `signal NUMBER`, `exit CODE` or `late`; `no_library` or `no_process` if the driver was not
// asked. libkith.so starts it (lib/src/device/driver_trial.cpp); no other program needs to.
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

using Ask = void (*)(const char*);

/// Limits the address space to `bytes` bytes more than this process takes.
void leave_bytes(rlim_t bytes) {
  unsigned long long pages = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "re");
  if (!file) return;
  const bool told = std::fscanf(file, "%llu", &pages) == 1;
  std::fclose(file);
  rlimit limit{};
  if (!told || getrlimit(RLIMIT_AS, &limit) != 0) return;
  limit.rlim_cur = std::min(limit.rlim_cur,
                            static_cast<rlim_t>(pages) * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + bytes);
  setrlimit(RLIMIT_AS, &limit);
}

/// Runs in the child: only its parent sees how it ends, and nobody sees what it prints.
///   answered  out, shared with the parent: a driver may end the process with any exit code
[[noreturn]] void ask(Ask ask_driver, const char* plugin, rlim_t bytes, volatile bool& answered) {
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (bytes > 0) leave_bytes(bytes);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0) close(STDOUT_FILENO);
  ask_driver(plugin);
  answered = true;
  _exit(EXIT_SUCCESS);
}

/// Waits for the end of the child, which it looks for every few milliseconds. Kills it when the time is over,
/// or when nobody waits for the answer any more.
void wait_for(pid_t child, int seconds, const volatile bool& answered) {
  const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) != child) {
    pollfd reader{STDOUT_FILENO, 0, 0};
    constexpr int a_while_ms = 2;
    const bool alone = poll(&reader, 1, a_while_ms) > 0 && (reader.revents & POLLERR);
    if (!alone && std::chrono::steady_clock::now() < late) continue;
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    std::puts("late");
    return;
  }
  if (WIFSIGNALED(status)) {
    std::printf("signal %d\n", WTERMSIG(status));
  } else if (answered) {
    std::puts("answered");
  } else {
    std::printf("exit %d\n", WEXITSTATUS(status));
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) {
    std::fputs("kith-ask-driver: libkith.so starts this program; see `kith doctor`\n", stderr);
    return 2;
  }
  void* const kith = dlopen(words[1], RTLD_NOW);
  const auto ask_driver = kith ? reinterpret_cast<Ask>(dlsym(kith, "kith_ask_driver")) : nullptr;
  if (!ask_driver) {
    std::puts("no_library");
    return 0;
  }
  void* const shared = mmap(nullptr, sizeof(bool), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const pid_t child = shared == MAP_FAILED ? -1 : fork();  // this process has only one thread
  if (child < 0) {
    std::puts("no_process");
    return 0;
  }
  auto& answered = *static_cast<volatile bool*>(shared);
  if (child == 0) ask(ask_driver, words[2], std::strtoull(words[4], nullptr, 10), answered);
  wait_for(child, std::atoi(words[3]), answered);
  return 0;
}
