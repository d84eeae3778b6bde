// Tests how much memory the command takes for many rows, and the progress it shows while it reads them.
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "command/shared/command.hpp"
#include "common/sanitizers.hpp"
#include "common/shell.hpp"
#include "paths.hpp"

namespace command_tests::test_command_memory {
namespace {

constexpr std::int64_t rows = 393216, dims = 128, bytes = rows * dims * 4;  // 192 MiB

string header(const string& descr, const string& shape) {
  string text = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  text.append(63 - (10 + text.size()) % 64, ' ');
  text += '\n';
  string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(text.size() & 255);
  file += static_cast<char>(text.size() >> 8);
  return file + text;
}

/// Returns a sparse file of zeros, in which only the last row has ones.
string mostly_zeros(const Folder& folder) {
  const string path =
      folder.write("rows.npy", header("<f4", "(" + std::to_string(rows) + ", " + std::to_string(dims) + ")"));
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path)) + bytes;
  std::filesystem::resize_file(path, static_cast<std::uintmax_t>(size));
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(size - dims * 4);
  const std::array<float, dims> ones = [] {
    std::array<float, dims> all{};
    all.fill(1);
    return all;
  }();
  file.write(reinterpret_cast<const char*>(ones.data()), dims * 4);
  return path;
}

/// Returns a label for each of these rows: 7 for the last, 0 for all others.
string labels_of_zeros(const Folder& folder) {
  const string path = folder.write("labels.npy", header("<i8", "(" + std::to_string(rows) + ",)"));
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path)) + rows * 8;
  std::filesystem::resize_file(path, static_cast<std::uintmax_t>(size));
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(size - 8).put(7);
  return path;
}

/// Starts `kith ARGUMENTS` as a child that reacts to signal `number`, even if this process ignores it.
pid_t start(std::vector<string> arguments, int number = SIGINT) {
  arguments.insert(arguments.begin(), test_support::command_path());
  std::vector<char*> words;
  for (string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    signal(number, SIG_DFL);
    execv(words[0], words.data());
    _exit(99);
  }
  return child;
}

/// Returns the resident memory of this process in bytes. A child starts with it, and Linux counts it in
/// the child's maximum.
std::int64_t resident_size() {
  std::ifstream file("/proc/self/statm");
  std::int64_t pages = 0, resident = 0;
  file >> pages >> resident;
  REQUIRE(file.good());
  return resident * sysconf(_SC_PAGESIZE);
}

/// Returns the maximum resident memory of `kith ARGUMENTS` in bytes; the command must succeed.
std::int64_t largest_size(std::vector<string> arguments) {
  const pid_t child = start(std::move(arguments));
  int status = 0;
  rusage usage{};
  REQUIRE(wait4(child, &status, 0, &usage) == child);
  CHECK(status == 0);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace

TEST_CASE("memory holds the rows of a file once") {
  const Folder folder;
  const string train = mostly_zeros(folder);
  string ones;
  for (std::int64_t d = 0; d < dims; ++d) ones += d ? ",1" : "1";
  const string labels = labels_of_zeros(folder);

  const std::int64_t search = largest_size({"search", "--device", "cpu", "--train", train, "--query", ones,
                                            "-k", "3", "--quiet", "--out-index", folder / "found.csv"});
  CHECK(folder.read("found.csv") ==
        "neighbor_1,neighbor_2,neighbor_3\n393215,0,1\n");  // row numbers continue from piece to piece
  const std::int64_t classify =
      largest_size({"classify", "--device", "cpu", "--train", train, "--labels", labels, "--query", ones,
                    "-k", "1", "--quiet", "--out", folder / "labels.csv"});
  CHECK(folder.read("labels.csv") == "label\n7\n");
  if (kith::tests::sanitized()) return;  // sanitizers use much memory themselves
  if (const std::int64_t own = resident_size(); own > bytes) {
    MESSAGE("not measured: the tests themselves have " << own
                                                       << " bytes in memory, as beside a GPU's driver");
    return;
  }
  const std::int64_t of_threads = std::int64_t{std::thread::hardware_concurrency()} * (std::int64_t{2} << 20);
  CHECK(search < bytes * 17 / 10 + of_threads);
  CHECK(classify < bytes * 17 / 10 + of_threads + rows * 100);  // for labels and what is made of them
}

TEST_CASE("a signal while a model is saved ends the command, and what was there before stays") {
  const Folder folder;
  const string train = mostly_zeros(folder), labels = labels_of_zeros(folder);
  folder.write("m.kith", "old");
  const std::size_t files = folder.files();
  for (const int number : {SIGINT, SIGTERM}) {
    CAPTURE(number);
    const pid_t child = start({"classify", "--device", "cpu", "--quiet", "--train", train, "--labels", labels,
                               "--save-model", folder / "m.kith"},
                              number);
    int status = 0;
    while (folder.files() == files) {
      REQUIRE(waitpid(child, &status, WNOHANG) == 0);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    kill(child, number);
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 128 + number);
    CHECK(folder.files() == files);
    CHECK(folder.read("m.kith") == "old");
  }
}

TEST_CASE("reading shows on a terminal which part is read") {
  for (const bool told : {true, false}) {
    int terminal = -1;
    const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
    REQUIRE(child >= 0);
    if (child == 0) {
      setenv("TERM", "xterm", 1);
      {
        kith::command::ActivityLine activity("reading train.npy");
        if (told) activity.update(0.42);
        std::this_thread::sleep_for(std::chrono::milliseconds(1300));
      }
      _exit(0);
    }
    string text;
    std::array<char, 256> some{};
    for (ssize_t n; (n = read(terminal, some.data(), some.size())) > 0;)
      text.append(some.data(), static_cast<std::size_t>(n));
    close(terminal);
    waitpid(child, nullptr, 0);
    CHECK(contains(text, told ? "reading train.npy  42 %" : "reading train.npy  1 s"));
    CHECK(text.ends_with("\r\033[K"));  // the progress is erased at the end
  }
}

}  // namespace command_tests::test_command_memory
