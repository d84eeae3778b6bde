// Tests --metric-params and the metrics that take them, by the command, beside the library.
#include "common/shell.hpp"
#include "kith/device.hpp"
#include "kith/index.hpp"

namespace command_tests::test_command_metric_params {
namespace {

constexpr double some_rows[] = {1, 2, 4, 2, 4, 8.5, 9, 1, 0, 3, 3.5, 5},
                 some_places[] = {52.5, 13.25, 48.75, 2.25, -33.75, 151.25};

std::string text_of_rows(std::span<const double> values, std::size_t cols) {
  std::ostringstream text;
  for (std::size_t i = 0; i < values.size(); ++i) text << values[i] << (i % cols == cols - 1 ? '\n' : ',');
  return text.str();
}

/// Returns what a graph of the rows writes: the rows that are nearest to each.
std::string graph_of(const Folder& folder, const std::string& options) {
  out_of("graph --device cpu --train " + (folder / "rows.csv") + " -k 2 --out " + (folder / "found.csv") +
         " " + options);
  return folder.read("found.csv");
}

std::string graph_by_library(kith::Metric metric, kith::IndexOptions options) {
  options.arithmetic = kith::Arithmetic::f32;
  const kith::MatrixView<const double> rows(some_rows, 4, 3);
  const kith::Neighbors found =
      kith::Index(kith::open_device("cpu"), rows, metric, options).search(rows, 2, {.self = 0});
  std::string text = "neighbor_1,neighbor_2\n";
  for (std::size_t i = 0; i < found.row.size(); ++i)
    text += std::to_string(found.row[i]) + (i % 2 ? "\n" : ",");
  return text;
}

TEST_CASE("metric params: graphs are those of the library, from the line and from a file") {
  const Folder folder;
  folder.write("rows.csv", text_of_rows(some_rows, 3));
  using kith::Metric;
  CHECK(graph_of(folder, "--metric l1 --metric-params '{\"w\": [1, 0, 2]}'") ==
        graph_by_library(Metric::l1, {.column_weights = {1, 0, 2}}));
  CHECK(graph_of(folder, "--metric seuclidean --metric-params '{\"V\": [1, 0.01, 16]}'") ==
        graph_by_library(Metric::seuclidean, {.variances = {1, 0.01, 16}}));
  CHECK(graph_of(folder, "--metric seuclidean") == graph_by_library(Metric::seuclidean, {}));
  folder.write("v.json", "{\"V\": [[1, 0, 0], [0, 40, 0], [0, 0, 0.5]]}\n");
  const kith::IndexOptions covariance{.covariance = {1, 0, 0, 0, 40, 0, 0, 0, 0.5}};
  CHECK(graph_of(folder, "--metric mahalanobis --metric-params @" + (folder / "v.json")) ==
        graph_by_library(Metric::mahalanobis, covariance));
  CHECK(graph_of(folder,
                 "--metric mahalanobis --metric-params '{\"VI\": [[1, 0, 0], [0, 40, 0], [0, 0, 0.5]]}'") ==
        graph_by_library(Metric::mahalanobis, {.inverse_covariance = covariance.covariance}));
  const kith::IndexOptions some{.features = {0, 2}, .variances = {1, 1, 16}};
  CHECK(graph_of(folder, "--metric seuclidean --features 3,1 --metric-params '{\"V\": [1, 16]}'") ==
        graph_by_library(Metric::seuclidean, some));
}

TEST_CASE("metric params: powers of minkowski and columns of gower are those of the library") {
  const Folder folder;
  folder.write("rows.csv", text_of_rows(some_rows, 3));
  using kith::Metric;
  const string minkowski = "--metric minkowski --metric-params ";
  CHECK(graph_of(folder, minkowski + "'{\"p\": 0.5}'") == graph_by_library(Metric::minkowski, {.p = 0.5}));
  CHECK(graph_of(folder, minkowski + "'{\"p\": 3}'") == graph_by_library(Metric::minkowski, {.p = 3}));
  CHECK(graph_of(folder, minkowski + "'{\"p\": 2}'") == graph_of(folder, "--metric l2"));
  CHECK(graph_of(folder, minkowski + "'{\"p\": \"inf\"}'") == graph_of(folder, "--metric linf"));
  CHECK(graph_of(folder, minkowski + "'{\"w\": [1, 0, 2], \"p\": 3}'") ==
        graph_by_library(Metric::minkowski, {.column_weights = {1, 0, 2}, .p = 3}));
  const string gower = "--metric gower --metric-params ";
  CHECK(graph_of(folder, "--metric gower") == graph_by_library(Metric::gower, {}));
  CHECK(graph_of(folder, gower + "'{\"categorical\": []}'") == graph_by_library(Metric::gower, {}));
  CHECK(graph_of(folder, gower + "'{\"categorical\": [1]}'") ==
        graph_by_library(Metric::gower, {.categorical = {1}}));
  CHECK(graph_of(folder, gower + "'{\"categorical\": [2, 0], \"ranges\": [9, 2, 1]}'") ==
        graph_by_library(Metric::gower, {.categorical = {0, 2}, .ranges = {9, 2, 1}}));
  CHECK(graph_of(folder, gower + "'{\"categorical\": [1], \"ranges\": [0.5, 1]}' --features 3,1") ==
        graph_by_library(Metric::gower, {.features = {0, 2}, .categorical = {2}, .ranges = {0.5, 0, 1}}));
}

TEST_CASE("metric params: minkowski and gower are kept by files, and asked by every subcommand") {
  const Folder folder;
  folder.write("rows.csv", "a,b,kind\n1,2,x\n2,4,y\n9,1,x\n3,4,y\n");
  const string train = " --train " + (folder / "rows.csv") + " ", ask = " --device cpu -k 2 --query 9,4 ";
  for (const string metric : {R"(--metric minkowski --metric-params '{"p": 3}' )",
                              R"(--metric gower --metric-params '{"categorical": [1]}' )",
                              R"(--metric gower --metric-params '{"ranges": [4, 2]}' )"}) {
    const string whole = out_of("search" + train + "--drop kind " + metric + ask);
    out_of("index build --drop kind --out " + (folder / "a.kidx") + train + metric);
    CHECK(out_of("search --index " + (folder / "a.kidx") + ask) == whole);
    out_of("count --drop kind --query 9,4 --radius 1 --device cpu" + train + metric);
    out_of("evaluate --label-column kind --k-max 2 --device cpu" + train + metric);
    const string classify = "classify --label-column kind --votes weights=distance" + train + metric;
    const string voted = out_of(classify + ask + "--quiet");
    out_of(classify + "--device cpu -k 2 --save-model " + (folder / "m.kith"));
    CHECK(out_of("classify --votes weights=distance --model " + (folder / "m.kith") + ask + "--quiet") ==
          voted);
  }
  check_refused("select-features --label-column kind --metric minkowski" + train, 2,
                "invalid_argument: select-features: --metric minkowski takes a power p, which is not read "
                "here; choose another");
}

TEST_CASE("metric params: ground truth by minkowski with p = 2 is that by l2") {
  const Folder folder;
  folder.write("rows.csv", text_of_rows(some_rows, 3));
  const string ask = "groundtruth --device cpu -k 2 --train " + (folder / "rows.csv") + " --queries " +
                     (folder / "rows.csv") + " --out " + (folder / "truth.ibin") + " --metric ";
  const auto truth_by = [&](const string& metric) {
    out_of(ask + metric);
    return folder.read("truth.ibin");
  };
  const string by_l2 = truth_by("l2");
  CHECK(truth_by("minkowski --metric-params '{\"p\": 2}'") == by_l2);
  CHECK(truth_by("minkowski --metric-params '{\"p\": 3}'") != by_l2);
}

TEST_CASE("metric params: index files and models keep them") {
  const Folder folder;
  folder.write("rows.csv", "a,b,kind\n1,2,x\n2,4,y\n9,1,x\n3,3.5,y\n");
  const std::string params = " --metric mahalanobis --metric-params '{\"V\": [[1, 0], [0, 90]]}' ";
  const std::string ask = " --device cpu -k 1 --query 9,4 ";
  const std::string whole =
      out_of("search --train " + (folder / "rows.csv") + " --label-column kind" + params + ask);
  out_of("index build --train " + (folder / "rows.csv") + " --drop kind --out " + (folder / "a.kidx") +
         params);
  CHECK(out_of("search --index " + (folder / "a.kidx") + ask) == whole);
  const std::string explained = out_of("search --explain --index " + (folder / "a.kidx") + ask);
  CHECK(contains(explained, "mahalanobis, of rows prepared for it and compared by l2, n = 4"));
  const std::string classify = "classify --json --device cpu ",
                    train = "--train " + (folder / "rows.csv") + " --label-column kind" + params;
  const std::string right = out_of(classify + train + " -k 1 --query 9,4");
  out_of(classify + train + " -k 1 --save-model " + (folder / "m.kith"));
  const std::string found = out_of(classify + "--model " + (folder / "m.kith") + " --query 9,4");
  const auto results = [](const std::string& json) { return json.substr(json.find("\"results\"")); };
  CHECK(results(found) == results(right));
}

TEST_CASE("metric params: haversine is searched in double precision, in radians or degrees") {
  const Folder folder;
  folder.write("rows.csv", text_of_rows(some_places, 2));
  const std::string search =
      "search --json --device cpu -k 3 --query 52.5,13.25 --train " + (folder / "rows.csv");
  const std::string found = out_of(search + " --metric haversine --metric-params '{\"degrees\": true}'");
  const kith::MatrixView<const double> places(some_places, 3, 2);
  const kith::Neighbors right =
      kith::Index(kith::open_device("cpu"), places, kith::Metric::haversine, {.degrees = true})
          .search(places.slice(0, 1), 3);
  std::ostringstream distance;
  distance.precision(17);
  distance << right.distance64[1];
  CHECK(contains(found, distance.str().substr(0, 15)));
  check_refused(
      "search --device cpu -k 3 --query 1,1 --metric haversine --train " + (folder / "rows.csv"), 2,
      "invalid_argument: index: training row 0, column 0 holds the latitude 52.5, beyond pi / 2, which is 90 "
      "degrees; give radians, the latitude first");
}

TEST_CASE("metric params: what is refused") {
  const Folder folder;
  folder.write("rows.csv", "1,2\n3,4\n5,6\n");
  const std::string train = " --device cpu -k 1 --query 1,2 --train " + (folder / "rows.csv");
  const auto refused = [&](const std::string& metric, const std::string& params, const std::string& why,
                           int code = 2) {
    check_refused("search --metric " + metric + " --metric-params '" + params + "'" + train, code, why);
  };
  const std::string begin = "invalid_argument: search: --metric-params: ";
  refused("l2", "{\"w\": [1", begin + "no JSON from character 9 on; write it as '{\"V\": [1, 4]}', or @FILE");
  refused("l2", "[1]", begin + "\"[1]\" is no JSON object; write it as '{\"V\": [1, 4]}', or @FILE");
  refused("l2", "{\"P\": 3}",
          begin + "there is no \"P\"; choose from V, VI, w, p, categorical, ranges and degrees");
  refused("l2", "{\"w\": [1, 2], \"w\": [2, 1]}", begin + "\"w\" stands twice; name it once");
  refused("l2", "{\"w\": 3}", begin + "w is no list of numbers; give one a column: {\"w\": [1, 0.5]}");
  refused("l2", "{\"w\": [1, \"a\"]}",
          begin + "w is no list of numbers; give one a column: {\"w\": [1, 0.5]}");
  refused("mahalanobis", "{\"VI\": [[1, 0]]}",
          begin + "VI is no square matrix; give its rows: {\"VI\": [[1, 0], [0, 1]]}");
  refused("haversine", "{\"degrees\": 1}", begin + "degrees is neither; give true or false");
  refused("l2", "{\"V\": [1, 2]}",
          begin + "l2 takes w, but there is V; leave it out, or choose another metric");
  refused("cosine", "{\"w\": [1, 2]}",
          begin + "cosine takes nothing, but there is w; leave it out, or choose another metric");
  refused("seuclidean", "{\"V\": [[1, 0], [0, 1]]}",
          begin + "V of seuclidean is a list, but there is a matrix; give a number a column");
  refused("seuclidean", "{\"V\": [1, 2, 3]}",
          begin + "V has 3 numbers, but columns that count are 2; give 2");
  refused("l2", "{\"p\": 3}", begin + "l2 takes w, but there is p; leave it out, or choose another metric");
  refused("l2", "{\"degrees\": false}",
          begin + "l2 takes w, but there is degrees; leave it out, or choose another metric");
  refused("l2", "@" + (folder / "none.json"),
          "bad_file: search: --metric-params: " + (folder / "none.json") +
              ": it cannot be read, or is empty; name a file of JSON",
          3);
}

TEST_CASE("metric params: what is refused of minkowski and gower") {
  const Folder folder;
  folder.write("rows.csv", "1,2\n3,4\n5,6\n");
  const auto refused = [&](const string& metric, const string& params, const string& why) {
    check_refused("search --device cpu -k 1 --query 1,2 --train " + (folder / "rows.csv") + " --metric " +
                      metric + (params.empty() ? "" : " --metric-params '" + params + "'"),
                  2, "invalid_argument: " + why);
  };
  const string begin = "search: --metric-params: ",
               power =
                   begin + "p is neither a number above 0 nor \"inf\"; give {\"p\": 3} or {\"p\": \"inf\"}",
               columns =
                   begin + "categorical is no list of columns; number them from 0: {\"categorical\": [1]}";
  refused("minkowski", "", "search: --metric minkowski takes a power p; give --metric-params '{\"p\": 3}'");
  for (const char* p : {"0", "-1", "\"three\"", "[3]", "true", "null"})
    refused("minkowski", "{\"p\": " + string(p) + "}", power);
  refused("minkowski", "{\"p\": 0.3}",
          "index: minkowski with p = 0.3; choose 0.5, 1, 1.5 and so on up to 8, or infinity");
  refused("minkowski", "{\"p\": 3, \"ranges\": [1, 2]}",
          begin + "minkowski takes p, w, but there is ranges; leave it out, or choose another metric");
  for (const char* list : {"1", "[-1]", "[0.5]", "[\"a\"]", "[1e30]", "[18446744073709551615]", "{}"})
    refused("gower", "{\"categorical\": " + string(list) + "}", columns);
  refused("gower", "{\"categorical\": [0, 2]}",
          begin + "categorical names column 2, but columns that count are 2; number them from 0 to 1");
  refused("gower", "{\"categorical\": [1, 1]}", begin + "categorical names column 1 twice; name each once");
  refused("gower", "{\"ranges\": [[1, 2], [3, 4]]}",
          begin + "ranges is no list of numbers; give one a column: {\"ranges\": [1, 0.5]}");
  refused("gower", "{\"ranges\": [1]}", begin + "ranges has 1 number, but columns that count are 2; give 2");
  refused("gower", "{\"ranges\": [1, -3]}",
          "index: ranges of column 1 is -3; give a finite number, 0 or more");
}

}  // namespace

}  // namespace command_tests::test_command_metric_params
