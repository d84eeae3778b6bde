// The shadow of rows, and bounds for how far it is from them: docs/certificate.md, section 2.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
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

  /// Of the shadow of single precision.
  Facts(std::span<const float> row, const std::vector<float>& centre)
      : Facts(row, centre, [&](std::size_t d) { return Real{row[d] - centre[d]}; }) {}

  /// Of the shadow whose columns are shadow_of(d).
  template <class ShadowOf>
  Facts(std::span<const float> row, const std::vector<float>& centre, const ShadowOf& shadow_of) {
    Real moved = 0, shadow = 0, rest = 0;
    for (std::size_t d = 0; d < row.size(); ++d) {
      const Real rounded = row[d] - centre[d], error = error_of_difference(row[d], centre[d]);
      const Real x = rounded + error, y = shadow_of(d), away = (rounded - y) + error;
      moved += x * x;
      shadow += y * y;
      rest += away * away;
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
///   more  that a residual may be too large by, for what a device's own arithmetic loses
void check_facts(const Given& given, const Facts& right, std::int64_t dims, Real more = 0) {
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
  CHECK(given.residual <= 1.001L * right.residual + least + more);
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

/// A 16-bit float: 5 bits of exponent, 10 of fraction.
Real value_of_half(std::uint16_t half) {
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  if (exponent == 31) return std::numeric_limits<Real>::quiet_NaN();  // no shadow has one, or an infinity
  const Real size = std::ldexp(Real(exponent == 0 ? fraction : 1024 + fraction), std::max(exponent, 1) - 25);
  return half >> 15 ? -size : size;
}

/// Whether `half` is the nearest 16-bit float to `value`, of two the even one.
bool is_nearest_half(std::uint16_t half, Real value) {
  const auto distance = [&](int bits) {
    return std::fabs(value_of_half(static_cast<std::uint16_t>(bits)) - value);
  };
  const Real own = distance(half);
  for (const int other : {half - 1, half + 1}) {
    if ((half & 0x7FFF) == 0 && other < half) continue;  // below zero are numbers of the other sign
    if (half % 2 == 0 ? distance(other) < own : distance(other) <= own) return false;
  }
  return own <= std::fabs(value) && (value == 0 || std::signbit(value) == (half >> 15 != 0));
}

/// Why the device prepares no 16-bit shadow; empty when it does.
std::string refusal_of_halves(const spi::Device& device) {
  const spi::Grid<float> grid{nullptr, 0, 1, 1, 1}, facts{nullptr, 0, spi::facts_a_row, 1, 1};
  const spi::RowBlocks rows{nullptr, 0, 1, 1, device.info.train_block};
  return device.check({spi::PrepareStep{Proposer::fp16, rows, grid, {grid, facts}}}).refusal;
}

/// Memory of a 16-bit shadow: canaries, the rows, canaries.
struct Halves {
  static constexpr std::uint16_t canary = 0x7E5A;  // a NaN
  std::size_t rows, columns;                       // padded
  GuardedMemory<std::uint16_t> memory;

  Halves(spi::Device& device, std::int64_t count, std::int64_t dims)
      : rows(padded(count, spi::shadow_rows)),
        columns(padded(dims, spi::shadow_dims)),
        memory(device, std::vector<std::uint16_t>((rows + 2 * spi::shadow_rows) * columns, canary)) {}

  static std::size_t padded(std::int64_t count, std::size_t unit) {
    return (size(count) + unit - 1) / unit * unit;
  }
};

/// The shadow of `rows` by a power of two, its facts, its padding, and what lies around it.
void check_halves(spi::Device& device, const Matrix& rows, const std::vector<float>& centre,
                  std::uint32_t first, float scale) {
  CAPTURE(rows.rows);
  CAPTURE(rows.cols);
  CAPTURE(first);
  CAPTURE(scale);
  const Shadowed shadowed(device, rows, centre, device.info.train_block, first, rows);
  const Halves halves(device, rows.rows, rows.cols);
  const spi::Grid<float> grid{halves.memory.memory(), spi::shadow_rows, size(rows.rows), size(rows.cols), 0};
  REQUIRE(run_step(device, spi::PrepareStep{Proposer::fp16,
                                            shadowed.rows.rows(),
                                            shadowed.centre.grid(),
                                            {grid, shadowed.facts.grid()},
                                            scale}) == "");
  const std::vector<std::uint16_t> now = halves.memory.read();
  const auto half = [&](std::size_t r, std::size_t d) {
    return now[(spi::shadow_rows + r) * halves.columns + d];
  };
  std::size_t wrong = 0, padding = 0, around = 0;
  for (std::size_t r = 0; r < halves.rows; ++r)
    for (std::size_t d = 0; d < halves.columns; ++d)
      if (r >= size(rows.rows) || d >= centre.size())
        padding += half(r, d) != 0;
      else
        wrong +=
            !is_nearest_half(half(r, d), Real{rows.row(static_cast<std::int64_t>(r))[d] - centre[d]} * scale);
  const std::size_t guard = spi::shadow_rows * halves.columns;
  for (std::size_t i = 0; i < guard; ++i)
    around += (now[i] != Halves::canary) + (now[now.size() - 1 - i] != Halves::canary);
  CHECK(wrong == 0);
  CHECK(padding == 0);
  CHECK(around == 0);
  const std::vector<float> facts = shadowed.facts.inside();
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    CAPTURE(r);
    const Facts right(rows.row(r), centre,
                      [&](std::size_t d) { return value_of_half(half(size(r), d)) / Real{scale}; });
    check_facts(Given(facts, size(r)), right, rows.cols, right.norm * 0x1p-50L);
  }
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

TEST_CASE("prepare: 16-bit floats as this test reads and rounds them") {
  CHECK(value_of_half(0x3C00) == 1);
  CHECK(value_of_half(0xC001) == -2 - 0x1p-9L);
  CHECK(value_of_half(0x0001) == 0x1p-24L);
  CHECK(value_of_half(0x7BFF) == 65504);
  CHECK(is_nearest_half(0x3C00, 1 + 0x1p-11L));  // half-way: the even one
  CHECK(!is_nearest_half(0x3C01, 1 + 0x1p-11L));
  CHECK(is_nearest_half(0x3C02, 1 + 3 * 0x1p-11L));
  CHECK(is_nearest_half(0xBC01, -1 - 0x1p-10L));
  CHECK(!is_nearest_half(0x3C01, -1 - 0x1p-10L));
  CHECK(is_nearest_half(0x8000, -0x1p-25L));
  CHECK(!is_nearest_half(0x0000, 0x1.1p-25L));
  CHECK(is_nearest_half(0x0001, 0x1.1p-25L));
}

TEST_CASE(
    "prepare: shadows of 16-bit floats, padded with zeros, and bounds for them that hold and are near") {
  spi::with_device(device(), [](spi::Device& device) {
    const auto& listed = device.info.proposers;
    const std::string refusal = refusal_of_halves(device);
    CHECK(refusal.empty() == (std::find(listed.begin(), listed.end(), Proposer::fp16) != listed.end()));
    if (!refusal.empty()) return;
    for (const DataKind kind : workloads::all_data_kinds)
      for (const std::int64_t dims : {1, 31, 64, 257, 784}) {
        CAPTURE(std::string(workloads::name(kind)));
        const Matrix rows =
            within_range(hard_rows(kind, Set::train, dims == 64 ? 300 : 33, dims, Metric::l2));
        for (const std::vector<float>& centre : {std::vector<float>(size(dims)), mean_of(rows)}) {
          float largest = 0;
          for (std::size_t i = 0; i < rows.values.size(); ++i)
            largest = std::max(largest, std::fabs(rows.values[i] - centre[i % size(dims)]));
          if (largest < 0x1p-40f) continue;  // searches use no such scale
          const float scale = std::ldexp(1.0f, 13 - std::ilogb(largest));
          check_halves(device, rows, centre, 3, scale);
          check_halves(device, rows, centre, 32, scale * 0x1p-24f);  // halves without their leading one
        }
      }
  });
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
