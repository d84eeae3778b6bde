// Tests the published experiments, with sizes for a small machine.
#include "kith/error.hpp"
#include "lab/experiments/measure.hpp"
#include "tools/lab/experiments.hpp"

using namespace kith;
using namespace kith::experiments;
using kith::tests::check_result;
using kith::tests::contains;
using kith::tests::device;
using kith::tests::error_of;
using kith::tests::quick_run;
using kith::tests::quick_settings;
using kith::tests::series_of;
using kith::tests::xs;

namespace {

bool starts_any(const std::vector<std::string>& labels, const std::string& label) {
  return std::any_of(labels.begin(), labels.end(),
                     [&](const std::string& start) { return label.starts_with(start); });
}

}  // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("experiment pbknn-groups: both readings, right bits") {
  const Result result = quick_run("pbknn-groups");
  check_result(result);
  REQUIRE(result.charts.size() == 2);
  const std::string where = " (" + device().info().spec + ")";
  for (const Chart& chart : result.charts) {
    REQUIRE(chart.series.size() == 3);
    for (const char* what : {"bubble", "bubble, then merge", "threshold"}) {
      const Series& series = series_of(chart, what + where);
      CHECK(series.label == what + where);
      CHECK(xs(series) == std::vector<double>{32, 144, 256, 368});
      CHECK(series.device == device().info().spec);
    }
  }
  CHECK(result.claims.size() == 2);
  CHECK(contains(result.claims[0].paper, "falls, then flattens"));
}

TEST_CASE("experiment pbknn-table1: the second kernel of both, at both K") {
  const Result result = quick_run("pbknn-table1");
  check_result(result);
  REQUIRE(result.charts.size() == 2);
  for (const Chart& chart : result.charts) {
    REQUIRE(chart.series.size() == 4);
    for (const Series& series : chart.series) {
      CHECK(xs(series) == std::vector<double>{10240, 20480});
      CHECK(starts_any({"PBKNN", "CUKNN", "blocks of 256"}, series.label));
    }
    CHECK(chart.x.log);
    CHECK(chart.y.log);
  }
  CHECK(contains(result.claims[0].paper, "16x"));
  CHECK(contains(result.claims.back().paper, not_available));
}

TEST_CASE("experiment ranksort-placements: all ways between the CPU and the device") {
  const Result result = quick_run("ranksort-placements");
  check_result(result);
  REQUIRE(result.charts.size() == 2);
  const std::string spec = device().info().spec;
  const Chart& time = result.charts[0];
  if (device().info().backend == "cpu") {
    CHECK(time.series.size() == 1);
  } else {
    CHECK(time.series.size() == 4);
    for (const std::string& label : {"CPU-" + spec, spec + "-CPU", spec + "-" + spec})
      CHECK(series_of(time, label).label == label);
    CHECK(contains(result.claims[0].paper, "20x"));
  }
  const Series& base = series_of(time, "CPU-CPU");
  CHECK(base.label == "CPU-CPU");
  REQUIRE(!base.points.empty());
  CHECK(base.points[0].x == 1024);
  CHECK(base.points[0].y > 0);
  for (const Point& point : series_of(result.charts[1], "CPU-CPU").points) CHECK(point.y == 1);
  CHECK(result.tables.size() == 1);
}

TEST_CASE("experiment structure: every step, and the whole matrix against a triangle") {
  const Result result = quick_run("structure");
  check_result(result);
  REQUIRE(result.charts.size() == 7);
  const std::string spec = device().info().spec, where = " (" + spec + ")";
  for (std::size_t step = 0; step < 6; ++step) {
    const Chart& chart = result.charts[step];
    CHECK(chart.series.size() == (spec == "cpu" ? 1 : 2));
    for (const std::string& label : {std::string("whole call (cpu)"), "whole call" + where}) {
      const Series& series = series_of(chart, label);
      CHECK(series.label == label);
      CHECK(xs(series) == std::vector<double>{128, 512});
    }
  }
  for (const char* what :
       {"whole", "triangle, half missing", "whole, in host memory", "triangle, mirrored in host memory"}) {
    const Series& series = series_of(result.charts[6], what + where);
    CHECK(series.label == what + where);
    CHECK(xs(series) == std::vector<double>{256, 512});
  }
  REQUIRE(result.claims.size() >= 2);
  CHECK(result.claims.back().paper == "does not pay");
}

TEST_SUITE_END();

TEST_CASE("experiments: names, and what is left out where another device has it") {
  for (const char* name : {"pbknn-groups", "pbknn-table1", "gsknn-table1", "gsknn-crossover", "gsknn-kdd",
                           "ranksort-placements", "knn-ladder", "knn03-table", "structure"})
    CHECK(find_experiment(name).name == name);
  CHECK(contains(
      error_of([] { find_experiment("nonsense"); }),
      "invalid_argument: reproduce: NAMES: there is none called \"nonsense\"; choose one of all, list, "));
  Result result;
  result.claims = {{"a", "1x", "not available (cpu)", "no"},
                   {"a", "1x", "2x (cuda:0)", ""},
                   {"b", "1x", "not available (cpu)", "no"},
                   {"b", "1x", "not available (cuda:0)", "neither"}};
  drop_empty_claims(result);
  REQUIRE(result.claims.size() == 2);
  CHECK(result.claims[0].here == "2x (cuda:0)");
  CHECK(result.claims[1].here == "not available (cuda:0)");
}
