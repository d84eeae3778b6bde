// Tests `kith-lab reproduce` and `kith-lab placements`: options, and what is printed and written.
#include <CLI/CLI.hpp>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "command/words/command_line.hpp"
#include "common/shell.hpp"
#include "lab/experiments/measure.hpp"
#include "lab/reproduce/experiment_output.hpp"
#include "lab/subcommands.hpp"
#include "tools/lab/experiments.hpp"

using namespace kith;
using namespace kith::experiments;
using command_tests::shell;
using kith::tests::contains;
using kith::tests::error_of;

namespace {

/// Returns the error of `kith-lab` for a command line.
std::string lab_error(const std::string& line) {
  std::istringstream words(line);
  return error_of([&] {
    command::CommandLine(command::lab_program())
        .run({std::istream_iterator<std::string>(words), {}},
             [](const command::Subcommand& named) { return named.run(); });
  });
}
std::string reproduce_error(const std::string& line) {
  return lab_error("reproduce " + line);
}
std::string placements_error(const std::string& line) {
  return lab_error("placements " + line);
}

}  // namespace

TEST_CASE("reproduce, placements: options that cannot be meant") {
  const std::string all =
      "pbknn-groups, pbknn-table1, gsknn-table1, gsknn-crossover, gsknn-kdd, ranksort-placements, "
      "knn-ladder, knn03-table, structure";
  CHECK(reproduce_error("nonsense") ==
        "invalid_argument: reproduce: NAMES: there is none called \"nonsense\"; choose one of all, list, " +
            all);
  CHECK(
      reproduce_error("pbknn-groups -n 100") ==
      "invalid_argument: reproduce: unknown option -n (placements has it); see `kith-lab reproduce --help`");
  CHECK(reproduce_error("pbknn-groups --stages distance=cpu") ==
        "invalid_argument: reproduce: unknown option --stages (placements has it); see `kith-lab reproduce "
        "--help`");
  CHECK(reproduce_error("pbknn-groups --charts /no/such/folder") ==
        "bad_file: /no/such/folder/pbknn-groups-1.svg: cannot be written: No such file or directory; make "
        "the folder first");
  CHECK(reproduce_error("pbknn-groups --data some.gz") ==
        "invalid_argument: reproduce: --data: pbknn-groups reads no file; leave it out");
  const std::string where =
      "; get kddcup.data_10_percent.gz from the UCI KDD archive, "
      "https://kdd.ics.uci.edu/databases/kddcup99/kddcup99.html";
  CHECK(reproduce_error("pbknn-groups,gsknn-kdd") ==
        "invalid_argument: gsknn-kdd: needs the rows of KDD Cup 1999" + where + ", and give --data FILE");
  CHECK(reproduce_error("gsknn-kdd --data /no/such/file") ==
        "bad_file: gsknn-kdd: /no/such/file: there is no such file" + where);
  CHECK(reproduce_error("pbknn-groups --device nonsense") ==
        "invalid_argument: open_device: \"nonsense\": there is no back end called \"nonsense\"; choose one "
        "of auto, gpu, cpu, opencl, cuda");
  CHECK(placements_error("--stages distance=cpu,find=cpu -n 10 -k 1") ==
        "invalid_argument: placements: --stages: there is no stage called \"find\" to be placed; choose one "
        "of distance, select, merge, vote");
  CHECK(placements_error("--stages select=cpu,select=cpu -n 10 -k 1") ==
        "invalid_argument: placements: --stages: select is placed twice; place each stage once");
  CHECK(placements_error("--stages select -n 10 -k 1") ==
        "invalid_argument: placements: --stages: \"select\" names no device; write it as "
        "distance=cpu,select=cuda:0");
  CHECK(placements_error("--stages select= -n 10 -k 1") ==
        "invalid_argument: placements: --stages: \"select=\" names no device; write it as "
        "distance=cpu,select=cuda:0");
  CHECK(contains(placements_error("--stages vote=nonsense -n 10 -k 1"),
                 "invalid_argument: open_device: \"nonsense\""));
  CHECK(placements_error("-n 10") ==
        "invalid_argument: placements: --stages is missing; see `kith-lab placements --help`");
  CHECK(placements_error("--stages vote=cpu -n 10 -k 1 --selector bubble").starts_with("unsupported: "));
}

