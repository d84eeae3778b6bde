// Helps tests of experiments.
#pragma once

#include "common/device.hpp"
#include "common/text.hpp"
#include "lab/experiments/experiment.hpp"
#include "lab/experiments/measure.hpp"

namespace kith::tests {

using test_support::contains;

/// Returns settings for the device under test, with sizes for a small machine and as few samples as possible.
inline experiments::Settings quick_settings() {
  experiments::Settings settings{{device()}, open_device("cpu")};
  settings.quick = true;
  settings.seconds = 0.001;
  settings.energy_note = "no joules: a test";
  return settings;
}

inline experiments::Result quick_run(std::string_view name) {
  return run_experiment(experiments::find_experiment(name), quick_settings());
}

/// Checks what must hold for every experiment: equal bits, and a number above 0 or a note that says why
/// there is none.
inline void check_result(const experiments::Result& result) {
  CAPTURE(result.name);
  CHECK(result.checks.size() >= 1);
  for (const experiments::Check& check : result.checks)
    CHECK_MESSAGE(check.passed, check.what << ": " << check.detail);
  CHECK(!result.claims.empty());
  for (const experiments::Claim& claim : result.claims) {
    CHECK(!claim.what.empty());
    CHECK(!claim.paper.empty());
    CHECK(!claim.here.empty());
    if (claim.here.starts_with(experiments::not_available)) CHECK_MESSAGE(!claim.why.empty(), claim.what);
  }
  CHECK(!result.charts.empty());
  for (const experiments::Chart& chart : result.charts) {
    std::vector<std::string> labels;
    for (const experiments::Series& series : chart.series) {
      CAPTURE(series.label);
      CHECK(std::find(labels.begin(), labels.end(), series.label) == labels.end());
      labels.push_back(series.label);
      CHECK((!series.points.empty() || !series.note.empty()));
      for (const experiments::Point& point : series.points)
        CHECK((std::isfinite(point.y) ? point.y > 0 : !series.note.empty()));
    }
  }
  for (const experiments::Table& table : result.tables)
    for (const auto& row : table.rows) CHECK(row.size() == table.head.size());
  for (const std::string& device : result.devices) CHECK(contains(device, ": "));
  CHECK(!result.paper.empty());
  CHECK(!result.hardware.empty());
  CHECK(!result.assumed.empty());
  CHECK(!result.explanation.empty());
  CHECK(result.quick);
  CHECK(contains(result.energy, "no joules"));
}

/// Returns the series whose label begins with `label`.
inline const experiments::Series& series_of(const experiments::Chart& chart, std::string_view label) {
  for (const experiments::Series& series : chart.series)
    if (series.label.starts_with(label)) return series;
  FAIL("no series " << label);
  return chart.series.front();
}

/// Returns the x values of the points.
inline std::vector<double> xs(const experiments::Series& series) {
  std::vector<double> all;
  for (const experiments::Point& point : series.points) all.push_back(point.x);
  return all;
}

}  // namespace kith::tests
