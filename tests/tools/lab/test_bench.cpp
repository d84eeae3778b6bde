// Runs kith-lab bench as users do.
#include <nlohmann/json.hpp>

#include "lab/energy/energy.hpp"
#include "tools/lab/lab_shell.hpp"

namespace command_tests::test_bench {

using nlohmann::json;

namespace {

json read_json(const Folder& folder, const string& file) {
  return json::parse(folder.read(file));
}

}  // namespace

TEST_CASE("bench --prepare: an Index, its upload, and what each proposer prepares") {
  const Folder folder;
  const string asked = "bench --prepare --device cpu --scale 0.001 --repeats 3 --seconds 1 --json " +
                       (folder / "prepare.json") + " ";
  const Result text = lab(asked + "--workload sift_k10,cloud3 --how proposer=dot");
  CHECK(text.code == 0);
  CHECK(contains(text.err, "kith: note: wrote "));
  CHECK(contains(text.out, "\nsift_k10: n = 1000, dims = 128, m = 10, k = 10, squared_l2, uniform\ndevice "));
  CHECK(contains(text.out, "\ncloud3: n = 1000, dims = 3, m = 20, k = 16, squared_l2, uniform\ndevice "));
  const json found = read_json(folder, "prepare.json");
  REQUIRE(found["results"].size() == 2);
  const json& sift = found["results"][0];
  CHECK(sift["workload"] == "sift_k10");
  CHECK(sift["row_bytes"] >= 1000 * 128 * 4);
  CHECK(sift["index_seconds"].size() == 3);
  CHECK(sift["upload_seconds"].size() == 3);
  CHECK(sift["upload_seconds"][0] > 0);
  REQUIRE(sift["prepared"].size() == 1);
  CHECK(sift["prepared"][0]["proposer"] == "dot");
  CHECK(sift["prepared"][0]["device_seconds"].size() == 3);
  CHECK(sift["prepared"][0]["device_seconds"][0] > 0);
  CHECK(sift["prepared"][0]["bytes"] >= 1000 * 128 * 4);
  CHECK(sift.contains("read_seconds") == sift["prepared"][0].contains("reads"));

  const Result absent = lab(asked + "--workload knn03 --how proposer=gemm");
  CHECK(absent.code == 0);
  CHECK(contains(absent.out, "cpu: gemm: refused: cpu has no proposer gemm\n"));
  const Result names = lab("bench --prepare --list");
  CHECK(contains(names.out, "lat10m\n"));
  CHECK_FALSE(contains(names.out, "distance64"));
  CHECK(contains(lab("bench --list").out, "distance64\n"));
}

TEST_CASE("bench --prepare: what does not go with it is refused") {
  const string asked = "bench --prepare --device cpu ";
  check_lab_refused(asked + "--workload cloud3,select32", 2,
                    "invalid_argument: bench: --prepare: select32 times a stage, not a search; leave it out");
  check_lab_refused(asked + "--energy", 2,
                    "invalid_argument: bench: --energy does not go with --prepare; leave one of them out");
  check_lab_refused(
      asked + "--how proposer=none", 2,
      "invalid_argument: bench: --how proposer=none prepares no rows; leave it out, or name one that does");
}

TEST_CASE("bench: from host to answer stands beside the device's clock") {
  const Folder folder;
  const Result text =
      lab("bench --workload knn03,select32 --device cpu --scale 0.0005 --repeats 3 --seconds 1 --json " +
          (folder / "bench.json"));
  CHECK(text.code == 0);
  CHECK(contains(text.out, "  to answer  "));
  CHECK(contains(text.out,
                 "\nto answer: ms from queries in host memory to neighbours in host memory, median "));
  const json found = read_json(folder, "bench.json");
  const json& search = found["results"][0];
  std::vector<double> samples = search["total_seconds"];
  REQUIRE(samples.size() == 3);
  std::sort(samples.begin(), samples.end());
  CHECK(search["host_to_answer_seconds"] == samples[1]);
  CHECK(search["host_to_answer_seconds"] > 0);
  CHECK_FALSE(found["results"][1].contains("host_to_answer_seconds"));  // a stage has no answer
}

TEST_CASE("bench --answers: what each search found") {
  const Folder folder;
  const Result result =
      lab("bench --workload cloud3,select32 --device cpu --scale 0.0005 --repeats 3 --seconds 1 --answers " +
          (folder / "answers"));
  CHECK(result.code == 0);
  CHECK(folder.read("answers/cloud3.index.npy").size() == 128 + 10 * 16 * 8);
  CHECK(folder.read("answers/cloud3.distance.npy").size() == 128 + 10 * 16 * 4);
  CHECK_FALSE(folder.has("answers/select32.index.npy"));
  check_lab_refused("bench --prepare --answers " + (folder / "answers"), 2,
                    "invalid_argument: bench: --answers does not go with --prepare, which searches nothing; "
                    "leave one of them out");
}

TEST_CASE("bench --place residence=: searches of rows that stay elsewhere") {
  const string few = "bench --device cpu --scale 0.0005 --repeats 3 --seconds 1 ";
  for (const char* const residence : {"resident", "stream"}) {
    CAPTURE(residence);
    const Result result = lab(few + "--workload cloud3 --json - --place residence=" + residence);
    CHECK(result.code == 0);
    CHECK(contains(result.out, string("\"residence\": \"") + residence + "\""));
    CHECK(contains(result.out, "residence      stream") == (string(residence) == "stream"));
  }
  check_lab_refused("bench --workload select32 --place residence=stream", 2,
                    "invalid_argument: bench: --place residence=stream: select32 has no training rows to "
                    "keep elsewhere; leave it out");
  check_lab_refused("bench --prepare --place residence=stream", 2,
                    "invalid_argument: bench: --place residence=stream does not go with --prepare, which "
                    "times rows on the device; leave one of them out");
}

TEST_CASE("bench --energy: a column for joules, and where they come from") {
  const Folder folder;
  const string file = folder / "bench.json";
  const auto bench = [&](const string& more) {
    const auto result =
        lab("bench --workload knn03 --scale 0.001 --device cpu --repeats 1 --seconds 1 --json " + file + " " +
            more);
    CHECK(result.code == 0);
    return result.out;
  };
  const auto written = [&] { return folder.read("bench.json"); };
  const string without = bench("");
  CHECK_FALSE(contains(without, "J/search"));
  CHECK_FALSE(contains(written(), "joules"));
  const string with = bench("--energy");
  CHECK(contains(with, "  J/search  "));
  kith::energy::EnergyMeter meter(kith::open_device("cpu").info());
  CHECK(contains(with, meter.available() ? "\ncpu: joules: " : "\ncpu: no joules: "));
  CHECK(contains(written(), "\"source\": \"" + meter.source()));
  CHECK(contains(written(), "joules_per_search") == meter.available());
}

}  // namespace command_tests::test_bench
