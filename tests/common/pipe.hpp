// Runs a line of shell and returns what it prints.
#pragma once

#include <sys/wait.h>

#include "common/test.hpp"

namespace test_support {

/// Says how the line ended (its exit code, or 256 plus its signal), and holds its output.
struct Printed {
  int code = -1;
  std::string out;
};

inline Printed printed_by(const std::string& line) {
  FILE* const pipe = popen(line.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Printed printed;
  std::array<char, 4096> buffer{};
  for (std::size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    printed.out.append(buffer.data(), n);
  const int status = pclose(pipe);
  printed.code = WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
  return printed;
}

}  // namespace test_support
