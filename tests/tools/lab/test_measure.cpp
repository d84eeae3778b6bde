// Times stages and searches for the experiments, and makes curves of them.
#include "kith/error.hpp"
#include "lab/energy/energy.hpp"
#include "lab/experiments/measure.hpp"
#include "tools/lab/experiments.hpp"

using namespace kith;
using namespace kith::experiments;
using kith::tests::contains;
using kith::tests::device;
using kith::tests::quick_settings;
using workloads::Stage;

TEST_SUITE_BEGIN("device");

TEST_CASE("measure: a stage whose bits are wrong is not timed") {
  const Settings settings = quick_settings();
  const Distances distances = random_distances(settings, 2, 100);
  workloads::Operands operands;
  operands.distances = distances.view();
  workloads::Operation operation{
      .stage = Stage::select, .selector = device().info().selectors.front(), .n = 100, .m = 2, .k = 3};
  workloads::StageResult expected = right_result(settings, operation, operands, 2);
  const Measured right = time_stage(settings, device(), operation, operands, expected);
  CHECK(right.difference == "");
  CHECK(right.samples >= 1);
  CHECK(right.host > 0);
  expected.cells[4] ^= 1;
  const Measured wrong = time_stage(settings, device(), operation, operands, expected);
  CHECK(contains(wrong.difference, "row 1, column 1: "));
  CHECK(!wrong.timed());
  CHECK(std::isnan(wrong.device));
  CHECK(check_cpu(settings, operation, operands).passed);
}

TEST_CASE("measure: whole searches and classifications on the device") {
  const Settings settings = quick_settings();
  constexpr std::int64_t n = 301, m = 5, dims = 3, k = 7;
  const workloads::Rows train = make_rows(workloads::DataKind::grid, 3, workloads::Set::train, n, dims);
  const workloads::Rows queries = make_rows(workloads::DataKind::grid, 3, workloads::Set::queries, m, dims);
  workloads::Answer expected = right_answer(settings, train.view(), queries.view(), k);
  const Index index(device(), train.view());
  const Measured searched = time_search(settings, index, queries.view(), k, {}, expected);
  CHECK(searched.difference == "");
  CHECK(searched.total > 0);
  CHECK(contains(searched.plan, "tiles"));
  expected.neighbors.row[3] += 1;
  CHECK(!time_search(settings, index, queries.view(), k, {}, expected).timed());
  const std::vector<std::int64_t> labels = workloads::make_labels(3, n, 4);
  const workloads::Answer voted =
      right_answer(settings, train.view(), queries.view(), k, Metric::squared_l2, &labels);
  const Classifier classifier(device(), train.view(), labels);
  CHECK(time_classify(settings, classifier, queries.view(), k, {}, voted).timed());
}

TEST_SUITE_END();

TEST_CASE("measure: a curve tells refusals from wrong bits") {
  Curve curve("mine");
  Measured timed, refused, wrong;
  timed.samples = 3;
  timed.device = 0.002;
  timed.joules = 4;
  refused.refusal = "it has no such selector";
  wrong.difference = "row 1 differs";
  curve.add(1, timed);
  curve.add(2, refused);
  curve.add(3, refused);
  CHECK(curve.at(1) == 2);
  CHECK(std::isnan(curve.at(2)));
  CHECK(std::isnan(curve.at(9)));
  Measured still = timed;
  still.device = 0;
  Curve coarse("coarse");
  coarse.add(1, still);
  CHECK(std::isnan(coarse.at(1)));
  CHECK(coarse.series().note == "the clock of the device did not move");
  CHECK(curve.series().points[0].joules == 4);
  CHECK(curve.series().note == "it has no such selector");
  Curve broken("broken"), never("never");
  broken.add(1, timed);
  broken.add(5, wrong);
  never.add(1, refused);
  Chart chart{"a chart", {}, {}, {}};
  Result result;
  std::move(curve).finish(chart, result);
  std::move(broken).finish(chart, result);
  std::move(never).finish(chart, result);
  REQUIRE(result.checks.size() == 2);  // the third curve had nothing to compare
  CHECK(result.checks[0].passed);
  CHECK(!result.checks[1].passed);
  CHECK(result.checks[1].detail == "x = 5: row 1 differs");
  CHECK(!all_passed(result));
  CHECK(chart.series.size() == 3);
  CHECK(result.notes.size() == 3);
}

TEST_CASE("measure: samples stop in time, and when they are told to") {
  Settings settings{{}, open_device("cpu")};
  settings.seconds = 0.01;
  const Measured many = sample(settings, "quick", [] { return Seconds{2, 3, 4}; });
  CHECK(many.samples > 3);
  CHECK(many.device == 2);
  CHECK(many.host == 3);
  CHECK(many.total == 4);
  CHECK(!many.joules);
  settings.seconds = 0;
  CHECK(sample(settings, "slow", [] { return Seconds{1, 1, 1}; }).samples == 1);
  settings.progress = [](const std::string& what) { throw std::runtime_error("stop " + what); };
  CHECK_THROWS_WITH(sample(settings, "it", [] { return Seconds{}; }), "stop it");
  CHECK(std::isnan(median({})));
  CHECK(median({3, 1, 2}) == 2);
  CHECK(median({4, 1, 3, 2}) == 2.5);
}

namespace {

/// Counts up by a joule with each reading.
class RisingCounter : public energy::Counter {
 public:
  double joules() override { return joules_ += 1; }

 private:
  double joules_ = 0;
};

}  // namespace

TEST_CASE("measure: joules of the device that ran, where settings has a meter for it") {
  Settings settings{{open_device("cpu")}, open_device("cpu")};
  settings.seconds = 0.001;
  settings.meters.push_back(std::make_shared<energy::EnergyMeter>(
      energy::Opened{std::make_unique<RisingCounter>(), "a counter that a test invented"}));
  const auto run = [] { return Seconds{1, 1, 1}; };
  const Measured counted = sample(settings, "counted", run, &settings.cpu);
  REQUIRE(counted.joules);
  CHECK(*counted.joules > 0);
  CHECK(!sample(settings, "of no device", run).joules);
}

TEST_CASE("measure: refusals and failures become words, interruptions pass") {
  const auto thrown = [](Errc code) {
    return attempt([&]() -> Measured { throw Error(code, "first\nsecond"); });
  };
  CHECK(thrown(Errc::unsupported).refusal == "first second");
  CHECK(thrown(Errc::out_of_memory).refusal == "first second");
  CHECK(thrown(Errc::device_failure).difference == "first second");
  CHECK_THROWS_AS(thrown(Errc::interrupted), Error);
}
