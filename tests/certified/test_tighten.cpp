// Tests the step tighten: it merges candidates into the k best so far and lowers thresholds.
// docs/certificate.md, sections 4 and 5.
#include "common/device.hpp"
#include "common/environment.hpp"
#include "common/oracle.hpp"
#include "kith/unstable/stages.hpp"
#include "workloads/random.hpp"

namespace kith::tests::test_tighten {
namespace {

using stages::Candidates;
using stages::Tightened;

constexpr Key canary = 0xCAFECAFECAFECAFEull;
constexpr std::uint32_t canary32 = 0xCAFECAFEu;

/// Makes random lists to merge, with mostly tied values and different rows. The keys behind the end of each
/// list would win if they were read.
struct Lists {
  std::size_t m, k, capacity;
  std::vector<Key> best, keys;              ///< [m, k], [m, capacity]
  std::vector<std::uint32_t> counts, lost;  ///< [m]

  Lists(std::size_t queries, std::size_t wanted, std::size_t places, std::uint64_t seed)
      : m(queries), k(wanted), capacity(places) {
    workloads::Random random(seed);
    const auto value = [&random] {
      return random.one_in(40)
                 ? inf
                 : static_cast<float>(random.between(-9, 9)) * (random.one_in(3) ? 1.0f : 50.5f);
    };
    for (std::size_t q = 0; q < m; ++q) {
      const auto filled = random.one_in(3) ? size(random.between(0, static_cast<std::int64_t>(k))) : k;
      std::vector<Key> list;
      for (std::size_t j = 0; j < filled; ++j)
        list.push_back(make_key(value(), static_cast<std::uint32_t>(2 * j)));
      std::sort(list.begin(), list.end());
      list.resize(k, no_key);
      best.insert(best.end(), list.begin(), list.end());
      const auto length = random.one_in(4)   ? capacity
                          : random.one_in(4) ? 0
                                             : size(random.between(0, static_cast<std::int64_t>(capacity)));
      for (std::size_t j = 0; j < capacity; ++j)
        keys.push_back(j < length ? make_key(value(), static_cast<std::uint32_t>(2 * (capacity - j) + 1))
                                  : make_key(-inf, 0));
      const bool more = length == capacity && random.one_in(2);
      counts.push_back(static_cast<std::uint32_t>(length + (!more              ? 0
                                                            : random.one_in(2) ? 1
                                                                               : 1 + random.next() % 9999)));
      lost.push_back(static_cast<std::uint32_t>(random.below(2)));
    }
  }

  std::vector<Key> expected(bool afresh = false) const {
    std::vector<Key> all;
    for (std::size_t q = 0; q < m; ++q) {
      const auto list = best.begin() + static_cast<std::ptrdiff_t>(q * k);
      const std::size_t length = std::min<std::size_t>(counts[q], capacity);
      std::vector<Key> before(list, list + static_cast<std::ptrdiff_t>(k));
      if (afresh) before.assign(k, no_key);
      const std::vector<Key> row = joined(before, std::span(keys).subspan(q * capacity, length));
      all.insert(all.end(), row.begin(), row.end());
    }
    return all;
  }
};

/// The same lists in device memory, between canaries.
struct Guarded {
  GuardedGrid<Key> keys, best;
  GuardedGrid<std::uint32_t> counts, lost;
  GuardedGrid<float> threshold, row_terms;

  ///   of_queries  [terms_a_row, m]; empty for proposer none
  Guarded(spi::Device& device, const Lists& lists, const std::vector<float>& of_queries = {},
          const std::vector<float>& before = {})
      : keys(device, lists.m, lists.capacity, 0, lists.keys),
        best(device, lists.m, lists.k, canary, lists.best),
        counts(device, lists.m, 1, canary32, lists.counts),
        lost(device, lists.m, 1, canary32, lists.lost),
        threshold(device, lists.m, 1, -123.5f, before),
        row_terms(device, spi::terms_a_row, lists.m, inf, of_queries) {}

