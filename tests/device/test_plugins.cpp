// Loads plug-ins that are broken in different ways, in a separate process. docs/contract.md, sections 6
// and 8.
#include <sys/stat.h>

#include <filesystem>

#include "common/device.hpp"
#include "common/folder.hpp"
#include "device/probe.hpp"
#include "paths.hpp"

namespace kith::tests {
namespace {

/// Checks that loading folder/libkith_file.so fails with this message alone.
void check_failure(const std::string& folder, const std::string& file, const std::string& why) {
  const std::string path = planted + "/" + folder;
  const std::string seen = probe(path, "cpu");
  CAPTURE(seen);
  CHECK(lines(seen, "failure: ") == path + "/libkith_" + file + ".so: " + why + "\n");
  CHECK(lines(seen, "backend cpu: ") == "1 devices\n");
  CHECK(lines(seen, "cpu: ") == "opened cpu\n");  // nothing else fails
}

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
        "device, or see `kith doctor`\n");
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
  CHECK(lines(seen, "auto: ").starts_with("opened "));  // the next best device
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
  const test_support::Printed printed =
      test_support::printed_by("KITH_CPU_ISA=sse9 '" + test_support::probe_path() + "' cpu");
  const std::string& seen = printed.out;
  CHECK(printed.code == 0);
  CHECK(seen.starts_with(
      "backend cpu: KITH_CPU_ISA = sse9 is no build of this library; unset it or choose one of "));
  CHECK(lines(seen, "cpu: ")
            .starts_with("unavailable: open_device: cpu: KITH_CPU_ISA = sse9 is no build of this "));
}

TEST_CASE("plugins: a device that is exact is opened") {
  const std::string seen = probe(planted + "/inexact", "planted planted:0 PLANTED:right");
  CAPTURE(seen);
  CHECK(lines(seen, "backend planted: ") == "19 devices\n");
  CHECK(lines(seen, "planted:0: ") == "opened planted:0\n");
  CHECK(lines(seen, "PLANTED:right: ") == "opened planted:0\n");
  // Without a number the name means a device that is no CPU.
  CHECK(lines(seen, "planted: ")
            .starts_with("unavailable: open_device: planted: it has no GPU, and a CPU behind it is used only "
                         "when named; there are planted:0 "));
}

TEST_CASE("plugins: a device whose arithmetic is wrong in one thing fails its self-test, with the reason") {
  const std::string seen = probe(planted + "/inexact",
                                 "planted:1 planted:2 planted:3 planted:4 planted:5 planted:6 planted:7 "
                                 "planted:8 planted:9 planted:11 planted:12 planted:13 planted:14");
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
  refused(12, "scores backwards", "sum of weights of test query ");
  refused(13, "loses the rest", "rest of the sum of test query ");
  refused(14, "loses minus",
          "the fused search of 67 queries among 290 rows of 3 columns by negative_dot returned other rows in "
          "a test");
  CHECK(refusal(8) == "device_failure: planted: the lid is stuck\n");
}

TEST_CASE("plugins: a file that was cut, a FIFO and a folder of that name") {
  const test_support::TemporaryFolder in_use(std::filesystem::temp_directory_path());
  const std::string& folder = in_use.path();
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
}

TEST_CASE("plugins: only the plug-in of the device that is asked for is loaded") {
  const std::string both = planted + "/inexact:" + planted + "/find_crashes";
  const std::string seen = probe(both, "--only planted:0");
  CHECK(lines(seen, "planted:0: ") == "opened planted:0\n");
  CHECK(lines(seen, "plug-in: ") == "libkith_planted.so\n");
  CHECK(lines(seen, "host: ") == "0 children ended, wait() finds none\n");
}

}  // namespace
}  // namespace kith::tests
