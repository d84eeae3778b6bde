// Tests the step chains_f64, and who takes it in a search: docs/contract.md, section 1; docs/certificate.md,
// section 7.
#include <atomic>
#include <thread>

#include "common/tuning.hpp"
#include "device/device_set.hpp"
#include "doubles/doubles_oracle.hpp"

namespace kith::tests {
namespace {

constexpr std::array step_metrics = {Metric::squared_l2, Metric::l2,           Metric::l1,
                                     Metric::linf,       Metric::negative_dot, Metric::cosine};

std::uint64_t bits_of(double value) {
  return std::bit_cast<std::uint64_t>(value);
}

/// Returns the chain of a pair, operation by operation. Unlike chain_by_oracle() it keeps -0.
double chain_of_pair(Metric metric, const double* a, const double* b, std::size_t dims) {
  double s = 0;
  for (std::size_t d = 0; d < dims; ++d) {
    const double gap = a[d] - b[d];
    if (metric == Metric::l1)
      s = s + std::abs(gap);
    else if (metric == Metric::linf)
      s = std::max(s, std::abs(gap));
    else
      s = metric == Metric::negative_dot ? std::fma(-a[d], b[d], s) : std::fma(gap, gap, s);
  }
  return s;
}

struct StepShape {
  std::size_t m, n, width, dims;
  std::uint32_t first_row;
  bool one_list = false;  ///< for all queries
};

/// Runs the step on matrices with gaps, and compares each value and all memory around.
void check_step(Metric metric, DoubleData kind, const StepShape& shape, std::mt19937& random) {
  const std::size_t m = shape.m, n = shape.n, width = shape.width, dims = shape.dims;
  const std::uint32_t first_row = shape.first_row;
  const auto count = [](std::size_t value) { return static_cast<std::int64_t>(value); };
  const DoubleMatrix queries = double_rows(kind, count(m), count(dims), random),
                     train = double_rows(kind, count(n), count(dims), random);
  std::vector<std::uint32_t> rows;
  for (std::size_t i = 0; i < m * width; ++i)
    rows.push_back(random() % 8 == 0 ? no_row
                                     : first_row - 2 + static_cast<std::uint32_t>(random() % (n + 4)));
  if (shape.one_list) rows.resize(width);
  spi::with_device(device(), [&](spi::Device& on) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const GuardedGrid<double> asked(on, m, dims, nan, queries.values), from(on, n, dims, nan, train.values);
    const GuardedGrid<std::uint32_t> listed(on, shape.one_list ? 1 : m, width, first_row, rows);
    spi::Grid<std::uint32_t> lists = listed.grid();
    if (shape.one_list) lists = {lists.memory, lists.first, m, width, 0};
    const GuardedGrid<double> values(on, m, width, -7.5, std::vector<double>(m * width, -7.5));
    const std::string refusal = run_step(
        on, spi::DoubleChainsStep{metric, asked.grid(), from.grid(), first_row, lists, values.grid()});
    CAPTURE(refusal);
    if (!refusal.empty()) {
      CHECK(refusal.find("cl_khr_fp64") != std::string::npos);
      return;
    }
    const std::vector<double> found = values.inside();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::uint32_t row = rows[i % rows.size()] - first_row;
      const double right = row < n ? chain_of_pair(metric, queries.values.data() + i / width * dims,
                                                   train.values.data() + row * dims, dims)
                                   : -7.5;
      wrong += bits_of(found[i]) != bits_of(right);
    }
    CHECK(wrong == 0);
    check_canaries(values);
    check_unchanged(asked, from, listed);
  });
}

TEST_SUITE_BEGIN("device");

TEST_CASE("doubles: the step computes the chain of each listed row, for every number of columns") {
  std::mt19937 random(11);
  for (const Metric metric : step_metrics)
    for (std::size_t dims = 1; dims <= 300; dims += dims < 40 ? 1 : 13) {
      CAPTURE_ALL(name(metric), dims);
      const auto kind = all_double_data[random() % all_double_data.size()];
      if (metric == Metric::negative_dot && kind == DoubleData::huge) continue;  // inf - inf
      check_step(metric, kind, {1 + random() % 9, 1 + random() % 90, 1 + random() % 40, dims, 7}, random);
    }
}

