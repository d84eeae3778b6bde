// Puts the machine into bad states, and checks the sentence that a user sees in each: docs/contract.md,
// sections 6 and 8.
#include <unistd.h>

#include <filesystem>

#include "common/device.hpp"
#include "common/sanitizers.hpp"
#include "common/shell.hpp"
#include "paths.hpp"

namespace kith::tests {
namespace {

using command_tests::contains;
using command_tests::Folder;
using command_tests::Result;
using command_tests::shell;
using std::string;
namespace fs = std::filesystem;

const string drivers = test_support::in_plugins("/icd/");

/// Fills a folder with .icd files: that of driver `planted`, and PoCL's if `with_pocl`.
void write_vendors(const Folder& folder, const string& planted, bool with_pocl) {
  if (with_pocl) fs::copy_file("/etc/OpenCL/vendors/pocl.icd", folder / "pocl.icd");
  if (!planted.empty()) fs::copy_file(drivers + planted + "/planted.icd", folder / "planted.icd");
}

/// Runs `kith devices` with the drivers of `folder` alone.
Result devices_of(const Folder& folder) {
  return shell("KITH_DRIVER_SECONDS=3 OCL_ICD_VENDORS='" + (folder / "") + "' \"$kith\" devices");
}

/// Returns whether OpenCL with PoCL is installed, and its loader uses only the drivers of the folder it is
/// given. (NVIDIA's own loader finds NVIDIA's driver without a file.)
bool has_opencl() {
  if (!fs::exists(fs::path(test_support::library_path()).parent_path() / "kith" / "libkith_opencl.so") ||
      !fs::exists("/etc/OpenCL/vendors/pocl.icd"))
    return false;
  static const bool heeds_folder = !contains(devices_of(Folder()).out, "\n  opencl:0 ");
  if (!heeds_folder) MESSAGE("left out: the loader of OpenCL finds drivers without .icd files");
  return heeds_folder;
}

/// Searches on `device` in the state that `prefix` makes by shell commands or variables.
Result search(const string& prefix, const string& device = "cpu", const string& more = "") {
  const Folder folder;
  const string train = folder.write("points.csv", "x,y\n0,0\n3,4\n");
  return shell(prefix + " \"$kith\" search --quiet --query 0,0 -k 2 --train " + train + " --device " +
               device + " " + more);
}

const char* const answer =
    "nearest training rows of each query, from 0 (and their distance)\n"
    "query     #1     #2\n"
    "    0  0 (0)  1 (5)\n";

TEST_SUITE_BEGIN("states");

TEST_CASE("state: an OpenCL driver that fails leaves the others, and is named") {
  if (!has_opencl()) return;
  const Folder folder;
  write_vendors(folder, "fails", true);
  const Result seen = devices_of(folder);
  CAPTURE(seen.err);
  CHECK(seen.code == 0);
  CHECK(contains(seen.out, "opencl: 1 device\n"));
  CHECK(contains(seen.out,
                 "cannot be used: OpenCL platform Planted: clGetDeviceIDs returned CL_OUT_OF_HOST_MEMORY, so "
                 "its devices are unknown; install its driver again, or remove it\n"));
  const Folder alone;
  write_vendors(alone, "fails", false);
  CHECK(contains(
      devices_of(alone).out,
      "opencl: no OpenCL device: OpenCL platform Planted: clGetDeviceIDs returned CL_OUT_OF_HOST_MEMORY, so "
      "its devices are unknown; install its driver again, or remove it\n"));
}

TEST_CASE("state: an OpenCL driver that crashes, aborts or hangs harms no other device") {
  if (!has_opencl()) return;
  const string when = " when it was asked for devices";
  for (const auto& [planted, what] :
       {std::pair<string, string>{"crashes", "crashed" + when + " (signal 11, Segmentation fault)"},
        {"aborts", "crashed" + when + " (signal 6, Aborted)"},
        {"hangs", "did not answer within 3 s" + when}}) {
    const string driver = planted,
                 sentence = "libkith_opencl.so: its driver " + what + "; repair that driver";
    CAPTURE(driver);
    const Folder folder;
    write_vendors(folder, driver, true);
    const Result seen = devices_of(folder);
    CHECK(seen.code == 0);
    CHECK(contains(seen.out, sentence));
    CHECK(contains(seen.out, "cpu: 1 device\n"));
    const string vendors = "KITH_DRIVER_SECONDS=1 OCL_ICD_VENDORS='" + (folder / "") + "'";
    const Result by_cpu = search(vendors), by_best = search(vendors, "auto");
    CHECK(by_cpu.code == 0);
    CHECK(by_cpu.out == answer);
    CHECK(by_best.out == answer);
  }
}

TEST_CASE("state: an .icd file that names a library which is not there") {
  if (!has_opencl()) return;
  const Folder folder;
  folder.write("gone.icd", "libgone.so.7\n");
  folder.write("away.icd", "/no/such/libaway.so\r\n");
  const string gone = (folder / "gone.icd") +
                      ": names libgone.so.7, which is not on this machine; install that OpenCL driver, or "
                      "remove the file",
               away = (folder / "away.icd") +
                      ": names /no/such/libaway.so, which is not on this machine; install that OpenCL "
                      "driver, or remove the file";
  const Result seen = devices_of(folder);
  CHECK(contains(seen.out, "opencl: no OpenCL device: " + away + "; " + gone + "\n"));
  const Result doctor = shell("OCL_ICD_VENDORS='" + (folder / "") + "' \"$kith\" doctor");
  CHECK(contains(doctor.out, gone));
  CHECK(!contains(doctor.out, "OpenCL driver: gone.icd"));
}

TEST_CASE("state: an .icd file that names a file which is no driver") {
  if (!has_opencl()) return;
  const Folder folder;
  folder.write("foreign.icd", folder.write("notes.txt", "no library\n") + "\n");
  CHECK(contains(devices_of(folder).out, "opencl: no OpenCL device: " + (folder / "foreign.icd") +
                                             ": names " + (folder / "notes.txt") +
                                             ", which gave the OpenCL loader no platform; install that "
                                             "OpenCL driver again, or remove the file\n"));
}

TEST_CASE("state: no OpenCL driver at all") {
  if (!has_opencl()) return;
  const Folder folder;
  CHECK(contains(devices_of(folder).out, "opencl: no OpenCL platform: no driver (ICD) is installed\n"));
  const string none = "OCL_ICD_VENDORS='" + (folder / "") + "'";
  CHECK(search(none, "auto").out == answer);
  const Result refused = search(none, "opencl:0");
  CHECK(refused.code == 4);
  CHECK(refused.err ==
        "kith: unavailable: open_device: opencl:0: no OpenCL platform: no driver (ICD) is installed; choose "
        "another device, or see `kith doctor`\n");
}

TEST_CASE("state: an OpenCL loader that is no library") {
  if (!has_opencl()) return;
  const Folder folder;
  folder.write("libOpenCL.so.1", "not a library\n");
  const string broken = "LD_LIBRARY_PATH='" + (folder / "") + "'";
  CHECK(search(broken).out == answer);
  CHECK(search(broken, "auto").out == answer);
  const Result refused = search(broken, "opencl:0");
  CHECK(refused.code == 4);
  CHECK(contains(refused.err, "libkith_opencl.so: cannot be loaded: "));
}

TEST_CASE("state: a plug-in of another version, and files that are none") {
  const string planted = test_support::in_plugins();
  for (const char* folder : {"other_abi", "text", "no_symbol", "find_crashes"}) {
    CAPTURE(string(folder));
    const string path = "KITH_BACKEND_PATH='" + planted + "/" + folder + "'";
    CHECK(search(path).out == answer);
    CHECK(search(path, "auto").out == answer);
  }
}

TEST_CASE("state: no thread can be made") {
  // The stack of each thread, in KiB, is larger than the memory.
  const Result alone = search("ulimit -s 137438953472;");
  CHECK(alone.code == 0);
  CHECK(alone.out == answer);
  CHECK(search("ulimit -s 137438953472;", "auto").out == answer);
}

TEST_CASE("state: no process and no thread can be made, as under ulimit -u or the pids of a container") {
  // root is exempt from this limit, so the command runs as another user. LeakSanitizer would need a thread.
  const string limited = "env ASAN_OPTIONS=\"${ASAN_OPTIONS-}:detect_leaks=0\" " +
                         string(geteuid() == 0 ? "setpriv --reuid 65534 --regid 65534 --clear-groups " : "") +
                         "prlimit --nproc=1 ";
  if (const Result tried = shell(limited + "test -x \"$kith\""); tried.code != 0) {
    MESSAGE("no limit can be set here: " << tried.err);
    return;
  }
  const auto search_by = [&](const string& device) {
    return shell("printf 'x,y\\n0,0\\n3,4\\n' | " + limited +
                 "\"$kith\" search --query 0,0 -k 2 --train - --read format=csv --device " + device);
  };
  for (const char* device : {"cpu", "auto"}) {
    const Result result = search_by(device);
    CAPTURE(result.err);
    CHECK(result.code == 0);
    CHECK(result.out == answer);
    CHECK(contains(result.err, "kith: note: no thread can be made here"));
  }
  if (!has_opencl()) return;
  const Result seen = shell(limited + "\"$kith\" devices");
  CAPTURE(seen.err);
  CHECK(seen.code == 0);
  CHECK(contains(seen.out, "cpu: 1 device\n"));
  CHECK(contains(
      seen.out,
      "libkith_opencl.so: its driver was not asked for devices, since no process can be made to try it in "
      "(Resource temporarily unavailable); allow more processes (ulimit -u, or the pids of a container)\n"));
}

TEST_CASE("state: little memory harms no search of a few points") {
  if (kith::tests::sanitized()) return;
  for (const int kib : {500000, 400000, 300000, 290000, 280000, 270000, 260000, 200000}) {
    CAPTURE(kib);
    const string limit = "ulimit -v " + std::to_string(kib) + ";";
    CHECK(search(limit).out == answer);
    CHECK(search(limit, "auto").out == answer);
  }
  if (!has_opencl()) return;
  const Result seen = shell("ulimit -v 250000; \"$kith\" devices");
  CAPTURE(seen.err);
  CHECK(seen.code == 0);
  CHECK(contains(seen.out, "libkith_opencl.so: its driver was not asked for devices, since "));
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  CHECK(contains(seen.out, " MiB of address space are left, and drivers may need " +
                               std::to_string(256 + 16 * cores) + "; allow more (ulimit -v)\n"));
}

TEST_CASE("state: no home, and a home that cannot be written") {
  CHECK(search("env -u HOME -u XDG_CACHE_HOME -u XDG_CONFIG_HOME").out == answer);
  CHECK(search("HOME=/nonexistent").out == answer);
  CHECK(search("HOME=/proc XDG_CACHE_HOME=/proc").out == answer);
}

TEST_CASE("state: a full disk, and one that cannot be written") {
  const Result full = search("", "cpu", "--out-index /dev/full --write format=csv");
  CHECK(full.code == 3);
  CHECK(contains(full.err, "/dev/full: "));
  CHECK(contains(full.err, "No space left on device"));
  const Result closed = search("", "cpu", "--out-index /proc/found.npy");
  CHECK(closed.code == 3);
  CHECK(contains(closed.err, "/proc/found.npy: "));
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
