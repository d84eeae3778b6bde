// Tests the rows on which the other tests, `kith compare` and `kith-lab bench` run.
#include "common/test.hpp"
#include "kith/error.hpp"
#include "workloads/random.hpp"
#include "workloads/rows.hpp"

using namespace kith;
using namespace kith::workloads;

namespace {

/// Returns FNV-1a over the bits of all elements.
std::uint64_t fingerprint(const Rows& rows) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  const float* values = rows.view().data();
  for (std::int64_t i = 0; i < rows.rows() * rows.dims(); ++i)
    hash = (hash ^ std::bit_cast<std::uint32_t>(values[i])) * 0x100000001B3u;
  return hash;
}

}  // namespace

TEST_CASE("rows: the same bits on every machine") {
  const struct {
    DataKind kind;
    std::uint64_t train, queries;
  } golden[] = {
      {DataKind::uniform, 0x87CA5851581B9BEBu, 0xF84B531711E8E93Fu},
      {DataKind::normal, 0xF674F99A332F7478u, 0x088FD55A4B797D5Eu},
      {DataKind::grid, 0x02CFC1AE7C893585u, 0xA39D741758093585u},
      {DataKind::equal, 0xBDEA5FB750036025u, 0xD43EBCBA4472875Eu},
      {DataKind::offset, 0xDF69E8A08697AC9Fu, 0x8126B3EC1D4170C6u},
      {DataKind::clusters, 0x4E4784AEC14D75B0u, 0xE2FD001ACFD751FEu},
      {DataKind::outliers, 0xF674F99A332F7478u, 0x52C51DB5870D9D24u},
      {DataKind::subnormal, 0xD5CAAB76C35C7A6Cu, 0x494B523EC22C30F7u},
      {DataKind::huge, 0xC9A89EE462788258u, 0x31279DD53186C32Cu},
      {DataKind::integers, 0x6A77ABD3EBD03585u, 0x7DFCFC8F329F3585u},
      {DataKind::near_duplicates, 0x45AEAEDF79660D8Fu, 0xDEE92CB3535BCA04u},
      {DataKind::aligned, 0x53EB208E0911D727u, 0xF36B5EBCBBF763B1u},
      {DataKind::crowd, 0x2CFE6B33A9E39C94u, 0x4933BCB6250711DEu},
      {DataKind::descending, 0x71063D44319E7763u, 0xB68B8073E9797D5Eu},
      {DataKind::one_huge, 0xC2373FCE07720F0Cu, 0x088FD55A4B797D5Eu},
      {DataKind::decades, 0x87C511E19F0767EEu, 0x772FE788F5CD5B98u},
      {DataKind::integers_2048, 0x11B56E21FB227585u, 0x2D73B7B08794D585u},
      {DataKind::integers_16777216, 0xB2B600222F271371u, 0x645B9B24D1A9663Bu},
      {DataKind::byte_grid, 0xF78C0BFEDE7E3585u, 0xBBD9CBA0C7C33585u},
  };
  CHECK(std::size(golden) == all_data_kinds.size() + adversarial_data_kinds.size());
  for (const auto& g : golden) {
    CAPTURE(std::string(name(g.kind)));
    CHECK(fingerprint(make_rows(g.kind, 7, Set::train, 120, 9)) == g.train);
    CHECK(fingerprint(make_rows(g.kind, 7, Set::queries, 120, 9)) == g.queries);
  }
}

TEST_CASE("rows: any part can be made alone") {
  const Rows whole = make_rows(DataKind::clusters, 3, Set::queries, 40, 5);
  std::vector<float> part(3 * 5);
  fill_rows(DataKind::clusters, 3, Set::queries, 17, {part.data(), 3, 5});
  CHECK(std::equal(part.begin(), part.end(), whole.view().row(17)));
}

TEST_CASE("rows: each kind is what it claims") {
  const auto all = [](DataKind kind, auto holds) {
    const Rows rows = make_rows(kind, 1, Set::train, 200, 7);
    const float* values = rows.view().data();
    return std::all_of(values, values + 200 * 7, holds);
  };
  CHECK(all(DataKind::uniform, [](float x) { return x >= 0 && x < 1; }));
  CHECK(all(DataKind::offset, [](float x) { return x > 9990 && x < 10010; }));
  CHECK(all(DataKind::grid, [](float x) { return x == -1 || x == 0 || x == 1; }));
  CHECK(all(DataKind::integers,
            [](float x) { return x >= 0 && x <= 218 && x == static_cast<float>(static_cast<int>(x)); }));
  CHECK(all(DataKind::subnormal, [](float x) { return x > -1e-19f && x < 1e-19f; }));
  CHECK(all(DataKind::huge, [](float x) { return x > -1e38f && x < 1e38f; }));

  const Rows equal = make_rows(DataKind::equal, 1, Set::train, 20, 3);
  for (std::int64_t r = 1; r < 20; ++r)
    CHECK(std::equal(equal.view().row(r), equal.view().row(r) + 3, equal.view().row(0)));
  CHECK(parse_data_kind("grid") == DataKind::grid);
  CHECK(parse_data_kind("Near_Duplicates") == DataKind::near_duplicates);
  CHECK_THROWS_WITH_AS(parse_data_kind("gird"),
                       "data: there is no kind of data called \"gird\"; did you mean grid?", Error);
  CHECK_THROWS_WITH_AS(
      parse_data_kind("nonsense"),
      "data: there is no kind of data called \"nonsense\"; choose one of uniform, normal, grid, "
      "equal, offset, clusters, outliers, subnormal, huge, integers, near-duplicates, aligned, crowd, "
      "descending, one-huge, decades, integers-2048, integers-16777216, byte-grid",
      Error);
  ;
}

