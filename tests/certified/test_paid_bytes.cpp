// Few queries go by the chain until earlier ones have paid for the rows of int8: docs/certified-search.md,
// Few queries on a CPU. Every answer is compared with that of the chain.
#include <thread>

#include "common/device.hpp"
#include "common/elements.hpp"
#include "common/oracle.hpp"
#include "common/subsets.hpp"
#include "kith/index.hpp"

namespace kith::tests::test_paid_bytes {
namespace {

constexpr std::int64_t n = 82000, dims = 128, k = 5;
constexpr std::int64_t enough = 1 << 20;

Matrix train_of(DataKind kind, Metric metric = Metric::l2) {
  return hard_rows(kind, Set::train, n, dims, metric);
}
Matrix queries_of(DataKind kind, std::int64_t m, Metric metric = Metric::l2) {
  return hard_rows(kind, Set::queries, m, dims, metric);
}

/// Returns after how many scans a single query goes by int8; 0: it never does on this device.
std::int64_t scans_to_pay() {
  for (std::int64_t scans = 1; scans < 1000; ++scans) {
    const Plan plan = make_plan(device().info(), {Metric::l2, n, 1, dims, k}, {}, {.scans = scans});
    if (plan.proposer == Proposer::int8) return scans;
  }
  return 0;
}

bool says(const Plan& plan, const std::string& words) {
  return plan.reason.find(words) != std::string::npos;
}

/// Asks each query by itself, and compares with the chain. Returns a letter for each: `b` if it went by
/// bytes, `c` if it went by the chain.
std::string ask_each(const Index& index, const Matrix& queries, const SearchOptions& options = {},
                     std::int64_t wanted = k) {
  std::string used;
  for (std::int64_t q = 0; q < queries.rows; ++q) {
    SearchOptions way = options, chain = options;
    if (options.self) way.self = chain.self = *options.self + q;
    chain.proposer = Proposer::none;
    Trace trace;
    CHECK(index.search(queries.view().slice(q, 1), wanted, way, &trace) ==
          index.search(queries.view().slice(q, 1), wanted, chain));
    used += trace.plan.proposer == Proposer::int8 ? 'b' : 'c';
  }
  return used;
}

std::string by_chain(std::int64_t queries) {
  return std::string(size(queries), 'c');
}
std::string by_bytes(std::int64_t queries) {
  return std::string(size(queries), 'b');
}

TEST_SUITE_BEGIN("device");

TEST_CASE("paid bytes: single queries have the chain's bits before, at and after the switch") {
  const std::int64_t pays = scans_to_pay();
  if (pays == 0) return;
  for (const auto& [metric, kind] : {std::pair{Metric::l2, DataKind::normal},
                                     {Metric::squared_l2, DataKind::byte_grid},
                                     {Metric::cosine, DataKind::uniform},
                                     {Metric::negative_dot, DataKind::integers}}) {
    CAPTURE_ALL(name(metric), name(kind));
    const Index index(device(), train_of(kind, metric), metric);
    const Plan first = index.plan(1, k);
    CHECK(first.proposer == Proposer::none);
    CHECK(says(first, "for which " + std::to_string(pays) + " more scans have to pay"));
    const Matrix queries = queries_of(kind, pays + 8, metric);
    CHECK(ask_each(index, queries) == by_chain(pays) + by_bytes(8));
    CHECK(index.feedback().bytes_made);
    CHECK(says(index.plan(1, k), "since its rows are made"));
  }
}

TEST_CASE(
    "paid bytes: the plan says when the rows are paid for, and the search that makes them tells of it") {
  const std::int64_t pays = scans_to_pay();
  if (pays == 0) return;
  const Index index(device(), train_of(DataKind::normal));
  const Matrix queries = queries_of(DataKind::normal, 16);
  const std::size_t before = index.memory_bytes();
  for (std::int64_t scan = 0; scan < pays; ++scan) {
    CHECK(index.feedback().scans == scan);
    index.search(queries.view().slice(scan % 16, 1), k);
  }
  CHECK(index.memory_bytes() == before);
  CHECK_FALSE(index.feedback().bytes_made);
  CHECK(says(index.plan(1, k), "earlier searches by the chain have paid for its rows"));
  Trace makes, finds;
  index.search(queries.view().slice(0, 1), k, {}, &makes);
  index.search(queries.view().slice(0, 1), k, {}, &finds);
  CHECK(makes.quantized_bytes > 0);
  CHECK(finds.quantized_bytes == 0);
  CHECK(index.memory_bytes() == before + makes.quantized_bytes);
  CHECK(makes.quantized_bytes < size(n * dims) * sizeof(float));  // no copy of the rows is kept
  CHECK(index.feedback().scans == 0);
}

TEST_CASE("paid bytes: only what they would shorten counts") {
  if (scans_to_pay() == 0) return;
  const Index index(device(), train_of(DataKind::normal));
  const Matrix one = queries_of(DataKind::normal, 1);
  const auto counts = [&](const SearchOptions& options, std::int64_t wanted = k) {
    const std::int64_t before = index.feedback().scans;
    index.search(one, wanted, options);
    return index.feedback().scans - before;
  };
  CHECK(counts({}) == 1);
  CHECK(counts({.threads = 1}) == 1);
  CHECK(counts({.proposer = Proposer::none}) == 0);
  CHECK(counts({.selector = Selector::threshold}) == 0);
  CHECK(counts({.fused = true}) == 0);
  CHECK(counts({.memory_limit = 1 << 20}) == 0);  // bytes have no room
  CHECK(counts({}, 300) == 0);                    // too many neighbours
  RowFilter few(n, 1, false);
  for (std::int64_t t = 0; t < n; t += 3) few.set(t, true);
  CHECK(counts({.filter = few}) == 0);
  for (std::int64_t scan = 0; scan < 1000; ++scan) {
    if (index.feedback().bytes_made) break;
    index.search(one, k);
  }
  CHECK(index.feedback().bytes_made);
  CHECK(index.plan(1, k, {.memory_limit = 1 << 20}).proposer == Proposer::none);
  const Index gaps(device(), train_of(DataKind::normal), Metric::l1);
  CHECK(gaps.plan(1, k, {}, {.bytes_made = true, .scans = enough}).proposer == Proposer::none);
  gaps.search(one, k);
  CHECK(gaps.feedback().scans == 0);
}

TEST_CASE("paid bytes: prepare() makes them, and so does a search of many queries") {
  if (scans_to_pay() == 0) return;
  const Index prepared(device(), train_of(DataKind::normal));
  prepared.prepare(1, k);
  CHECK(prepared.feedback().bytes_made);
  CHECK(ask_each(prepared, queries_of(DataKind::normal, 3)) == by_bytes(3));

  const Index searched(device(), train_of(DataKind::normal));
  const Matrix many = queries_of(DataKind::normal, 200);
  Trace trace;
  const Neighbors found = searched.search(many, k, {.proposer = Proposer::int8}, &trace);
  CHECK(trace.quantized_bytes > size(n * dims) * sizeof(float));  // with a copy of the rows
  CHECK(ask_each(searched, queries_of(DataKind::normal, 3)) == by_bytes(3));

  // Many queries make the copy that few did without.
  const std::size_t before = prepared.memory_bytes();
  CHECK(prepared.search(many, k, {.proposer = Proposer::int8}, &trace) == found);
  CHECK(trace.quantized_bytes > size(n * dims) * sizeof(float));
  CHECK(prepared.memory_bytes() > before + size(n * dims) * sizeof(float) / 2);  // blocks may be too long
  CHECK(prepared.search(many, k, {.proposer = Proposer::int8}, &trace) == found);
  CHECK(trace.quantized_bytes == 0);
  CHECK(ask_each(prepared, queries_of(DataKind::normal, 3)) == by_bytes(3));
}

TEST_CASE("paid bytes: threads that ask at once cross the switch together, and make them once") {
  const std::int64_t pays = scans_to_pay();
  if (pays == 0) return;
  const Index index(device(), train_of(DataKind::normal));
  constexpr std::int64_t team_size = 4;
  const std::int64_t each = pays;
  const Matrix queries = queries_of(DataKind::normal, team_size * each);
  const Neighbors right = index.search(queries, k, {.proposer = Proposer::none});
  std::atomic<int> made = 0, wrong = 0, by_bytes = 0;
  std::atomic<std::int64_t> waiting = team_size;
  std::vector<std::thread> team;
  for (std::int64_t thread = 0; thread < team_size; ++thread)
    team.emplace_back([&, thread] {
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      for (std::int64_t q = thread * each; q < (thread + 1) * each; ++q) {
        Trace trace;
        const Neighbors found = index.search(queries.view().slice(q, 1), k, {}, &trace);
        const auto first = static_cast<std::ptrdiff_t>(q * k);
        if (!std::equal(found.row.begin(), found.row.end(), right.row.begin() + first) ||
            bits(found.distance) != bits(std::span(right.distance).subspan(size(q * k), size(k))))
          ++wrong;
        made += trace.quantized_bytes > 0;
        by_bytes += trace.plan.proposer == Proposer::int8;
      }
    });
  for (std::thread& thread : team) thread.join();
  CHECK(wrong == 0);
  CHECK(made == 1);
  CHECK(by_bytes > 0);
}

TEST_CASE("paid bytes: filters, left-out rows, removed and added rows") {
  const std::int64_t pays = scans_to_pay();
  if (pays == 0) return;
  const Matrix train = train_of(DataKind::uniform);
  const Index index(device(), train);
  const Matrix queries = queries_of(DataKind::uniform, pays + 3);
  Matrix own{pays + 3, dims, {}};
  own.values.assign(train.values.begin(),
                    train.values.begin() + static_cast<std::ptrdiff_t>(own.rows * dims));
  CHECK(ask_each(index, own, {.self = 0}) == by_chain(pays) + by_bytes(3));
  // All that follows finds the bytes made, where it shares the rows.
  RowFilter most(n);
  for (std::int64_t t = 0; t < n; t += 3) most.set(t, false);
  CHECK(ask_each(index, queries, {.filter = most}) == by_bytes(pays + 3));
  RowFilter few(n, 1, false);
  for (std::int64_t t = 0; t < n; t += 1000) few.set(t, true);
  ask_each(index, queries, {.filter = few});
  const std::vector<std::int64_t> gone{0, 5, n - 1};
  const Index rest = index.without(gone);
  CHECK(ask_each(rest, queries) == by_bytes(pays + 3));
  const Index grown = rest.with(queries);
  CHECK(ask_each(grown, queries) == by_chain(pays) + by_bytes(3));
  const Index fresh = Index(device(), train).without(gone);
  CHECK(ask_each(fresh, queries) == by_chain(pays) + by_bytes(3));
}

TEST_CASE("paid bytes: rows of halves, of bytes and of doubles") {
  if (scans_to_pay() == 0) return;
  const Matrix whole = train_of(DataKind::integers), queries = queries_of(DataKind::integers, 60);
  for (const Element element : {Element::f16, Element::u8})
    for (const std::int64_t reserve : {std::int64_t{0}, n + 10}) {
      CAPTURE_ALL(name(element), reserve);
      const Index index(device(), Stored(whole, element).view(), Metric::l2, {.reserve = reserve});
      CHECK(ask_each(index, queries).back() == 'b');
    }
  Matrix rows = train_of(DataKind::normal);
  const std::vector<double> doubles(rows.values.begin(), rows.values.end());
  const Index index(device(), MatrixView<const double>(doubles.data(), n, dims), Metric::l2);
  ask_each(index, queries_of(DataKind::normal, 60));
}

TEST_CASE("paid bytes: rows that bytes tell too little apart go back to the chain") {
  const std::int64_t pays = scans_to_pay();
  if (pays == 0) return;
  // One row in 64 decides the scale, by which all others become the same bytes.
  Matrix train = train_of(DataKind::normal), queries = queries_of(DataKind::normal, pays + 24);
  for (std::int64_t t = 0; t < n; ++t)
    for (std::int64_t d = 0; d < dims; ++d) train.values[size(t * dims + d)] *= t % 64 == 0 ? 1.0f : 1e-4f;
  for (float& value : queries.values) value *= 1e-4f;
  const Index index(device(), train);
  CHECK(ask_each(index, queries) == by_chain(pays) + by_bytes(16) + by_chain(8));
  CHECK(says(index.plan(1, k), "proposer int8 gave way"));
  CHECK_FALSE(says(index.plan(1, k), "more scan"));
  CHECK(index.plan(1, k - 1).proposer == Proposer::int8);  // fewer neighbours may still work
  CHECK(index.feedback().scans == 0);
}

TEST_CASE("paid bytes: guesses that mislead single queries end") {
  if (scans_to_pay() == 0) return;
  // The neighbours of a query stand together.
  constexpr std::int64_t many = 110080, together = 128, wanted = 100;
  Matrix train = hard_rows(DataKind::normal, Set::train, many, dims, Metric::l2), queries{200, dims, {}};
  for (std::int64_t t = many - 1; t >= 0; --t)
    for (std::int64_t d = 0; d < dims; ++d)
      if (t % together > 0)
        train.values[size(t * dims + d)] =
            train.values[size(t / together * together * dims + d)] + train.values[size(t * dims + d)] / 2;
  for (std::int64_t q = 0; q < queries.rows; ++q) {
    const auto row = train.row(q * 4 * together);
    queries.values.insert(queries.values.end(), row.begin(), row.end());
  }
  const Index index(device(), train);
  index.prepare(1, wanted);
  CHECK(index.plan(1, wanted).guesses());
  CHECK(ask_each(index, queries, {}, wanted) == by_bytes(queries.rows));
  CHECK(index.feedback().lessons == std::vector<Feedback::Lesson>{{Proposer::int8, true, 0}});
  CHECK_FALSE(index.plan(1, wanted).guesses());
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_paid_bytes
