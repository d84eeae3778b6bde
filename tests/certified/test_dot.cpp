// Tests inner products in single precision, with rows and quantized rows anywhere in memory.
#include "common/quantized/quantized_rows.hpp"

namespace kith::tests::test_dot {
namespace {

constexpr std::uint32_t first_row = 7000;

/// Says where rows are stored, which must not change the answer.
struct Layout {
  std::uint32_t in_block = 0;  ///< first row within its block
  std::size_t quantized = 0;   ///< the first quantized row, a multiple of spi::quantized_block_rows
};

/// Holds rows and their quantized form for `dot`, followed by a canary.
struct Placed {
  GuardedRows rows;
  GuardedGrid<float> centre, row_terms;
  GuardedMemory<float> quantized;
  spi::Grid<float> grid;

  Placed(spi::Device& device, const Matrix& of, const std::vector<float>& moved_by, std::uint32_t block,
         const Layout& layout)
      : rows(device, of, block, layout.in_block, of),
        centre(device, 1, size(of.cols), 1e9f, moved_by),
        row_terms(device, spi::terms_a_row, size(of.rows), -321.5f),
        quantized(device, std::vector<float>(floats(of, layout) + 64, std::nanf(""))),
        grid{quantized.memory(), layout.quantized, size(of.rows), size(of.cols), 0} {}

  std::string prepare(spi::Device& device) const {
    const std::string why = run_step(
        device, spi::PrepareStep{Proposer::dot, rows.rows(), centre.grid(), {grid, row_terms.grid()}});
    const std::vector<float> now = quantized.read();
    CHECK(std::all_of(now.end() - 64, now.end(), [](float value) { return value != value; }));
    CHECK(std::all_of(now.begin(), now.begin() + static_cast<std::ptrdiff_t>(grid.first * grid.cols),
                      [](float value) { return value != value; }));
    CHECK(row_terms.canaries_live());
    return why;
  }
  spi::QuantizedRows grids() const { return {grid, row_terms.grid()}; }

