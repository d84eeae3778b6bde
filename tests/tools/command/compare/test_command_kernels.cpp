// Tests what kith does when a kernel or a device does not behave as expected: docs/opencl.md. Each case
// changes one thing in the kernels for GPUs, which then run on PoCL. PoCL runs the work-items of a group one
// after another between barriers.
#include <filesystem>

#include "common/shell.hpp"
#include "paths.hpp"

namespace command_tests::test_command_kernels {
namespace {

const string kernels = test_support::in_sources("/kernels_cl");

/// PoCL compiles the kernels for GPUs without optimisation, in a tenth of the time.
const string unoptimised = "POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable";

/// Runs `kith ...` with the kernels for GPUs on PoCL; `settings` are environment variables. PoCL's cache
/// belongs to this test. Leaks are not reported, because PoCL 3.1 leaks a little when it compiles.
Result on_pocl(const string& settings, const string& arguments) {
  fs::create_directories(test_support::in_plugins("/pocl"));
  return shell(
      "ASAN_OPTIONS=detect_leaks=0 OMP_WAIT_POLICY=passive KITH_CL_FAMILY=gpu "
      "POCL_CACHE_DIR='" +
      test_support::in_plugins("/pocl") + "' " + settings + " \"$kith\" " + arguments);
}

bool has_pocl() {
  static const bool there = contains(on_pocl(unoptimised, "devices").out, "Portable Computing Language");
  return there;
}

/// A copy of the kernels in which one file has `by` in place of each `what`.
class Changed {
 public:
  Changed(const string& file, const string& what, const string& by) {
    fs::copy(kernels, folder_ / "", fs::copy_options::recursive);
    string text = folder_.read(file);
    std::size_t changes = 0;
    for (std::size_t at = 0; (at = text.find(what, at)) != string::npos; at += by.size(), ++changes)
      text.replace(at, what.size(), by);
    REQUIRE_MESSAGE(changes > 0, file, " has no ", what);
    folder_.write(file, text);
  }
  /// Runs the command with these kernels.
  Result run(const string& arguments, const string& settings = unoptimised) const {
    return on_pocl("KITH_CL_DIR='" + folder_ / "" + "' " + settings, arguments);
  }
  Result search(const string& settings = unoptimised) const {
    return run("compare --device opencl:pocl --stage search -n 50 -m 2 --dims 2 -k 2", settings);
  }