TEST_CASE("doubles: the step computes chains of every kind of data, which overflow and underflow, too") {
  std::mt19937 random(12);
  for (const Metric metric : step_metrics)
    for (const DoubleData kind : all_double_data)
      for (const std::size_t dims : {std::size_t{3}, std::size_t{50}}) {
        if (metric == Metric::negative_dot && kind == DoubleData::huge) continue;
        CAPTURE_ALL(name(metric), static_cast<int>(kind), dims);
        check_step(metric, kind, {33, 40, 21, dims, 0xFFFFF000u}, random);
      }
}

TEST_CASE("doubles: the step takes lists of one place and of many, and one query") {
  std::mt19937 random(13);
  for (const std::size_t dims : std::initializer_list<std::size_t>{2, 8, 9, 16, 17, 33, 784})
    for (const StepShape& shape : {StepShape{300, 50, 1, dims, 2}, StepShape{1, 500, 700, dims, 2},
                                   StepShape{1, 1, 1, dims, 2}, StepShape{65, 3, 32, dims, 2}}) {
      CAPTURE_ALL(dims, shape.m, shape.width);
      check_step(Metric::l2, DoubleData::normal, shape, random);
    }
}

TEST_CASE("doubles: the step in small, in two groups of work-items") {
  std::mt19937 random(21);
  for (const std::size_t dims : {std::size_t{3}, std::size_t{19}})  // by either of OpenCL's kernels
    check_step(Metric::l2, DoubleData::map, {2, 5, 33, dims, 7}, random);
}

TEST_CASE("doubles: the step takes one list for all queries") {
  std::mt19937 random(14);
  for (const Metric metric : step_metrics)
    for (const std::size_t dims : std::initializer_list<std::size_t>{1, 8, 9, 40, 127, 128, 129, 300})
      for (const StepShape& shape :
           {StepShape{1 + random() % 9, 60, 1 + random() % 70, dims, 7, true},
            StepShape{130, 400, 257, dims, 0xFFFFF000u, true}, StepShape{2, 3, 300, dims, 2, true}}) {
        CAPTURE_ALL(name(metric), dims, shape.m, shape.width);
        check_step(metric, DoubleData::map, shape, random);
      }
}

/// Searches, and returns who computed the chains in double precision.
std::string ranker_of(const Device& on, const DoubleMatrix& train, const DoubleMatrix& queries,
                      const SearchOptions& options, const Neighbors& right) {
  const Index index(on, train, Metric::l2);
  Trace trace;
  CHECK(index.search(queries, right.k, options, &trace) == right);
  CHECK(explain(trace.plan).find("double chains  " + trace.plan.double_chains + "\n") != std::string::npos);
  CHECK(explain(trace.plan)
            .find(", k = " + std::to_string(trace.plan.problem.k) +
                  "\nsearch         in floats, which proposes candidates; doubles rank these by "
                  "the metric and k asked for\n") != std::string::npos);
  CHECK(trace.ranked_doubles >= queries.rows * right.k);
  return trace.plan.double_chains;
}

/// Returns whether the device has the step.
bool has_step() {
  bool has = false;
  spi::with_device(device(), [&](spi::Device& on) {
    const spi::Grid<double> rows{nullptr, 0, 1, 3, 3}, values{nullptr, 0, 1, 1, 1};
    has = on.check({spi::DoubleChainsStep{Metric::l2, rows, rows, 0, {nullptr, 0, 1, 1, 1}, values}})
              .refusal.empty();
  });
  return has;
}

struct AskedRows {
  DoubleMatrix train, queries;
  Neighbors right;

  explicit AskedRows(std::uint32_t seed, std::int64_t n = 400, std::int64_t cols = 5) {
    std::mt19937 random(seed);
    train = double_rows(DoubleData::map, n, cols, random);
    queries = double_rows(DoubleData::map, 30, cols, random);
    right = nearest_by_oracle(Metric::l2,
                              all_by_oracle(Metric::l2, train, queries, [](auto, auto) { return true; }), 6);
  }
};