namespace {

/// Returns the cells of each line, by RFC 4180.
std::vector<std::vector<std::string>> parse_csv(const std::string& csv) {
  std::vector<std::vector<std::string>> lines(1, std::vector<std::string>(1));
  bool quoted = false;
  for (std::size_t i = 0; i < csv.size(); ++i) {
    const char c = csv[i];
    if (quoted) {
      if (c != '"')
        lines.back().back() += c;
      else if (i + 1 < csv.size() && csv[i + 1] == '"')
        lines.back().back() += csv[++i];
      else
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      lines.back().emplace_back();
    } else if (c == '\n') {
      lines.emplace_back(1);
    } else if (c != '\r') {
      lines.back().back() += c;
    }
  }
  lines.pop_back();
  return lines;
}

Result invented() {
  Result result;
  result.name = "invented";
  result.title = "a title";
  result.paper = "a paper";
  result.hardware = "a card";
  result.claims = {{"ratio", "16x", "1.3x", "because"}};
  result.checks = {{"good", true, ""}, {"bad", false, "row 7"}};
  result.tables = {{"table", {"a", "b"}, {{"1", "2"}}}};
  result.energy = "none";
  Chart chart{"chart, \"first\"", {"n", true}, {"ms", true}, {}};
  chart.series = {{"one, two", "cpu", "a note", {{1024, 0.1, 0.3}, {2048, 1.0 / 3, {}}}},
                  {"says \"no\"", "", "refused", {{1024, not_measured, {}}}}};
  result.charts = {chart};
  return result;
}

}  // namespace

TEST_CASE("experiment output: CSV and JSON hold the same numbers, bit for bit") {
  const Result result = invented();
  const auto lines = parse_csv(command::experiments_csv({result}));
  const auto json = nlohmann::ordered_json::parse(command::experiment_json(result).dump());
  REQUIRE(lines.size() == 4);
  CHECK(lines[0] == std::vector<std::string>{"experiment", "chart", "x_title", "y_title", "series", "device",
                                             "x", "y", "joules"});
  std::size_t at = 1;
  for (std::size_t s = 0; s < 2; ++s) {
    const Series& series = result.charts[0].series[s];
    const auto& entry = json["charts"][0]["series"][s];
    CHECK(entry["label"] == series.label);
    CHECK(entry["note"] == series.note);
    for (std::size_t p = 0; p < series.points.size(); ++p, ++at) {
      const Point& point = series.points[p];
      REQUIRE(lines[at].size() == 9);
      CHECK(lines[at][0] == "invented");
      CHECK(lines[at][1] == result.charts[0].title);
      CHECK(lines[at][4] == series.label);
      CHECK(lines[at][5] == series.device);
      CHECK(std::stod(lines[at][6]) == point.x);
      CHECK(entry["points"][p]["x"] == point.x);
      if (std::isfinite(point.y)) {
        CHECK(std::stod(lines[at][7]) == point.y);
        CHECK(entry["points"][p]["y"].get<double>() == point.y);
      } else {
        CHECK(lines[at][7].empty());
        CHECK(entry["points"][p]["y"].is_null());
      }
      CHECK(lines[at][8].empty() == !point.joules.has_value());
      CHECK(entry["points"][p].contains("joules") == point.joules.has_value());
    }
  }
  CHECK(json["checks"][1]["passed"] == false);
  CHECK(json["claims"][0]["paper"] == "16x");
}

TEST_CASE("experiment output: the text has every series, claim and failed check") {
  const std::string text = command::experiment_text(invented());
  for (const char* said : {"invented: a title", "a card (ratios can be compared, absolute times cannot)",
                           "one, two", "16x", "1.3x", "because", "DIFFERENT  bad: row 7",
                           "1 of 2 gave the same bits", "0.3333", "joules a run", "not available"})
    CHECK_MESSAGE(contains(text, said), said);
  CHECK(!contains(text, "nan"));
  CHECK(!contains(text, "says \"no\""));  // a series without points has a note instead
}

