// The shadow of rows, and bounds for how far it is from them: docs/certificate.md, section 2.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "device.hpp"
#include "oracle.hpp"
#include "shadows.hpp"

namespace kith::tests {
namespace {

using Real = long double;

/// The four facts of one row, without error to speak of.
struct Facts {
  Real half_norm = 0, norm = 0, shadow_norm = 0, residual = 0;

  Facts(std::span<const float> row, const std::vector<float>& centre) {
    Real moved = 0, shadow = 0, rest = 0;
    for (std::size_t d = 0; d < row.size(); ++d) {
      const Real rounded = row[d] - centre[d], error = error_of_difference(row[d], centre[d]);
      const Real x = rounded + error;
      moved += x * x;
      shadow += rounded * rounded;
      rest += error * error;
    }
    half_norm = moved / 2;
    norm = std::sqrt(moved);
    shadow_norm = std::sqrt(shadow);
    residual = std::sqrt(rest);
  }
};

/// The facts of row r as a device gave them: [facts_a_row, rows].
struct Given {
  float half_norm, norm, shadow_norm, residual;

  Given(const std::vector<float>& facts, std::size_t r) {
    const std::size_t rows = facts.size() / spi::facts_a_row;
    half_norm = facts[spi::half_norm * rows + r];
    norm = facts[spi::norm * rows + r];
    shadow_norm = facts[spi::shadow_norm * rows + r];
    residual = facts[spi::residual * rows + r];
  }
};

/// Bounds that hold, and are near: an infinite one would hold, and be of no use.
void check_facts(const Given& given, const Facts& right, std::int64_t dims) {
  constexpr Real own = 1 - 0x1p-45L;  // of the arithmetic here
  const Real columns = static_cast<Real>(dims), least = std::sqrt(columns) * 0x1p-60L;
  CHECK(given.half_norm >= 0);
  CHECK(given.half_norm * own <= right.half_norm);
  CHECK(given.half_norm >= 0.999L * right.half_norm - columns * 0x1p-130L);
  CHECK(given.norm >= right.norm * own);
  CHECK(given.norm <= 1.001L * right.norm + least);
  CHECK(given.shadow_norm >= right.shadow_norm * own);
  CHECK(given.shadow_norm <= 1.001L * right.shadow_norm + least);
  CHECK(given.residual >= right.residual * own);
  CHECK(given.residual <= 1.001L * right.residual + least);
}

void check_rows(spi::Device& device, const Matrix& rows, const std::vector<float>& centre,
                std::uint32_t block, std::uint32_t first, std::uint32_t threads = 0) {
  CAPTURE(rows.rows);
  CAPTURE(rows.cols);
  CAPTURE(block);
  CAPTURE(first);
  const Matrix others = within_range(hard_rows(DataKind::huge, Set::train, 5, rows.cols, Metric::l2));
  const Shadowed shadowed(device, rows, centre, block, first, others);
  REQUIRE(shadowed.prepare(device, threads) == "");
  std::vector<float> moved;
  for (std::size_t i = 0; i < rows.values.size(); ++i)
    moved.push_back(rows.values[i] - centre[i % size(rows.cols)]);
  CHECK(difference(shadowed.shadow.inside(), moved) == "");
  const std::vector<float> facts = shadowed.facts.inside();
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    CAPTURE(r);
    check_facts(Given(facts, size(r)), Facts(rows.row(r), centre), rows.cols);
  }
  CHECK(shadowed.shadow.canaries_live());
  CHECK(shadowed.facts.canaries_live());
  CHECK(shadowed.rows.unchanged());
  CHECK(shadowed.centre.unchanged());
}

/// The facts of one row.
Given facts_of(spi::Device& device, const Matrix& row, const std::vector<float>& centre) {
  const Shadowed shadowed(device, row, centre, device.info.train_block, 0, row);
  REQUIRE(shadowed.prepare(device) == "");
  return Given(shadowed.facts.inside(), 0);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("prepare: worked out on paper") {
  if (!has_shadows()) return;
  spi::with_device(device(), [](spi::Device& device) {
    const Given plain = facts_of(device, matrix(2, {3, 4}), {0, 0});
    CHECK((plain.norm >= 5 && plain.norm < 5.001f));
    CHECK((plain.shadow_norm >= 5 && plain.shadow_norm < 5.001f));
    CHECK((plain.half_norm <= 12.5f && plain.half_norm > 12.49f));
    CHECK((plain.residual >= 0 && plain.residual < 0x1p-59f));
    const Given moved = facts_of(device, matrix(2, {13, -16}), {10, -20});
    CHECK((moved.norm >= 5 && moved.norm < 5.001f));
    // 1 + 2^-23 less 2^-24 lies between two floats, and becomes 1: 2^-24 is lost.
    const Given rounded = facts_of(device, matrix(1, {1 + 0x1p-23f}), {0x1p-24f});
    CHECK(double{rounded.norm} >= 1 + 0x1p-24);
    CHECK(double{rounded.half_norm} <= 0.5 * (1 + 0x1p-24) * (1 + 0x1p-24));
    CHECK(rounded.residual >= 0x1p-24f);
    CHECK(rounded.residual < 0x1.01p-24f);
    // The error of a subtraction may be far smaller than what double precision sees beside the rest.
    CHECK(facts_of(device, matrix(1, {1}), {0x1p-140f}).residual >= 0x1p-140f);
    CHECK(facts_of(device, matrix(1, {1}), {-denormal}).residual >= denormal);
  });
}

TEST_CASE("prepare: rows of zeros, and of the smallest numbers") {
  if (!has_shadows()) return;
  spi::with_device(device(), [](spi::Device& device) {
    const Given zeros = facts_of(device, matrix(3, {0, -0.0f, 0}), {0, 0, 0});
    CHECK(zeros.half_norm == 0);
    for (const float fact : {zeros.norm, zeros.shadow_norm, zeros.residual}) {
      CHECK(fact >= 0);
      CHECK(fact < 0x1p-59f);
    }
    const Given least = facts_of(device, matrix(2, {denormal, 0}), {0, 0});
    CHECK(least.norm >= denormal);
    CHECK(least.shadow_norm >= denormal);
    CHECK(least.half_norm == 0);  // denormal^2 / 2 is below every float but 0
  });
}

TEST_CASE("prepare: bounds that hold and are near, on hard data, whatever the centre is") {
  if (!has_shadows()) return;
  spi::with_device(device(), [](spi::Device& device) {
    for (const DataKind kind : workloads::all_data_kinds)
      for (const std::int64_t dims : {1, 2, 17, 64, 784}) {
        CAPTURE(std::string(workloads::name(kind)));
        const Matrix rows = within_range(hard_rows(kind, Set::train, 23, dims, Metric::l2));
        const std::vector<float> origin(size(dims)), first(rows.values.begin(), rows.values.begin() + dims);
        std::vector<float> odd(size(dims));
        for (std::size_t d = 0; d < odd.size(); ++d) odd[d] = rows.values[d] / 3 + (d % 2 ? 1e-30f : 0);
        for (const std::vector<float>& centre : {origin, mean_of(rows), first, odd})
          check_rows(device, rows, centre, device.info.train_block, 3);
      }
  });
}

TEST_CASE("prepare: any number of rows, from anywhere in a block, and nothing else is written") {
  if (!has_shadows()) return;
  spi::with_device(device(), [](spi::Device& device) {
    for (const std::uint32_t block : {device.info.train_block, device.info.query_block})
      for (const std::uint32_t first : {0u, 3u, 16u, 21u})
        for (const std::int64_t count : {1, 5, 16, 33, 130})
          for (const std::int64_t dims : {1, 7, 40}) {
            const Matrix rows = hard_rows(DataKind::normal, Set::train, count, dims, Metric::l2);
            check_rows(device, rows, mean_of(rows), block, first);
          }
    const Matrix rows = hard_rows(DataKind::offset, Set::train, 2000, 33, Metric::l2);
    for (const std::uint32_t threads : {1u, 2u, 5u})
      check_rows(device, rows, mean_of(rows), device.info.train_block, 5, threads);
    check_rows(device, Matrix{0, 4, {}}, {1, 2, 3, 4}, device.info.train_block, 0);
  });
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