 private:
  static std::size_t floats(const Matrix& of, const Layout& layout) {
    const auto padded = [](std::size_t count, std::size_t unit) { return (count + unit - 1) / unit * unit; };
    return (layout.quantized + padded(size(of.rows), spi::quantized_block_rows)) *
           padded(size(of.cols), spi::quantized_block_dims);
  }
};

struct Problem {
  Matrix queries, train;
  std::vector<float> threshold;
  Metric metric = Metric::squared_l2;
};

/// Holds one entry of a list that collect wrote; the lists are sorted by row.
struct Candidate {
  std::uint32_t row;
  float low;
  Key high;
  bool operator==(const Candidate&) const = default;
};
using Lists = std::vector<std::vector<Candidate>>;

/// Runs prepare and collect. Returns why the device refuses, or an empty string if it ran.
std::string collect(spi::Device& device, const Problem& problem, const Layout& layout,
                    const std::vector<spi::Visits>& steps, Lists& found) {
  const std::size_t m = size(problem.queries.rows), n = size(problem.train.rows);
  const std::vector<float> centre = problem.metric == Metric::squared_l2
                                        ? mean_of(problem.train)
                                        : std::vector<float>(size(problem.train.cols));
  const Placed queries(device, problem.queries, centre, device.info.query_block, layout),
      train(device, problem.train, centre, device.info.train_block, layout);
  for (const Placed* rows : {&queries, &train})
    if (std::string why = rows->prepare(device); !why.empty()) return why;
  const GuardedGrid<float> threshold(device, m, 1, inf, problem.threshold), low(device, m, n, -77.5f);
  const GuardedGrid<std::uint32_t> lists(device, m, n, no_row),
      counts(device, m, 1, 7, std::vector<std::uint32_t>(m));
  const GuardedGrid<Key> high(device, m, n, 0);
  for (const spi::Visits& visits : steps) {
    const std::size_t cols = visits.rows ? std::size_t{visits.rows} * visits.count : n;
    if (std::string why = run_step(device, with_error({Proposer::dot,
                                                       problem.metric,
                                                       queries.grids(),
                                                       train.grids(),
                                                       {nullptr, 0, m, cols, cols},
                                                       threshold.grid(),
                                                       first_row,
                                                       {lists.grid(), counts.grid()},
                                                       {},
                                                       1,
                                                       {low.grid(), high.grid()},
                                                       visits}));
        !why.empty())
      return why;
  }
  check_canaries(lists, counts, low, high);
  const std::vector<std::uint32_t> many = counts.inside(), rows = lists.inside();
  const std::vector<float> lows = low.inside();
  const std::vector<Key> highs = high.inside();
  found.assign(m, {});
  for (std::size_t q = 0; q < m; ++q) {
    for (std::size_t at = q * n; at < q * n + many[q]; ++at)
      found[q].push_back({rows[at], lows[at], highs[at]});
    std::sort(found[q].begin(), found[q].end(), [](const auto& a, const auto& b) { return a.row < b.row; });
  }
  return {};
}

/// Returns whether the device has `dot` with visits and bounds.
bool has_dot(spi::Device& device) {
  Lists found;
  const std::string why =
      collect(device, {matrix(1, {1}), matrix(1, {1}), {inf}}, {}, {{128, 0, 1, 1, 1}}, found);
  if (!why.empty()) MESSAGE("no visits by dot on " << device.info.spec << ": " << why);
  return why.empty();
}

TEST_SUITE_BEGIN("device");

TEST_CASE("dot: worked out on paper") {
  spi::with_device(device(), [](spi::Device& device) {
    if (!has_dot(device)) return;
    // For query 0 two rows, and for query 1 one row, have -q . x below the threshold. The one is in the
    // second block.
    Matrix train{130, 2, std::vector<float>(260, 1.0f)};
    train.values[2 * 5] = 4;         // (4, 1)
    train.values[2 * 77 + 1] = 6;    // (1, 6)
    train.values[2 * 129 + 1] = -3;  // (1, -3)
    const Problem problem{matrix(2, {3, 2, /**/ 1, -5}), train, {-13, -10}, Metric::negative_dot};
    for (const std::vector<spi::Visits>& steps :
         {std::vector<spi::Visits>{{}}, {{128, 0, 2, 2, 1}}, {{128, 1, 1, 2, 1}, {128, 0, 1, 2, 1}}}) {
      Lists found;
      REQUIRE(collect(device, problem, {}, steps, found) == "");
      REQUIRE(found[0].size() == 2);
      REQUIRE(found[1].size() == 1);
      const Candidate &first = found[0][0], &second = found[0][1], &third = found[1][0];
      CHECK(first.row == first_row + 5);
      CHECK(second.row == first_row + 77);
      CHECK(third.row == first_row + 129);
      CHECK((first.low <= -14 && first.low > -14.0001f));
      CHECK((second.low <= -15 && second.low > -15.0001f));
      CHECK((third.low <= -16 && third.low > -16.0001f));
      CHECK((value_of(first.high) >= -14 && value_of(first.high) < -13.9999f));
      CHECK(row_of(third.high) == third.row);
    }
  });
}

TEST_CASE(
    "dot: it does not matter where rows and quantized rows lie, nor in which steps blocks are visited") {
  spi::with_device(device(), [](spi::Device& device) {
    if (!has_dot(device)) return;
    const std::uint32_t blocks = 3;
    const std::vector<std::vector<spi::Visits>> ways = {
        {{}}, {{256, 0, 3, blocks, 2}}, {{256, 0, 2, blocks, 1}, {256, 2, 1, blocks, 1}}};
    for (const Metric metric : {Metric::squared_l2, Metric::negative_dot})
      for (const std::int64_t dims : {3, 40}) {
        CAPTURE_ALL(name(metric), dims);
        Problem problem{hard_rows(DataKind::normal, Set::queries, 150, dims, metric),
                        hard_rows(DataKind::normal, Set::train, 2 * 256 + 45, dims, metric),
                        {},
                        metric};
        Lists expected, found;
        problem.threshold.assign(150, inf);
        REQUIRE(collect(device, problem, {}, {{}}, expected) == "");
        for (std::size_t q = 0; q < 150; ++q)  // every seventh query lists all rows
          problem.threshold[q] = q % 7 ? expected[q][q].low : inf;
        for (std::size_t q = 0; q < 150; ++q)
          std::erase_if(expected[q], [&](const Candidate& row) { return row.low > problem.threshold[q]; });
        for (const Layout& layout : {Layout{}, Layout{3, 128}, Layout{45, 0}, Layout{16, 384}})
          for (const std::vector<spi::Visits>& steps : ways) {
            CAPTURE_ALL(layout.in_block, layout.quantized, steps.size());
            REQUIRE(collect(device, problem, layout, steps, found) == "");
            CHECK(found == expected);
          }
      }
  });
}

TEST_CASE("dot: quantized rows and visits that do not begin with a whole tile are refused by a sentence") {
  spi::with_device(device(), [](spi::Device& device) {
    if (!has_dot(device)) return;
    const spi::Grid<float> rows{nullptr, 0, 1, 1, 1}, row_terms{nullptr, 0, spi::terms_a_row, 1, 1};
    const spi::Grid<std::uint32_t> list{nullptr, 0, 1, 1, 1};
    spi::CollectStep step = with_error(
        {Proposer::dot, Metric::l2, {rows, row_terms}, {rows, row_terms}, rows, rows, 0, {list, list}, {}});
    CHECK(device.check({step}).refusal == "");
    step.train.rows.first = 64;
    CHECK(device.check({step}).refusal ==
          "quantized rows of proposer dot begin at a multiple of 128 rows; not at row 64");
    step.train.rows.first = 0;
    step.visits.rows = 100;
    CHECK(device.check({step}).refusal == "visits are of a multiple of 128 rows; not of 100");
  });
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_dot