TEST_CASE("placements: steps, copies and the same bits, as text and as JSON") {
  const std::string line =
      "$kith-lab placements --stages distance=cpu,vote=cpu -n 200 -m 2 -k 3 --data grid --lists 4";
  const auto text = shell(line);
  CHECK(text.code == 0);
  CHECK(contains(text.out, "Same bits as plain."));
  CHECK(contains(text.out, "host -> cpu"));
  const auto json = shell(line + " --json");
  CHECK(json.code == 0);
  const auto parsed = nlohmann::json::parse(json.out);
  CHECK(parsed["same"] == true);
  CHECK(parsed["placement"] == "distance=cpu, select=cpu, merge=cpu, vote=cpu");
  CHECK(parsed["steps"].size() == 9);  // queries, rows, distance, select, merge, labels, vote, two answers
  CHECK(parsed["total_seconds"] > 0);
}

TEST_CASE("reproduce: all files of one run hold the same numbers") {
  const test_support::TemporaryFolder folder;
  const auto ran =
      shell("$kith-lab reproduce ranksort-placements --quick --device cpu --json --table " +
            (folder / "a.csv") + " --report " + (folder / "a.html") + " --charts " + (folder / ""));
  REQUIRE(ran.code == 0);
  const auto json = nlohmann::json::parse(ran.out);
  REQUIRE(json.size() == 1);
  const auto lines = parse_csv(folder.read("a.csv"));
  std::size_t at = 1;
  for (const auto& chart : json[0]["charts"])
    for (const auto& series : chart["series"])
      for (const auto& point : series["points"]) {
        REQUIRE(at < lines.size());
        CHECK(lines[at][4] == series["label"].get<std::string>());
        CHECK(std::stod(lines[at][6]) == point["x"].get<double>());
        CHECK(std::stod(lines[at++][7]) == point["y"].get<double>());
      }
  CHECK(at == lines.size());
  CHECK(at > 4);
  CHECK(contains(folder.read("a.html"), "reproduce ranksort-placements --quick"));
  REQUIRE(json[0]["charts"].size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string svg = folder.read("ranksort-placements-" + std::to_string(i + 1) + ".svg");
    CHECK(svg.starts_with("<svg "));
    CHECK(svg.ends_with("</svg>\n"));
    CHECK(contains(svg, "<title>" + json[0]["charts"][i]["title"].get<std::string>() + "</title>"));
  }
  CHECK(folder.files() == 4);
}

TEST_CASE("reproduce: a list, and nothing half written") {
  const auto list = shell("$kith-lab reproduce list");
  CHECK(list.code == 0);
  CHECK(contains(list.out, "pbknn-groups "));
  const auto named = shell("$kith-lab reproduce list --json");
  CHECK(named.code == 0);
  const auto names = nlohmann::json::parse(named.out);
  REQUIRE(names.size() == all_experiments().size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    CHECK(names[i]["name"] == all_experiments()[i].name);
    CHECK(names[i]["about"] == all_experiments()[i].about);
  }
  const auto twice =
      shell("$kith-lab reproduce ranksort-placements,ranksort-placements --quick --device cpu --json");
  CHECK(twice.code == 0);
  CHECK(nlohmann::json::parse(twice.out).size() == 1);
  const test_support::TemporaryFolder folder;
  CHECK(shell("$kith-lab reproduce pbknn-groups --quick --device cpu --report " + (folder / "no/a.html"))
            .code == 3);
  CHECK(shell("$kith-lab reproduce pbknn-groups --quick --device cpu --charts " + (folder / "no")).code == 3);
  const auto stopped = shell(
      "timeout --preserve-status --signal=INT 0.4 $kith-lab reproduce pbknn-groups --device cpu --report " +
      (folder / "a.html") + " --table " + (folder / "a.csv") + " --charts " + (folder / ""));
  CHECK(stopped.code == 130);
  CHECK(stopped.out.empty());
  for (const char* file : {"a.html", "a.csv", "a.partial.html", "a.partial.csv", "pbknn-groups-1.svg"})
    CHECK_MESSAGE(!std::filesystem::exists(folder / file), file);
}
