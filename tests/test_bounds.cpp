// What collect says of the candidates it lists, and what tighten makes of it: docs/certificate.md, section 4.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "device.hpp"
#include "oracle.hpp"
#include "random.hpp"  // tools/workloads
#include "shadows.hpp"

namespace kith::tests {
namespace {

using Real = long double;

constexpr std::uint32_t first_row = 1000;
constexpr Metric product_metrics[] = {Metric::squared_l2, Metric::negative_dot, Metric::cosine};

bool has_own_order(Proposer proposer) {
  return proposer != Proposer::gemm;
}

/// Rows and their shadow in the order of a proposer.
struct Rows {
  GuardedRows rows;
  GuardedGrid<float> centre;
  GuardedMemory<float> shadow;
  GuardedGrid<float> facts;
  std::int64_t count, dims;

  Rows(spi::Device& device, const Matrix& of, const std::vector<float>& moved_by, std::uint32_t block)
      : rows(device, of, block, 0, of),
        centre(device, 1, size(of.cols), 1e9f, moved_by),
        shadow(device,
               std::vector<float>(padded(of.rows, spi::shadow_rows) * padded(of.cols, spi::shadow_dims))),
        facts(device, spi::facts_a_row, size(of.rows), -321.5f),
        count(of.rows),
        dims(of.cols) {}

  spi::Shadow grids() const {
    return {{shadow.memory(), 0, size(count), size(dims), size(dims)}, facts.grid()};
  }

 private:
  static std::size_t padded(std::int64_t number, std::int64_t unit) {
    return size((number + unit - 1) / unit * unit);
  }
};

/// The power of two that brings the largest element below 2^13, for shadows of 16-bit floats.
float scale_of(Proposer proposer, const Matrix& rows, const std::vector<float>& centre) {
  if (proposer != Proposer::fp16) return 1;
  float most = 0x1p-30f;
  for (std::int64_t r = 0; r < rows.rows; ++r)
    for (std::size_t d = 0; d < centre.size(); ++d)
      most = std::max(most, std::fabs(rows.row(r)[d] - centre[d]));
  return std::ldexp(1.0f, 12 - std::ilogb(most));
}

/// A proposed problem, and its mathematics.
struct Problem {
  Proposer proposer;
  Metric metric;
  Matrix queries, train;
  std::vector<float> centre;

  std::size_t m() const { return size(queries.rows); }
  std::size_t n() const { return size(train.rows); }
  bool squares() const { return metric == Metric::squared_l2; }

  static Problem hard(Proposer proposer, Metric metric, DataKind kind, std::int64_t m, std::int64_t n,
                      std::int64_t dims) {
    Matrix all = prepared(metric, hard_rows(kind, Set::queries, m, dims, metric));
    const Matrix rows = prepared(metric, hard_rows(kind, Set::train, n, dims, metric));
    all.rows += n;
    all.values.insert(all.values.end(), rows.values.begin(), rows.values.end());
    all = within_range(all);  // both by the same power of two
    const auto middle = all.values.begin() + m * dims;
    Matrix train{n, dims, {middle, all.values.end()}};
    const bool moves = metric == Metric::squared_l2;
    std::vector<float> centre = moves ? mean_of(train) : std::vector<float>(size(dims));
    return {proposer, metric, {m, dims, {all.values.begin(), middle}}, std::move(train), std::move(centre)};
  }
};

/// Numbers in double: exact enough beside the error of a product in single precision.
struct Truth {
  const Problem& problem;
  std::vector<double> queries, train, train_norms;  ///< moved by the centre
  double b, query_norm = 0, query_error = 0, shadow_norm = 0;
  std::vector<float> facts;  ///< of the training rows

