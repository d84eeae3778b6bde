// Tests rows of so many bits that raw values are codes: docs/contract.md, section 1. More of them are in
// tests/rows/test_sums_random.cpp.
#include <limits>

#include "common/device.hpp"
#include "common/elements.hpp"
#include "common/environment.hpp"
#include "common/oracle.hpp"
#include "kith/index.hpp"
#include "kith/source.hpp"
#include "metric/exact_shares.hpp"

namespace kith::tests {
namespace {

constexpr std::int64_t coded_bits = 5000, coded_rows = 60;

/// Rows without ones.
Stored empty_rows(std::int64_t rows, std::int64_t bits) {
  Stored stored(Element::bits, rows, bits);
  for (std::int64_t r = 0; r < rows; ++r)
    std::fill_n(stored.row(r), row_bytes(Element::bits, bits), static_cast<unsigned char>(0));
  return stored;
}

void put_ones(Stored& rows, std::int64_t row, std::int64_t first, std::int64_t end) {
  for (std::int64_t bit = first; bit < end; ++bit)
    rows.row(row)[bit / 8] = static_cast<unsigned char>(rows.row(row)[bit / 8] | 1u << bit % 8);
}

/// Rows of 1,000 ones, of which a query's first ones are the fewer, the later a row is; most have none in
/// common with it, or three. Every row is there twice.
Stored far_rows() {
  Stored rows = empty_rows(coded_rows, coded_bits);
  for (std::int64_t r = 0; r < coded_rows; ++r) {
    const std::int64_t common = r / 2 < 6 ? 3 * (5 - r / 2) : 0;
    put_ones(rows, r, 0, common);
    put_ones(rows, r, 1000 + 4 * (r / 2), 2000 + 4 * (r / 2) - common);
  }
  return rows;
}

Stored query_of_far_rows() {
  Stored query = empty_rows(1, coded_bits);
  put_ones(query, 0, 0, 900);
  return query;
}

IndexOptions once() {
  IndexOptions options;
  options.deduplicate = true;
  return options;
}

template <class Body>
void for_each_coded(const Body& body) {
  for (const Metric metric : sum_metrics)
    if (has_codes(metric, coded_bits)) {
      CAPTURE(std::string(name(metric)));
      body(metric);
    }
}

TEST_SUITE_BEGIN("device");

TEST_CASE("codes: counts of rows that are there once and twice, at every radius") {
  const Stored rows = far_rows(), query = query_of_far_rows();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for_each_coded([&](Metric metric) {
    const Neighbors all = nearest_by_shares(metric, query.view(), rows.view(), coded_rows);
    const auto a = static_cast<double>(all.distance[1]), b = static_cast<double>(all.distance[9]);
    for (const bool strict : {false, true})
      for (const double radius : {0.0, a, b, 0.9999, 1.0, 2.0, infinity}) {
        CAPTURE_ALL(strict, radius);
        std::uint64_t right[2] = {0, 0};
        for (const float distance : all.distance)
          for (const int which : {0, 1}) {
            const double most = which == 0 ? a : radius;
            right[which] +=
                strict ? static_cast<double>(distance) < most : static_cast<double>(distance) <= most;
          }
        const double radii[] = {a, radius};
        if (radius < a) continue;
        for (const IndexOptions& options : {IndexOptions(), once()}) {
          const auto counted =
              Index(device(), rows.view(), metric, options).count(query.view(), {{radii, 1, 2}, strict});
          CHECK(counted[0] == right[0]);
          CHECK(counted[1] == right[1]);
        }
      }
  });
}

TEST_CASE("codes: the same bits where the host program rounds otherwise or flushes") {
  const Stored rows = far_rows(), query = query_of_far_rows();
  SearchOptions cut, banded, of_group;
  cut.radius = 0.999;
  of_group.groups = {0, 1};
  banded.boxes = true;
  IndexOptions streamed, grouped;
  streamed.residence = Residence::stream;
  streamed.chunk_rows = 32;
  grouped.groups = {0, coded_rows};
  for_each_coded([&](Metric metric) {
    const Index plain(device(), rows.view(), metric);
    const Index elsewhere[] = {plain, Index(device(), rows.view(), metric, once()),
                               Index(device(), memory_source(rows.view()), metric, streamed)};
    const Index one_group(device(), rows.view(), metric, grouped);
    const Neighbors right = plain.search(query.view(), coded_rows),
                    near = plain.search(query.view(), coded_rows, cut);
    CHECK(difference(right, nearest_by_shares(metric, query.view(), rows.view(), coded_rows)) == "");
    for (const HostileSetting setting : hostile_settings) {
      CAPTURE(std::string(name(setting)));
      std::vector<Neighbors> found, found_near;
      Neighbors by_bands;
      {
        const HostileEnvironment hostile(setting);
        for (const Index& index : elsewhere) {
          found.push_back(index.search(query.view(), coded_rows));
          found_near.push_back(index.search(query.view(), coded_rows, cut));
        }
        by_bands = plain.search(query.view(), coded_rows, banded);
        found.push_back(one_group.search(query.view(), coded_rows, of_group));
      }
      for (const Neighbors& each : found) CHECK(difference(each, right) == "");
      for (const Neighbors& each : found_near) CHECK(difference(each, near) == "");
      CHECK(difference(by_bands, right) == "");
    }
  });
}

/// The bound of the second band and the distance of a row in it are one quotient, 5 / 6.
TEST_CASE("bands: a band at the bound is read where the host program rounds upward") {
  constexpr std::int64_t n = 17000, half = 8250, bits = 200;
  Stored rows = empty_rows(n, bits), query = empty_rows(1, bits);
  put_ones(query, 0, 0, 7);
  for (std::int64_t r = 0; r < n; ++r) put_ones(rows, r, 100, r < half ? 142 : 107);
  std::fill_n(rows.row(0), row_bytes(Element::bits, bits), static_cast<unsigned char>(0));
  put_ones(rows, 0, 0, 42);
  std::fill_n(rows.row(9000), row_bytes(Element::bits, bits), static_cast<unsigned char>(0));
  put_ones(rows, 9000, 5, 12);
  IndexOptions each;
  each.deduplicate = false;
  const Index index(device(), rows.view(), Metric::jaccard, each);
  SearchOptions banded;
  banded.boxes = true;
  Neighbors found;
  {
    const HostileEnvironment hostile(HostileSetting::upward);
    found = index.search(query.view(), 1, banded);
  }
  CHECK(found.row[0] == 0);
  CHECK(found == index.search(query.view(), 1));
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
