// Tests rows on a grid of bytes, c + b i. Products of their bytes can be exact, and then replace the chain:
// docs/certificate.md, section 4.
#include "common/device.hpp"
#include "common/elements.hpp"
#include "common/folder.hpp"
#include "common/oracle.hpp"
#include "kith/index.hpp"
#include "kith/index_file.hpp"
#include "kith/spi/byte_grid.hpp"
#include "workloads/random.hpp"

namespace kith::tests::test_byte_grid {
namespace {

constexpr Metric product_metrics[] = {Metric::squared_l2, Metric::l2, Metric::negative_dot};

/// Returns a matrix of random whole numbers from `least` to `most`.
Matrix whole_numbers(std::int64_t rows, std::int64_t cols, int least, int most, std::uint64_t seed) {
  workloads::Random random(seed);
  Matrix made{rows, cols, {}};
  for (std::int64_t i = 0; i < rows * cols; ++i)
    made.values.push_back(static_cast<float>(random.between(least, most)));
  return made;
}

Matrix zeros_and_255(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  Matrix made = whole_numbers(rows, cols, 0, 1, seed);
  for (float& value : made.values) value *= 255;
  std::fill_n(made.values.begin(), cols, 255.0f);       // row 0
  std::fill_n(made.values.begin() + cols, cols, 0.0f);  // row 1
  return made;
}

/// Returns a + b j, rounded to float.
Matrix on_grid(Matrix j, double a, double b) {
  for (float& value : j.values) value = static_cast<float>(a + b * static_cast<double>(value));
  return j;
}

/// Returns whether products replaced the chain. Checks that the answer has the bits of the chain alone.
bool by_products(const Index& index, const RowsView& queries, std::int64_t k, SearchOptions options = {}) {
  options.proposer = Proposer::none;
  const Neighbors expected = index.search(queries, k, options);
  options.proposer = Proposer::int8;
  Trace trace;
  const Neighbors found = index.search(queries, k, options, &trace);
  CHECK(found == expected);
  CHECK(trace.plan.proposer == Proposer::int8);
  const std::string text = explain(trace.plan);
  CHECK((text.find("ranked by ") != std::string::npos) == trace.plan.exact_products);
  return trace.plan.exact_products;
}

bool by_products(const RowsView& train, const RowsView& queries, std::int64_t k,
                 Metric metric = Metric::squared_l2) {
  return by_products(Index(device(), train, metric), queries, k);
}

/// Returns whether products may replace the chain. With kernels for GPUs they may only if the chain is exact
/// for all possible rows.
bool may_take_products(Metric metric, std::int64_t dims) {
  return size(dims) <=
         (device().info().profile.host_threads ? spi::most_exact_dims : spi::columns_of_exact_chains(metric));
}

TEST_SUITE_BEGIN("device");

TEST_CASE("byte grid: the columns up to which every chain is exact") {
  CHECK(spi::columns_of_exact_chains(Metric::squared_l2) == 258);
  CHECK(spi::columns_of_exact_chains(Metric::l2) == 258);
  CHECK(spi::columns_of_exact_chains(Metric::negative_dot) == 1024);
  CHECK(spi::most_exact_dims == 1024);
  CHECK(255 * 255 * 258 <= 1 << 24);
  CHECK(255 * 255 * 259 > 1 << 24);
  CHECK(128 * 128 * 1024 == 1 << 24);
}

TEST_CASE("byte grid: bytes with bytes, the answer of the chain by products of whole numbers") {
  if (!has(Proposer::int8)) return;
  for (const std::int64_t dims : {1, 3, 31, 64, 128, 200, 257, 258}) {
    CAPTURE(dims);
    const Matrix unsigned_rows = whole_numbers(700, dims, 0, 255, 1),
                 asked = whole_numbers(33, dims, 0, 255, 2);
    const Matrix signed_rows = whole_numbers(700, dims, -128, 127, 3),
                 more = whole_numbers(33, dims, -128, 127, 4);
    for (const Metric metric : product_metrics) {
      CAPTURE(std::string(name(metric)));
      const bool squares = metric != Metric::negative_dot;
      CHECK(by_products(Stored(unsigned_rows, Element::u8).view(), Stored(asked, Element::u8).view(), 10,
                        metric) == squares);
      CHECK(
          by_products(Stored(signed_rows, Element::i8).view(), Stored(more, Element::i8).view(), 10, metric));
      CHECK(by_products(unsigned_rows, asked, 3, metric) == squares);
      CHECK(by_products(signed_rows, more, 3, metric));
      CHECK_FALSE(by_products(Stored(unsigned_rows, Element::u8).view(), Stored(more, Element::i8).view(), 5,
                              metric));
    }
    const Matrix small = whole_numbers(33, dims, 0, 127, 5);  // u8 and i8 both hold these
    CHECK(by_products(Stored(unsigned_rows, Element::u8).view(), Stored(small, Element::i8).view(), 5));
    CHECK(by_products(Stored(signed_rows, Element::i8).view(), Stored(small, Element::u8).view(), 5));
    CHECK(by_products(Stored(small, Element::u8).view(), Stored(small, Element::i8).view(), 5,
                      Metric::negative_dot));
    CHECK(by_products(Stored(unsigned_rows, Element::u8).view(), asked, 5));
    CHECK(by_products(unsigned_rows, Stored(asked, Element::u8).view(), 5));
    CHECK(by_products(Stored(small, Element::bf16).view(), Stored(small, Element::f16).view(), 5));
  }
}

TEST_CASE("byte grid: columns of 0 and 255, up to and beyond those whose chains are exact, k up to n") {
  if (!has(Proposer::int8)) return;
  for (const std::int64_t dims : {256, 257, 258, 259, 260, 784, 1023, 1024, 1025, 1300}) {
    CAPTURE(dims);
    const Matrix train = zeros_and_255(60, dims, 6), queries = zeros_and_255(9, dims, 7);
    for (const std::int64_t k : {1, 10, 60}) {
      CAPTURE(k);
      CHECK(by_products(Stored(train, Element::u8).view(), Stored(queries, Element::u8).view(), k) ==
            may_take_products(Metric::squared_l2, dims));
    }
    const Matrix least = whole_numbers(60, dims, -128, -128, 8), asked = whole_numbers(9, dims, -128, 127, 9);
    CHECK(by_products(Stored(least, Element::i8).view(), Stored(least, Element::i8).view(), 60,
                      Metric::negative_dot) == (dims <= 1024));
    CHECK(by_products(Stored(least, Element::i8).view(), Stored(asked, Element::i8).view(), 60,
                      Metric::negative_dot) == (dims <= 1024));
  }
}

TEST_CASE("byte grid: chains above 2^24 steps, which round, beside such that do not") {
  if (!has(Proposer::int8)) return;
  for (const std::int64_t dims : {300, 500, 784, 1024})
    for (const int from : {255, 240, 200, 150, 100, 0}) {
      CAPTURE_ALL(dims, from);
      Matrix train = whole_numbers(300, dims, 0, 60, 10);
      const Matrix near = whole_numbers(40, dims, 0, 255, 11),
                   queries = whole_numbers(12, dims, from, 255, 12);
      train.values.insert(train.values.end(), near.values.begin(), near.values.end());
      train.rows += near.rows;
      for (const std::int64_t k : {1, 35, 200, 340})
        CHECK(by_products(train, queries, k) == may_take_products(Metric::squared_l2, dims));
    }
}

TEST_CASE("byte grid: floats a + b j, with many a and b") {
  if (!has(Proposer::int8)) return;
  struct Grid {
    double a, b;
    bool exact;
  };
  for (const Grid& g :
       {Grid{0, 1, true},  {0, 0x1p-8, true},     {0, 0x1p-30, true},       {-1, 0x1p-7, true},
        {-255, 1, true},   {0.25, 1, true},       {3, 0x1p-4, true},        {-1000, 2, true},
        {5e3, 0.5, true},  {0, 1.0 / 255, false}, {-0.5, 1.0 / 255, false}, {3, 0.1, false},
        {0, 3, false},     {1e-3, 1e-5, false},   {0, 0x1p-41, false},      {0, 0x1p21, false},
        {1e-30, 1, false}, {1e9, 0x1p7, false},   {0.1, 0x1p-3, false},     {5e5, 0.5, false}}) {
    CAPTURE_ALL(g.a, g.b);
    for (const std::int64_t dims : {1, 20, 150}) {
      CAPTURE(dims);
      const Matrix train = on_grid(whole_numbers(600, dims, 0, 255, 13), g.a, g.b),
                   queries = on_grid(whole_numbers(33, dims, 0, 255, 14), g.a, g.b);
      const bool exact = by_products(train, queries, 7);
      if (dims > 1) CHECK(exact == g.exact);
      by_products(train, queries, 7, Metric::negative_dot);
      const Matrix halves = on_grid(whole_numbers(600, dims, -128, 127, 15), 0, g.b);
      by_products(halves, halves, 4, Metric::negative_dot);
    }
  }
}

TEST_CASE("byte grid: one value beside it, in the last row and column or in a query") {
  if (!has(Proposer::int8)) return;
  const std::int64_t n = 9000, dims = 8;  // rows 0, 3, 6, ... are sampled; the last row is not
  const Matrix train = whole_numbers(n, dims, 0, 255, 16), queries = whole_numbers(20, dims, 0, 255, 17);
  for (const float value : {0.5f, 1e-30f, -1.0f, 256.0f, 127.99999f, 1e6f, -1e-45f, 128.00002f}) {
    CAPTURE(value);
    Matrix beside = train, asked = queries;
    beside.values.back() = value;
    asked.values.back() = value;
    Trace trace;
    Index(device(), beside, Metric::squared_l2).search(queries, 10, {.proposer = Proposer::int8}, &trace);
    CHECK(trace.quantized_bytes >= trace.plan.row_copy_bytes);  // though the sample promised exact products
    CHECK_FALSE(by_products(beside, queries, 10));
    CHECK_FALSE(by_products(train, asked, 10));
    CHECK_FALSE(by_products(beside, asked, 300));
    beside.values.back() = train.values.back();
    CHECK(by_products(beside, queries, 10));
  }
  Matrix zeros = queries;
  zeros.values.assign(zeros.values.size(), 0.0f);
  zeros.values.back() = -0.0f;
  CHECK(by_products(train, zeros, 10));
}

TEST_CASE("byte grid: rows are copied to be ranked only where queries off their grid ask") {
  if (!has(Proposer::int8)) return;
  constexpr std::int64_t rows = 3000, dims = 24;
  const Index index(device(), whole_numbers(rows, dims, 0, 255, 20), Metric::squared_l2);
  const Matrix queries = whole_numbers(40, dims, 0, 255, 21);
  const std::size_t copy = index.plan(40, 5, {.proposer = Proposer::int8}).row_copy_bytes,
                    before = index.memory_bytes();
  CHECK(copy == size(rows * dims) * sizeof(float));
  const auto copied = [&index](const Matrix& asked) {
    Trace trace;
    index.search(asked, 5, {.proposer = Proposer::int8}, &trace);
    return trace.plan.row_copy_bytes;
  };
  CHECK(copied(queries) == 0);
  CHECK(by_products(index, queries, 5));
  CHECK(copied(on_grid(queries, 0.25, 1)) == copy);
  CHECK(index.memory_bytes() >= before + copy);
  CHECK_FALSE(by_products(index, on_grid(queries, 0.25, 1), 5));
  CHECK(copied(queries) == copy);  // it stays
  CHECK(by_products(index, queries, 5));
}

TEST_CASE("byte grid: a sample of even numbers, and odd ones between") {
  if (!has(Proposer::int8)) return;
  const std::int64_t n = 9000, dims = 6;  // rows 0, 3, 6, ... are sampled
  Matrix train = whole_numbers(n, dims, 0, 200, 18);
  for (std::int64_t r = 0; r < n; r += 3)
    for (std::int64_t d = 0; d < dims; ++d) {
      float& value = train.values[size(r * dims + d)];
      value = 4 * std::floor(value / 4);
    }
  CHECK(by_products(train, whole_numbers(30, dims, 0, 255, 19), 20));
  // Now the grid has step 2, and odd numbers in the queries lie half a step off it.
  for (float& value : train.values) value *= 2;
  CHECK_FALSE(by_products(train, whole_numbers(30, dims, 0, 255, 20), 20));
}

TEST_CASE("byte grid: ties everywhere, and rows that are all one") {
  if (!has(Proposer::int8)) return;
  for (const int most : {1, 2, 5}) {
    const Matrix train = whole_numbers(2000, 5, 0, most, 21), queries = whole_numbers(20, 5, 0, most, 22);
    for (const std::int64_t k : {1, 50, 700, 2000}) CHECK(by_products(train, queries, k));
    CHECK(by_products(train, queries, 100, Metric::negative_dot));
  }
  const Matrix same = whole_numbers(1500, 30, 7, 7, 23);
  CHECK(by_products(same, same, 5));
  CHECK(by_products(same, whole_numbers(5, 30, 0, 255, 24), 1500));
}

TEST_CASE("byte grid: filters, leave-one-out, rows that come and go, and files") {
  if (!has(Proposer::int8)) return;
  const std::int64_t n = 3000, dims = 32;
  const Matrix train = whole_numbers(n, dims, 0, 255, 25), queries = whole_numbers(25, dims, 0, 255, 26);
  const Stored stored(train, Element::u8);
  const Index index(device(), stored.view(), Metric::squared_l2);
  CHECK(by_products(index, queries, 10, {.self = 100}));
  std::vector<std::uint32_t> words(size((n + 31) / 32), 0xFFFFFF7Fu);
  SearchOptions filtered{.filter = {words.data(), 1, static_cast<std::int64_t>(words.size())}};
  CHECK(by_products(index, queries, 10, filtered));
  const std::vector<std::int64_t> gone = {0, 5, 6, 2999};
  const Index rest = index.without(gone);
  CHECK(by_products(rest, queries, 10));
  CHECK(by_products(rest.compact(), queries, 10));
  const Index grown = index.with(whole_numbers(500, dims, 0, 255, 27));
  CHECK(by_products(grown, queries, 10));
  CHECK_FALSE(by_products(index.with(on_grid(whole_numbers(500, dims, 0, 255, 28), 0.5, 1)), queries, 10));
  CHECK_FALSE(by_products(index.with(whole_numbers(500, dims, -100, 600, 29)), queries, 10));
  const test_support::TemporaryFolder folder;
  const std::string path = folder / "bytes.kidx";
  save(index, path);
  CHECK(by_products(open_index(path, device()), queries, 10));
  save(Index(device(), train, Metric::squared_l2), path);
  CHECK(by_products(open_index(path, device()), queries, 10));
}

TEST_CASE("byte grid: metrics that no product helps go by the chain") {
  const Matrix train = whole_numbers(500, 9, 0, 255, 30), queries = whole_numbers(7, 9, 0, 255, 31);
  for (const Metric metric : {Metric::l1, Metric::linf, Metric::cosine}) {
    const Index index(device(), Stored(train, Element::u8).view(), metric);
    Trace trace;
    const Neighbors found = index.search(Stored(queries, Element::u8).view(), 5, {}, &trace);
    CHECK(found == Index(device(), train, metric).search(queries, 5));
    CHECK_FALSE(trace.plan.exact_products);
    if (metric == Metric::cosine && has(Proposer::int8)) CHECK_FALSE(by_products(index, queries, 5));
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_byte_grid
