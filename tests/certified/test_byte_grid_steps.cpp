// Tests each step alone for rows on a grid of bytes: docs/certificate.md, section 4.
#include "common/quantized/quantized_rows.hpp"
#include "kith/spi/byte_grid.hpp"
#include "workloads/random.hpp"

namespace kith::tests::test_byte_grid_steps {
namespace {

/// Holds rows c + b i with bytes i, and half the sum of i^2 of each row.
struct OfBytes {
  Matrix rows;
  std::vector<double> half_squares;

  OfBytes(std::int64_t count, std::int64_t dims, float c, float b, std::uint64_t seed)
      : rows{count, dims, {}}, half_squares(size(count)) {
    workloads::Random random(seed);
    for (std::int64_t r = 0; r < count; ++r)
      for (std::int64_t d = 0; d < dims; ++d) {
        const auto i = static_cast<double>(r == 0 ? -128 : r == 1 ? 127 : random.between(-128, 127));
        rows.values.push_back(static_cast<float>(static_cast<double>(c) + static_cast<double>(b) * i));
        half_squares[size(r)] += i * i / 2;
      }
  }
};

/// Holds memory for quantized rows of bytes in any order.
struct Room {
  std::size_t columns;
  GuardedMemory<std::int8_t> memory;

  Room(spi::Device& device, std::size_t rows, std::size_t dims)
      : columns(spi::quantized_columns(Proposer::int8, dims)),
        memory(device, std::vector<std::int8_t>((rows + 127) / 128 * 128 * columns)) {}
};

/// Returns the row terms that the device prepares for rows on a grid; empty if it cannot prepare bytes.
std::vector<float> row_terms_of(spi::Device& device, const Matrix& rows, float c, float b,
                                spi::OnGrid on_grid) {
  const std::vector<float> centre(size(rows.cols), c);
  const GuardedQuantizedRows guarded(device, rows, centre, device.info.train_block, 0, rows);
  const Room room(device, size(rows.rows), size(rows.cols));
  const spi::Grid<float> grid{room.memory.memory(), 0, size(rows.rows), size(rows.cols), 0};
  const spi::PrepareStep step{Proposer::int8,
                              guarded.rows.rows(),
                              guarded.centre.grid(),
                              {grid, guarded.row_terms.grid(), on_grid},
                              1 / b};
  if (!device.check({step}).refusal.empty()) return {};
  REQUIRE(run_step(device, step) == "");
  check_canaries(guarded.row_terms);
  return guarded.row_terms.inside();
}

TEST_SUITE_BEGIN("device");

TEST_CASE(
    "byte grid: rows that lie there have half norms and residuals without an error, and others have not") {
  spi::with_device(device(), [](spi::Device& device) {
    struct Grid {
      float c, b;
    };
    for (const Grid& g : {Grid{128, 1}, {0, 1}, {0.5f, 0x1p-8f}, {-1000, 4}, {0, 0x1p-40f}, {0.25f, 0x1p-3f}})
      for (const std::int64_t dims : {1, 3, 33, 100, 258, 784, 1024}) {
        CAPTURE_ALL(g.c, g.b, dims);
        OfBytes of(35, dims, g.c, g.b, size(dims));
        const double square = static_cast<double>(g.b) * static_cast<double>(g.b);
        const auto n = size(of.rows.rows);
        std::vector<float> terms = row_terms_of(device, of.rows, g.c, g.b, spi::OnGrid::exactly);
        if (terms.empty()) return;
        for (std::size_t r = 0; r < n; ++r) {
          CHECK(static_cast<double>(terms[spi::half_norm * n + r]) == of.half_squares[r] * square);
          CHECK(terms[spi::residual * n + r] == 0);
        }
        // Moves the last element of the last row off the grid by some steps.
        for (const float apart : {0x1p-20f, 0.5f, -0.25f, 300.0f}) {
          CAPTURE(apart);
          float& last = of.rows.values.back();
          const float before = last;
          last += apart * g.b;
          const double far = std::fabs(static_cast<double>(last) - static_cast<double>(before));
          terms = row_terms_of(device, of.rows, g.c, g.b, spi::OnGrid::exactly);
          if (far > 0) CHECK(terms[spi::residual * n + n - 1] > 0);
          if (far > 0 && far <= static_cast<double>(g.b) / 4)
            CHECK(static_cast<double>(terms[spi::residual * n + n - 1]) >= far);
          CHECK(terms[spi::residual * n + n - 2] == 0);
          last = before;
        }
      }
    // 1 - 2^-100 is 1 in double precision, and still must count as off the grid.
    const Matrix tiny = matrix(1, {0x1p-100f, 0, 5});
    const std::vector<float> terms = row_terms_of(device, tiny, 128, 1, spi::OnGrid::exactly);
    if (terms.empty()) return;
    CHECK(terms[spi::residual * 3] > 0);
    CHECK(terms[spi::residual * 3 + 1] == 0);
    CHECK(row_terms_of(device, matrix(1, {0, 1, 2}), 128, 1, spi::OnGrid::nearly)[spi::residual * 3] > 0);
  });
}

struct Grid {
  float c, b;
};

/// Converts rows to bytes with half norms alone, and back again.
void check_recovered(spi::Device& device, const Grid& g, std::int64_t dims, std::int64_t n) {
  constexpr float canary = 77;
  CAPTURE_ALL(g.c, dims, n);
  const OfBytes of(n, dims, g.c, g.b, size(dims + n));
  const std::uint32_t block = device.info.train_block;
  const std::vector<float> centre(size(dims), g.c);
  const GuardedQuantizedRows guarded(device, of.rows, centre, block, 0, of.rows);
  const Room room(device, size(n), size(dims));
  const spi::Grid<float> grid{room.memory.memory(), 0, size(n), size(dims), 0};
  const GuardedMemory<float> half_norms(device, std::vector<float>(size(n) + 2, canary));
  const spi::PrepareStep step{Proposer::int8,
                              guarded.rows.rows(),
                              guarded.centre.grid(),
                              {grid, {half_norms.memory(), 1, 1, size(n), size(n)}, spi::OnGrid::exactly},
                              1 / g.b};
  if (!device.check({step}).refusal.empty()) return;
  REQUIRE(run_step(device, step) == "");
  const std::vector<float> terms = half_norms.read();
  const double square = static_cast<double>(g.b) * static_cast<double>(g.b);
  for (std::size_t r = 0; r < size(n); ++r)
    CHECK(static_cast<double>(terms[1 + r]) == of.half_squares[r] * square);
  CHECK(terms.front() == canary);
  CHECK(terms.back() == canary);
  const std::size_t blocks = (size(n) + block - 1) / block, floats = block * size(dims);
  const GuardedMemory<float> out(device, std::vector<float>((blocks + 2) * floats, canary));
  REQUIRE(run_step(device, spi::RecoverStep{{grid, {}, spi::OnGrid::exactly},
                                            guarded.centre.grid(),
                                            1 / g.b,
                                            {out.memory(), block, static_cast<std::uint32_t>(n),
                                             static_cast<std::uint32_t>(dims), block}}) == "");
  const std::vector<float> all = out.read();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t r = i / floats * block + i % block, d = i % floats / block;
    const bool around = i / floats == 0 || i / floats > blocks;
    const float right = around                 ? canary
                        : r - block >= size(n) ? 0.0f
                                               : of.rows.values[(r - block) * size(dims) + d];
    wrong += std::bit_cast<std::uint32_t>(all[i]) != std::bit_cast<std::uint32_t>(right);
  }
  CHECK(wrong == 0);
}

TEST_CASE(
    "byte grid: rows come back from their bytes, in blocks padded with zeros, and half norms are enough") {
  spi::with_device(device(), [](spi::Device& device) {
    for (const Grid& g : {Grid{128, 1}, {0, 1}, {0.5f, 0x1p-8f}, {-1000, 4}})
      for (const std::int64_t dims : {1, 16, 33, 100, 128, 258})
        for (const std::int64_t n : {1, 31, 33, 300}) check_recovered(device, g, dims, n);
  });
}

TEST_CASE("byte grid: two blocks of rows come back from their bytes") {  // a short case for slow tools
  spi::with_device(device(), [](spi::Device& device) { check_recovered(device, {-1000, 4}, 33, 33); });
}

/// Ranks all rows for all queries by exact products; the device may use the chain instead.
void check_products(spi::Device& device, Metric metric, std::int64_t dims) {
  CAPTURE_ALL(name(metric), dims);
  const OfBytes queries(5, dims, 0, 1, 1), train(90, dims, 0, 1, 2);
  const std::size_t m = 5, n = 90, capacity = n + 3;
  const bool squares = metric != Metric::negative_dot;
  std::vector<float> low(m * capacity, -77.5f), terms(spi::terms_a_row * m, -321.5f);
  std::vector<std::uint32_t> rows(m * capacity, no_row), counts(m, static_cast<std::uint32_t>(n));
  std::vector<Key> expected;
  for (std::size_t q = 0; q < m; ++q) {
    terms[spi::half_norm * m + q] = static_cast<float>(queries.half_squares[q]);
    for (std::size_t j = 0; j < capacity; ++j) {
      if (j >= n) {
        expected.push_back(no_key);
        continue;
      }
      const std::size_t t = n - 1 - j;
      double product = 0;
      for (std::size_t d = 0; d < size(dims); ++d)
        product += static_cast<double>(queries.rows.row(static_cast<std::int64_t>(q))[d]) *
                   static_cast<double>(train.rows.row(static_cast<std::int64_t>(t))[d]);
      low[q * capacity + j] = static_cast<float>((squares ? train.half_squares[t] : 0) - product);
      rows[q * capacity + j] = static_cast<std::uint32_t>(t);
      const float s = chain(metric, queries.rows.row(static_cast<std::int64_t>(q)),
                            train.rows.row(static_cast<std::int64_t>(t)));
      expected.push_back(key({s == 0.0f ? 0.0f : s, static_cast<std::uint32_t>(t)}));
    }
  }
  constexpr Key canary = 0xCAFECAFECAFECAFEull;
  const GuardedRows query_rows(device, queries.rows, device.info.query_block, 0, train.rows);
  const GuardedRows train_rows(device, train.rows, device.info.train_block, 0, queries.rows);
  const GuardedGrid<float> lows(device, m, capacity, -1e9f, low),
      query_terms(device, spi::terms_a_row, m, 1e9f, terms);
  const GuardedGrid<std::uint32_t> lists(device, m, capacity, 0u, rows),
      listed(device, m, 1, 0xFFFFu, counts);
  const GuardedGrid<Key> out(device, m, capacity, canary);
  REQUIRE(run_step(device, spi::RerankStep{metric,
                                           query_rows.rows(),
                                           train_rows.rows(),
                                           0,
                                           {lists.grid(), listed.grid()},
                                           out.grid(),
                                           {lows.grid(), query_terms.grid(),
                                            static_cast<float>(spi::most_exact)}}) == "");
  std::vector<Key> found = out.inside();
  std::replace(found.begin(), found.end(), canary, no_key);
  CHECK(difference(found, expected) == "");
  CHECK(out.canaries_live());
  check_unchanged(lows, query_terms, lists, listed, query_rows, train_rows);
}

TEST_CASE("byte grid: keys of exact products are those of the chain, above 2^24 steps too") {
  spi::with_device(device(), [](spi::Device& device) {
    for (const std::int64_t dims : {1, 5, 64, 257, 258, 259, 600, 1024})
      for (const Metric metric : {Metric::squared_l2, Metric::l2, Metric::negative_dot})
        check_products(device, metric, dims);
  });
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_byte_grid_steps