TEST_CASE("doubles: the device ranks, and the host if the rows do not fit") {
  if (!has_step()) return;
  const AskedRows rows(14);
  CHECK(ranker_of(device(), rows.train, rows.queries, {}, rows.right) == "by the device");
  SearchOptions little;
  little.memory_limit = 15000;
  if (device().info().backend != "cpu")
    CHECK(ranker_of(device(), rows.train, rows.queries, little, rows.right) ==
          "by the host, since its rows of doubles take 16000 bytes of device memory, and 15000 are allowed");
}

TEST_CASE("doubles: queries of several tiles get the lists that they get in calls of one tile") {
  std::mt19937 random(16);
  const DoubleMatrix train = double_rows(DoubleData::map, 20, 900, random);
  const DoubleMatrix queries = double_rows(DoubleData::map, 3000, 900, random);  // 21.6 MB of doubles
  const Index index(device(), train, Metric::l2);
  const Neighbors all = index.search(queries, 2);
  for (const std::int64_t first : {0, 1000, 2000}) {
    const Neighbors some = index.search(queries.view().slice(first, 1000), 2);
    const auto begin = static_cast<std::ptrdiff_t>(first * 2);
    CHECK(std::equal(some.row.begin(), some.row.end(), all.row.begin() + begin));
    CHECK(std::equal(some.distance64.begin(), some.distance64.end(), all.distance64.begin() + begin));
  }
}

TEST_CASE("doubles: rows are copied to the device once, for all snapshots, and prepare() copies them") {
  if (!has_step() || device().info().backend == "cpu") return;
  const AskedRows rows(15);
  const Index index(device(), rows.train, Metric::l2);
  const std::size_t before = index.memory_bytes();
  index.prepare(30, 6);
  CHECK(index.memory_bytes() >= before + 16000);
  const std::size_t prepared = index.memory_bytes();
  Trace trace;
  index.search(rows.queries, 6, {}, &trace);
  CHECK(index.memory_bytes() == prepared);
  CHECK(trace.bytes_to_device < 16000);
  const std::size_t floats_and_doubles = 30 * 5 * (4 + 8);  // of the queries
  CHECK(trace.bytes_to_device > floats_and_doubles);
  const Index grown = index.with(rows.queries);
  const Neighbors again = grown.search(rows.queries, 1);
  for (std::int64_t q = 0; q < 30; ++q) CHECK(again.row[static_cast<std::size_t>(q)] == 400 + q);
  CHECK(grown.memory_bytes() > index.memory_bytes());
  CHECK(index.plan(30, 6).double_chains == "by the device");
}

TEST_CASE("doubles: rows in several blocks of a device, whose memory is small") {
  if (!has_step()) return;
  const AskedRows rows(18, 9000, 3);
  CHECK(ranker_of(device(), rows.train, rows.queries, {}, rows.right) == "by the device");
}

TEST_CASE("doubles: threads that search first at the same time share one copy of the rows") {
  const AskedRows rows(20);
  const Index index(device(), rows.train, Metric::l2), removed = index.without(std::vector<std::int64_t>{});
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        const Index& own = t % 2 == 0 ? index : removed;
        wrong += own.search(rows.queries, rows.right.k) != rows.right;
      });
  }
  CHECK(wrong == 0);
  CHECK(index.memory_bytes() == removed.memory_bytes());
}

TEST_CASE("doubles: for a set of devices the host ranks") {
  if (device().info().backend == "cpu") return;
  const AskedRows rows(19);
  const Device set = set_of_devices({device(), open_device("cpu")});
  CHECK(ranker_of(set, rows.train, rows.queries, {}, rows.right) == "by the host, since the device is a set");
}

TEST_CASE("doubles: OpenCL devices without double precision leave chains to the host") {
  if (device().info().backend != "opencl") return;
  const Variable without("KITH_CL_FP64", "off");
  const AskedRows rows(16);
  CHECK(ranker_of(open_device(device_spec()), rows.train, rows.queries, {}, rows.right) ==
        "by the host, since it has no double precision (cl_khr_fp64)");
}

TEST_CASE("doubles: a device that rounds products of doubles separately is found, and the host ranks") {
  if (device().info().backend != "planted") return;
  const Device wrong = open_device("planted:17");
  CHECK(wrong.info().name == "separate doubles");
  const AskedRows rows(17);
  CHECK(ranker_of(wrong, rows.train, rows.queries, {}, rows.right) ==
        "by the host, since its chains of squared_l2 came out as others in a test");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
