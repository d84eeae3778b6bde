#include "last_words.hpp"

#include <execinfo.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace kith::tests::faults {
namespace {

std::array<char, 512> done{};  // ends with 0

void say(std::string_view text) {
  if (::write(STDOUT_FILENO, text.data(), text.size()) < 0) return;  // an error here cannot be reported
}

void say_last_words(int signal) {
  const std::array<char, 2> number = {static_cast<char>('0' + signal / 10),
                                      static_cast<char>('0' + signal % 10)};
  say("WRONG: ended by signal ");
  say({number.data(), number.size()});
  say(" in ");
  say(done.data());
  say("\n");
  std::array<void*, 64> frames{};
  ::backtrace_symbols_fd(frames.data(), ::backtrace(frames.data(), static_cast<int>(frames.size())),
                         STDOUT_FILENO);
}

}  // namespace

void doing(const std::string& what) {
  const std::size_t length = what.copy(done.data(), done.size() - 1);
  std::memset(done.data() + length, 0, done.size() - length);
}

void install_last_words() {
  std::array<void*, 1> frame{};
  static_cast<void>(::backtrace(frame.data(), 1));  // loads a library now, which a signal handler may not
  struct sigaction action {};
  action.sa_handler = say_last_words;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second signal ends the program
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::sigaction(signal, &action, nullptr);
}

}  // namespace kith::tests::faults
