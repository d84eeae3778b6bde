// Runs kith compare as users do.
#include "common/shell.hpp"

namespace command_tests::test_compare {

TEST_CASE("compare: options that cannot be meant") {
  check_refused("compare --quick", 2,
                "invalid_argument: compare: unknown option --quick; did you mean --quiet?");
  check_refused("compare --table points.csv", 2,
                "invalid_argument: compare: unknown option --table (recall, evaluate, structure, "
                "select-features have it); see `kith compare --help`");
  check_refused("compare --charts folder", 2,
                "invalid_argument: compare: unknown option --charts; see `kith compare --help`");
}

TEST_CASE("compare: what was refused was not compared") {
  const string line = "$kith compare --device cpu -n 50 -m 2 -k 3 --dims 2 ";
  const auto refused = shell(line + "--stage select --how selector=bubble");
  CHECK(refused.code == 6);
  CHECK(refused.out.ends_with("Nothing was compared: everything was refused.\n"));
  CHECK(shell(line + "--stage select --how selector=bubble --json").code == 6);
  const auto some = shell(line + "--stage merge,search --how selector=bubble");
  CHECK(some.code == 0);
  CHECK(some.out.ends_with("Same bits wherever it ran; 1 refused.\n"));
  const auto all = shell(line + "--stage merge,search");
  CHECK(all.code == 0);
  CHECK(all.out.ends_with("Same bits everywhere.\n"));
}

}  // namespace command_tests::test_compare
