// Tests that no small file costs the command much memory or time: hostile files must do with 1 GB of address
// space and 20 seconds of processor time.
#include "common/sanitizers.hpp"
#include "common/shell.hpp"

namespace command_tests::test_command_limits {
namespace {

/// Searches in `file`, which shell commands make under the name $file. It uses two threads, since the stacks
/// of many would fill the address space.
Result search(const Folder& folder, const string& file, const string& make, const string& more = "") {
  const string path = folder / file;
  REQUIRE(shell("file='" + path + "'; " + make).code == 0);
  const string limits = kith::tests::sanitized() ? "" : "ulimit -v 1000000; ulimit -t 20; KITH_THREADS=2 ";
  return shell(limits + "\"$kith\" search --device cpu -k 1 --leave-one-out --train '" + path + "' " + more);
}

void check_limit(const Result& result, const string& why, const string& option) {
  CAPTURE(result.err);
  CHECK(result.code == 3);
  CHECK(contains(result.err, why));
  CHECK(contains(result.err, "allow more: --read " + option + "="));
  CHECK(result.out.empty());
}

}  // namespace

TEST_CASE("limits: small files that stand for gigabytes are refused in little memory, with the option") {
  const Folder folder;
  check_limit(search(folder, "a.svm", "printf '1 2147483648:1\\n1 1:1\\n' > \"$file\""),
              "a.svm:1: has the index 2147483648, but a file may have 16777216 columns", "max-columns");
  check_limit(search(folder, "b.csv.gz", "yes 1 | head -n 20000000 | tr '\\n' , | gzip -9 > \"$file\""),
              "b.csv.gz:1: has more than 1048576 cells", "max-columns");
  check_limit(search(folder, "c.csv.gz", "head -c 70000000 /dev/zero | tr '\\0' 1 | gzip -1 > \"$file\""),
              "c.csv.gz:1: has more than 67108864 bytes", "max-line");
  check_limit(search(folder, "d.csv.gz", "head -c 70000000 /dev/zero | tr '\\0' '\\n' | gzip -9 > \"$file\""),
              "d.csv.gz: unpacks to more than ", "max-growth");
  check_limit(search(folder, "e.svm", "yes '1 16777216:1' | head -n 100 > \"$file\""),
              "e.svm: its values need 6710886400 bytes as float32, too much for a file of 1300 bytes",
              "max-growth");
}

TEST_CASE("limits: as many cells as a line may have are read in little memory") {
  const Folder folder;
  const Result wide = search(folder, "a.csv.gz",
                             "for i in 1 2; do yes 1 | head -n 1048576 | tr '\\n' , | sed 's/,$//'; echo; "
                             "done | gzip -9 > \"$file\"",
                             "--out-index - --csv header=no --quiet");
  CAPTURE(wide.err);
  CHECK(wide.code == 0);
  CHECK(wide.out == "neighbor_1\n1\n0\n");
}

TEST_CASE("limits: options lift them, and are refused where they make no sense") {
  const Folder folder;
  folder.write("a.csv", "1,2,3\n4,5,6\n");
  const string train = "search --device cpu -k 1 --query 1,2,3 --train " + (folder / "a.csv");
  CHECK(command_tests::kith(train + " --read max-columns=3,max-line=5,max-axes=1,max-growth=1").code == 0);
  check_refused(train + " --read max-columns=2", 3,
                "bad_file: " + (folder / "a.csv") +
                    ":1: has more than 2 cells, the most that a line may have; say what separates them "
                    "(--csv sep=), or allow more: --read max-columns=4");
  check_refused(train + " --read max-line=4", 3,
                "bad_file: " + (folder / "a.csv") +
                    ":1: has more than 4 bytes, the most that a line may have; break it, or allow more: "
                    "--read max-line=1M");
  check_refused(
      train + " --read max-line=huge", 2,
      "invalid_argument: search: --read max-line: \"huge\" is no size in bytes; write it as 512M or 4G");
  check_refused(train + " --read max-columns=0", 2,
                "invalid_argument: search: --read max-columns: \"0\" is no whole number from 1 to "
                "4294967295; give one");
  CHECK(contains(command_tests::kith("classify --help-all").out, "max-growth"));
}

}  // namespace command_tests::test_command_limits
