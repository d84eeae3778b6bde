// Tests a disk that accepts writes but always fails to sync: the error that a user sees, and the files that
// stay. kith_fault_tests lets every single call fail.
#include "common/sanitizers.hpp"
#include "common/shell.hpp"
#include "paths.hpp"

namespace command_tests::test_disk {

TEST_CASE("disk: what cannot be synced is no file, and what was there stays") {
  if (kith::tests::sanitized()) return;  // the sanitizers' libraries must be loaded first
  const Folder folder;
  folder.write("train.csv", "1,2,a\n3,4,b\n5,6,a\n");
  const string classify = "KITH_FAULT_SYNC=1 LD_PRELOAD='" +
                          test_support::in_faults("/files/libkith_faulty_files.so") +
                          "' \"$kith\" classify --device cpu -k 1 --query 1,2 " +
                          ("--label-column -1 --train " + (folder / "train.csv"));
  for (const string option : {"--out", "--save-model"}) {
    CAPTURE(option);
    const string out = folder.write("out.csv", "of yesterday\n");
    const std::size_t before = folder.files();
    const Result result = shell(classify + " " + option + " " + out);
    CHECK(result.code == 3);
    CHECK(contains(result.err, out + ": cannot be written: Input/output error; "));
    CHECK(folder.read("out.csv") == "of yesterday\n");
    CHECK(folder.files() == before);
  }
}

}  // namespace command_tests::test_disk
