// Runs `kith tune` and --how sample as people type them.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "common/data_files.hpp"
#include "common/environment.hpp"
#include "common/oracle.hpp"
#include "common/shell.hpp"
#include "common/tuning.hpp"
#include "kith/index.hpp"

namespace kith::tests {
namespace {

using data_files::Folder;
using test_support::contains;

/// Runs a line of shell; `out` has both streams.
command_tests::Result shell(const std::string& line) {
  return command_tests::shell("{ " + line + "; } 2>&1");
}

const std::string small = " --device cpu -n 600,700 -m 5 --dims 4 -k 3,9999 --seconds 2 ";

TEST_CASE("kith tune measures, writes a file, and searches follow it") {
  const Folder folder;
  folder.write("rows.csv", [] {
    std::string text;
    for (int r = 0; r < 650; ++r)
      text += std::to_string(r * 37 % 101) + ",1,2," + std::to_string(r % 7) + "\n";
    return text;
  }());
  const std::string set = "KITH_TUNING=" + (folder / "tuning") + " \"$kith\" ";
  const command_tests::Result tuned_now = shell(set + "tune --quick" + small);
  CAPTURE(tuned_now.out);
  CHECK(tuned_now.code == 0);
  CHECK(contains(tuned_now.out, "built-in choice"));
  CHECK(contains(tuned_now.out, " (2 entries)"));
  const command_tests::Result search =
      shell(set + "search --device cpu --explain -k 3 --train " + (folder / "rows.csv") + " --queries " +
            (folder / "rows.csv") + " | grep ^why");
  CHECK(contains(search.out, "built-in rule, as nothing like it was measured: "));  // m = 650
  const command_tests::Result near =
      shell("head -n 5 " + (folder / "rows.csv") + " > " + (folder / "five.csv") + "; " + set +
            "search --device cpu --explain -k 3 --csv header=no --train " + (folder / "rows.csv") +
            " --queries " + (folder / "five.csv") + " | grep ^why");
  CHECK(contains(near.out, "why            tuned: nearest measured problem n = "));
  CHECK(contains(near.out, ", m = 5, dims = 4, k = 3: "));
  // Entries for other problems stay.
  const command_tests::Result more =
      shell(set + "tune --device cpu -n 600 -m 5 --dims 4 -k 4 --seconds 1 --json");
  CHECK(more.code == 0);
  CHECK(contains(more.out, "\"ways_timed\": "));
  CHECK(contains(more.out, "\"unsure\": "));
  const command_tests::Result shown = shell(set + "tune --show --device cpu");
  CHECK(shown.code == 0);
  CHECK(contains(shown.out, "cpu: " + (folder / "tuning/cpu-")));
  // The lines are a name, titles, three entries, and a blank line.
  CHECK(std::count(shown.out.begin(), shown.out.end(), '\n') == 2 + 3 + 1);
  const command_tests::Result spoilt = shell("chmod 666 " + (folder / "tuning/*") + "; " + set + "devices");
  CHECK(spoilt.code == 0);
  CHECK(contains(spoilt.out, "kith: note: tuning: " + (folder / "tuning/cpu-")));
  CHECK(contains(spoilt.out, "can be written by others (mode 0666); run `kith tune`, or remove it\n"));
}

TEST_CASE("kith tune --out writes there; without a place it measures nothing") {
  const Folder folder;
  const std::string file = folder / "cpu.txt";
  const command_tests::Result result = shell("\"$kith\" tune --quick --out " + file + small);
  CHECK(result.code == 0);
  CHECK(contains(result.out, "written: " + file + " (2 entries)"));
  CHECK(parse_tuning(folder.read("cpu.txt")).entries.size() == 2);
  CHECK(parse_tuning(folder.read("cpu.txt")).backend == "cpu");
  CHECK(folder.files() == 1);
  const command_tests::Result nowhere = shell("\"$kith\" tune" + small);
  CHECK(nowhere.code == 2);
  CHECK(nowhere.out ==
        "kith: invalid_argument: tune: there is no place for what is measured: KITH_TUNING is off or no "
        "absolute folder, or neither XDG_CACHE_HOME nor HOME is one; set them, or give --out FILE\n");
  const command_tests::Result two = shell("\"$kith\" tune --device cpu,cpu --out " + file);
  CHECK(two.code == 2);
  CHECK(two.out ==
        "kith: invalid_argument: tune: --out is one file, but there are 2 devices; give one device, or leave "
        "--out out\n");
  CHECK(shell("\"$kith\" tune --show --device cpu").out ==
        "cpu: nothing is looked for: KITH_TUNING is off, or no folder is known\n\n");
}

TEST_CASE(
    "kith tune that is interrupted ends within two seconds, with the number of its signal, and writes no "
    "tuning") {
  const Folder folder;
  // SIGTERM has the same effect as Ctrl-C, which shells let background jobs ignore.
  const command_tests::Result result =
      shell("\"$kith\" tune --device cpu --out " + (folder / "file.txt") +
            " & sleep 0.6; kill -TERM $!; start=$(date +%s); wait $!; echo $? $(($(date +%s) - start <= 2))");
  CHECK(contains(result.out, "kith: interrupted: "));
  CHECK(contains(result.out, "143 1\n"));
  CHECK(folder.files() == (std::filesystem::exists(folder / "file.txt.partial.json") ? 1 : 0));
}

TEST_CASE("--how sample names selectors, and --explain tells their times") {
  const Folder folder;
  const std::string rows = folder.write("rows.csv", "1,2\n3,4\n5,6\n");
  const std::string search = "\"$kith\" search --device cpu -k 2 --explain --train " + rows + " --queries " +
                             rows + " --how sample=";
  const command_tests::Result result = shell(search + "merge_sort+threshold+bubble");
  CHECK(result.code == 0);
  CHECK(contains(result.out, "why            sampled query "));
  CHECK(contains(result.out, "; bubble is left out: cpu has no selector bubble; it has "));
  const command_tests::Result unknown = shell(search + "threshold+fast");
  CHECK(unknown.code == 2);
  CHECK(
      unknown.out.starts_with("kith: invalid_argument: search: --how: selector: there is none called "
                              "\"fast\"; choose one of automatic, threshold, "));
  const command_tests::Result automatic = shell(search + "threshold+automatic");
  CHECK(automatic.code == 2);
  CHECK(automatic.out.starts_with(
      "kith: invalid_argument: search: --how: sample=threshold+automatic: name methods, not automatic"));
}

}  // namespace
}  // namespace kith::tests
