// Tests the plain program in double precision, with which `kith verify` and `kith compare` compare answers.
#include <cmath>
#include <set>

#include "doubles/doubles_oracle.hpp"
#include "workloads/cases.hpp"

namespace kith::tests {
namespace {

DoubleMatrix plain_rows(DoubleData kind, std::int64_t count, std::mt19937& random) {
  DoubleMatrix all{count, 3, {}};
  for (std::int64_t i = 0; i < 3 * count; ++i) {
    const double value = double_of(kind, i % 3, random);
    all.values.push_back(value == 0 ? 1 : value);  // no row of zeros, which has no direction
  }
  return all;
}

/// Returns how often each class, in ascending order, is among the labels of the rows of each list.
std::vector<std::uint32_t> counted_votes(const std::vector<std::int64_t>& labels, const Neighbors& found) {
  const std::set<std::int64_t> classes(labels.begin(), labels.end());
  std::vector<std::uint32_t> votes;
  for (std::int64_t q = 0; q < found.queries; ++q)
    for (const std::int64_t one : classes)
      votes.push_back(static_cast<std::uint32_t>(
          std::count_if(found.row.begin() + q * found.k, found.row.begin() + (q + 1) * found.k,
                        [&](std::int64_t row) { return labels[static_cast<std::size_t>(row)] == one; })));
  return votes;
}

}  // namespace

TEST_CASE("plain_answer: in double precision it has the bits of the oracle of doubles, and its votes") {
  std::mt19937 random(5);
  const std::vector<std::int64_t> labels = workloads::make_labels(1, 40, 3);
  for (const DoubleData kind : all_double_data)
    for (const Metric metric :
         {Metric::squared_l2, Metric::l2, Metric::l1, Metric::linf, Metric::negative_dot, Metric::cosine}) {
      CAPTURE(std::string(name(metric)));
      const DoubleMatrix train = plain_rows(kind, 40, random), queries = plain_rows(kind, 6, random);
      const workloads::Answer found =
          workloads::plain_answer(metric, train.view(), queries.view(), 5, &labels);
      const Neighbors right = nearest_by_oracle(metric, all_by_oracle(metric, train, queries, every_row), 5);
      CHECK(found.neighbors == right);
      CHECK(found.votes == counted_votes(labels, right));
      CHECK(found.label.size() == 6);
    }
}

TEST_CASE("difference: answers in double precision differ by one bit, or by their arithmetic") {
  const Neighbors right{2, 1, {}, {4, 5}, Arithmetic::f64, {0.1, 3}};
  CHECK(workloads::different_queries(right, right) == 0);
  CHECK(workloads::difference({right, {}, {}}, {right, {}, {}}).empty());
  Neighbors other = right;
  other.distance64[1] = std::nextafter(3.0, 4.0);
  CHECK(workloads::different_queries(right, other) == 1);
  CHECK(workloads::difference({right, {}, {}}, {other, {}, {}}) ==
        "query 1, place 0: row 5 at 3.0000000000000004 (0x4008000000000001), expected row 5 at 3 "
        "(0x4008000000000000)");
  CHECK(workloads::difference({right, {}, {}}, {{2, 1, {0.1f, 3}, {4, 5}}, {}, {}}) ==
        "the result is f32, expected f64");
}

}  // namespace kith::tests