  spi::TightenStep step(Proposer proposer, Metric metric, std::uint32_t dims, std::size_t k) const {
    return {proposer,         metric,        dims,        static_cast<std::uint32_t>(k),
            keys.grid(),      counts.grid(), best.grid(), row_terms.grid(),
            threshold.grid(), lost.grid(),   {}};
  }

  bool canaries_live() const {
    return best.canaries_live() && counts.canaries_live() && lost.canaries_live() &&
           threshold.canaries_live();
  }
};

void check_guarded(spi::Device& device, std::size_t m, std::size_t k, std::size_t capacity,
                   std::uint32_t threads = 0, bool afresh = false) {
  CAPTURE_ALL(m, k, capacity, afresh);
  const Lists lists(m, k, capacity, m + 7 * k + capacity);
  const Guarded memory(device, lists);
  spi::TightenStep step = memory.step(Proposer::none, Metric::l1, 3, k);
  step.afresh = afresh;
  REQUIRE(run_step(device, step, threads) == "");
  const std::vector<Key> expected = lists.expected(afresh);
  CHECK(difference(memory.best.inside(), expected) == "");
  std::vector<float> threshold;
  std::vector<std::uint32_t> lost = lists.lost;
  for (std::size_t q = 0; q < m; ++q) {
    threshold.push_back(value_of(expected[q * k + k - 1]));
    if (lists.counts[q] > capacity) lost[q] = 1;
  }
  CHECK(difference(memory.threshold.inside(), threshold) == "");
  CHECK(difference(memory.lost.inside(), lost) == "");
  CHECK(difference(memory.counts.inside(), std::vector<std::uint32_t>(m)) == "");
  CHECK(memory.canaries_live());
  CHECK(memory.keys.unchanged());
}

/// Checks guessed thresholds: smaller than the proven one, equal, and larger.
void check_guessed(spi::Device& device, std::size_t m, std::size_t k, std::size_t capacity) {
  CAPTURE_ALL(m, k, capacity);
  const Lists lists(m, k, capacity, m + 7 * k + capacity);
  const std::vector<Key> expected = lists.expected(true);
  std::vector<float> before, after;
  std::vector<std::uint32_t> lost = lists.lost;
  for (std::size_t q = 0; q < m; ++q) {
    after.push_back(value_of(expected[q * k + k - 1]));
    const float other = q % 3 == 0 ? -inf : inf;
    before.push_back(q % 3 == 1 ? after[q] : std::nextafter(after[q], other));
    if (lists.counts[q] > capacity || after[q] > before[q]) lost[q] = 1;
  }
  const Guarded memory(device, lists, {}, before);
  spi::TightenStep step = memory.step(Proposer::none, Metric::l1, 3, k);
  step.afresh = true;
  step.guessed = true;
  REQUIRE(run_step(device, step) == "");
  CHECK(difference(memory.threshold.inside(), after) == "");
  CHECK(difference(memory.lost.inside(), lost) == "");
  CHECK(difference(memory.best.inside(), expected) == "");
  CHECK(memory.canaries_live());
}

TEST_SUITE_BEGIN("device");

TEST_CASE("tighten: a guessed threshold that becomes larger means lost, on every way there is") {
  spi::with_device(device(), [](spi::Device& opened) {
    check_guessed(opened, 23, 4, 9);
    check_guessed(opened, 7, 300, 700);
    check_guessed(opened, 5, 1500, 400);
    check_guessed(opened, 3, 2500, 3000);
  });
}

TEST_CASE("tighten: joins candidates with the best, worked out on paper") {
  const Candidates lists{3, 2, {2, 0, 9}, {4, 5, no_row, no_row, 6, 7}};
  const std::vector<Key> keys{make_key(3, 4), make_key(1, 5), no_key, no_key, make_key(7, 6), make_key(2, 7)};
  const stages::KeyLists best{
      3, 1, 2, {make_key(2, 1), make_key(3, 3), make_key(5, 0), no_key, make_key(-1, 2), make_key(0, 3)}};
  const Tightened found = stages::tighten(device(), lists, keys, best);
  CHECK(found.best.keys == std::vector<Key>{make_key(1, 5), make_key(2, 1), make_key(5, 0), no_key,
                                            make_key(-1, 2), make_key(0, 3)});
  CHECK(found.best.k == 2);
  CHECK(found.threshold == std::vector<float>{2, inf, 0});
  CHECK(found.lost == std::vector<std::uint32_t>{0, 0, 1});
}

TEST_CASE("tighten: among equal values the smaller row, and plus infinity before none") {
  const Candidates lists{1, 3, {3}, {8, 2, 5}};
  const std::vector<Key> keys{make_key(inf, 8), make_key(1, 2), make_key(-0.0f, 5)};
  const Tightened three =
      stages::tighten(device(), lists, keys, {1, 1, 3, {make_key(0, 4), make_key(1, 3), no_key}});
  CHECK(three.best.keys == std::vector<Key>{make_key(0, 4), make_key(0, 5), make_key(1, 2)});
  CHECK(three.threshold == std::vector<float>{1});
  const Tightened five =
      stages::tighten(device(), lists, keys, {1, 1, 5, {make_key(0, 4), no_key, no_key, no_key, no_key}});
  CHECK(five.best.keys ==
        std::vector<Key>{make_key(0, 4), make_key(0, 5), make_key(1, 2), make_key(inf, 8), no_key});
  CHECK(five.threshold == std::vector<float>{inf});
}

TEST_CASE("tighten: any number of queries, neighbours and candidates, between canaries") {
  spi::with_device(device(), [](spi::Device& device) {
    for (const std::size_t k : {1u, 2u, 16u, 33u, 100u, 1024u, 2049u, 3000u})
      for (const std::size_t capacity : {1u, 5u, 64u, 257u, 2000u, 9000u})
        check_guarded(device, k + capacity > 1500 ? 5 : 40, k, capacity);
    check_guarded(device, 700, 10, 40);
    check_guarded(device, 2, 16, 60000);
    for (const std::uint32_t threads : {1u, 2u, 5u}) check_guarded(device, 30, 50, 3000, threads);
  });
}

TEST_CASE("tighten: afresh, of any number of candidates the best alone, and padding behind them") {
  spi::with_device(device(), [](spi::Device& device) {
    for (const std::size_t k : {1u, 2u, 100u, 256u, 257u, 1500u, 2048u, 2049u})
      for (const std::size_t capacity : {std::size_t{3}, k, k + 1, k + 150, 3 * k, std::size_t{7000}})
        check_guarded(device, 4, k, capacity, 0, true);
    // With more queries than compute units, work-groups share a unit.
    check_guarded(device, 4 * device.info.compute_units + 1, 1100, 1300, 0, true);
    check_guarded(device, 4 * device.info.compute_units + 1, 1100, 300);
  });
}

TEST_CASE("tighten: inner products are bounded by the k-th value itself") {
  if (!has_quantized_rows()) return;
  spi::with_device(device(), [](spi::Device& device) {
    const Lists lists(20, 4, 30, 5);
    const Guarded memory(device, lists, std::vector<float>(spi::terms_a_row * lists.m, 7.0f));
    REQUIRE(run_step(device, memory.step(Proposer::gemm, Metric::negative_dot, 9, 4)) == "");
    const std::vector<Key> expected = lists.expected();
    std::vector<float> threshold;
    for (std::size_t q = 0; q < lists.m; ++q) threshold.push_back(value_of(expected[q * 4 + 3]));
    CHECK(difference(memory.best.inside(), expected) == "");
    CHECK(difference(memory.threshold.inside(), threshold) == "");
    CHECK(memory.canaries_live());
  });
}

TEST_CASE("tighten: squared distances are bounded by the certificate, and by little more") {
  if (!has_quantized_rows()) return;
  const std::vector<float> worst{0, denormal, 0x1p-140f, 1e-30f, 0.3f, 1, 25, 12345.678f, 0x1p99f, inf};
  const std::vector<float> norms{0, denormal, 1e-38f, 0.1f, 12.5f, 1e8f, 0x1p97f};
  spi::with_device(device(), [&](spi::Device& device) {
    for (const std::uint32_t dims : {1u, 3u, 128u, 784u, 100000u})
      for (const Metric metric : {Metric::squared_l2, Metric::l2}) {
        CAPTURE(dims);
        Lists lists(worst.size() * norms.size(), 2, 3, 1);
        const std::size_t m = lists.m;
        std::vector<float> row_terms(spi::terms_a_row * m, inf);  // only half_norm may be read
        for (std::size_t q = 0; q < m; ++q) {
          lists.counts[q] = 0;  // without candidates, the query still gets its threshold
          lists.best[2 * q] = make_key(0, 0);
          lists.best[2 * q + 1] =
              worst[q % worst.size()] == inf ? no_key : make_key(worst[q % worst.size()], 1);
          row_terms[spi::half_norm * m + q] = norms[q / worst.size()];
        }
        const Guarded memory(device, lists, row_terms);
        REQUIRE(run_step(device, memory.step(Proposer::gemm, metric, dims, 2)) == "");
        const Certificate certificate(dims, metric);
        const std::vector<float> threshold = memory.threshold.inside();
        for (std::size_t q = 0; q < m; ++q) {
          const float u = worst[q % worst.size()], half_norm = norms[q / worst.size()];
          CAPTURE_ALL(u, half_norm);
          const long double least = certificate.threshold(u, half_norm);
          CHECK(threshold[q] >= least);
          if (u == inf) continue;
          const long double slack = (u + half_norm) * ((2 * dims + 40) * 0x1p-24L + 0x1p-21L);
          CHECK(threshold[q] <= least + slack + dims * 0x1p-138L);
        }
        check_unchanged(memory.best, memory.row_terms);
        CHECK(memory.canaries_live());
      }
  });
}

TEST_CASE("tighten: a metric that does not follow from inner products has no bound") {
  spi::with_device(device(), [](spi::Device& device) {
    const Lists lists(1, 1, 1, 1);
    const Guarded memory(device, lists);
    for (const Metric metric : {Metric::l1, Metric::linf})
      CHECK(device.check({memory.step(Proposer::gemm, metric, 1, 1)}).refusal != "");
  });
}

/// Runs a search without a proposer from single steps: for each tile, distances are computed and the rows
/// within the k-th value so far are collected; every few tiles these are reranked and merged.
std::vector<Key> search_by_steps(spi::Device& device, Metric metric, const Matrix& queries,
                                 const Matrix& train, std::uint32_t k, std::uint32_t tile,
                                 std::uint32_t tiles_a_join) {
  const auto m = size(queries.rows), n = size(train.rows);
  const GuardedRows query_rows(device, queries, device.info.query_block, 0, queries);
  const GuardedRows train_rows(device, train, device.info.train_block, 0, queries);
  const GuardedGrid<float> threshold(device, m, 1, -inf, std::vector<float>(m, inf));
  const GuardedGrid<std::uint32_t> counts(device, m, 1, canary32, std::vector<std::uint32_t>(m));
  const GuardedGrid<std::uint32_t> lost(device, m, 1, canary32, std::vector<std::uint32_t>(m));
  const GuardedGrid<std::uint32_t> rows(device, m, n, canary32);
  const GuardedGrid<Key> keys(device, m, n, canary);
  const GuardedGrid<Key> best(device, m, k, canary, std::vector<Key>(m * k, no_key));
  const GuardedGrid<float> none(device, spi::terms_a_row, m, inf);
  std::uint32_t waiting = 0;
  for (std::uint32_t first = 0; first < n; first += tile) {
    spi::RowBlocks part = train_rows.rows();
    part.first = first;
    part.rows = std::min(tile, static_cast<std::uint32_t>(n) - first);
    const GuardedGrid<float> values(device, m, part.rows, -inf);
    REQUIRE(run_step(device, spi::DistanceStep{metric, query_rows.rows(), part, values.grid()}) == "");
    const spi::CandidateLists lists{rows.grid(), counts.grid()};
    REQUIRE(
        run_step(device,
                 spi::CollectStep{
                     Proposer::none, metric, {}, {}, values.grid(), threshold.grid(), first, lists, {}}) ==
        "");
    if (++waiting < tiles_a_join && first + tile < n) continue;
    waiting = 0;
    REQUIRE(run_step(device, spi::RerankStep{metric, query_rows.rows(), train_rows.rows(), 0, lists,
                                             keys.grid()}) == "");
    REQUIRE(run_step(device, spi::TightenStep{Proposer::none,
                                              metric,
                                              static_cast<std::uint32_t>(queries.cols),
                                              k,
                                              keys.grid(),
                                              counts.grid(),
                                              best.grid(),
                                              none.grid(),
                                              threshold.grid(),
                                              lost.grid(),
                                              {}}) == "");
  }
  CHECK(difference(lost.inside(), std::vector<std::uint32_t>(m)) == "");
  return best.inside();
}

TEST_CASE("tighten: collect, rerank and tighten, tile by tile, are an exact search") {
  spi::with_device(device(), [](spi::Device& device) {
    for (const DataKind kind : workloads::all_data_kinds)
      for (const Metric metric : {Metric::squared_l2, Metric::linf}) {
        CAPTURE_ALL(workloads::name(kind), name(metric));
        const Matrix queries = hard_rows(kind, Set::queries, 6, 7, metric);
        const Matrix train = hard_rows(kind, Set::train, 230, 7, metric);
        const std::vector<Key> expected = selected(chains(metric, queries, train), 230, 9, 1);
        CHECK(difference(search_by_steps(device, metric, queries, train, 9, 48, 1), expected) == "");
        CHECK(difference(search_by_steps(device, metric, queries, train, 9, 48, 2), expected) == "");
      }
  });
}

TEST_CASE("tighten: the three stages give the same bits whatever the host program has set") {
  const Matrix queries = hard_rows(DataKind::subnormal, Set::queries, 8, 5, Metric::squared_l2);
  const Matrix train = hard_rows(DataKind::subnormal, Set::train, 60, 5, Metric::squared_l2);
  const std::vector<float> values = chains(Metric::squared_l2, queries, train);
  std::vector<float> threshold;
  for (std::size_t q = 0; q < 8; ++q)
    threshold.push_back(sorted(std::span(values).subspan(q * 60, 60), 0, 60)[9].first);
  const stages::KeyLists empty{8, 1, 4, std::vector<Key>(32, no_key)};
  const auto ask = [&] {
    const Candidates lists = stages::collect(device(), Matrix{8, 60, values}, threshold, 60);
    const std::vector<Key> keys = stages::rerank(device(), queries, train, Metric::squared_l2, lists);
    return std::pair(lists, stages::tighten(device(), lists, keys, empty));
  };
  const auto expected = ask();
  CHECK(difference(expected.second.best.keys, selected(values, 60, 4, 1)) == "");
  for (const HostileSetting setting : hostile_settings) {
    CAPTURE(std::string(name(setting)));
    std::pair<Candidates, Tightened> found;
    bool kept = false;
    {
      const HostileEnvironment hostile(setting);
      found = ask();
      kept = hostile.still_set();
    }
    CHECK(kept);
    CHECK(found == expected);
  }
}

TEST_CASE("tighten: refuses lists that are not what they say") {
  const Candidates lists{1, 2, {2}, {0, 1}};
  const auto refusal = [&](const std::vector<Key>& keys, const stages::KeyLists& best) {
    return error_of([&] { stages::tighten(device(), lists, keys, best); });
  };
  CHECK(refusal({1}, {1, 1, 1, {5}}) ==
        "invalid_argument: tighten: 1 keys and 1 best lists for candidates of shape [1, 2]; give a key for "
        "each place and a list for each query");
  CHECK(refusal({1, 2}, {1, 2, 1, {5, 6}}) ==
        "invalid_argument: tighten: 2 lists a row of best; merge them first");
  CHECK(refusal({1, 2}, {1, 1, 2, {6, 5}}) ==
        "invalid_argument: tighten: key 1 is smaller than the one before it; each list must ascend");
  CHECK(refusal({1, 2}, {1, 1, 2, {5, 6}}) == "nothing was thrown");
  CHECK(stages::tighten(device(), {0, 3, {}, {}}, {}, {0, 1, 4, {}}).threshold.empty());
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_tighten
