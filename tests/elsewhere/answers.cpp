// Prints the bits of answers of the CPU: rows and distances by every metric, element and proposer, of data
// that no library of the machine draws. Builds for other processors must print the same:
// tools/gates/aarch64.sh.
//
// Fails where a proposer and the chain differ. The instruction set is that of KITH_CPU_ISA.
#include <bit>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "kith/kith.hpp"

namespace {

using namespace kith;

struct Shape {
  std::int64_t n, cols, m, k;
};
// Rows beside whole blocks, tiles of few queries and of many, and enough rows for proposers.
constexpr Shape shapes[] = {
    {100, 2, 3, 100}, {1000, 3, 40, 7}, {333, 33, 9, 20}, {2000, 130, 20, 10}, {64, 257, 1, 64}};

/// Numbers of a recurrence: the high bits of a linear congruential generator (Knuth, MMIX).
class Draw {
 public:
  std::uint32_t bits() {
    return static_cast<std::uint32_t>((state_ = state_ * 6364136223846793005u + 1442695040888963407u) >> 32);
  }
  /// Below 1; one in eight is from few values, so that there are ties.
  float number() {
    const std::uint32_t drawn = bits();
    return drawn % 8 == 0 ? static_cast<float>(drawn >> 30) / 4 : static_cast<float>(drawn >> 8) * 0x1p-24f;
  }

 private:
  std::uint64_t state_ = 20261129;
};

std::vector<float> numbers(std::int64_t count, Draw& draw) {
  std::vector<float> all(static_cast<std::size_t>(count));
  for (float& value : all) value = draw.number();
  return all;
}

bool failed = false;
bool ran[32];  ///< by Proposer

/// Folds rows and bits of distances into one number (FNV-1a, 64 bits).
std::uint64_t digest(const Neighbors& found) {
  std::uint64_t sum = 14695981039346656037u;
  const auto add = [&](std::uint64_t word) { sum = (sum ^ word) * 1099511628211u; };
  for (const std::int64_t row : found.row) add(static_cast<std::uint64_t>(row));
  for (const float distance : found.distance) add(std::bit_cast<std::uint32_t>(distance));
  for (const double distance : found.distance64) add(std::bit_cast<std::uint64_t>(distance));
  return sum;
}

/// Searches by the chain and by each proposer that takes these rows, and prints the answer once.
template <class Rows>
void search(const std::string& what, const Rows& rows, const Rows& queries, std::int64_t k, Metric metric,
            const IndexOptions& options = {}) {
  const Index index(open_device("cpu"), rows, metric, options);
  const Neighbors right = index.search(queries, k, {.proposer = Proposer::none});
  for (const Proposer proposer : index.device().info().proposers) {
    if (is_of_sums(metric) || options.arithmetic == Arithmetic::f64) break;
    try {
      const bool same = index.search(queries, k, {.proposer = proposer}) == right;
      ran[static_cast<std::size_t>(proposer)] = true;
      if (same) continue;
      std::fprintf(stderr, "%s: %s and the chain differ\n", what.c_str(),
                   std::string(name(proposer)).c_str());
      failed = true;
    } catch (const Error& error) {
      if (error.code() != Errc::unsupported && error.code() != Errc::invalid_argument)
        throw;  // takes no such rows
    }
  }
  std::printf("%s: row %" PRId64 ", digest %016" PRIx64 "\n", what.c_str(), right.row[0], digest(right));
}

/// What a metric needs beside the rows.
IndexOptions options_for(Metric metric, std::int64_t cols) {
  IndexOptions options;
  if (metric == Metric::minkowski) options.p = 1.5;
  if (takes_categories(metric)) options.categorical = {cols - 1};
  if (metric != Metric::mahalanobis) return options;
  options.covariance.assign(static_cast<std::size_t>(cols * cols), 0.25);
  for (std::int64_t i = 0; i < cols; ++i)
    options.covariance[static_cast<std::size_t>(i * (cols + 1))] = 1 + 0.5 / static_cast<double>(i + 1);
  return options;
}

void search_floats(const Shape& shape, Metric metric, Draw& draw) {
  if (metric == Metric::haversine && shape.cols != 2) return;
  const std::string what =
      std::string(name(metric)) + " " + std::to_string(shape.n) + " x " + std::to_string(shape.cols);
  std::vector<float> rows = numbers(shape.n * shape.cols, draw),
                     queries = numbers(shape.m * shape.cols, draw);
  if (takes_gaps(metric))
    for (std::vector<float>* part : {&rows, &queries})
      for (float& value : *part)
        if (draw.bits() % 5 == 0) value = std::numeric_limits<float>::quiet_NaN();
  const MatrixView<const float> all(rows.data(), shape.n, shape.cols),
      asked(queries.data(), shape.m, shape.cols);
  IndexOptions options = options_for(metric, shape.cols);
  search(what, all, asked, shape.k, metric, options);
  if (is_of_sums(metric)) return;
  options.arithmetic = Arithmetic::f64;
  const std::vector<double> wide(rows.begin(), rows.end()), wide_asked(queries.begin(), queries.end());
  search(what + " f64", MatrixView<const double>(wide.data(), shape.n, shape.cols),
         MatrixView<const double>(wide_asked.data(), shape.m, shape.cols), shape.k, metric, options);
}

void search_elements(const Shape& shape, Draw& draw) {
  const auto bytes_of = [&](std::int64_t count) {
    std::vector<std::uint32_t> words(static_cast<std::size_t>(count + 7) / 4);
    for (std::uint32_t& word : words) word = draw.bits();
    return words;
  };
  const std::string size = std::to_string(shape.n) + " x " + std::to_string(shape.cols);
  const std::vector<std::uint32_t> rows = bytes_of(shape.n * shape.cols),
                                   asked = bytes_of(shape.m * shape.cols);
  for (const Element element : {Element::u8, Element::i8})
    for (const Metric metric : {Metric::l2, Metric::l1, Metric::cosine})
      search(std::string(name(metric)) + " of " + std::string(name(element)) + " " + size,
             RowsView{rows.data(), element, shape.n, shape.cols},
             RowsView{asked.data(), element, shape.m, shape.cols}, shape.k, metric);
  std::vector<Metric> of_bits{Metric::hamming};
  for (const Metric metric : sum_metrics)
    if (compares_bits(metric)) of_bits.push_back(metric);
  for (const Metric metric : of_bits)
    search(std::string(name(metric)) + " of bits " + size,
           RowsView{rows.data(), Element::bits, shape.n, shape.cols / 8 * 8},
           RowsView{asked.data(), Element::bits, shape.m, shape.cols / 8 * 8}, shape.k, metric);
}

}  // namespace

int main() try {
  Draw draw;
  for (const Shape& shape : shapes) {
    for (const Metric metric : all_metrics)
      if (metric != Metric::hamming) search_floats(shape, metric, draw);
    for (const Metric metric : prepared_metrics) search_floats(shape, metric, draw);
    for (const Metric metric : sum_metrics)
      if (!compares_bits(metric)) search_floats(shape, metric, draw);
    if (shape.cols >= 8) search_elements(shape, draw);
  }
  const Device device = open_device("cpu");
  for (const Proposer proposer : device.info().proposers)
    if (!ran[static_cast<std::size_t>(proposer)]) {
      std::fprintf(stderr, "%s took no rows\n", std::string(name(proposer)).c_str());
      failed = true;
    }
  return failed ? 1 : 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "answers: %s\n", error.what());
  return 1;
}
