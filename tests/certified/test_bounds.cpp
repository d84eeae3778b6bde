// The bounds `low` and `high` that collect writes for its candidates: docs/certificate.md, section 4.
#include "certified/bounds.hpp"

#include "common/asked.hpp"

namespace kith::tests::test_bounds {
namespace {

using namespace bounding;

/// Counts wrong and wide bounds of one collect step, and measures how much of the error bound was needed.
struct Judgement {
  double needed = 0;      ///< largest share of E that a bound needed, `low` or `high`
  std::size_t wrong = 0;  ///< candidates that are not between `low` and `high`
  std::size_t wide = 0;   ///< bounds that are wider than they need to be
};

Judgement judge(const Problem& problem, const Listed& found) {
  const Truth truth(problem, found.query_terms, found.train_terms);
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
      // Half norms and norms are rounded to float once each.
      const double slack = rounding * 8 + truth.train_norms[t] * 0x1p-20;
      of.wide += high - low > 2.01 * error + slack || place - low > 2.01 * error + slack;
    }
  return of;
}

/// Checks that all bounds are right. Returns the largest share of E that was needed.
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
          for (const std::int64_t dims : {1, 2, 3, 4, 32, 131}) {
            CAPTURE_ALL(name(metric), workloads::name(kind), dims);
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

/// Returns the bounds of each row that query q lists: the lower one, and the code of the upper one.
std::map<std::uint32_t, std::pair<float, std::uint32_t>> bounds_of(const Listed& found, std::size_t q,
                                                                   std::size_t capacity) {
  std::map<std::uint32_t, std::pair<float, std::uint32_t>> bounds;
  for (std::size_t at = q * capacity; at < q * capacity + found.counts[q]; ++at)
    bounds[found.rows[at]] = {found.low[at], static_cast<std::uint32_t>(found.high[at] >> 32)};
  return bounds;
}

TEST_CASE("bounds: a share of the gap is between the bounds, and changes no lower one") {
  spi::with_device(device(), [](spi::Device& device) {
    for_each_bounding(device, [&](Proposer proposer) {
      for (const Metric metric : product_metrics)
        for (const std::int64_t dims : {24, 131}) {
          CAPTURE_ALL(name(metric), dims);
          const Problem problem = Problem::hard(proposer, metric, DataKind::normal, 9, 140, dims);
          const std::vector<float> all_pass(problem.m(), inf);
          Listed whole, part;
          REQUIRE(collect(device, problem, all_pass, 140, {}, whole) == "");
          REQUIRE(collect(device, problem, all_pass, 140, {}, part, 1, 0, 1, 0.5f) == "");
          std::size_t narrower = 0;
          for (std::size_t q = 0; q < problem.m(); ++q) {
            const auto bounds = bounds_of(whole, q, 140);
            for (const auto& [row, of_part] : bounds_of(part, q, 140)) {
              const auto& [low, high] = bounds.at(row);
              CHECK(of_part.first == low);
              CHECK(ordered(low) <= of_part.second);
              CHECK(of_part.second <= high);
              narrower += of_part.second < high;
            }
          }
          CHECK(narrower > problem.m() * 100);
        }
    });
  });
}

/// The gate `bounds` asks for 10^8.
std::size_t pairs_wanted() {
  return static_cast<std::size_t>(asked_number("KITH_BOUND_PAIRS", 20000));
}

TEST_CASE("bounds: many pairs of every kind of data") {
  spi::with_device(device(), [](spi::Device& device) {
    for_each_bounding(device, [&](Proposer proposer) {
      if (!is_asked("KITH_BOUND_PROPOSER", name(proposer))) return;
      for (const DataKind kind : workloads::all_data_kinds) {
        if (!workloads::admits(Metric::squared_l2, kind)) continue;
        if (!is_asked("KITH_BOUND_DATA", workloads::name(kind))) continue;
        CAPTURE(std::string(workloads::name(kind)));
        const std::int64_t m = pairs_wanted() < 1'000'000
                                   ? 20
                                   : std::min<std::int64_t>(most_queries(device, proposer), 1000),
                           n = pairs_wanted() < 1'000'000 ? 1000 : 10000;
        double most = 0;
        std::size_t pairs = 0;
        for (std::int64_t round = 0; pairs < pairs_wanted(); ++round, pairs += size(m * n)) {
          // Each round has new data.
          const std::int64_t dims = round % 2 ? 1 + round / 2 % 4 : 64 + round % 8 * 9;
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
      // 16-bit operands can lose here all that the bound allows. Other operands cannot show this: 24-bit ones
      // lose at most a third, which the rounding of `low` hides (see test_certificate.cpp), and so do pairs
      // of 16-bit ones with up to four columns.
      if (proposer != Proposer::bf16 && proposer != Proposer::fp16 && proposer != Proposer::int8) return;
      constexpr std::int64_t dims = 30;
      Matrix one{1, dims, std::vector<float>(size(dims), 1 + 0x1p-12f)};
      // This element decides the scale, and so what the others lose.
      if (proposer == Proposer::int8) one.values.back() = 127 / 126.4f;
      const Problem problem{proposer, Metric::squared_l2, one, one, std::vector<float>(size(dims))};
      const Truth truth(problem, std::vector<float>(4), std::vector<float>(4));
      const auto place = static_cast<float>(truth.place(0, 0));
      Listed right, narrow;
      REQUIRE(collect(device, problem, {place}, 1, {}, right) == "");
      CHECK(right.counts == std::vector<std::uint32_t>{1});
      CHECK(needed(problem, right) > 0.9);
      REQUIRE(collect(device, problem, {place}, 1, {}, narrow, 0.25f) == "");
      CHECK(narrow.counts == std::vector<std::uint32_t>{0});  // the smaller bound loses the row
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
        CHECK(proposer == Proposer::gemm);  // its library multiplies rows in order
        return;
      }
      std::vector<std::vector<std::uint32_t>> seen(problem.m());
      for (const auto& [first, count] : {std::pair{0u, 1u}, {1u, 3u}, {4u, 2u}}) {
        Listed found;
        REQUIRE(collect_all(device, problem, {128, first, count, 6, 5}, found) == "");
        CHECK(needed(problem, found) < 1);
        for (std::size_t q = 0; q < problem.m(); ++q)
          for (std::size_t j = 0; j < found.counts[q]; ++j) seen[q].push_back(found.rows[q * size(n) + j]);
        if (first == 1) {  // visits blocks 5, 4 and 3; block 5 is short
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

TEST_CASE("bounds: the threshold decides who is listed, and what finds no place is counted") {
  spi::with_device(device(), [](spi::Device& device) {
    for_each_bounding(device, [&](Proposer proposer) {
      const Problem problem = Problem::hard(proposer, Metric::squared_l2, DataKind::normal, 35, 300, 17);
      Listed all, some, few;
      REQUIRE(collect_all(device, problem, {}, all) == "");
      std::vector<float> threshold;
      for (std::size_t q = 0; q < problem.m(); ++q) threshold.push_back(all.low[q * 300 + q]);
      REQUIRE(collect(device, problem, threshold, 300, {}, some) == "");
      REQUIRE(collect(device, problem, threshold, 3, {}, few) == "");
      CHECK(few.counts == some.counts);
      for (std::size_t q = 0; q < problem.m(); ++q) {
        std::vector<Key> expected;
        for (std::size_t j = 0; j < 300; ++j)
          if (all.low[q * 300 + j] <= threshold[q])
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

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_bounds