  Truth(const Problem& of, const std::vector<float>& query_facts, std::vector<float> train_facts)
      : problem(of), facts(std::move(train_facts)) {
    const auto dims = static_cast<double>(problem.centre.size());
    const double steps = (dims + 2) * 0x1p-24;
    b = problem.proposer == Proposer::fp16 ? 12 * std::ceil(dims / 8) * 0x1p-24 * (1 + 0x1p-10)
                                           : steps / (1 - steps);
    queries = moved(problem.queries);
    train = moved(problem.train);
    const std::size_t m = problem.m();
    for (std::size_t q = 0; q < m; ++q) {
      const auto fact = [&](spi::Fact f) { return static_cast<double>(query_facts[f * m + q]); };
      query_norm = std::max(query_norm, fact(spi::norm));
      shadow_norm = std::max(shadow_norm, fact(spi::shadow_norm));
      query_error = std::max(query_error, fact(spi::residual) + b * fact(spi::shadow_norm));
    }
    for (std::size_t t = 0; t < problem.n(); ++t) {
      double sum = 0;
      for (std::size_t d = 0; d < problem.centre.size(); ++d) sum += row(train, t)[d] * row(train, t)[d];
      train_norms.push_back(sum);
    }
  }

  const double* row(const std::vector<double>& rows, std::size_t r) const {
    return rows.data() + r * problem.centre.size();
  }
  /// |x'|^2 / 2 - q' . x', or - q . x.
  double place(std::size_t q, std::size_t t) const {
    double product = 0;
    for (std::size_t d = 0; d < problem.centre.size(); ++d) product += row(queries, q)[d] * row(train, t)[d];
    return (problem.squares() ? train_norms[t] / 2 : 0) - product;
  }
  /// E, and what the chain of an inner product adds to it.
  double error(std::size_t t) const {
    const auto fact = [&](spi::Fact f) { return static_cast<double>(facts[f * problem.n() + t]); };
    const double dims = static_cast<double>(problem.centre.size()), steps = (dims + 2) * 0x1p-24;
    const double chain = problem.squares() ? 0 : query_norm * steps / (1 - steps) * fact(spi::norm);
    return query_norm * fact(spi::residual) + query_error * fact(spi::shadow_norm) + chain +
           dims * (problem.squares() ? 0x1p-120 : 0x1p-119) * (1 + shadow_norm + fact(spi::shadow_norm));
  }

