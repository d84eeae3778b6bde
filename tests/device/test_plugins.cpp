// Plug-ins that are broken, each in its own way, met by a process of its own. docs/contract.md,
// sections 6 and 8.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "common/device.hpp"
#include "common/sanitizers.hpp"

namespace kith::tests {
namespace {

const std::string planted = KITH_TEST_PLUGIN_DIR;

/// What kith_probe prints: with KITH_BACKEND_PATH = `path`, run in `folder`, opening `specs`.
///   settings  further variables of the environment
std::string probe(const std::string& path, const std::string& specs = "", const std::string& folder = "/",
                  const std::string& settings = "") {
  const std::string command = "cd '" + folder + "' && KITH_BACKEND_PATH='" + path + "' " + settings +
                              " '" KITH_TEST_PROBE "' " + specs + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  std::array<char, 4096> buffer{};
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe))
    text.append(buffer.data(), n);
  CHECK(pclose(pipe) == 0);
  return text;
}

/// The lines of `text` that begin with `prefix`, without it.
std::string lines(const std::string& text, const std::string& prefix) {
  std::string found;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    if (line.starts_with(prefix)) found += line.substr(prefix.size()) + "\n";
    at = end == std::string::npos ? text.size() : end + 1;
  }
  return found;
}

/// The one failure that loading folder/libkith_file.so must give.
void check_failure(const std::string& folder, const std::string& file, const std::string& why) {
  const std::string path = planted + "/" + folder;
  const std::string seen = probe(path, "cpu");
  CAPTURE(seen);
  CHECK(lines(seen, "failure: ") == path + "/libkith_" + file + ".so: " + why + "\n");
  CHECK(lines(seen, "backend cpu: ") == "1 devices\n");
  CHECK(lines(seen, "cpu: ") == "opened cpu\n");  // nothing else suffers
}

TEST_SUITE_BEGIN("unit");

TEST_CASE("plugins: one of another version is refused by its number") {
  const std::string ours = std::to_string(spi::plugin_abi), theirs = std::to_string(spi::plugin_abi + 1);
  check_failure("other_abi", "future",
                "speaks plug-in interface " + theirs + ", this libkith " + ours +
                    "; install both from the same version");
}

TEST_CASE("plugins: a library that is no plug-in") {
  check_failure("no_symbol", "bare",
                "exports no kith_plugin, so it is no plug-in of kith; remove it from this folder");
}

TEST_CASE("plugins: a text file that calls itself one") {
  const std::string path = planted + "/text";
  const std::string failures = lines(probe(path), "failure: ");
  CHECK(failures.starts_with(path + "/libkith_text.so: cannot be loaded: " + path + "/libkith_text.so: "));
  CHECK(std::count(failures.begin(), failures.end(), '\n') == 1);
}

TEST_CASE("plugins: one that hands over nothing") {
  check_failure("null", "empty", "kith_plugin() returned nothing; install it again");
  check_failure("create_nothing", "lazy", "created no back end; install it again");
}

TEST_CASE("plugins: one whose name is not its file's, or taken") {
  check_failure("misnamed", "alias", "calls itself \"other\"; a plug-in's file is named libkith_NAME.so");
  check_failure("named_cpu", "cpu", "there is already a back end called \"cpu\"; remove one of them");
}

TEST_CASE("plugins: one that throws when it starts") {
  check_failure("create_throws", "nervous", "failed to start: not today");
}

TEST_CASE("plugins: one that throws when it looks for devices is a back end without devices") {
  const std::string seen = probe(planted + "/find_throws", "lost cpu");
  CHECK(lines(seen, "backend lost: ") == "looking for devices failed: the map is upside down\n");
  CHECK(lines(seen, "lost: ") ==
        "unavailable: open_device: lost: looking for devices failed: the map is upside down; choose another "
        "device, or "
        "see `kith doctor`\n");
  CHECK(lines(seen, "cpu: ") == "opened cpu\n");
  CHECK(lines(seen, "failure: ") == "");
  CHECK(lines(probe(planted + "/find_throws_int"), "backend odd: ") ==
        "looking for devices failed with an unknown exception\n");
}

