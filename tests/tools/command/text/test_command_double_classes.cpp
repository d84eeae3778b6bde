// Tests class structure and the choice of columns by the command in double precision. All cases run on the
// CPU.
#include <nlohmann/json.hpp>

#include "doubles/structure_oracle.hpp"
#include "files/printed.hpp"
#include "tools/command/text/map_points.hpp"

namespace command_tests::test_command_double_classes {
namespace {

using kith::Metric;
using kith::tests::DoubleMatrix, kith::tests::StructureByOracle;

const string double_note =
    "; kith therefore computes in double precision, and --prepare arithmetic=f32 would round the values\n";

/// Points of a map in three classes, as a file of text has them.
struct Classes {
  DoubleMatrix points;
  std::vector<std::int64_t> labels;
  string text = "x,y,z,kind\n";

  explicit Classes(std::int64_t rows) : points{rows, 3, map_points(rows, 5)} {
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t d = 0; d < 3; ++d) {
        double& value = points.values[static_cast<std::size_t>(r * 3 + d)];
        const string cell = kith::files::printed("%.3f", value);
        value = std::strtod(cell.c_str(), nullptr);
        text += cell + ",";
      }
      labels.push_back(r % 7 % 3);
      text += static_cast<char>('a' + labels.back());
      text += '\n';
    }
  }
};

/// Returns the doubles behind the header of an array.
std::vector<double> doubles_of(const string& array) {
  std::vector<double> values((array.size() - 128) / sizeof(double));
  std::memcpy(values.data(), array.data() + 128, values.size() * sizeof(double));
  return values;
}

Result run_kith(const string& arguments) {
  return command_tests::kith(arguments);
}

nlohmann::json json_of(const Result& result) {
  CHECK_MESSAGE(result.code == 0, result.err);
  return nlohmann::json::parse(result.out);
}

}  // namespace

TEST_CASE("doubles: class structure of rows with digits that float32 loses, and its files") {
  const Folder folder;
  const Classes given(80);
  const string train = folder.write("classes.csv", given.text);
  for (const Metric metric : {Metric::squared_l2, Metric::l1}) {
    const StructureByOracle right(metric, given.points, given.labels);
    const string asked = "structure --device cpu --label-column kind --train " + train + " --metric " +
                         string(kith::name(metric));
    const Result told = run_kith(asked + " --json");
    CHECK(contains(told.err, double_note));
    const nlohmann::json found = json_of(told);
    CHECK(found["arithmetic"] == "f64");
    CHECK(found["informativeness"] == right.informativeness);
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b) CHECK(found["class_matrix"][a][b] == right.means[a * 3 + b]);
    CHECK(run_kith(asked + " --sample-classes " + (folder / "samples.npy") + " --distances " +
                   (folder / "distances.npy"))
              .code == 0);
    CHECK(contains(folder.read("distances.npy").substr(0, 80), "'<f8'"));
    CHECK(doubles_of(folder.read("distances.npy")) == right.distances());
    std::vector<double> cells;
    for (std::size_t i = 0; i < right.n; ++i)
      for (const auto* all : {&right.smallest, &right.mean})
        for (std::size_t c = 0; c < 3; ++c) cells.push_back((*all)[i * 3 + c]);
    CHECK(doubles_of(folder.read("samples.npy")) == cells);
  }
}

TEST_CASE("doubles: class structure in single precision, if it is asked for or a file holds no doubles") {
  const Folder folder;
  const Classes given(40);
  const string asked =
      "structure --device cpu --label-column kind --json --train " + folder.write("classes.csv", given.text);
  const nlohmann::json single = json_of(run_kith(asked + " --prepare arithmetic=f32"));
  CHECK(single["arithmetic"] == "f32");
  CHECK(single["informativeness"] !=
        StructureByOracle(Metric::squared_l2, given.points, given.labels).informativeness);
  const string to_floats = asked + " --distances " + (folder / "distances.fvecs");
  CHECK(json_of(run_kith(to_floats))["arithmetic"] == "f32");
  const Result refused = run_kith(to_floats + " --prepare arithmetic=f64");
  CHECK(refused.code == 2);
  CHECK(contains(refused.err, "--prepare arithmetic=f64 is double precision, but --distances "));
  CHECK(contains(refused.err, "distances.fvecs holds float32 alone; choose .npy, .csv, .tsv or .txt"));
}

TEST_CASE("doubles: rows that are scaled, and then compared in double precision") {
  const Folder folder;
  const string train = folder.write("columns.csv", "x,y,kind\n0,3,a\n1,9,a\n10,4,b\n11,8,b\n");
  for (const char* command : {"structure", "select-features"})
    for (const char* arithmetic : {"f32", "f64"}) {
      CAPTURE(command);
      CHECK(json_of(run_kith(
                string(command) + " --device cpu --label-column kind --json --scale standardize " +
                "--prepare arithmetic=" + arithmetic + " --train " + train))["arithmetic"] == arithmetic);
    }
}

TEST_CASE("doubles: columns are chosen by digits that float32 loses") {
  const Folder folder;
  // Column y tells the classes apart, by digits that float32 does not have.
  string text = "x,y,kind\n";
  for (int r = 0; r < 30; ++r)
    text += std::to_string(r * 7 % 11) + ",17000001" + std::to_string(r % 2 * 40 + 10 + r / 2) + "," +
            (r % 2 == 0 ? "a" : "b") + "\n";
  const string asked =
      "select-features --device cpu --label-column kind --json --train " + folder.write("times.csv", text);
  for (const string criterion : {"q", "leave-one-out"}) {
    CAPTURE(criterion);
    const Result told = run_kith(asked + " --criterion " + criterion);
    CHECK(contains(told.err, double_note));
    const nlohmann::json found = json_of(told);
    CHECK(found["arithmetic"] == "f64");
    CHECK(found["best"] == nlohmann::json{"y"});
    const nlohmann::json single =
        json_of(run_kith(asked + " --criterion " + criterion + " --prepare arithmetic=f32"));
    CHECK(single["arithmetic"] == "f32");
    CHECK(single["best_score"] != found["best_score"]);
  }
}

}  // namespace command_tests::test_command_double_classes
