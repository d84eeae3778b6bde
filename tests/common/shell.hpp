// Runs the kith command as its users do. The namespace is not kith, because kith() runs the command.
#pragma once

#include <filesystem>

#include "common/folder.hpp"
#include "common/pipe.hpp"
#include "paths.hpp"

namespace command_tests {

namespace fs = std::filesystem;
using std::string;

using test_support::contains;

/// A temporary folder on disk, not in memory, as some of its files are large.
class Folder : public test_support::TemporaryFolder {
 public:
  Folder() : TemporaryFolder(fs::temp_directory_path()) {}
};

struct Result {
  int code = -1;
  string out, err;
};

/// Runs a line of shell in which $kith is the command.
inline Result shell(const string& line) {
  const Folder folder;
  const string script =
      "kith='" + test_support::command_path() + "'; ( " + line + " ) 2>'" + (folder / "err") + "'";
  const test_support::Printed printed = test_support::printed_by(script);
  Result result{printed.code, printed.out, {}};
  result.err = folder.read("err");
  return result;
}

inline Result kith(const string& arguments) {
  return shell("\"$kith\" " + arguments);
}

/// What a command prints that must succeed.
inline string out_of(const string& arguments) {
  const Result result = kith(arguments);
  CAPTURE_ALL(arguments, result.err);
  CHECK(result.code == 0);
  return result.out;
}

/// Counts the options that a help lists.
inline int options_in(const string& help) {
  std::istringstream lines(help);
  int count = 0;
  for (string text; std::getline(lines, text);) count += text.starts_with("  -");
  return count;
}

/// Checks that the command failed with this code and this one line, and printed nothing else.
inline void check_refusal(const Result& result, int code, const string& message) {
  CHECK(result.code == code);
  CHECK(result.err == "kith: " + message + "\n");
  CHECK(result.out.empty());
}

inline void check_refused(const string& arguments, int code, const string& message) {
  CAPTURE(arguments);
  check_refusal(kith(arguments), code, message);
}

}  // namespace command_tests