TEST_CASE("plugins: one that throws whatever it likes when a device is opened, or opens none") {
  const std::string seen = probe(planted + "/open", "stuck:0 stuck:1 stuck:2 auto");
  const std::string end = "; repair or remove that plug-in\n", failed = ": opening it failed";
  CHECK(lines(seen, "stuck:0: ") == "unavailable: stuck:0" + failed + " with an unknown exception" + end);
  CHECK(lines(seen, "stuck:1: ") == "unavailable: stuck:1" + failed + ": the door is locked" + end);
  CHECK(lines(seen, "stuck:2: ") == "unavailable: stuck:2" + failed + ": there is no device" + end);
  CHECK(lines(seen, "auto: ").starts_with("opened "));  // the next best
}

TEST_CASE("plugins: files of other names are left alone, in any order, and folders may be several") {
  CHECK(lines(probe(planted + "/strangers"), "failure: ") == "");
  const std::string both = probe(planted + "/other_abi:" + planted + "/no_symbol");
  CHECK(lines(both, "failure: ").find("libkith_future.so") <
        lines(both, "failure: ").find("libkith_bare.so"));
}

TEST_CASE("plugins: a back end that is not installed has a sentence that says where it was looked for") {
  const std::string seen = probe(planted + "/strangers:/no/such/folder", "cuda:0 auto");
  const std::string reason =
      "not installed: there is no libkith_cuda.so in " + planted + "/strangers, /no/such/folder";
  CHECK(lines(seen, "backend cuda: ") == reason + "\n");
  CHECK(lines(seen, "cuda:0: ") ==
        "unavailable: open_device: cuda:0: " + reason + "; choose another device, or see `kith doctor`\n");
  CHECK(lines(seen, "auto: ") == "opened cpu\n");
}

TEST_CASE("plugins: never from the current directory, nor from a relative path") {
  for (const std::string path : {"", ".", "text:other_abi", ":"}) {
    CAPTURE(path);
    const std::string seen = probe(path, "", planted + "/other_abi");
    CHECK(lines(seen, "failure: ") == "");
    CHECK(lines(seen, "backend cuda: ") ==
          "not installed: there is no libkith_cuda.so in any folder (KITH_BACKEND_PATH names no absolute "
          "one)\n");
  }
}

