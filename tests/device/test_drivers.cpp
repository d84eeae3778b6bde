// Drivers that crash, hang or print are tried in a separate process: docs/contract.md, sections 6 and 8.
#include <unistd.h>

#include <filesystem>

#include "common/folder.hpp"
#include "common/sanitizers.hpp"
#include "device/probe.hpp"
#include "paths.hpp"

namespace kith::tests {
namespace {

/// Checks the message about the driver of folder/libkith_file.so, and that other devices still work.
void check_driver(const std::string& folder, const std::string& file, const std::string& why) {
  const std::string path = planted + "/" + folder;
  const std::string seen =
      probe(path + ":" + planted + "/inexact", "auto planted:0 " + file + ":0", "/", "KITH_DRIVER_SECONDS=1");
  CAPTURE(seen);
  const std::string sentence = path + "/libkith_" + file + ".so: its driver " + why;
  CHECK(lines(seen, "failure: ") == sentence + "\n");
  CHECK(lines(seen, "backend planted: ") == "19 devices\n");
  CHECK(lines(seen, "auto: ") == "opened cpu\n");
  CHECK(lines(seen, "planted:0: ") == "opened planted:0\n");
  CHECK(lines(seen, file + ":0: ") == "unavailable: open_device: " + file + ":0: " + sentence +
                                          "; choose another device, or see `kith doctor`\n");
  CHECK(lines(seen, "host: ") == "0 children ended, wait() finds none\n");
  // A program that asks only for another device does not load this driver.
  const std::string only = probe(path, "--only cpu");
  CHECK(lines(only, "cpu: ") == "opened cpu\n");
  CHECK(lines(only, "plug-in: ") == "");
}

TEST_CASE("plugins: a driver that crashes, aborts, ends the process or hangs becomes a sentence") {
  const std::string when = " when it was asked for devices", advice = "; repair that driver, or remove it";
  check_driver("loading_crashes", "brittle", "crashed" + when + " (signal 11, Segmentation fault)" + advice);
  check_driver("find_crashes", "fragile", "crashed" + when + " (signal 11, Segmentation fault)" + advice);
  check_driver("find_aborts", "cross", "crashed" + when + " (signal 6, Aborted)" + advice);
  check_driver("find_exits", "shy", "ended the process" + when + " (exit 3)" + advice);
  check_driver("find_leaves", "gone", "ended the process" + when + " (exit 0)" + advice);
  check_driver("find_hangs", "sleepy",
               "did not answer within 1 s" + when + advice + ", or give it more time (KITH_DRIVER_SECONDS)");
}

TEST_CASE("plugins: a driver that prints what the helper would, and crashes") {
  check_driver("find_prints", "chatty",
               "crashed when it was asked for devices (signal 11, Segmentation fault); repair that driver, "
               "or remove it");
}

TEST_CASE("plugins: an allocation that fails inside a driver, which crashes or throws") {
  if (!sanitized())  // a sanitizer's malloc would end the process
    check_driver("find_runs_out", "hungry",
                 "crashed when it was asked for devices (signal 11, Segmentation fault); repair that driver, "
                 "or remove it");
  const std::string seen = probe(planted + "/find_throws_bad_alloc", "poor auto");
  CHECK(lines(seen, "backend poor: ") == "looking for devices failed: std::bad_alloc\n");
  CHECK(lines(seen, "auto: ") == "opened cpu\n");
}

/// Returns the first letters of the drivers in `path`, in the order in which a process with these arguments
/// asks them for devices.
std::string asked_by(const std::string& path, const std::string& arguments) {
  std::string diary = "/tmp/kith-diary-XXXXXX";
  const int file = mkstemp(diary.data());
  REQUIRE(file >= 0);
  close(file);
  probe(path, arguments, "/", "KITH_PLANTED_DIARY=" + diary);
  std::string letters;
  std::getline(std::ifstream(diary), letters);
  std::filesystem::remove(diary);
  return letters;
}

TEST_CASE("plugins: a driver is tried once a process, and asked there once more where it answers") {
  // The list of all devices is asked for twice, and `auto` is opened three times.
  CHECK(asked_by(planted + "/find_crashes", "auto auto auto") == "f");
  CHECK(asked_by(planted + "/find_nothing", "auto auto auto") == "bb");
}

TEST_CASE("plugins: auto asks CUDA's driver, and only where that has no GPU those of others") {
  CHECK(asked_by(planted + "/nothing_opencl:" + planted + "/nothing_cuda", "--only auto") == "ccoo");
}

TEST_CASE("plugins: a host that inherits orphans, as the first process of a container, inherits none") {
  const std::string seen = probe(planted + "/find_crashes:" + planted + "/find_hangs:" + planted + "/inexact",
                                 "--reaper auto planted:0", "/", "KITH_DRIVER_SECONDS=1");
  CAPTURE(seen);
  const std::string failures = lines(seen, "failure: ");
  CHECK(std::count(failures.begin(), failures.end(), '\n') == 2);
  CHECK(lines(seen, "planted:0: ") == "opened planted:0\n");
  CHECK(lines(seen, "host: ") == "0 children ended, wait() finds none\n");
}

/// Copies libkith.so without its other files, and runs kith_probe on the copy.
class Alone {
 public:
  Alone() {
    std::filesystem::copy_file(std::filesystem::canonical(test_support::library_path()), library());
    std::filesystem::create_directory(folder_ / "kith");
  }
  std::string library() const { return folder_ / "libkith.so.0"; }
  std::string helper() const { return folder_ / "kith/kith-ask-driver"; }
  void write_helper(const std::string& text, bool executable) const {
    std::ofstream(helper()) << text;
    if (executable) std::filesystem::permissions(helper(), std::filesystem::perms::owner_all);
  }
  /// Checks that drivers are asked in the process itself, and that `reason` is reported.
  void check(const std::string& reason, const std::string& options = "") const {
    CAPTURE(reason);
    const std::string seen =
        probe(planted + "/inexact", options + " auto", folder_.path(), "LD_LIBRARY_PATH=" + folder_.path());
    CAPTURE(seen);
    CHECK(lines(seen, "backend planted: ") == "19 devices\n");
    CHECK(lines(seen, "auto: ") == "opened cpu\n");
    CHECK(lines(seen, "failure: ") == reason + "\n");
  }

 private:
  const test_support::TemporaryFolder folder_{std::filesystem::temp_directory_path()};
};

TEST_CASE("plugins: without the helper program drivers are asked in this process, and that is told") {
  const Alone alone;
  const std::string
      begin = alone.helper() + ": ",
      end = ", so drivers are asked in this process, which one that crashes ends; install kith again";
  alone.check(begin + "cannot be started (No such file or directory)" + end);
  alone.write_helper("#!/bin/sh\n", false);
  alone.check(begin + "cannot be started (Permission denied)" + end);
  alone.write_helper("nothing that runs", true);
  alone.check(begin + "cannot be started (Exec format error)" + end);
  alone.write_helper("#!/bin/sh\n", true);
  alone.check(begin + "ended without a word" + end);
  alone.write_helper("#!/bin/sh\necho no_library\n", true);
  alone.check(begin + "cannot load " + alone.library() + end);
}

TEST_CASE("plugins: where libkith.so was removed meanwhile no helper of the current folder is started") {
  const Alone alone;
  alone.write_helper("#!/bin/sh\necho signal 9\n", true);
  alone.check(
      "libkith.so: is not where it was loaded from, so drivers are asked in this process, which one that "
      "crashes ends; start this program again",
      "--remove " + alone.library());
}

}  // namespace
}  // namespace kith::tests
