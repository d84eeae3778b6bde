// The kith command, run as its users run it. A source that includes this names KITH_COMMAND_PATH, which
// tests/CMakeLists.txt then gives it. Not in namespace kith: kith() runs the command.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace command_tests {

namespace fs = std::filesystem;
using std::string;

/// A folder of this test's own, removed at its end.
class Folder {
 public:
  Folder() {
    string name = (fs::temp_directory_path() / "kith-command-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  string operator/(const string& file) const { return (path_ / file).string(); }
  string write(const string& file, const string& content) const {
    std::ofstream(path_ / file, std::ios::binary) << content;
    return *this / file;
  }
  string read(const string& file) const {
    std::ifstream in(path_ / file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  bool has(const string& file) const { return fs::exists(path_ / file); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

struct Result {
  int code = -1;
  string out, err;
};

inline string read_pipe(FILE* pipe) {
  string text;
  std::array<char, 4096> buffer{};
  for (std::size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    text.append(buffer.data(), n);
  return text;
}

/// Run a line of shell, with $kith as the command.
inline Result shell(const string& line) {
  const Folder folder;
  const string script = "kith='" KITH_COMMAND_PATH "'; ( " + line + " ) 2>'" + (folder / "err") + "'";
  FILE* pipe = popen(script.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Result result;
  result.out = read_pipe(pipe);
  const int status = pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
  result.err = folder.read("err");
  return result;
}

inline Result kith(const string& arguments) {
  return shell("\"$kith\" " + arguments);
}

/// The command fails with this code and this one line, and prints nothing else.
inline void check_refused(const string& arguments, int code, const string& message) {
  CAPTURE(arguments);
  const Result result = kith(arguments);
  CHECK(result.code == code);
  CHECK(result.err == "kith: " + message + "\n");
  CHECK(result.out.empty());
}

inline bool contains(const string& text, const string& part) {
  return text.find(part) != string::npos;
}

}  // namespace command_tests
