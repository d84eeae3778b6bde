// Tests stages that are placed on two devices.
#include "lab/placement/placement.hpp"
#include "tools/lab/experiments.hpp"
#include "workloads/rows.hpp"

using namespace kith;
using namespace kith::experiments;
using kith::tests::contains;
using kith::tests::device;
using kith::tests::quick_settings;
using workloads::Stage;

TEST_SUITE_BEGIN("device");

namespace {

constexpr std::int64_t n = 301, m = 5, dims = 3, k = 7, parts = 4, classes = 3;

/// Owns a problem with many ties.
struct Tied {
  workloads::Rows train = make_rows(workloads::DataKind::grid, 3, workloads::Set::train, n, dims);
  workloads::Rows queries = make_rows(workloads::DataKind::grid, 3, workloads::Set::queries, m, dims);
  std::vector<std::uint32_t> labels;
  PlacedProblem problem;

  Tied() {
    for (std::uint32_t t = 0; t < n; ++t) labels.push_back(t * t % classes);
    problem.train = train.view();
    problem.queries = queries.view();
    problem.labels = labels;
    problem.k = k;
    problem.lists = parts;
    problem.classes = classes;
  }
};

experiments::Placement placement_of(unsigned bits, const Device& zero, const Device& one) {
  experiments::Placement placement;
  for (std::size_t s = 0; s < placed_stages.size(); ++s)
    placement.push_back({placed_stages[s], (bits >> s & 1) ? one : zero});
  return placement;
}

}  // namespace

TEST_CASE("placement: every stage on either device gives the same bits, and every copy is counted") {
  const Tied tied;
  const Settings settings = quick_settings();
  const std::size_t distances = m * n * sizeof(float), lists = m * parts * k * sizeof(Key),
                    nearest = m * k * sizeof(Key), answer = m * (1 + classes) * sizeof(std::uint32_t);
  for (unsigned bits = 0; bits < 16; ++bits) {
    const experiments::Placement placement = placement_of(bits, settings.cpu, device());
    CAPTURE(placement_text(placement));
    const Placed placed =
        time_placed(settings, placement, tied.problem, plain_placed_answer(placement, tied.problem));
    CHECK(placed.measured.refusal == "");
    CHECK(placed.measured.difference == "");
    REQUIRE(placed.measured.samples >= 1);
    const auto sent = [&](const std::string& what) {
      std::size_t bytes = 0;
      for (const PlacedStep& step : placed.run.steps) bytes += step.what == what ? step.bytes : 0;
      return bytes;
    };
    const auto moves = [&](std::size_t s) {
      return placement[s].device.state() != placement[s - 1].device.state();
    };
    CHECK(sent("distances") == (moves(1) ? distances : 0));
    CHECK(sent("lists") == (moves(2) ? lists : 0));
    CHECK(sent("nearest") == (moves(3) ? nearest : 0));
    CHECK(sent("labels") == n * sizeof(std::uint32_t));
    CHECK(sent("answer") == answer);
    CHECK(placed.run.transfers() > 0);
    CHECK(placed.run.total >= placed.run.transfers());
  }
}

TEST_CASE("placement: the first stages alone; rank sort of all rows") {
  const Settings settings = quick_settings();
  Tied tied;
  tied.problem.k = n;
  tied.problem.lists = 1;
  tied.problem.selector = Selector::rank_sort;
  const experiments::Placement placement = {{Stage::distance, device()}, {Stage::select, settings.cpu}};
  const Placed placed =
      time_placed(settings, placement, tied.problem, plain_placed_answer(placement, tied.problem));
  CHECK(placed.measured.difference == "");
  CHECK(placed.measured.refusal == "");
  CHECK(placed.run.steps.back().what == "answer");
  CHECK(placed.run.steps.back().bytes == m * n * sizeof(Key));
}

TEST_CASE("placement: locked memory gives the same bits") {
  Tied tied;
  tied.problem.locked = true;
  const Settings settings = quick_settings();
  const experiments::Placement placement = placement_of(5, settings.cpu, device());
  const Placed placed =
      time_placed(settings, placement, tied.problem, plain_placed_answer(placement, tied.problem));
  CHECK(placed.measured.difference == "");
  CHECK(placed.measured.samples >= 1);
}

TEST_CASE("placement: wrong bits are told, and not timed") {
  const Tied tied;
  const Settings settings = quick_settings();
  const experiments::Placement placement = placement_of(2, settings.cpu, device());
  PlacedAnswer wrong = plain_placed_answer(placement, tied.problem);
  wrong.votes.cells[1] += 1;
  const Placed placed = time_placed(settings, placement, tied.problem, wrong);
  CHECK(contains(placed.measured.difference, "row 0, column 1: "));
  CHECK(!placed.measured.timed());
  CHECK(placed.run.steps.empty());
}

TEST_SUITE_END();
