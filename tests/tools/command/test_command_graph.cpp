// Tests kith graph, and --how boxes.
#include "common/shell.hpp"

namespace command_tests::test_command_graph {

TEST_CASE("graph: the nearest rows of every row, as matrices and as edges") {
  const Folder folder;
  const string train =
      "graph --device cpu --metric l1 -k 2 --train " + folder.write("t.csv", "x\n7\n7\n7\n8\n");
  const Result made = kith(train + " --out " + (folder / "rows.csv") + " --out-distance " +
                           (folder / "far.csv") + " --out-edges " + (folder / "edges.tsv"));
  CAPTURE(made.err);
  CHECK(made.code == 0);
  CHECK(folder.read("rows.csv") == "neighbor_1,neighbor_2\n1,2\n0,2\n0,1\n0,1\n");
  CHECK(folder.read("far.csv") == "distance_1,distance_2\n0,0\n0,0\n0,0\n1,1\n");
  CHECK(folder.read("edges.tsv") ==
        "from\tto\tdistance\n0\t1\t0\n0\t2\t0\n1\t0\t0\n1\t2\t0\n2\t0\t0\n2\t1\t0\n3\t0\t1\n3\t1\t1\n");
  check_refused(
      train, 2,
      "invalid_argument: graph: nothing is to be written; give --out, --out-distance or --out-edges");
}

TEST_CASE("graph: by boxes or without, the same rows") {
  const Folder folder;
  const string train =
      "graph --device cpu -k 1 --train " + folder.write("t.csv", "x,y\n1,1\n1,2\n8,8\n9,8\n");
  for (const char* const boxes : {"yes", "no", "automatic"}) {
    const Result made =
        kith(train + " --how boxes=" + boxes + " --explain --write header=no --out " + (folder / "rows.csv"));
    CAPTURE(made.err);
    CHECK(made.code == 0);
    CHECK(contains(made.out, "boxes, nearest first") == (boxes == string("yes")));
    CHECK(folder.read("rows.csv") == "1\n0\n3\n2\n");
  }
  check_refused("search --device cpu --metric negative_dot -k 1 --how boxes=yes --leave-one-out --train " +
                    (folder / "t.csv"),
                6,
                "unsupported: search: boxes bound no distances by negative_dot; choose squared_l2, l2, "
                "cosine, l1 or linf, or drop the demand for boxes");
}

}  // namespace command_tests::test_command_graph