 private:
  Folder folder_;
};

void check_refused_to_open(const Changed& changed, const string& why, const string& settings = unoptimised) {
  const Result result = changed.search(settings);
  CAPTURE(result.err);
  CHECK(result.code == 4);
  CHECK(contains(result.err, " is not exact: " + why));
  CHECK(result.out.empty());
}

/// Returns whether PoCL 5 ended the process, where PoCL 3 refuses to build or builds. Then there is no
/// answer to judge.
bool ended_by_pocl(const Result& result) {
  constexpr int aborted = 128 + 6;
  if (result.code != aborted) return false;
  CHECK((contains(result.err, "PoCL detected") || contains(result.err, "pocl::")));
  CHECK(!contains(result.out, "differ"));  // nothing printed before may say so
  MESSAGE("PoCL ends the process: ", result.err);
  return true;
}

const string barrier = "barrier(CLK_LOCAL_MEM_FENCE);";

}  // namespace

TEST_CASE("kernels: one without the barriers of its loop is refused when the device is opened") {
  if (!has_pocl()) return;
  check_refused_to_open({"nearest/nearest_low_dim.cl", barrier, ";"},
                        "the fused search of 67 queries among 290 rows of 3 columns");
  const string optimised;  // only then do the bits of this kernel hang on its barriers
  check_refused_to_open({"nearest/nearest_rows.cl", barrier, ";"},
                        "the fused search of 5 queries among 1100 rows of 7 columns", optimised);
  check_refused_to_open({"distance/mask.cl", barrier, ";"}, "masked distance of test query ");
}

TEST_CASE("kernels: one that counts on sub-groups in step is refused when the device is opened") {
  if (!has_pocl()) return;
  check_refused_to_open({"common/tile.cl", barrier, "mem_fence(CLK_LOCAL_MEM_FENCE);"},
                        "distance of test query ");
}

TEST_CASE("kernels: a selector without a barrier is refused when a search first uses it") {
  if (!has_pocl()) return;
  const Changed changed("select/published/select_bubble.cl", barrier, ";");
  const Result result = changed.run(
      "compare --device opencl:pocl --stage search --how fused=no,selector=bubble -n 50 -m 2 --dims 2 -k 2");
  CAPTURE(result.out);
  CHECK(result.code == 6);
  CHECK(contains(result.out,
                 "selector bubble selected other rows in a test of 2100 distances; choose another "
                 "selector, or update the device's driver"));
}

TEST_CASE(
    "kernels: a partition that puts keys in another order is refused when a search first uses its selector") {
  if (!has_pocl()) return;
  const Changed changed("select/sample_sort.cl", "begin + j] = keys[i];", "begin + j] = keys[i ^ 1];");
  const Result result = changed.run(
      "compare --device opencl:pocl --stage search --how fused=no,selector=radix -n 50 -m 2 --dims 2 -k 2");
  CAPTURE(result.out);
  CHECK(result.code == 6);
  CHECK(contains(result.out, "selector radix selected other rows in a test of 8200 distances; choose"));
}

TEST_CASE("kernels: long lists are sorted by one partition, where many are wanted of few") {
  if (!has_pocl()) return;
  const Changed changed("select/sample_sort.cl", "kith_sort_buckets", "kith_renamed");
  const auto select = [&](const string& sizes) {
    return changed.run("compare --device opencl:pocl --stage select --dims 1 --how selector=radix,lists=1 " +
                       sizes);
  };
  for (const string sizes : {"-n 8192 -m 1 -k 8192", "-n 8192 -m 64 -k 2049", "-n 262144 -m 1 -k 2"}) {
    CAPTURE(sizes);
    const Result result = select(sizes);
    CHECK(result.code != 0);
    CHECK(contains(result.err + result.out, "CL_INVALID_KERNEL_NAME"));
  }
  for (const string sizes : {"-n 8191 -m 1 -k 8191", "-n 8192 -m 64 -k 2048", "-n 262145 -m 1 -k 2"}) {
    CAPTURE(sizes);
    CHECK(select(sizes).code == 0);
  }
}

TEST_CASE("kernels: without double precision proposers keep their bounds, and pass their check") {
  if (!has_pocl()) return;
  const Changed changed("bound/bounds.cl", "defined(cl_khr_fp64)", "0");
  const Result result = changed.run(
      "compare --device opencl:pocl --how proposer=dot --stage search -n 500 -m 3 --dims 131 -k 2");
  CAPTURE_ALL(result.out, result.err);
  CHECK(result.code == 0);
}

TEST_CASE("kernels: one for groups of another size than are launched is refused with the driver's words") {
  if (!has_pocl()) return;
  check_refused_to_open(
      {"nearest/nearest_low_dim.cl", "reqd_work_group_size(GROUP, 1, 1)", "reqd_work_group_size(64, 1, 1)"},
      "the self-test could not run: ");
}

TEST_CASE("kernels: one that takes more local memory than there is is refused with both sizes") {
  if (!has_pocl()) return;
  const Changed changed("nearest/nearest_low_dim.cl", "local uint full;",
                        "local uint full;\n  local volatile uint much[1 << 24];\n  much[0] = 0;");
  const Result result = changed.search();
  if (ended_by_pocl(result)) return;
  CAPTURE(result.err);
  CHECK(result.code == 4);
  CHECK(contains(result.err, "kith_nearest_low_dim needs 67"));
  CHECK(contains(result.err, " bytes of local memory, but "));
}

TEST_CASE("kernels: where work-groups or local memory are smaller, the bits are the same") {
  if (!has_pocl()) return;
  for (const string setting :
       {"POCL_MAX_WORK_GROUP_SIZE=128", "KITH_CL_LOCAL_KIB=20", "KITH_CL_LOCAL_KIB=8"}) {
    CAPTURE(setting);
    const Result result =
        on_pocl(unoptimised + " " + setting,
                "compare --device opencl:pocl --stage distance,select,nearest,merge,search,classify "
                "-n 700 -m 70 --dims 3 -k 20");
    if (ended_by_pocl(result)) continue;
    CAPTURE(result.err);
    CHECK(result.code == 0);
    CHECK(contains(result.out, "\nSame bits "));
  }
}

}  // namespace command_tests::test_command_kernels
