// kith-ask-driver LIBKITH PLUGIN SECONDS: load a plug-in and ask it for its devices, in a process that may
// crash or hang. Says on stdout how that went: `answered`, `signal NUMBER`, `exit CODE` or `late`.
// libkith.so starts it (lib/src/device/driver_trial.cpp); nobody else needs to.
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr int answered = 0, no_library = 97;

/// In the child: what it does to itself is seen by its parent alone.
[[noreturn]] void ask(const char* library, const char* plugin) {
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  void* const kith = dlopen(library, RTLD_NOW);
  using Ask = void (*)(const char*);
  const auto ask_driver = kith ? reinterpret_cast<Ask>(dlsym(kith, "kith_ask_driver")) : nullptr;
  if (!ask_driver) _exit(no_library);
  ask_driver(plugin);
  _exit(answered);
}

/// The child's end, looked for every few milliseconds; killed when the time is over, or when nobody waits
/// for the answer any more.
void wait_for(pid_t child, int seconds) {
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
  } else if (WEXITSTATUS(status) == answered) {
    std::puts("answered");
  } else {
    std::printf("exit %d\n", WEXITSTATUS(status));
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) {
    std::fputs("kith-ask-driver: libkith.so starts this program; see `kith doctor`\n", stderr);
    return 2;
  }
  const pid_t child = fork();  // of a process with one thread
  if (child == 0) ask(words[1], words[2]);
  if (child < 0) {
    std::puts("answered");  // no process can be made: kith asks the driver itself
    return 0;
  }
  wait_for(child, std::atoi(words[3]));
  return 0;
}
