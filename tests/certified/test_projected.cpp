// Tests that projections of wide rows propose, and that the chain disposes: docs/certificate.md, section 10.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/device.hpp"
#include "common/elements.hpp"
#include "common/environment.hpp"
#include "common/oracle.hpp"
#include "common/rows_of_directions.hpp"
#include "common/tuning.hpp"
#include "kith/classifier.hpp"
#include "kith/index.hpp"
#include "workloads/random.hpp"

namespace kith::tests::test_projected {
namespace {

constexpr std::int64_t rows_of_index = 16500, columns = wide_columns, queries_asked = 96;
constexpr std::int64_t few = queries_asked / 24;  ///< queries that may go the ordinary way
const std::string projected = "rows are projected onto these";

/// Returns the device under test. For so few rows projections are taken by vectors of eight floats, with
/// which products of bytes take longer than with longer ones, so that a processor that has these is opened
/// without them.
const Device& projecting() {
  static const Device chosen = [] {
    const DeviceInfo& info = device().info();
    if (info.backend != "cpu" || info.profile.vector_floats <= 8) return device();
    const Variable instructions("KITH_CPU_ISA", "avx2");
    return open_device("cpu");
  }();
  return chosen;
}

bool may_take() {
  const DeviceInfo& info = projecting().info();
  const auto has = [&info](Proposer proposer) {
    return std::find(info.proposers.begin(), info.proposers.end(), proposer) != info.proposers.end();
  };
  return info.profile.host_threads != 0 && info.profile.vector_floats == 8 && has(Proposer::dot) &&
         !has(Proposer::bf16);
}

/// Checks that a search is projected and finds what the chain finds. Returns its trace.
Trace same_by_projections(const Index& index, const RowsView& queries, std::int64_t k,
                          SearchOptions way = {}) {
  CAPTURE(k);
  Trace trace;
  const Neighbors found = index.search(queries, k, way, &trace);
  CHECK(trace.plan.reason.find(projected) != std::string::npos);
  way.proposer = Proposer::none;
  CHECK(difference(found, index.search(queries, k, way)) == "");
  return trace;
}

Index prepared_index(const Matrix& train, Metric metric = Metric::l2) {
  Index index(projecting(), train, metric);
  index.prepare(queries_asked, 5);
  return index;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("projections: rows of few directions, bytes, offsets, equal rows, and any k") {
  if (!may_take()) return;
  const Look looks[] = {
      {}, {.bytes = true}, {.blur = 0.1f, .offset = 1000}, {.bytes = true, .repeats = true}};
  std::int64_t repeats = 0;
  for (const Look& look : looks) {
    CAPTURE_ALL(look.bytes, look.repeats, look.offset);
    const Index index = prepared_index(rows_along(look, rows_of_index, 1));
    Look once = look;
    once.repeats = false;
    const Matrix queries = rows_along(once, queries_asked, 2);
    for (const std::int64_t k : {1, 5, 40}) {
      const Trace trace = same_by_projections(index, queries, k);
      CHECK(trace.listed >= queries_asked * k);
      CHECK(trace.collected >= queries_asked * k);
      CHECK(trace.fallbacks <= few);
      repeats += trace.repeats;
    }
    same_by_projections(index, rows_along(look, queries_asked, 1), 20);  // rows of the index
  }
  CHECK(repeats > 0);
}

TEST_CASE("projections: queries that are rows teach nothing of others") {
  if (!may_take()) return;
  const Matrix train = rows_along({}, rows_of_index, 1), queries = rows_along({}, queries_asked, 2);
  const Index index = prepared_index(train);
  const RowsView own = RowsView(train).slice(100, queries_asked);
  Trace trace;
  const Neighbors found = index.search(own, 1, {}, &trace);
  CHECK(difference(found, index.search(own, 1, {.proposer = Proposer::none})) == "");
  CHECK(trace.plan.reason.find(projected) == std::string::npos);  // no query tells how far others are
  CHECK(same_by_projections(index, queries, 1).fallbacks <= few);
  CHECK(same_by_projections(index, own, 1).fallbacks <= few);
  CHECK(same_by_projections(index, queries, 1).fallbacks <= few);
}

TEST_CASE("projections: a query that nothing bounds leaves the others what they are") {
  if (!may_take()) return;
  const Index index = prepared_index(rows_along({}, rows_of_index, 1));
  Matrix queries = rows_along({}, queries_asked, 2);
  for (const std::int64_t q : {0, 7}) queries.values[size(q * columns + 3)] = 1e20f;  // the first is tried
  for (int time = 0; time < 2; ++time) {
    const Trace trace = same_by_projections(index, queries, 5);
    CHECK(trace.fallbacks >= 2);
    CHECK(trace.fallbacks <= 2 + few);
  }
  Matrix all = queries;
  for (std::int64_t q = 0; q < queries_asked; ++q) all.values[size(q * columns)] = 1e20f;
  CHECK(same_by_projections(index, all, 5).fallbacks == queries_asked);
  CHECK(same_by_projections(index, rows_along({}, queries_asked, 2), 5).fallbacks <= few);
}

TEST_CASE("projections: bytes asked for what no byte is, and sums above those that floats count") {
  if (!may_take()) return;
  const Look look{.bytes = true, .middle = 50, .step = 5};
  Matrix train = rows_along(look, rows_of_index, 1);
  for (std::int64_t r = 0; r < rows_of_index; r += 2)  // so that one direction leads to the far queries
    for (std::int64_t d = 0; d < columns; ++d) train.values[size(r * columns + d)] += 50;
  const Index index = prepared_index(train);
  const Matrix near = rows_along(look, queries_asked, 2),
               far = rows_along({.bytes = true, .middle = 252, .step = 1}, queries_asked, 2);
  same_by_projections(index, near, 5);
  Matrix between = near;
  for (float& value : between.values) value += 0.25f;
  same_by_projections(index, between, 5);
  // Chains above 2^24 are not sums of whole numbers. No other search for six has taught how far rows are.
  CHECK(same_by_projections(index, far, 6).fallbacks <= few);
  const std::vector<float> distances = index.search(far, 6).distance;
  CHECK(*std::min_element(distances.begin(), distances.end()) > 4096);
}

TEST_CASE("projections: filters, own rows, radii, removed rows, and rows added") {
  if (!may_take()) return;
  const Matrix train = rows_along({}, rows_of_index, 1), queries = rows_along({}, queries_asked, 2);
  const Index index = prepared_index(train);
  constexpr std::int64_t words_a_filter = (rows_of_index + 31) / 32;
  std::vector<std::uint32_t> words(size(queries_asked * words_a_filter));
  workloads::Random random(9);
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random.next() >> 20);
  const SearchOptions one{.filter = {words.data(), 1, words_a_filter}},
      each{.filter = {words.data(), queries_asked, words_a_filter}};
  CHECK(index.plan(queries_asked, 7, one).reason.find(projected) == std::string::npos);
  same_by_projections(index, queries, 7);  // teaches the others
  same_by_projections(index, queries, 7, one);
  same_by_projections(index, queries, 7, each);
  const RowsView own = RowsView(train).slice(40, queries_asked);
  same_by_projections(index, own, 7, {.self = 40});
  SearchOptions both = each;
  both.self = 40;
  same_by_projections(index, own, 7, both);
  // Lists overflow where few rows count, which says nothing of searches of all rows.
  for (std::uint32_t& word : words) word = random.below(16) == 0 ? 1u << random.below(32) : 0;
  for (int time = 0; time < 2; ++time) CHECK(same_by_projections(index, queries, 7, each).fallbacks > 0);
  CHECK(same_by_projections(index, queries, 7).fallbacks <= few);
  SearchOptions near;
  near.radius = static_cast<double>(index.search(queries, 7).distance[6]);
  same_by_projections(index, queries, 7, near);
  const Index less = index.without({{0, 64, 16499}});
  const std::int64_t candidates = less.plan(queries_asked, 11).candidates;
  same_by_projections(less, queries, 11);
  CHECK(less.plan(queries_asked, 11).candidates < candidates);  // it has learnt how many rows are near
  const Index more = index.with(queries);
  more.prepare(queries_asked, 7);
  same_by_projections(more, queries, 7);
  const Neighbors few = index.search(RowsView(queries).slice(0, 3), 7);
  CHECK(difference(few, index.search(RowsView(queries).slice(0, 3), 7, {.proposer = Proposer::none})) == "");
}

TEST_CASE("projections: of unit rows, and votes") {
  if (!may_take()) return;
  const Matrix train = rows_along({}, rows_of_index, 1), queries = rows_along({}, queries_asked, 2);
  same_by_projections(prepared_index(train, Metric::cosine), queries, 9);
  same_by_projections(prepared_index(train, Metric::squared_l2), queries, 9);
  std::vector<std::int64_t> labels(size(rows_of_index));
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int64_t>(7 + i * i % 5);
  const Classifier classifier(projecting(), train, labels, Metric::l2);
  classifier.index().prepare(queries_asked, 5);
  Trace trace;
  const Classification found = classifier.classify(queries, 5, {}, {}, &trace),
                       right = classifier.classify(queries, 5, {.proposer = Proposer::none});
  CHECK(trace.plan.reason.find(projected) != std::string::npos);
  CHECK(std::count(right.label.begin(), right.label.end(), 0) == 0);
  CHECK(found.label == right.label);
  CHECK(found.votes == right.votes);
  CHECK(found.scores == right.scores);
  CHECK(difference(found.neighbors, right.neighbors) == "");
}

TEST_CASE("projections: taken where they pay, kept with the index, and left where they do not") {
  if (!may_take()) return;
  const Index index(projecting(), rows_along({}, rows_of_index, 1), Metric::l2);
  const auto takes = [](const Index& of, std::int64_t m, std::int64_t k, const SearchOptions& way = {}) {
    return of.plan(m, k, way).reason.find(projected) != std::string::npos;
  };
  CHECK(takes(index, 6000, 5));
  CHECK(!takes(index, queries_asked, 5));
  for (const SearchOptions& way :
       {SearchOptions{.proposer = Proposer::none}, SearchOptions{.proposer = Proposer::dot},
        SearchOptions{.query_tile = 64}, SearchOptions{.memory_limit = 1 << 20}})
    CHECK(!takes(index, 6000, 5, way));
  CHECK(!takes(index, 6000, 65));
  const std::size_t before = index.memory_bytes();
  const Matrix many = rows_along({}, 6000, 2);
  Trace trace;
  const Neighbors found = index.search(many, 5, {}, &trace);
  CHECK(trace.seconds.count("project") == 1);
  CHECK(trace.device_seconds > trace.seconds["collect"] + trace.seconds["rank"]);
  CHECK(trace.device_seconds < trace.total_seconds);
  CHECK(difference(found, index.search(many, 5, {.proposer = Proposer::int8})) == "");
  CHECK(index.memory_bytes() > before + before / 2);
  CHECK(takes(index, queries_asked, 5));  // projections are there
  CHECK(!takes(index, 8, 5));

  Matrix noisy{rows_of_index, columns, {}};
  workloads::Random random(4);
  for (std::int64_t i = 0; i < rows_of_index * columns; ++i) noisy.values.push_back(noise(random));
  CHECK(!takes(Index(projecting(), noisy, Metric::l2), 1 << 20, 5));
  const Index narrow(projecting(), rows_along({}, rows_of_index, 1, 250), Metric::l2);
  CHECK(!takes(narrow, 6000, 5));
  const Index angles(projecting(), rows_along({}, rows_of_index, 1, 260), Metric::negative_dot);
  CHECK(!takes(angles, 6000, 5));
}

TEST_CASE("projections: queries whose lists overflow are searched in the ordinary way") {
  if (!may_take()) return;
  const Look look{.blur = 0.02f, .ball = 2};
  const Index index = prepared_index(rows_along(look, rows_of_index, 1));
  Matrix queries = rows_along({.blur = 0.02f}, queries_asked, 2);
  const Matrix in_ball = rows_along({.blur = 0.02f, .ball = 1}, queries_asked, 3);
  // The first of every 16 queries tell how far neighbours are.
  for (std::int64_t q = 5; q < queries_asked; q += 8)
    std::copy_n(in_ball.row(q).begin(), columns, queries.values.begin() + q * columns);
  const Trace trace = same_by_projections(index, queries, 5);
  CHECK(trace.fallbacks >= queries_asked / 8);
  CHECK(trace.fallbacks <= queries_asked / 8 + few);
  // If most queries are such, the index learns anew, and then does not try again for somewhat more.
  Matrix most = in_ball;
  for (std::int64_t q = 0; q < queries_asked; q += 16)
    std::copy_n(queries.row(q).begin(), columns, most.values.begin() + q * columns);
  const auto takes = [&index](std::int64_t k) {
    return index.plan(queries_asked, k).reason.find(projected) != std::string::npos;
  };
  same_by_projections(index, queries, 4);
  for (int time = 0; time < 2; ++time) {
    CHECK(takes(5));
    same_by_projections(index, most, 5);
  }
  CHECK(!takes(5));
  CHECK(!takes(20));
  CHECK(takes(21));
  CHECK(takes(4));
}

TEST_CASE("projections: memory goes when they do not pay") {
  if (!may_take()) return;
  const Matrix train = rows_along({.blur = 1}, rows_of_index, 1),
               queries = rows_along({.blur = 1}, queries_asked, 2);
  const Index other(projecting(), train, Metric::l2);
  const Neighbors right = other.search(queries, 5);
  const Index index = prepared_index(train);
  REQUIRE(index.memory_bytes() > other.memory_bytes());
  CHECK(index.plan(queries_asked, 5).reason.find(projected) != std::string::npos);
  Trace trace;
  const Neighbors found = index.search(queries, 5, {}, &trace);
  CHECK(trace.plan.reason.find(projected) == std::string::npos);
  CHECK(difference(found, right) == "");
  // Memory that was let go may be taken again for less than it has room for.
  CHECK(index.memory_bytes() < other.memory_bytes() + size(rows_of_index * columns));
  CHECK(index.plan(6000, 5).reason.find(projected) == std::string::npos);
}

TEST_CASE("projections: lists that end too near are found out") {
  if (!may_take()) return;
  // What directions leave decides which row is nearest, but not for the queries that tell how far rows are:
  // the first of every 16 are rows, moved along directions.
  const Look look{.spread = 0.1f, .blur = 0.15f};
  const Matrix train = rows_along(look, rows_of_index, 1),
               along = rows_along({.spread = 0.1f, .blur = 0}, 2, 5);
  const Index index = prepared_index(train);
  Matrix queries = rows_along(look, queries_asked, 2);
  float square = 0;
  for (std::int64_t d = 0; d < columns; ++d)
    square +=
        (along.row(0)[size(d)] - along.row(1)[size(d)]) * (along.row(0)[size(d)] - along.row(1)[size(d)]);
  for (std::int64_t q = 0; q < queries_asked; q += 16)
    for (std::int64_t d = 0; d < columns; ++d)
      queries.values[size(q * columns + d)] =
          train.row(100 * q)[size(d)] +
          std::sqrt(1.5f / square) * (along.row(0)[size(d)] - along.row(1)[size(d)]);
  const Trace trace = same_by_projections(index, queries, 1);
  CHECK(trace.repeats + trace.fallbacks >= queries_asked / 2);  // longer lists may overflow
}

TEST_CASE("projections: the same bits whatever the host program has set") {
  if (!may_take()) return;
  const Matrix train = rows_along({}, rows_of_index, 1), queries = rows_along({}, queries_asked, 2);
  const Neighbors right =
      Index(projecting(), train, Metric::l2).search(queries, 4, {.proposer = Proposer::none});
  for (const HostileSetting setting : hostile_settings) {
    CAPTURE(std::string(name(setting)));
    Neighbors found;
    std::optional<Index> index;
    bool kept = false;
    {
      const HostileEnvironment hostile(setting);
      index = prepared_index(train);
      found = index->search(queries, 4);
      kept = hostile.still_set();
    }
    CHECK(kept);
    CHECK(index->plan(queries_asked, 4).reason.find(projected) != std::string::npos);
    CHECK(difference(found, right) == "");
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_projected
