// Tests what every device refuses of steps: spi::refusal_of().
#include "common/device.hpp"
#include "kith/spi/refusals.hpp"
#include "kith/spi/step_runner.hpp"

namespace kith::tests {
namespace {

using std::string;

/// Returns a grid of these sizes without memory, which no check looks at.
template <class T>
spi::Grid<T> grid(std::size_t rows, std::size_t cols, std::size_t first = 0) {
  return {nullptr, first, rows, cols, cols};
}

/// Makes steps of one query and two training rows of three columns, as the device packs them.
struct Steps {
  explicit Steps(const DeviceInfo& info)
      : queries{nullptr, 0, 1, 3, info.query_block},
        train{nullptr, 0, 2, 3, info.train_block},
        other{nullptr, 0, 2, 4, info.train_block} {}

  spi::NearestStep nearest(const spi::RowBlocks& rows, std::uint32_t k, std::uint32_t lists) const {
    return {Metric::l2, queries, rows, 0, k, lists, grid<Key>(1, std::size_t{k} * lists), {}};
  }
  spi::SelectStep select(std::size_t cols, std::uint32_t k, std::uint32_t lists) const {
    return {Selector::threshold, grid<float>(1, cols), 0, k, lists, grid<Key>(1, std::size_t{k} * lists), {}};
  }
  spi::RerankStep rerank(const spi::RowBlocks& rows) const {
    return {Metric::l2,     queries, rows, 0, {grid<std::uint32_t>(1, 4), grid<std::uint32_t>(1, 1)},
            grid<Key>(1, 4)};
  }
  spi::BoxesStep boxes(std::uint32_t dims, std::uint32_t k) const {
    spi::BoxesStep step{};
    step.queries = queries;
    step.train.rows = {nullptr, 0, 2, dims, spi::box_rows};
    step.k = k;
    return step;
  }
  /// These steps have 128 quantized rows of 3 columns.
  spi::CollectStep collect(Proposer proposer, Metric metric = Metric::l2, std::size_t dims = 3) const {
    spi::CollectStep step{};
    step.proposer = proposer;
    step.metric = metric;
    step.queries.rows = grid<float>(1, dims);
    step.train.rows = grid<float>(128, dims);
    step.values = grid<float>(1, 128);
    step.b = 0.5;
    return step;
  }
  template <class Tighten>
  Tighten tighten(Proposer proposer, Metric metric, std::uint32_t dims, std::uint32_t k) const {
    Tighten step{};
    step.proposer = proposer;
    step.metric = metric;
    step.dims = dims;
    step.k = k;
    return step;
  }