TEST_CASE("plugins: an instruction set that there is not is refused, with those there are") {
  FILE* pipe = popen("KITH_CPU_ISA=sse9 '" KITH_TEST_PROBE "' cpu", "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> buffer{};
  const std::string seen(buffer.data(), std::fread(buffer.data(), 1, buffer.size(), pipe));
  CHECK(pclose(pipe) == 0);
  CHECK(seen.starts_with(
      "backend cpu: KITH_CPU_ISA = sse9 is no build of this library; unset it or choose one of "));
  CHECK(lines(seen, "cpu: ")
            .starts_with("unavailable: open_device: cpu: KITH_CPU_ISA = sse9 is no build of this "));
}

TEST_CASE("plugins: a device that is exact is opened") {
  const std::string seen = probe(planted + "/inexact", "planted planted:0 PLANTED:right");
  CAPTURE(seen);
  CHECK(lines(seen, "backend planted: ") == "17 devices\n");
  CHECK(lines(seen, "planted:0: ") == "opened planted:0\n");
  CHECK(lines(seen, "PLANTED:right: ") == "opened planted:0\n");
  // Without a number only a device that is no CPU is meant.
  CHECK(lines(seen, "planted: ")
            .starts_with("unavailable: open_device: planted: it has no GPU, and a CPU behind it is used only "
                         "when named; there are planted:0 "));
}

TEST_CASE("plugins: a device whose arithmetic is wrong in one thing fails its self-test, with the reason") {
  const std::string seen = probe(planted + "/inexact",
                                 "planted:1 planted:2 planted:3 planted:4 planted:5 planted:6 "
                                 "planted:7 planted:8 planted:9 planted:11 planted:12 planted:13 planted:14");
  CAPTURE(seen);
  const auto refusal = [&](int number) { return lines(seen, "planted:" + std::to_string(number) + ": "); };
  const auto refused = [&](int number, const std::string& device, const std::string& why) {
    CAPTURE(number);
    const std::string text = refusal(number);
    CHECK(text.starts_with("unavailable: open_device: planted:" + std::to_string(number) + ": " + device +
                           " is not exact: " + why));
    CHECK(text.ends_with("; update its driver or choose another device\n"));
  };
  refused(1, "separate multiply", "distance of test query ");
  refused(2, "flushed", "distance of test query ");
  refused(3, "reversed", "distance of test query ");
  refused(4, "ties to larger", "selector ");
  refused(5, "loses infinity", "selector ");
  refused(6, "merge drops last", "merge returned other rows in a test");
  refused(7, "fused reads padding", "the fused search returned other rows in a test");
  refused(9, "throws when used", "the self-test could not run: planted: the fan has stopped");
  refused(11, "masks from zero", "masked distance of test query ");
  refused(12, "tallies backwards", "sum of weights of test query ");
  refused(13, "loses the rest", "rest of the sum of test query ");
  refused(14, "loses minus",
          "the fused search of 67 queries among 290 rows of 3 columns by negative_dot returned other rows in "
          "a test");
  CHECK(refusal(8) == "device_failure: planted: the lid is stuck\n");
}

/// The sentence about the driver of folder/libkith_file.so, which harms no other device.
void check_driver(const std::string& folder, const std::string& file, const std::string& why) {
  const std::string path = planted + "/" + folder;
  const std::string seen =
      probe(path + ":" + planted + "/inexact", "auto planted:0 " + file + ":0", "/", "KITH_DRIVER_SECONDS=1");
  CAPTURE(seen);
  const std::string sentence = path + "/libkith_" + file + ".so: its driver " + why;
  CHECK(lines(seen, "failure: ") == sentence + "\n");
  CHECK(lines(seen, "backend planted: ") == "17 devices\n");
  CHECK(lines(seen, "auto: ") == "opened cpu\n");
  CHECK(lines(seen, "planted:0: ") == "opened planted:0\n");
  CHECK(lines(seen, file + ":0: ") == "unavailable: open_device: " + file + ":0: " + sentence +
                                          "; choose another device, or see `kith doctor`\n");
  CHECK(lines(seen, "host: ") == "0 children ended, wait() finds none\n");
  // Who asks for another device does not meet this driver at all.
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
  check_driver(
      "find_prints", "chatty",
      "crashed when it was asked for devices (signal 11, Segmentation fault); repair that driver, or "
      "remove it");
}

TEST_CASE("plugins: an allocation that fails inside a driver, which crashes or throws") {
  if (!sanitized())  // whose malloc ends the process
    check_driver("find_runs_out", "hungry",
                 "crashed when it was asked for devices (signal 11, Segmentation fault); repair that driver, "
                 "or remove it");
  const std::string seen = probe(planted + "/find_throws_bad_alloc", "poor auto");
  CHECK(lines(seen, "backend poor: ") == "looking for devices failed: std::bad_alloc\n");
  CHECK(lines(seen, "auto: ") == "opened cpu\n");
}

/// How often the driver of folder/libkith_file.so is asked for devices by a process that asks for all twice,
/// and three times for `auto`.
std::size_t times_asked(const std::string& folder) {
  std::string diary = "/tmp/kith-diary-XXXXXX";
  const int file = mkstemp(diary.data());
  REQUIRE(file >= 0);
  close(file);
  probe(planted + "/" + folder, "auto auto auto", "/", "KITH_PLANTED_DIARY=" + diary);
  const std::size_t times = std::filesystem::file_size(diary);
  std::filesystem::remove(diary);
  return times;
}

TEST_CASE("plugins: a driver is tried once a process, and asked there once more where it answers") {
  CHECK(times_asked("find_crashes") == 1);
  CHECK(times_asked("find_nothing") == 2);
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

TEST_CASE("plugins: a file that was cut, a FIFO and a folder of that name") {
  std::string folder = "/tmp/kith-plugins-XXXXXX";
  REQUIRE(mkdtemp(folder.data()) != nullptr);
  const std::filesystem::path cut = folder + "/libkith_cut.so";
  std::filesystem::copy_file(planted + "/inexact/libkith_planted.so", cut);
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) / 2);
  REQUIRE(mkfifo((folder + "/libkith_fifo.so").c_str(), 0600) == 0);
  std::filesystem::create_directory(folder + "/libkith_folder.so");
  const std::string seen = probe(folder, "auto");
  CAPTURE(seen);
  const std::string why = lines(seen, "failure: " + folder + "/libkith_cut.so: ");
  CHECK(why.starts_with("is cut short: it has " + std::to_string(std::filesystem::file_size(cut)) +
                        " bytes and needs "));
  CHECK(lines(probe(folder, "--only cut:0"), "cut:0: ") ==
        "unavailable: open_device: cut:0: " + cut.string() + ": " + why.substr(0, why.size() - 1) +
            "; choose another device, or see `kith doctor`\n");
  CHECK(lines(seen, "failure: " + folder + "/libkith_fifo.so: ") ==
        "is no ordinary file; remove it from this folder\n");
  CHECK(lines(seen, "failure: " + folder + "/libkith_folder.so: ") ==
        "is no ordinary file; remove it from this folder\n");
  CHECK(lines(seen, "auto: ") == "opened cpu\n");
  std::filesystem::remove_all(folder);
}

