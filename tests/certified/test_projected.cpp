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
#include "kith/classifier.hpp"
#include "kith/index.hpp"
#include "search/projected/projection.hpp"
#include "workloads/random.hpp"

namespace kith::tests::test_projected {
namespace {

constexpr std::int64_t rows_of_index = 16500, columns = 768, queries_asked = 96;
constexpr std::int64_t few = queries_asked / 24;  ///< queries that may go the ordinary way
const std::string projected = "rows are projected onto these";

/// Returns whether projections are taken for these rows: by threads of the host with vectors of eight floats.
/// For longer ones, with which products of bytes take less time, there would have to be more rows.
bool may_take() {
  const auto& profile = device().info().profile;
  return profile.host_threads != 0 && profile.vector_floats == 8 && has(Proposer::dot) &&
         !has(Proposer::bf16);
}

float noise(workloads::Random& random) {
  return static_cast<float>(random.below(2001) - 1000) / 1000;
}

/// What rows look like.
struct Look {
  float spread = 1, blur = 0.01f;  ///< along six directions, and in every column
  float offset = 0;
  bool bytes = false;             ///< whole numbers from 0 to 255
  float middle = 128, step = 20;  ///< of these
  bool repeats = false;           ///< a third of the rows repeat others, up to 21 times
  std::int64_t ball = 0;          ///< every so many rows are in a ball in which all are as far apart; 0: none
};

/// Makes rows of six directions, which do not depend on the seed.
Matrix rows_of(const Look& look, std::int64_t count, std::uint64_t seed, std::int64_t cols = columns) {
  constexpr std::int64_t rank = 6;
  workloads::Random of_directions(3), random(seed);
  std::vector<float> along(size(rank * cols));
  for (float& value : along) value = noise(of_directions);
  Matrix rows{count, cols, {}};
  rows.values.reserve(size(count * cols));
  for (std::int64_t r = 0; r < count; ++r) {
    if (look.repeats && r % 60 >= 40) {
      const std::vector<float> again(rows.values.end() - cols, rows.values.end());
      rows.values.insert(rows.values.end(), again.begin(), again.end());
      continue;
    }
    float weights[rank];
    const bool in_ball = look.ball > 0 && r % look.ball == look.ball - 1;
    for (float& weight : weights) weight = in_ball ? 3 : noise(random);
    for (std::int64_t d = 0; d < cols; ++d) {
      float value = look.blur * noise(random);
      for (std::int64_t i = 0; i < rank; ++i) value += look.spread * weights[i] * along[size(i * cols + d)];
      value = look.bytes ? std::clamp(std::round(look.middle + look.step * value), 0.0f, 255.0f)
                         : value + look.offset;
      rows.values.push_back(value);
    }
  }
  return rows;
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
  Index index(device(), train, metric);
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
    const Index index = prepared_index(rows_of(look, rows_of_index, 1));
    Look once = look;
    once.repeats = false;
    const Matrix queries = rows_of(once, queries_asked, 2);
    for (const std::int64_t k : {1, 5, 40}) {
      const Trace trace = same_by_projections(index, queries, k);
      CHECK(trace.listed >= queries_asked * k);
      CHECK(trace.collected >= queries_asked * k);
      CHECK(trace.fallbacks <= few);
      repeats += trace.repeats;
    }
    same_by_projections(index, rows_of(look, queries_asked, 1), 20);  // rows of the index
  }
  CHECK(repeats > 0);
}

TEST_CASE("projections: queries that are rows teach nothing of others") {
  if (!may_take()) return;
  const Matrix train = rows_of({}, rows_of_index, 1), queries = rows_of({}, queries_asked, 2);
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
  const Index index = prepared_index(rows_of({}, rows_of_index, 1));
  Matrix queries = rows_of({}, queries_asked, 2);
  for (const std::int64_t q : {0, 7}) queries.values[size(q * columns + 3)] = 1e20f;  // the first is tried
  for (int time = 0; time < 2; ++time) {
    const Trace trace = same_by_projections(index, queries, 5);
    CHECK(trace.fallbacks >= 2);
    CHECK(trace.fallbacks <= 2 + few);
  }
  Matrix all = queries;
  for (std::int64_t q = 0; q < queries_asked; ++q) all.values[size(q * columns)] = 1e20f;
  CHECK(same_by_projections(index, all, 5).fallbacks == queries_asked);
  CHECK(same_by_projections(index, rows_of({}, queries_asked, 2), 5).fallbacks <= few);
}

TEST_CASE("projections: bytes asked for what no byte is, and sums above those that floats count") {
  if (!may_take()) return;
  const Index index = prepared_index(rows_of({.bytes = true, .middle = 50, .step = 5}, rows_of_index, 1));
  const Matrix near = rows_of({.bytes = true, .middle = 50, .step = 5}, queries_asked, 2),
               far = rows_of({.bytes = true, .middle = 220, .step = 5}, queries_asked, 2);
  same_by_projections(index, near, 5);
  Matrix between = near;
  for (float& value : between.values) value += 0.25f;
  same_by_projections(index, between, 5);
  same_by_projections(index, far, 5);
  // Chains above 2^24 are not sums of whole numbers.
  const std::vector<float> distances = index.search(far, 5).distance;
  CHECK(*std::min_element(distances.begin(), distances.end()) > 4096);
}

TEST_CASE("projections: filters, own rows, radii, removed rows, and rows added") {
  if (!may_take()) return;
  const Matrix train = rows_of({}, rows_of_index, 1), queries = rows_of({}, queries_asked, 2);
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
  const Matrix train = rows_of({}, rows_of_index, 1), queries = rows_of({}, queries_asked, 2);
  same_by_projections(prepared_index(train, Metric::cosine), queries, 9);
  same_by_projections(prepared_index(train, Metric::squared_l2), queries, 9);
  std::vector<std::int64_t> labels(size(rows_of_index));
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int64_t>(7 + i * i % 5);
  const Classifier classifier(device(), train, labels, Metric::l2);
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
  const Index index(device(), rows_of({}, rows_of_index, 1), Metric::l2);
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
  const Matrix many = rows_of({}, 6000, 2);
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
  CHECK(!takes(Index(device(), noisy, Metric::l2), 1 << 20, 5));
  const Index narrow(device(), rows_of({}, rows_of_index, 1, 250), Metric::l2);
  CHECK(!takes(narrow, 6000, 5));
  const Index angles(device(), rows_of({}, rows_of_index, 1, 260), Metric::negative_dot);
  CHECK(!takes(angles, 6000, 5));
}

TEST_CASE("projections: queries whose lists overflow are searched in the ordinary way") {
  if (!may_take()) return;
  const Look look{.blur = 0.02f, .ball = 2};
  const Index index = prepared_index(rows_of(look, rows_of_index, 1));
  Matrix queries = rows_of({.blur = 0.02f}, queries_asked, 2);
  const Matrix in_ball = rows_of({.blur = 0.02f, .ball = 1}, queries_asked, 3);
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
  const Matrix train = rows_of({.blur = 1}, rows_of_index, 1),
               queries = rows_of({.blur = 1}, queries_asked, 2);
  const Index other(device(), train, Metric::l2);
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
  const Matrix train = rows_of(look, rows_of_index, 1), along = rows_of({.spread = 0.1f, .blur = 0}, 2, 5);
  const Index index = prepared_index(train);
  Matrix queries = rows_of(look, queries_asked, 2);
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
  const Matrix train = rows_of({}, rows_of_index, 1), queries = rows_of({}, queries_asked, 2);
  const Neighbors right = Index(device(), train, Metric::l2).search(queries, 4, {.proposer = Proposer::none});
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

/// Sums as no kernel does, from the last column to the first.
float sum_backwards(const float* a, const float* b, std::int64_t count) {
  float sum = 0;
  for (std::int64_t d = count - 1; d >= 0; --d) {
    const float apart = a[d] - b[d];
    sum += apart * apart;
  }
  return sum;
}

/// Checks all pairs. Returns the largest share of a bound that is beyond the chain.
double check_bounds(const Matrix& train, const Matrix& queries) {
  const std::int64_t cols = train.cols;
  std::vector<float> centre(size(cols));
  for (std::int64_t d = 0; d < cols; ++d) {
    double sum = 0;
    for (std::int64_t r = 0; r < train.rows; ++r) sum += static_cast<double>(train.row(r)[size(d)]);
    centre[size(d)] = static_cast<float>(sum / static_cast<double>(train.rows));
  }
  const MatrixView<const float> sample = MatrixView<const float>(train).slice(0, train.rows * 3 / 4);
  const Projection projection(centre, directions_of(sample, centre, 1));
  const Projected rows = projection.project(train, 1), asked = projection.project(queries, 1);
  double widest = 0;
  for (std::int64_t q = 0; q < queries.rows; ++q)
    for (std::int64_t t = 0; t < train.rows; ++t) {
      const float value = chain(Metric::squared_l2, queries.row(q), train.row(t));
      if (!std::isfinite(value)) continue;
      const auto of = [](const std::vector<float>& all, std::int64_t r, std::int64_t width) {
        return std::span(all).subspan(size(r * width), size(width));
      };
      const std::span coarse_q = of(asked.coarse, q, coarse_columns),
                      coarse_t = of(rows.coarse, t, coarse_columns), fine_q = of(asked.fine, q, fine_columns),
                      fine_t = of(rows.fine, t, fine_columns);
      const float of_coarse = projection.bound(asked.norms[size(q)], value, coarse_columns),
                  of_fine = projection.bound(asked.norms[size(q)], value, fine_columns);
      const bool right = chain(Metric::squared_l2, coarse_q, coarse_t) <= of_coarse &&
                         chain(Metric::squared_l2, fine_q, fine_t) <= of_fine &&
                         sum_backwards(fine_q.data(), fine_t.data(), fine_columns) <= of_fine;
      if (!right) FAIL_CHECK(q << ' ' << t << ' ' << value);
      if (value > 0) widest = std::max(widest, static_cast<double>(of_coarse / value) - 1);
    }
  return widest;
}

TEST_CASE("projections: no bound is below the chain of projections of a pair") {
  for (int kind = 0; kind <= static_cast<int>(DataKind::byte_grid); ++kind) {
    CAPTURE(std::string(name(static_cast<DataKind>(kind))));
    check_bounds(hard_rows(static_cast<DataKind>(kind), Set::train, 260, 300, Metric::l2),
                 hard_rows(static_cast<DataKind>(kind), Set::queries, 20, 300, Metric::l2));
  }
  // Squares of 1e-22 have few bits, or none.
  for (const float factor : {1.0f, 1e-22f, 1e12f})
    for (const float offset : {0.0f, 1e6f}) {
      CAPTURE_ALL(factor, offset);
      Matrix train = rows_of({.blur = 0.2f}, 300, 1, 300), queries = rows_of({.blur = 0.2f}, 20, 2, 300);
      // Some rows are those of queries, or nearly so, and some columns have one value.
      std::copy_n(queries.values.begin(), 10 * 300, train.values.begin());
      for (std::int64_t r = 0; r < 5; ++r) train.values[size(r * 301)] += 1e-4f;
      for (Matrix* all : {&train, &queries})
        for (std::size_t i = 0; i < all->values.size(); ++i)
          all->values[i] = i % 7 == 0 ? 5 * factor : all->values[i] * factor + offset * factor;
      const double widest = check_bounds(train, queries);
      if (factor == 1.0f && offset == 0) CHECK(widest < 2);  // even for rows that hardly differ
    }
}

TEST_CASE("projections: no bound forgets the rounding of projections, which is most along a query") {
  const Matrix queries = rows_of({.blur = 0.2f}, 20, 2, 300);
  Matrix train{300, 300, {}};
  for (std::int64_t r = 0; r < train.rows; ++r)
    for (const float value : queries.row(r % queries.rows))
      train.values.push_back(value * (1 + static_cast<float>(r + 1) * 3e-7f));
  check_bounds(train, queries);
}

TEST_CASE("projections: noise fills all directions, and rows of few directions these") {
  const std::vector<float> centre(size(columns));
  const Matrix few = rows_of({}, 256, 1);
  CHECK(filled_directions(few, centre, 1) < 7);
  Matrix noisy{256, columns, {}};
  workloads::Random random(4);
  for (std::int64_t i = 0; i < 256 * columns; ++i) noisy.values.push_back(noise(random));
  CHECK(filled_directions(noisy, centre, 1) > 100);
  CHECK(filled_directions(Matrix{2, columns, std::vector<float>(size(2 * columns))}, centre, 1) == 0);
}

}  // namespace
}  // namespace kith::tests::test_projected