  spi::RowBlocks queries, train, other;
};

/// Every opened device says of a step what refusal_of() says of it.
struct Refused {
  spi::Device& device;
  void operator()(const spi::Work& work, const string& sentence) const {
    CAPTURE(sentence);
    CHECK(spi::refusal_of({work}) == sentence);
    CHECK(device.check({work}).refusal == sentence);
  }
};

template <class Body>
void on_device(const Body& body) {
  spi::with_device(device(), [&](spi::Device& opened) { body(Refused{opened}, Steps(opened.info)); });
}

}  // namespace

TEST_SUITE_BEGIN("device");

TEST_CASE("refusals: chains of rows with unlike columns, without rows, and lists of nothing") {
  on_device([](const Refused& refused, const Steps& steps) {
    const string unlike = "queries have 3 columns and training rows 4; they must have as many, at least one",
                 no_rows = "there are no training rows; give at least one";
    const auto at_least = [](int k, int lists) {
      return "k = " + std::to_string(k) + " and lists = " + std::to_string(lists) +
             "; both must be at least 1";
    };
    refused(spi::DistanceStep{Metric::l2, steps.queries, steps.other, grid<float>(1, 2)}, unlike);
    refused(steps.nearest(steps.other, 1, 1), unlike);
    refused(steps.rerank(steps.other), unlike);
    refused(steps.boxes(4, 1), unlike);
    spi::RowBlocks no_columns = steps.queries;
    no_columns.dims = 0;
    refused(spi::DistanceStep{Metric::l2, no_columns, no_columns, grid<float>(1, 2)},
            "queries have 0 columns and training rows 0; they must have as many, at least one");

    spi::RowBlocks none = steps.train;
    none.rows = 0;
    refused(steps.nearest(none, 1, 1), no_rows);
    refused(steps.select(0, 1, 1), no_rows);

    refused(steps.nearest(steps.train, 0, 1), at_least(0, 1));
    refused(steps.nearest(steps.train, 1, 0), at_least(1, 0));
    refused(steps.select(2, 0, 2), at_least(0, 2));
    refused(steps.select(2, 2, 0), at_least(2, 0));
    refused(spi::MergeStep{2, 0, grid<Key>(1, 4), grid<Key>(1, 2), {}}, at_least(0, 2));
    refused(spi::MergeStep{0, 2, grid<Key>(1, 4), grid<Key>(1, 2), {}}, at_least(2, 0));
    refused(steps.boxes(3, 0), "k = 0; choose at least 1");
    spi::CountStep count{};
    count.queries = steps.queries;
    count.train = steps.boxes(3, 1).train;
    refused(count, "there are no bounds to count by; give at least one");
  });
}

TEST_CASE("refusals: metrics of two sums but by distance, and more bits than words have") {
  on_device([](const Refused& refused, const Steps& steps) {
    const string alone = " is a quotient of two sums, which step distance alone computes; choose that";
    const auto by_dice = [](auto step) {
      step.metric = Metric::dice;
      return step;
    };
    refused(by_dice(steps.nearest(steps.train, 1, 1)), "metric dice" + alone);
    refused(by_dice(steps.rerank(steps.train)), "metric dice" + alone);
    refused(by_dice(steps.boxes(3, 1)), "metric dice" + alone);
    spi::CountStep count{};
    count.queries = steps.queries;
    count.train = steps.boxes(3, 1).train;
    refused(by_dice(count), "metric dice" + alone);
    spi::GroupsStep groups{};
    groups.queries = steps.queries, groups.train = steps.train, groups.k = 1;
    groups.query_borders = groups.row_borders = grid<std::uint32_t>(1, 2);
    refused(by_dice(groups), "metric dice" + alone);
    spi::DistanceStep distance{Metric::dice, steps.queries, steps.train, grid<float>(1, 2)};
    distance.train.bits = 97;
    refused(distance, "training rows have 97 bits in 3 words of 32; give as many words as the bits take");
    distance = {Metric::nan_euclidean, steps.queries, steps.train, grid<float>(1, 2)};
    distance.train.mixed = true;
    refused(distance, "metric nan_euclidean takes no terms of columns; choose l1 or nan_manhattan");
  });
}

TEST_CASE("refusals: votes for no class, and orders of no rows") {
  on_device([](const Refused& refused, const Steps&) {
    const string sentence = "there are no classes; give at least one";
    refused(spi::VoteStep{}, sentence);
    refused(spi::ScoreStep{}, sentence);
    refused(spi::AccumulateStep{}, sentence);
    refused(spi::OrderStep{}, "there are no rows to put in order; give at least one part of them");
    refused(spi::PackBoxesStep{}, "there are no rows to put into boxes; give at least one part of them");
    spi::GroupsStep groups{};
    groups.query_borders = grid<std::uint32_t>(1, 3);
    groups.row_borders = grid<std::uint32_t>(1, 2);
    refused(groups, "queries have 3 borders and rows 2; they must have as many, at least two");
    groups.row_borders = groups.query_borders;
    groups.queries = groups.train = {nullptr, 0, 2, 3, 1};
    refused(groups, "k = 0; choose at least 1");
  });
}

TEST_CASE("refusals: what no proposer lists") {
  on_device([](const Refused& refused, const Steps& steps) {
    spi::CollectStep step = steps.collect(Proposer::none);
    step.bounds.low = grid<float>(1, 4);
    refused(step, "bounds, visits and samples are for proposers, and there is none; ask for none of them");
    refused(steps.collect(Proposer::gemm, Metric::l1),
            "metric l1 does not follow from inner products; choose proposer none");
    refused(steps.collect(Proposer::fp16, Metric::l2, spi::most_dims + 1),
            "the bound of proposer fp16 is for 1 to 1048576 columns, and there are 1048577; choose proposer "
            "none");
    refused(
        steps.collect(Proposer::int8, Metric::l2, spi::most_dims_int8 + 1),
        "proposers int8 and int4 are for up to 65536 columns, and there are 65537; choose another proposer");

    step = steps.collect(Proposer::gemm);
    step.visits.rows = 128;
    refused(step, "proposer gemm multiplies training rows in their order; give no visits");
    step = steps.collect(Proposer::dot);
    step.visits.rows = 100;
    refused(step, "visits are of a multiple of 128 rows; not of 100");
    step = steps.collect(Proposer::dot);
    step.queries.rows.first = 64;
    refused(step, "quantized rows of proposer dot begin at a multiple of 128 rows; not at row 64");
    step = steps.collect(Proposer::fp16);
    step.sample = grid<std::uint32_t>(1, 8);
    refused(step, "samples are of visits, by proposers fp16, int8 and int4, with bounds; ask for none");
    step.visits = {128, 0, 1, 1, 1};
    step.bounds.low = grid<float>(1, 4);
    step.sample = grid<std::uint32_t>(1, 7);
    refused(step, "a sample of these visits has 8 columns, not 7");
  });
}

TEST_CASE("refusals: quantized rows that no device prepares or takes back") {
  on_device([](const Refused& refused, const Steps& steps) {
    spi::PrepareStep prepare{};
    prepare.proposer = Proposer::gemm;
    prepare.rows = steps.train;
    prepare.copy = grid<float>(2, 3);
    refused(prepare, "rows are copied for proposers fp16, int8 and int4; ask for no copy");
    prepare.copy = {};
    prepare.proposer = Proposer::int8;
    prepare.rows.dims = spi::most_dims_int8 + 1;
    refused(
        prepare,
        "proposers int8 and int4 are for up to 65536 columns, and there are 65537; choose another proposer");
    spi::RecoverStep recover{};
    recover.rows.rows = grid<float>(128, 3, 64);
    refused(recover, "quantized rows begin at a multiple of 128 rows; not at row 64");
  });
}

TEST_CASE("refusals: thresholds of no list, or that no product says anything of") {
  on_device([](const Refused& refused, const Steps& steps) {
    const string no_list = "k = 0; choose at least 1";
    refused(steps.tighten<spi::TightenStep>(Proposer::none, Metric::l1, 3, 0), no_list);
    refused(steps.tighten<spi::TightenByBoundsStep>(Proposer::gemm, Metric::l2, 3, 0), no_list);
    refused(steps.tighten<spi::TightenBySampleStep>(Proposer::fp16, Metric::l2, 3, 0), no_list);
    refused(steps.tighten<spi::TightenBySampleStep>(Proposer::gemm, Metric::l2, 3, 1),
            "samples are of proposers fp16, int8 and int4; choose one of these");
    refused(steps.tighten<spi::TightenStep>(Proposer::gemm, Metric::linf, 3, 1),
            "metric linf does not follow from inner products; choose proposer none");
    refused(
        steps.tighten<spi::TightenByBoundsStep>(Proposer::dot, Metric::l2, spi::most_dims + 1, 1),
        "the bound of proposer dot is for 1 to 1048576 columns, and there are 1048577; choose proposer none");
  });
}

TEST_CASE("refusals: the device that others are compared with has them, too") {
  const std::unique_ptr<spi::Device> plain = spi::plain_device();
  Refused{*plain}(spi::VoteStep{}, "there are no classes; give at least one");
  Refused{*plain}(Steps(plain->info).select(2, 0, 2), "k = 0 and lists = 2; both must be at least 1");
}

TEST_SUITE_END();

}  // namespace kith::tests