TEST_CASE("plugins: only the plug-in of the device that is asked for is loaded") {
  const std::string both = planted + "/inexact:" + planted + "/find_crashes";
  const std::string seen = probe(both, "--only planted:0");
  CHECK(lines(seen, "planted:0: ") == "opened planted:0\n");
  CHECK(lines(seen, "plug-in: ") == "libkith_planted.so\n");
  CHECK(lines(seen, "host: ") == "0 children ended, wait() finds none\n");
}

/// A copy of libkith.so alone, and what a process that loads it sees of kith_planted.
class Alone {
 public:
  Alone() {
    REQUIRE(mkdtemp(folder_.data()) != nullptr);
    std::filesystem::copy_file(std::filesystem::canonical(KITH_TEST_LIBRARY), library());
    std::filesystem::create_directory(folder_ + "/kith");
  }
  ~Alone() { std::filesystem::remove_all(folder_); }
  std::string library() const { return folder_ + "/libkith.so.0"; }
  std::string helper() const { return folder_ + "/kith/kith-ask-driver"; }
  void write_helper(const std::string& text, bool executable) const {
    std::ofstream(helper()) << text;
    if (executable) std::filesystem::permissions(helper(), std::filesystem::perms::owner_all);
  }
  /// Drivers are asked in its process, for this reason.
  void check(const std::string& reason, const std::string& options = "") const {
    CAPTURE(reason);
    const std::string seen =
        probe(planted + "/inexact", options + " auto", folder_, "LD_LIBRARY_PATH=" + folder_);
    CAPTURE(seen);
    CHECK(lines(seen, "backend planted: ") == "17 devices\n");
    CHECK(lines(seen, "auto: ") == "opened cpu\n");
    CHECK(lines(seen, "failure: ") == reason + "\n");
  }

 private:
  std::string folder_ = "/tmp/kith-alone-XXXXXX";
};

TEST_CASE("plugins: without the helper program drivers are asked in this process, and that is told") {
  const Alone alone;
  const std::string begin = alone.helper() + ": ",
                    end =
                        ", so drivers are asked in this process, which one that "
                        "crashes ends; install kith again";
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
      "libkith.so: is not where it was loaded from, so drivers are asked in this process, which one "
      "that "
      "crashes ends; start this program again",
      "--remove " + alone.library());
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
