// Tests rows that stay in a Source and pass through the device chunk by chunk: answers have the bits of one
// resident Index.
#include <random>

#include "common/device.hpp"
#include "common/elements.hpp"
#include "common/oracle.hpp"
#include "common/parted/sources.hpp"
#include "kith/classifier.hpp"
#include "kith/filter.hpp"
#include "kith/index.hpp"
#include "kith/keys.hpp"
#include "kith/regressor.hpp"

namespace kith::tests::test_stream {
namespace {

constexpr std::int64_t n = 97, m = 7, dims = 5;
constexpr std::int64_t chunk_lengths[] = {1, 31, 32, 33, n};

std::shared_ptr<CopiedRows> copied(const RowsView& rows) {
  return std::make_shared<CopiedRows>(rows);
}

/// Checks that each kind of search finds the same with a stream and without.
void check_same(const Index& streamed, const Index& whole, const RowsView& queries, std::int64_t k,
                const SearchOptions& options = {}) {
  CHECK(difference(streamed.search(queries, k, options), whole.search(queries, k, options)) == "");
  CHECK(streamed.search_keys(queries, k, options) == whole.search_keys(queries, k, options));
  const Neighbors found = whole.search(queries, k, options);
  std::vector<float> radii;
  for (std::int64_t q = 0; q < queries.rows; ++q) radii.push_back(found.distance[size(q * k + k - 1)]);
  CHECK(streamed.within(queries, radii, options) == whole.within(queries, radii, options));
  CHECK(streamed.within_keys(queries, radii, options) == whole.within_keys(queries, radii, options));
}

TEST_SUITE_BEGIN("device");

TEST_CASE("stream: chunks of any length give the bits of one resident index") {
  for (const DataKind kind : {DataKind::normal, DataKind::grid, DataKind::equal})
    for (const Metric metric : number_metrics) {
      if (!workloads::admits(metric, kind)) continue;
      const Matrix train = hard_rows(kind, Set::train, n, dims, metric),
                   queries = hard_rows(kind, Set::queries, m, dims, metric);
      const Index whole(device(), train, metric);
      for (const std::int64_t length : chunk_lengths) {
        CAPTURE_ALL(workloads::name(kind), name(metric), length);
        const auto source = copied(train);
        const Index index(device(), source, metric, streamed(length));
        CHECK(index.residence() == Residence::stream);
        check_same(index, whole, queries, 9);
        CHECK(source->reads > 0);
      }
    }
}

TEST_CASE("stream: a few bytes that a second queue copies are there before the first queue reads them") {
  std::mt19937 random(99);
  for (int i = 0; i < 40; ++i) {
    CAPTURE(i);
    Matrix train{5, 37, {}}, queries{3, 37, {}};
    for (Matrix* of : {&train, &queries})
      for (std::int64_t j = 0; j < of->rows * of->cols; ++j)
        of->values.push_back(static_cast<float>(random() % 256));
    const Stored stored(train, Element::u8, 0);
    const Index whole(device(), stored.view(), Metric::squared_l2),
        index(device(), copied(stored.view()), Metric::squared_l2, streamed(5));
    CHECK(difference(index.search(queries, 2), whole.search(queries, 2)) == "");
  }
}

TEST_CASE("stream: random elements, columns, k, filters and ids") {
  std::mt19937 random(25);
  constexpr int cases = 60;
  for (int i = 0; i < cases; ++i) {
    CAPTURE(i);
    const auto drawn = [&](std::int64_t below) { return static_cast<std::int64_t>(random() % size(below)); };
    const std::int64_t rows = 2 + drawn(150), columns = 1 + drawn(40), asked = 1 + drawn(9);
    const Element element = number_elements[random() % std::size(number_elements)];
    Matrix train{rows, columns, {}}, queries{asked, columns, {}};
    for (Matrix* of : {&train, &queries})
      for (std::int64_t j = 0; j < of->rows * columns; ++j)
        of->values.push_back(static_cast<float>(drawn(5)));
    const Stored stored(train, element, drawn(3));
    const Metric metric = number_metrics[random() % 4];
    IndexOptions options;
    if (drawn(2) == 0) options.features = {drawn(columns)};
    if (drawn(3) == 0)
      for (std::int64_t t = 0; t < rows; ++t) options.ids.push_back(1000 + 7 * t);
    const Index whole(device(), stored.view(), metric, options);
    const Index index(device(), copied(stored.view()), metric, streamed(1 + drawn(rows + 3), options));
    SearchOptions way;
    RowFilter filter(rows, drawn(2) == 0 ? 1 : asked, false);
    const bool filters = drawn(2) == 0;
    for (std::int64_t f = 0; f < filter.filters(); ++f)
      for (std::int64_t t = 0; t < rows; ++t) filter.set(t, drawn(3) != 0, f);
    if (filters) way.filter = filter;
    check_same(index, whole, queries, 1 + drawn(rows), way);
  }
}

TEST_CASE("stream: bits, rows in memory, and rows of all chunks in one search for all neighbours") {
  const Stored bits = random_bits(70, 77, 3);
  const Stored asked = random_bits(4, 77, 5);
  const Index whole(device(), bits.view(), Metric::hamming);
  const Index index(device(), memory_source(bits.view()), Metric::hamming, streamed(32));
  check_same(index, whole, asked.view(), 70);
}

TEST_CASE("stream: leave-one-out, removed rows, and what cannot be had") {
  const Matrix train = hard_rows(DataKind::grid, Set::train, n, dims, Metric::l2);
  const Index whole(device(), train, Metric::l2), index(device(), copied(train), Metric::l2, streamed(33));
  SearchOptions self{.self = 0};
  CHECK(difference(index.search(train, 6, self), whole.search(train, 6, self)) == "");
  const std::vector<std::int64_t> gone = {0, 31, 32, 33, 66, 96};
  check_same(index.without(gone), whole.without(gone), train.view().slice(10, 5), 8);
  CHECK(error_of([&] { index.with(train); }) ==
        "unsupported: index: rows are added, but its rows stay in a source; make an index of another source, "
        "or one with residence resident");
  CHECK(error_of([&] {
          index.without(gone).compact();
        }).starts_with("unsupported: index: it is compacted, but"));
  CHECK(error_of([&] { Index(device(), train, Metric::l2, streamed(3)); }) ==
        "invalid_argument: index: residence stream is of rows that a source keeps; give memory_source(rows), "
        "and keep the rows");
  IndexOptions twisted = streamed(3);
  for (std::int64_t t = n; t > 0; --t) twisted.ids.push_back(t);
  CHECK(error_of([&] {
          Index(device(), copied(train), Metric::l2, twisted);
        }).starts_with("unsupported: index: ids do"));
  for (const Residence residence : {Residence::stream, Residence::quantized})
    for (const std::int64_t place : {std::int64_t{1}, n - 1}) {
      IndexOptions twice = streamed(3);
      twice.residence = residence;
      for (std::int64_t t = 0; t < n; ++t) twice.ids.push_back(t == place ? t - 1 : t);
      CHECK(error_of([&] { Index(device(), copied(train), Metric::l2, twice); }) ==
            "invalid_argument: index: rows " + std::to_string(place - 1) + " and " + std::to_string(place) +
                " both have the id " + std::to_string(place - 1) + "; give each its own");
    }
  CHECK(error_of([&] { Index(device(), copied(train), Metric::l2, streamed(-1)); }) ==
        "invalid_argument: index: chunk_rows = -1; choose 1 or more, or 0 for as many as fit");
  CHECK(error_of([] {
          Index(device(), std::shared_ptr<const Source>(), Metric::l2);
        }).starts_with("invalid_argument: index: there is no source"));
}

TEST_CASE("stream: votes and averages are those of resident rows") {
  const Matrix train = hard_rows(DataKind::grid, Set::train, n, dims, Metric::l2),
               queries = hard_rows(DataKind::grid, Set::queries, m, dims, Metric::l2);
  std::vector<std::int64_t> labels;
  std::vector<double> values;
  for (std::int64_t t = 0; t < n; ++t) {
    labels.push_back(t % 3);
    values.push_back(static_cast<double>(t) / 7);
  }
  const Index whole(device(), train, Metric::l2), index(device(), copied(train), Metric::l2, streamed(32));
  const MatrixView<const std::int64_t> codes(labels.data(), n, 1);
  const VotingOptions voting{.weights = Weights::distance};
  const Classification a = Classifier(whole, codes).classify(queries, 9, voting),
                       b = Classifier(index, codes).classify(queries, 9, voting);
  CHECK(a.label == b.label);
  CHECK(a.scores == b.scores);
  CHECK(a.votes == b.votes);
  const MatrixView<const double> targets(values.data(), n, 1);
  CHECK(Regressor(whole, targets).predict(queries, 9) == Regressor(index, targets).predict(queries, 9));
}

TEST_CASE("stream: negative_dot is refused by the largest element of all rows") {
  Matrix train = hard_rows(DataKind::normal, Set::train, n, dims, Metric::negative_dot);
  train.values[size(n * dims - 1)] = 1e20f;
  const Matrix queries = matrix(dims, {1e19f, 0, 0, 0, 0});
  const Index whole(device(), train, Metric::negative_dot),
      index(device(), copied(train), Metric::negative_dot, streamed(32));
  CHECK(error_of([&] { index.search(queries, 3); }) == error_of([&] { whole.search(queries, 3); }));
  IndexOptions told = streamed(32);
  told.largest = 100;
  const Index wrong(device(), copied(train), Metric::negative_dot, told);
  CHECK(error_of([&] {
          wrong.search(matrix(dims, {1, 0, 0, 0, 0}), 3);
        })
            .starts_with(
                "invalid_argument: index: largest = 100, but training rows from 96 on reach 1.00000002e+20"));
}

TEST_CASE("stream: rows that no index has are named by their number, and the next search is right") {
  Matrix train = hard_rows(DataKind::normal, Set::train, n, dims, Metric::l2);
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, m, dims, Metric::l2);
  const float kept = train.values[size(70 * dims + 2)];
  train.values[size(70 * dims + 2)] = inf;
  const auto source = copied(train);
  const Index index(device(), source, Metric::l2, streamed(32));
  CHECK(error_of([&] { index.search(queries, 3); }) ==
        "invalid_argument: index: training row 70, column 2 holds an infinity; make every value finite, or "
        "leave the row out");
  train.values[size(70 * dims + 2)] = kept;
  CHECK(difference(index.search(queries, 3), Index(device(), train, Metric::l2).search(queries, 3)) == "");
}

TEST_CASE("stream: what a source throws reaches the caller, and the next search is right") {
  const Matrix train = hard_rows(DataKind::normal, Set::train, n, dims, Metric::l2),
               queries = hard_rows(DataKind::normal, Set::queries, m, dims, Metric::l2);
  const auto source = copied(train);
  const Index index(device(), source, Metric::l2, streamed(32));
  for (const std::int64_t bad : {0, 32, 64, 96}) {
    source->before_read = [bad](std::int64_t first, std::int64_t) {
      if (first == bad) throw std::runtime_error("the disk is on fire");
    };
    std::string what;
    try {
      index.search(queries, 3);
    } catch (const std::runtime_error& error) {
      what = error.what();
    }
    CHECK(what == "the disk is on fire");
  }
  source->before_read = [](std::int64_t, std::int64_t) {};
  CHECK(difference(index.search(queries, 3), Index(device(), train, Metric::l2).search(queries, 3)) == "");
}

TEST_CASE("stream: one progress over all chunks, and a stop between them") {
  const Matrix train = hard_rows(DataKind::normal, Set::train, n, dims, Metric::l2),
               queries = hard_rows(DataKind::normal, Set::queries, m, dims, Metric::l2);
  const Index index(device(), copied(train), Metric::l2, streamed(10));
  SearchOptions options;
  std::vector<double> told;
  options.progress = [&](const Progress& progress) { told.push_back(progress.fraction); };
  index.search(queries, 3, options);
  CHECK(std::is_sorted(told.begin(), told.end()));
  CHECK(told.size() >= 10);
  CHECK(told.back() == 1);
  std::stop_source stop;
  options.stop = stop.get_token();
  options.progress = [&](const Progress& progress) {
    if (progress.fraction > 0.3) stop.request_stop();
  };
  CHECK(error_of([&] { index.search(queries, 3, options); }).starts_with("interrupted: search: stopped"));
}

TEST_CASE("stream: a trace tells of the chunks, and a plan that there are some") {
  const Matrix train = hard_rows(DataKind::normal, Set::train, n, dims, Metric::l2),
               queries = hard_rows(DataKind::normal, Set::queries, m, dims, Metric::l2);
  const Index index(device(), copied(train), Metric::l2, streamed(32));
  Trace trace;
  index.search(queries, 3, {}, &trace);
  CHECK(trace.chunks == 4);
  CHECK(trace.source_bytes == size(n * dims) * sizeof(float));
  CHECK(trace.plan.residence == Residence::stream);
  CHECK(trace.plan.chunk_rows == 32);
  CHECK(trace.plan.problem.n == n);
  CHECK(explain(index.plan(m, 3)).find("residence      stream, in chunks of 32 training rows") !=
        std::string::npos);
  CHECK(index.memory_bytes() == 0);
}

TEST_CASE("stream: a limit bounds what is on the device, and automatic goes by it") {
  constexpr std::int64_t rows = 4000, columns = 64;
  constexpr std::size_t limit = std::size_t{1} << 20;
  const Matrix train = hard_rows(DataKind::normal, Set::train, rows, columns, Metric::l2),
               queries = hard_rows(DataKind::normal, Set::queries, 40, columns, Metric::l2);
  IndexOptions options{.memory_limit = limit};
  const Index index(device(), copied(train), Metric::l2, options), whole(device(), train, Metric::l2);
  REQUIRE(index.residence() == Residence::stream);
  const Plan plan = index.plan(40, 10);
  const std::size_t chunk_bytes = size(plan.chunk_rows * columns) * sizeof(float);
  CHECK(plan.chunk_rows > 32);
  CHECK(2 * chunk_bytes + plan.workspace_bytes <= limit);
  CHECK(difference(index.search(queries, 10), whole.search(queries, 10)) == "");
  options.memory_limit = 0;
  CHECK(Index(device(), copied(train), Metric::l2, options).residence() == Residence::resident);
  options.memory_limit = 1000;
  options.residence = Residence::stream;
  CHECK(error_of([&] {
          Index(device(), copied(train), Metric::l2, options);
        }).starts_with("out_of_memory: index: two chunks of"));
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_stream