TEST_CASE("rows: what may deceive a proposer") {
  constexpr std::int64_t n = 400, dims = 5;
  const auto largest = [](const float* row) {
    return std::accumulate(row, row + dims, 0.0f,
                           [](float most, float x) { return std::max(most, std::fabs(x)); });
  };
  const auto made = [](DataKind kind, Set set) { return make_rows(kind, 1, set, n, dims); };
  const Rows late = made(DataKind::descending, Set::train), near = made(DataKind::descending, Set::queries);
  const Rows huge = made(DataKind::one_huge, Set::train), decades = made(DataKind::decades, Set::train);
  float smallest = 1, most = 1;
  for (std::int64_t r = 0; r < n; ++r) {
    CHECK(largest(late.view().row(r)) <= 4 * 64.0f / (64.0f + static_cast<float>(r)));
    CHECK(largest(near.view().row(r)) <= 0x1p-8f);
    CHECK((largest(huge.view().row(r)) > 1e6f) == (r == 3));
    smallest = std::min(smallest, largest(decades.view().row(r)));
    most = std::max(most, largest(decades.view().row(r)));
  }
  CHECK(smallest < 1e-5f);
  CHECK(most > 1e5f);
  const Rows small = made(DataKind::integers_2048, Set::train),
             wide = made(DataKind::integers_16777216, Set::train);
  const float *a = small.view().data(), *b = wide.view().data();
  const Rows signs = made(DataKind::aligned, Set::train);
  for (std::int64_t r = 1; r < n; ++r)
    for (std::int64_t d = 0; d < dims; ++d)
      CHECK(signs.view()(r, d) * signs.view()(0, 0) == signs.view()(r, 0) * signs.view()(0, d));
  CHECK(*std::min_element(a, a + n * dims) == 2044);
  CHECK(*std::max_element(a, a + n * dims) == 2052);
  CHECK(*std::min_element(b, b + n * dims) == 0x1p24f - 8);
  CHECK(*std::max_element(b, b + n * dims) == 0x1p24f + 8);
}

TEST_CASE("rows: near duplicates of four rows, and a crowd around one") {
  constexpr std::int64_t n = 400, dims = 5;
  // Counts the rows whose difference from row r is at most 2^-7 of it.
  const auto like = [](const Rows& rows, std::int64_t r) {
    std::int64_t count = 0;
    for (std::int64_t t = 0; t < n; ++t) {
      bool near = true;
      for (std::int64_t d = 0; d < dims; ++d) {
        const float x = rows.view()(r, d);
        near = near && std::fabs(rows.view()(t, d) - x) <= 0x1p-7f * std::fabs(x);
      }
      count += near;
    }
    return count;
  };
  const auto most_alike = [&](const Rows& rows) {
    std::int64_t most = 0;
    for (std::int64_t r = 0; r < 20; ++r) most = std::max(most, like(rows, r));
    return most;
  };
  const Rows four = make_rows(DataKind::near_duplicates, 1, Set::train, n, dims);
  for (std::int64_t r = 0; r < 20; ++r) CHECK(like(four, r) > n / 8);
  const std::int64_t crowd = most_alike(make_rows(DataKind::crowd, 1, Set::train, n, dims));
  CHECK((crowd > 2 * n / 5 && crowd < 3 * n / 5));
  const std::int64_t queries = most_alike(make_rows(DataKind::crowd, 1, Set::queries, n, dims));
  CHECK((queries > n / 32 && queries < n / 8));
}

TEST_CASE("rows: cosine meets no row without a direction") {
  const Rows rows = make_rows(DataKind::grid, 1, Set::train, 100, 1, Metric::cosine);
  for (std::int64_t r = 0; r < 100; ++r) CHECK(*rows.view().row(r) != 0.0f);
}

TEST_CASE("random: normal numbers have mean 0 and variance 1") {
  double sum = 0, squares = 0;
  for (std::uint64_t i = 0; i < 100000; ++i) {
    const double x = static_cast<double>(normal(random_bits(1, i)));
    sum += x;
    squares += x * x;
  }
  CHECK(sum / 100000 == doctest::Approx(0).epsilon(0.02));
  CHECK(squares / 100000 == doctest::Approx(1).epsilon(0.02));
}
