// Tests rows that stay in a source and are moved each time they are read: by a prepared metric, or into a
// box.
#include <random>

#include "common/device.hpp"
#include "common/parted/sets.hpp"
#include "kith/index.hpp"
#include "kith/source.hpp"
#include "prepared/prepared_oracle.hpp"

namespace kith::tests {
namespace {

constexpr std::int64_t n = 131, m = 9, cols = 5;

/// Rows of doubles that are read in parts, and not from memory.
class ReadRows final : public Source {
 public:
  explicit ReadRows(DoubleMatrix of) : rows_(std::move(of)) {}
  RowsInfo info() const override { return {rows_.rows, rows_.cols, Element::f64}; }
  void read(std::int64_t first, std::int64_t count, void* to) const override {
    std::copy_n(rows_.values.data() + first * rows_.cols, count * rows_.cols, static_cast<double*>(to));
  }
  std::uint64_t state() const override { return 7; }
  std::string name() const override { return "rows"; }

 private:
  const DoubleMatrix rows_;
};

IndexOptions streamed(IndexOptions options) {
  options.residence = Residence::stream;
  options.chunk_rows = 32;
  return options;
}

/// Returns a refusal without the code before it.
std::string refused(const DoubleMatrix& rows, Metric metric, const IndexOptions& options) {
  return error_of([&] { Index(device(), std::make_shared<ReadRows>(rows), metric, options); });
}

TEST_SUITE_BEGIN("device");

TEST_CASE("prepared streams: rows that stay in a source are compared as those of an index") {
  std::mt19937 random(441);
  for (const MetricAsked& asked : all_prepared(cols, random))
    for (const Arithmetic width : {Arithmetic::f32, Arithmetic::f64}) {
      if (width == Arithmetic::f64 ? asked.has_terms() : asked.metric == Metric::haversine) continue;
      CAPTURE(std::string(name(asked.metric)));
      CAPTURE(static_cast<int>(width));
      const DoubleMatrix train = rows_for(asked, n, cols, random), queries = rows_for(asked, m, cols, random);
      const Index whole(device(), train, asked.metric, asked.options(width));
      const Index parts(device(), std::make_shared<ReadRows>(train), asked.metric,
                        streamed(asked.options(width)));
      CHECK(parts.metric() == asked.metric);
      CHECK(parts.arithmetic() == width);
      const Neighbors right = whole.search(queries, 40);
      CHECK(parts.search(queries, 40) == right);
      CHECK(parts.search(queries, 1, {.self = 0}) == whole.search(queries, 1, {.self = 0}));
      const std::vector<double> radius{width == Arithmetic::f32 ? static_cast<double>(right.distance[30])
                                                                : right.distance64[30]};
      CHECK(parts.within(queries, radius) == whole.within(queries, radius));
      const std::vector<std::int64_t> gone{0, 33, 130};
      CHECK(parts.without(gone).search(queries, 9) == whole.without(gone).search(queries, 9));
    }
}

TEST_CASE("prepared streams: on a set of devices, and what is learned from all rows") {
  std::mt19937 random(442);
  for (const Metric metric : {Metric::seuclidean, Metric::gower, Metric::nan_gower, Metric::correlation}) {
    CAPTURE(std::string(name(metric)));
    MetricAsked asked{metric};
    const DoubleMatrix train = rows_for(asked, n, cols, random), queries = rows_for(asked, m, cols, random);
    const IndexOptions learned{.arithmetic = Arithmetic::f32};
    const Neighbors right = Index(device(), train, metric, learned).search(queries, 20);
    CHECK(Index(device(), std::make_shared<ReadRows>(train), metric, streamed(learned)).search(queries, 20) ==
          right);
    auto [set, options] = set_by_chance(random, 5);
    options.arithmetic = Arithmetic::f32;
    CHECK(Index(set, std::make_shared<ReadRows>(train), metric, streamed(options)).search(queries, 20) ==
          right);
  }
}

TEST_CASE("prepared streams: a periodic box, whatever is open") {
  std::mt19937 random(443);
  const MetricAsked plain{Metric::l2};
  const DoubleMatrix train = rows_for(plain, n, 3, random), queries = rows_for(plain, m, 3, random);
  for (const std::vector<double>& lengths :
       std::vector<std::vector<double>>{{1, 2, 3}, {0, 2, 0}, {0.5, 0, 4}})
    for (const Metric metric : {Metric::l2, Metric::linf}) {
      const IndexOptions boxed{.box = lengths, .arithmetic = Arithmetic::f32};
      const Index whole(device(), train, metric, boxed),
          parts(device(), std::make_shared<ReadRows>(train), metric, streamed(boxed));
      CHECK(parts.search(queries, 20) == whole.search(queries, 20));
      CHECK(parts.within(queries, std::vector<double>{0.4}) ==
            whole.within(queries, std::vector<double>{0.4}));
    }
}

TEST_CASE("prepared streams: a row that cannot be prepared is named, and what is not there says what to do") {
  DoubleMatrix rows{40, 2, std::vector<double>(80, 1)};
  for (std::size_t i = 0; i < 80; i += 2) rows.values[i] = static_cast<double>(i);
  rows.values[70] = 1;
  const IndexOptions options = streamed({.first_row = 1000, .arithmetic = Arithmetic::f32});
  const Index index(device(), std::make_shared<ReadRows>(rows), Metric::correlation, options);
  const MatrixView<const double> query(rows.values.data(), 1, 2);
  CHECK(error_of([&] {
          index.search(query, 1);
        }).starts_with("invalid_argument: index: training row 1035 holds 1 in each column"));
  IndexOptions powers = streamed({.arithmetic = Arithmetic::f64});
  powers.p = 3;
  CHECK(refused(rows, Metric::minkowski, powers) ==
        "unsupported: index: minkowski in double precision, of rows that stay in a source; choose arithmetic "
        "f32, or residence resident");
  powers.arithmetic = Arithmetic::f32;
  powers.residence = Residence::quantized;
  CHECK(refused(rows, Metric::minkowski, powers) ==
        "unsupported: index: minkowski with residence quantized, from whose rows distances of terms do not "
        "follow; choose residence stream or resident");
  const IndexOptions boxed = streamed({.box = {9, 9}, .arithmetic = Arithmetic::f64});
  CHECK(refused(rows, Metric::l2, boxed)
            .starts_with("unsupported: index: rows in a periodic box in double precision"));
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