 private:
  std::vector<double> moved(const Matrix& rows) const {
    std::vector<double> all;
    for (std::int64_t r = 0; r < rows.rows; ++r)
      for (std::size_t d = 0; d < problem.centre.size(); ++d)
        all.push_back(static_cast<double>(rows.row(r)[d]) - static_cast<double>(problem.centre[d]));
    return all;
  }
};

/// What one collect lists: [m, capacity] each, and [m].
struct Listed {
  std::vector<std::uint32_t> rows, counts;
  std::vector<float> low;
  std::vector<Key> high;
  std::vector<float> query_facts, train_facts;
};

/// Bounds for `share` of the error that there may be.
void narrow(spi::Device& device, const Rows& rows, float share) {
  std::vector<float> facts = rows.facts.inside();
  const std::size_t count = size(rows.count);
  for (std::size_t r = 0; r < count; ++r)
    for (const spi::Fact fact : {spi::shadow_norm, spi::residual}) facts[fact * count + r] *= share;
  const spi::Grid<float> grid = rows.facts.grid();
  for (std::size_t fact = 0; fact < spi::facts_a_row; ++fact)
    device.write(*grid.memory, (grid.first + fact * grid.stride) * sizeof(float), facts.data() + fact * count,
                 count * sizeof(float));
}

/// Why the device refuses; empty when it is done.
std::string collect(spi::Device& device, const Problem& problem, const std::vector<float>& theta,
                    std::size_t capacity, const spi::Visits& visits, Listed& found, float share = 1) {
  const std::size_t m = problem.m(), n = visits.rows ? std::size_t{visits.rows} * visits.count : problem.n();
  const Rows queries(device, problem.queries, problem.centre, device.info.query_block),
      train(device, problem.train, problem.centre, device.info.train_block);
  const float of_queries = scale_of(problem.proposer, problem.queries, problem.centre),
              of_train = scale_of(problem.proposer, problem.train, problem.centre);
  for (const auto& [rows, scale] : {std::pair{&queries, of_queries}, {&train, of_train}})
    if (std::string why = run_step(device, spi::PrepareStep{problem.proposer, rows->rows.rows(),
                                                            rows->centre.grid(), rows->grids(), scale});
        !why.empty())
      return why;
  const std::vector<float> query_facts = queries.facts.inside(), train_facts = train.facts.inside();
  if (share < 1) narrow(device, train, share);
  const GuardedGrid<float> values(device, has_own_order(problem.proposer) ? 1 : m,
                                  has_own_order(problem.proposer) ? 1 : n, -123.5f),
      limits(device, m, 1, -inf, theta), low(device, m, capacity, -77.5f);
  const GuardedGrid<std::uint32_t> lists(device, m, capacity, no_row),
      counts(device, m, 1, 7, std::vector<std::uint32_t>(m));
  const GuardedGrid<Key> high(device, m, capacity, 0xABCDull);
  spi::Grid<float> products = values.grid();
  products.rows = m;
  products.cols = n;
  if (std::string why = run_step(device, spi::CollectStep{problem.proposer,
                                                          problem.metric,
                                                          queries.grids(),
                                                          train.grids(),
                                                          products,
                                                          limits.grid(),
                                                          first_row,
                                                          {lists.grid(), counts.grid()},
                                                          {},
                                                          1 / of_queries / of_train,
                                                          {low.grid(), high.grid()},
                                                          visits});
      !why.empty())
    return why;
  CHECK(lists.canaries_live());
  CHECK(counts.canaries_live());
  CHECK(low.canaries_live());
  CHECK(high.canaries_live());
  CHECK(limits.unchanged());
  found = {lists.inside(), counts.inside(), low.inside(), high.inside(), query_facts, train_facts};
  return {};
}

/// All training rows of all queries.
std::string collect_all(spi::Device& device, const Problem& problem, const spi::Visits& visits,
                        Listed& found) {
  return collect(device, problem, std::vector<float>(problem.m(), inf), problem.n(), visits, found);
}

/// body(proposer) for those of the device that know bounds.
template <class Body>
void for_each_bounding(spi::Device& device, const Body& body) {
  for (const Proposer proposer : device.info.proposers) {
    CAPTURE(std::string(name(proposer)));
    const Matrix one = matrix(1, {1});
    Listed found;
    const std::string why = collect_all(device, {proposer, Metric::squared_l2, one, one, {0}}, {}, found);
    if (why.empty())
      body(proposer);
    else
      MESSAGE("no bounds by " << std::string(name(proposer)) << ": " << why);
  }
}

/// What the bounds of a collect are worth.
struct Judgement {
  double needed = 0;      ///< the largest share of E that an estimate used up, to either side
  std::size_t wrong = 0;  ///< candidates that are not between `low` and `high`
  std::size_t wide = 0;   ///< bounds that are wider than they need to be
};

Judgement judge(const Problem& problem, const Listed& found) {
  const Truth truth(problem, found.query_facts, found.train_facts);
  Judgement of;
  for (std::size_t q = 0; q < problem.m(); ++q)
    for (std::size_t j = 0; j < found.counts[q]; ++j) {
      const std::size_t at = q * problem.n() + j, t = found.rows[at] - first_row;
      const double place = truth.place(q, t), error = truth.error(t);
      const auto low = static_cast<double>(found.low[at]),
                 high = static_cast<double>(value_of(found.high[at]));
      const double rounding = 0x1p-21 * (std::fabs(low) + error) + 0x1p-149;
      of.needed = std::max(
          {of.needed, 1 - (place - low) / (error + rounding), 1 - (high - place) / (error + rounding)});
      of.wrong += !(low <= place + rounding && place <= high) || row_of(found.high[at]) != found.rows[at];
      // Half norms and norms are floats: rounded, each once.
      const double slack = rounding * 8 + truth.train_norms[t] * 0x1p-20;
      of.wide += high - low > 2.01 * error + slack || place - low > 2.01 * error + slack;
    }
  return of;
}

/// The share that was needed, of bounds that are right.
double needed(const Problem& problem, const Listed& found) {
  const Judgement of = judge(problem, found);
  CHECK(of.wrong == 0);
  CHECK(of.wide == 0);
  return of.needed;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("bounds: what is listed lies between low and high, and they are close") {
  spi::with_device(device(), [](spi::Device& device) {
    for_each_bounding(device, [&](Proposer proposer) {
      double most = 0;
      for (const Metric metric : product_metrics)
        for (const DataKind kind : workloads::all_data_kinds) {
          if (!workloads::admits(metric, kind)) continue;
          for (const std::int64_t dims : {1, 3, 32, 131}) {
            CAPTURE(std::string(name(metric)));
            CAPTURE(std::string(workloads::name(kind)));
            CAPTURE(dims);
            const Problem problem = Problem::hard(proposer, metric, kind, 9, 140, dims);
            Listed found;
            REQUIRE(collect_all(device, problem, {}, found) == "");
            CHECK(found.counts == std::vector<std::uint32_t>(9, 140));
            most = std::max(most, needed(problem, found));
          }
        }
      CHECK(most < 1);
      MESSAGE("largest share of the bound that " << std::string(name(proposer)) << " needed on "
                                                 << device.info.spec << ": " << most);
    });
  });
}

/// As many as the variable says, or few: `tools/device-check` asks for 10^8.
std::size_t pairs_wanted() {
  const char* const text = std::getenv("KITH_BOUND_PAIRS");
  return text ? static_cast<std::size_t>(std::atof(text)) : 20000;
}

TEST_CASE("bounds: many pairs of every kind of data") {
  spi::with_device(device(), [](spi::Device& device) {
    for_each_bounding(device, [&](Proposer proposer) {
      for (const DataKind kind : workloads::all_data_kinds) {
        if (!workloads::admits(Metric::squared_l2, kind)) continue;
        CAPTURE(std::string(workloads::name(kind)));
        const std::int64_t m = pairs_wanted() < 1'000'000 ? 20 : 1000,
                           n = pairs_wanted() < 1'000'000 ? 1000 : 10000;
        double most = 0;
        std::size_t pairs = 0;
        for (std::int64_t round = 0; pairs < pairs_wanted(); ++round, pairs += size(m * n)) {
          const std::int64_t dims = 64 + round % 8 * 9;  // other data each time
          const Problem problem = Problem::hard(proposer, Metric::squared_l2, kind, m, n, dims);
          Listed found;
          REQUIRE(collect_all(device, problem, {}, found) == "");
          most = std::max(most, needed(problem, found));
        }
        CHECK(most < 1);
        MESSAGE(std::string(name(proposer))
                << " on " << device.info.spec << ", " << std::string(workloads::name(kind)) << ", " << pairs
                << " pairs: " << most << " of the bound");
      }
    });
  });
}

TEST_CASE("bounds: these tests would notice bounds that are four times too small") {
  spi::with_device(device(), [](spi::Device& device) {
    for_each_bounding(device, [&](Proposer proposer) {
      // What operands of 16 bits lose here is all that the bound allows. (Operands of 24 bits can lose a
      // third, which the rounding of `low` hides: test_certificate.cpp has that.)
      if (proposer != Proposer::bf16 && proposer != Proposer::fp16) return;
      const Matrix one = matrix(1, {1 + 0x1p-12f});
      const Problem problem{proposer, Metric::squared_l2, one, one, {0}};
      const Truth truth(problem, std::vector<float>(4), std::vector<float>(4));
      const auto place = static_cast<float>(truth.place(0, 0));
      Listed right, narrow;
      REQUIRE(collect(device, problem, {place}, 1, {}, right) == "");
      CHECK(right.counts == std::vector<std::uint32_t>{1});
      CHECK(needed(problem, right) > 0.9);
      REQUIRE(collect(device, problem, {place}, 1, {}, narrow, 0.25f) == "");
      CHECK(narrow.counts == std::vector<std::uint32_t>{0});  // the row is lost
      REQUIRE(collect(device, problem, {inf}, 1, {}, narrow, 0.25f) == "");
      CHECK(judge(problem, narrow).wrong == 1);
    });
  });
}

TEST_CASE("bounds: visits list the rows of their blocks, each once, the short one too") {
  spi::with_device(device(), [](spi::Device& device) {
    for_each_bounding(device, [&](Proposer proposer) {
      const std::int64_t n = 5 * 128 + 37;
      const Problem problem = Problem::hard(proposer, Metric::squared_l2, DataKind::normal, 37, n, 19);
      const Rows rows(device, problem.train, problem.centre, device.info.train_block);
      Listed one;
      const std::string why = collect_all(device, problem, {128, 0, 1, 6, 5}, one);
      if (!why.empty()) {
        CHECK(proposer == Proposer::gemm);  // whose library takes rows in order
        return;
      }
      std::vector<std::vector<std::uint32_t>> seen(problem.m());
      for (const auto& [first, count] : {std::pair{0u, 1u}, {1u, 3u}, {4u, 2u}}) {
        Listed found;
        REQUIRE(collect_all(device, problem, {128, first, count, 6, 5}, found) == "");
        CHECK(needed(problem, found) < 1);
        for (std::size_t q = 0; q < problem.m(); ++q)
          for (std::size_t j = 0; j < found.counts[q]; ++j) seen[q].push_back(found.rows[q * size(n) + j]);
        if (first == 1) {  // blocks 5, 4 and 3, of which 5 is short
          CHECK(found.counts == std::vector<std::uint32_t>(problem.m(), 37 + 2 * 128));
          CHECK(*std::min_element(found.rows.begin(), found.rows.begin() + 293) == first_row + 3 * 128);
        }
      }
      std::vector<std::uint32_t> all(size(n));
      for (std::size_t t = 0; t < all.size(); ++t) all[t] = first_row + static_cast<std::uint32_t>(t);
      for (std::vector<std::uint32_t>& of_query : seen) {
        std::sort(of_query.begin(), of_query.end());
        CHECK(of_query == all);
      }
    });
  });
}

TEST_CASE("bounds: theta decides who is listed, and what finds no place is counted") {
  spi::with_device(device(), [](spi::Device& device) {
    for_each_bounding(device, [&](Proposer proposer) {
      const Problem problem = Problem::hard(proposer, Metric::squared_l2, DataKind::normal, 35, 300, 17);
      Listed all, some, few;
      REQUIRE(collect_all(device, problem, {}, all) == "");
      std::vector<float> theta;
      for (std::size_t q = 0; q < problem.m(); ++q) theta.push_back(all.low[q * 300 + q]);
      REQUIRE(collect(device, problem, theta, 300, {}, some) == "");
      REQUIRE(collect(device, problem, theta, 3, {}, few) == "");
      CHECK(few.counts == some.counts);
      for (std::size_t q = 0; q < problem.m(); ++q) {
        std::vector<Key> expected;
        for (std::size_t j = 0; j < 300; ++j)
          if (all.low[q * 300 + j] <= theta[q])
            expected.push_back(make_key(all.low[q * 300 + j], all.rows[q * 300 + j]));
        std::vector<Key> found;
        for (std::size_t j = 0; j < some.counts[q]; ++j)
          found.push_back(make_key(some.low[q * 300 + j], some.rows[q * 300 + j]));
        std::sort(expected.begin(), expected.end());
        std::sort(found.begin(), found.end());
        CHECK(found == expected);
        for (std::size_t j = 0; j < std::min<std::size_t>(3, few.counts[q]); ++j)
          CHECK(std::binary_search(expected.begin(), expected.end(),
                                   make_key(few.low[q * 3 + j], few.rows[q * 3 + j])));
      }
    });
  });
}

// ---- tighten -------------------------------------------------------------------------------------------

/// What tighten makes of highs: by bounds, or as chains but afresh.
struct Tightened {
  std::vector<Key> best;
  std::vector<float> theta;
  std::vector<std::uint32_t> counts, lost;
};

std::string tighten(spi::Device& device, Proposer proposer, Metric metric, std::uint32_t dims,
                    std::uint32_t k, std::size_t capacity, const std::vector<Key>& keys,
                    const std::vector<std::uint32_t>& many, const std::vector<float>& norms,
                    const std::vector<float>& before, bool bounds, Tightened& found) {
  const std::size_t m = many.size();
  std::vector<float> facts(4 * m);
  for (std::size_t q = 0; q < m; ++q) {
    facts[spi::half_norm * m + q] = norms[q] * norms[q] / 2 * (1 - 0x1p-22f);
    facts[spi::norm * m + q] = norms[q];
  }
  const GuardedGrid<Key> lists(device, m, capacity, 0, keys),
      best(device, m, k, 0, std::vector<Key>(m * k, make_key(-inf, 3)));  // what may not count
  const GuardedGrid<std::uint32_t> counts(device, m, 1, 1, many),
      lost(device, m, 1, 0, std::vector<std::uint32_t>(m));
  const GuardedGrid<float> of_queries(device, 4, m, -inf, facts), theta(device, m, 1, -inf, before);
  spi::TightenStep step{proposer,     metric,        dims,        k,
                        lists.grid(), counts.grid(), best.grid(), of_queries.grid(),
                        theta.grid(), lost.grid(),   {}};
  step.of = bounds ? spi::TightenStep::Of::bounds : spi::TightenStep::Of::chains;
  step.afresh = true;
  if (std::string why = run_step(device, step); !why.empty()) return why;
  CHECK(best.canaries_live());
  CHECK(theta.canaries_live());
  CHECK(counts.canaries_live());
  CHECK(lists.unchanged());
  found = {best.inside(), theta.inside(), counts.inside(), lost.inside()};
  return {};
}

TEST_CASE("bounds: theta follows from the k-th smallest, rounded to the safe side, and never grows") {
  spi::with_device(device(), [](spi::Device& device) {
    for_each_bounding(device, [&](Proposer proposer) {
      for (const std::uint32_t k : {1u, 3u, 70u, 2100u})
        for (const Metric metric : {Metric::squared_l2, Metric::negative_dot}) {
          CAPTURE(k);
          const std::size_t m = 5, capacity = k + 300;
          const std::uint32_t dims = 37;
          workloads::Random random(k);
          std::vector<Key> keys;
          for (std::size_t i = 0; i < m * capacity; ++i)
            keys.push_back(make_key(std::ldexp(workloads::uniform(random.next()), 12) - 700,
                                    static_cast<std::uint32_t>(i)));
          const auto full = static_cast<std::uint32_t>(capacity);
          const std::vector<std::uint32_t> many = {full, k, k - 1, full + 9, full};
          const std::vector<float> norms = {1000, 2000, 10, 1500, 40}, before = {inf, inf, 99, inf, -5000};
          Tightened found;
          REQUIRE(tighten(device, proposer, metric, dims, k, capacity, keys, many, norms, before, true,
                          found) == "");
          CHECK(found.counts == many);
          CHECK(found.lost == std::vector<std::uint32_t>{0, 0, 0, 1, 0});
          for (std::size_t q = 0; q < m; ++q) {
            CAPTURE(q);
            std::vector<Key> list(
                keys.begin() + static_cast<std::ptrdiff_t>(q * capacity),
                keys.begin() +
                    static_cast<std::ptrdiff_t>(q * capacity + std::min<std::size_t>(many[q], capacity)));
            std::sort(list.begin(), list.end());
            if (list.size() < k) {
              CHECK(found.theta[q] == before[q]);
              continue;
            }
            const Real s = value_of(list[k - 1]), g = (dims + 2) * 0x1p-24L / (1 - (dims + 2) * 0x1p-24L);
            const Real square = Real{norms[q]} * norms[q];
            const Real least =
                metric == Metric::negative_dot ? s : (s * (1 + g) + g * square + dims * 0x1p-149L) / (1 - g);
            const Real room = (std::fabs(s) + square * g) * 0x1p-20L;
            if (before[q] <= least) {
              CHECK(found.theta[q] == before[q]);
            } else {
              CHECK(found.theta[q] >= least);
              CHECK(found.theta[q] <= least + room);
            }
          }
        }
    });
  });
}

TEST_CASE("bounds: afresh, what was best before does not count") {
  spi::with_device(device(), [](spi::Device& device) {
    for_each_bounding(device, [&](Proposer proposer) {
      const std::vector<Key> keys = {make_key(4, 9), make_key(2, 8), make_key(2, 7),
                                     make_key(0, 1), make_key(5, 5), 0};
      Tightened found;
      REQUIRE(tighten(device, proposer, Metric::negative_dot, 3, 2, 3, keys, {3, 1}, {1, 1}, {inf, inf},
                      false, found) == "");
      CHECK(found.best == std::vector<Key>{make_key(2, 7), make_key(2, 8), make_key(0, 1), no_key});
      CHECK(found.theta == std::vector<float>{2, inf});
      CHECK(found.counts == std::vector<std::uint32_t>{0, 0});
    });
  });
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
