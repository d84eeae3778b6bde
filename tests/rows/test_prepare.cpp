// Tests quantized rows, and bounds for how far they are from the rows: docs/certificate.md, section 2.
#include "common/quantized/quantized_rows.hpp"

namespace kith::tests {
namespace {

void check_rows(spi::Device& device, const Matrix& rows, const std::vector<float>& centre,
                std::uint32_t block, std::uint32_t first, std::uint32_t threads = 0) {
  CAPTURE_ALL(rows.rows, rows.cols, block, first);
  const Matrix others = within_range(hard_rows(DataKind::huge, Set::train, 5, rows.cols, Metric::l2));
  const GuardedQuantizedRows guarded_rows(device, rows, centre, block, first, others);
  REQUIRE(guarded_rows.prepare(device, threads) == "");
  std::vector<float> moved;
  for (std::size_t i = 0; i < rows.values.size(); ++i)
    moved.push_back(rows.values[i] - centre[i % size(rows.cols)]);
  CHECK(difference(guarded_rows.quantized.inside(), moved) == "");
  check_row_terms(
      guarded_rows, rows, centre,
      [&](std::size_t r, std::size_t d) { return Real{moved[r * size(rows.cols) + d]}; },
      [](const RowTerms&) { return Real{0}; });
  check_canaries(guarded_rows.quantized);
}

/// Returns a 16-bit float: 5 bits of exponent, 10 of fraction.
Real value_of_half(std::uint16_t half) {
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  if (exponent == 31)
    return std::numeric_limits<Real>::quiet_NaN();  // no quantized row has one, or an infinity
  const Real size = std::ldexp(Real(exponent == 0 ? fraction : 1024 + fraction), std::max(exponent, 1) - 25);
  return half >> 15 ? -size : size;
}

/// Returns whether `half` is the nearest 16-bit float to `value`; of two equally near ones the even one.
bool is_nearest_half(std::uint16_t half, Real value) {
  const auto distance = [&](int bits) {
    return std::fabs(value_of_half(static_cast<std::uint16_t>(bits)) - value);
  };
  const Real own = distance(half);
  for (const int other : {half - 1, half + 1}) {
    if ((half & 0x7FFF) == 0 && other < half) continue;  // beyond zero the sign changes
    if (half % 2 == 0 ? distance(other) < own : distance(other) <= own) return false;
  }
  return own <= std::fabs(value) && (value == 0 || std::signbit(value) == (half >> 15 != 0));
}

/// Returns why the device prepares no 16-bit quantized rows; empty when it does.
std::string refusal_of_halves(const spi::Device& device) {
  const spi::Grid<float> grid{nullptr, 0, 1, 1, 1}, row_terms{nullptr, 0, spi::terms_a_row, 1, 1};
  const spi::RowBlocks rows{nullptr, 0, 1, 1, device.info.train_block};
  return device.check({spi::PrepareStep{Proposer::fp16, rows, grid, {grid, row_terms}}}).refusal;
}

/// Holds memory of 16-bit quantized rows: canaries, the rows, canaries.
struct Halves {
  static constexpr std::uint16_t canary = 0x7E5A;  // a NaN
  std::size_t rows, columns;                       // padded
  GuardedMemory<std::uint16_t> memory;

  Halves(spi::Device& device, std::int64_t count, std::int64_t dims)
      : rows(padded(count, spi::quantized_block_rows)),
        columns(spi::quantized_columns(Proposer::fp16, size(dims))),
        memory(device, std::vector<std::uint16_t>((rows + 2 * spi::quantized_block_rows) * columns, canary)) {
  }

  /// Returns where dimension d of row r is stored. The first 64 dimensions of 128 rows lie together, then
  /// the next 64. Within them a row is a line of 128 bytes (64 or 32 if there are fewer dimensions). Its
  /// pieces of 16 bytes are in an order that depends on the row, so that the same piece of 8 rows is in 8
  /// memory banks.
  std::size_t place_of(std::size_t r, std::size_t d) const {
    const std::size_t line = std::min<std::size_t>(columns, 64), row = spi::quantized_block_rows + r;
    const std::size_t block = row / spi::quantized_block_rows, in_block = row % spi::quantized_block_rows;
    const std::size_t turn = in_block * line / 64 % (line / 8);
    return block * spi::quantized_block_rows * columns + d / line * line * spi::quantized_block_rows +
           in_block * line + ((d % line / 8) ^ turn) * 8 + d % 8;
  }

  static std::size_t padded(std::int64_t count, std::size_t unit) {
    return (size(count) + unit - 1) / unit * unit;
  }
};

/// Holds the form in which a row's line has one number: a 16-bit float; if rows have up to four columns two
/// of them, each twice, so that the product of two such lines is the product of the sums.
struct HalfNumber {
  std::uint16_t high = 0, low = 0;
  bool right = true;  ///< rounded to nearest, and all copies are equal

  /// `column(c)` is column c of the line.
  template <class Column>
  HalfNumber(const Column& column, std::size_t d, std::size_t dims, bool of_query, Real value) {
    if (dims > 4) {
      high = column(d);
      right = is_nearest_half(high, value);
      return;
    }
    const std::size_t other = of_query ? 1 : 2, second = of_query ? 2 : 1;
    high = column(4 * d);
    low = column(4 * d + second);
    right = high == column(4 * d + other) && low == column(4 * d + 3) && is_nearest_half(high, value) &&
            is_nearest_half(low, value - value_of_half(high));
  }
  Real value() const { return value_of_half(high) + value_of_half(low); }
  /// Returns the size as which tensor cores align the number.
  Real size(bool split) const { return aligned(high) + (split ? aligned(low) : 0); }

 private:
  static Real aligned(std::uint16_t half) { return std::max(std::fabs(value_of_half(half)), Real{0x1p-14}); }
};

/// Checks rows quantized by a power of two: their values, row terms, padding, and the memory around them.
void check_halves(spi::Device& device, const Matrix& rows, const std::vector<float>& centre,
                  std::uint32_t first, float scale, bool queries) {
  CAPTURE_ALL(queries, rows.rows, rows.cols, first, scale);
  const GuardedQuantizedRows guarded_rows(device, rows, centre, device.info.train_block, first, rows);
  const Halves halves(device, rows.rows, rows.cols);
  const RowCopy copy(device, rows, first % 2);
  const spi::Grid<float> grid{halves.memory.memory(), spi::quantized_block_rows, size(rows.rows),
                              size(rows.cols), 0};
  REQUIRE(run_step(device, spi::PrepareStep{Proposer::fp16,
                                            guarded_rows.rows.rows(),
                                            guarded_rows.centre.grid(),
                                            {grid, guarded_rows.row_terms.grid()},
                                            scale,
                                            queries,
                                            queries ? spi::Grid<float>{} : copy.grid()}) == "");
  const std::vector<std::uint16_t> now = halves.memory.read();
  const auto half = [&](std::size_t r, std::size_t c) { return now[halves.place_of(r, c)]; };
  const auto number = [&](std::size_t r, std::size_t d) {
    const float scaled = (rows.row(static_cast<std::int64_t>(r))[d] - centre[d]) * scale;
    return HalfNumber([&](std::size_t c) { return half(r, c); }, d, centre.size(), queries, Real{scaled});
  };
  std::size_t wrong = 0, padding = 0, around = 0;
  const bool split = centre.size() <= 4;
  const std::size_t used = centre.size() * (split ? 4 : 1);
  for (std::size_t r = 0; r < halves.rows; ++r) {
    for (std::size_t c = r < size(rows.rows) ? used : 0; c < halves.columns; ++c) padding += half(r, c) != 0;
    for (std::size_t d = 0; r < size(rows.rows) && d < centre.size(); ++d) wrong += !number(r, d).right;
  }
  const std::size_t guard = spi::quantized_block_rows * halves.columns;
  for (std::size_t i = 0; i < guard; ++i)
    around += (now[i] != Halves::canary) + (now[now.size() - 1 - i] != Halves::canary);
  CHECK(wrong == 0);
  CHECK(padding == 0);
  CHECK(around == 0);
  check_row_terms(
      guarded_rows, rows, centre,
      [&](std::size_t r, std::size_t d) { return number(r, d).value() / Real{scale}; },
      [](const RowTerms& right) { return right.norm * 0x1p-50L; },
      [&](std::size_t r, std::size_t d) { return number(r, d).size(split) / Real{scale}; },
      std::sqrt(split ? 4 * Real(4 - rows.cols) : Real(halves.columns - used)) * 0x1p-14L / Real{scale});
  CHECK((queries || copy.is_right()));
}

/// Returns the row terms of one row.
Given row_terms_of(spi::Device& device, const Matrix& row, const std::vector<float>& centre) {
  const GuardedQuantizedRows guarded_rows(device, row, centre, device.info.train_block, 0, row);
  REQUIRE(guarded_rows.prepare(device) == "");
  return Given(guarded_rows.row_terms.inside(), 0);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("prepare: worked out on paper") {
  if (!has_quantized_rows()) return;
  spi::with_device(device(), [](spi::Device& device) {
    const Given plain = row_terms_of(device, matrix(2, {3, 4}), {0, 0});
    CHECK((plain.norm >= 5 && plain.norm < 5.001f));
    CHECK((plain.quantized_norm >= 5 && plain.quantized_norm < 5.001f));
    CHECK((plain.half_norm <= 12.5f && plain.half_norm > 12.49f));
    CHECK((plain.residual >= 0 && plain.residual < 0x1p-59f));
    const Given moved = row_terms_of(device, matrix(2, {13, -16}), {10, -20});
    CHECK((moved.norm >= 5 && moved.norm < 5.001f));
    // 1 + 2^-23 - 2^-24 lies halfway between two floats and becomes 1, so 2^-24 is lost.
    const Given rounded = row_terms_of(device, matrix(1, {1 + 0x1p-23f}), {0x1p-24f});
    CHECK(double{rounded.norm} >= 1 + 0x1p-24);
    CHECK(double{rounded.half_norm} <= 0.5 * (1 + 0x1p-24) * (1 + 0x1p-24));
    CHECK(rounded.residual >= 0x1p-24f);
    CHECK(rounded.residual < 0x1.01p-24f);
    // The error of a subtraction may be far smaller than what double precision sees beside the rest.
    CHECK(row_terms_of(device, matrix(1, {1}), {0x1p-140f}).residual >= 0x1p-140f);
    CHECK(row_terms_of(device, matrix(1, {1}), {-denormal}).residual >= denormal);
  });
}

TEST_CASE("prepare: rows of zeros, and of the smallest numbers") {
  if (!has_quantized_rows()) return;
  spi::with_device(device(), [](spi::Device& device) {
    const Given zeros = row_terms_of(device, matrix(3, {0, -0.0f, 0}), {0, 0, 0});
    CHECK(zeros.half_norm == 0);
    for (const float row_term : {zeros.norm, zeros.quantized_norm, zeros.residual}) {
      CHECK(row_term >= 0);
      CHECK(row_term < 0x1p-59f);
    }
    const Given least = row_terms_of(device, matrix(2, {denormal, 0}), {0, 0});
    CHECK(least.norm >= denormal);
    CHECK(least.quantized_norm >= denormal);
    CHECK(least.half_norm == 0);  // denormal^2 / 2 is below every float but 0
  });
}

TEST_CASE("prepare: bounds that hold and are near, on hard data, whatever the centre is") {
  if (!has_quantized_rows()) return;
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
  if (!has_quantized_rows()) return;
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
  CHECK(is_nearest_half(0x3C00, 1 + 0x1p-11L));  // halfway, so the even one
  CHECK(!is_nearest_half(0x3C01, 1 + 0x1p-11L));
  CHECK(is_nearest_half(0x3C02, 1 + 3 * 0x1p-11L));
  CHECK(is_nearest_half(0xBC01, -1 - 0x1p-10L));
  CHECK(!is_nearest_half(0x3C01, -1 - 0x1p-10L));
  CHECK(is_nearest_half(0x8000, -0x1p-25L));
  CHECK(!is_nearest_half(0x0000, 0x1.1p-25L));
  CHECK(is_nearest_half(0x0001, 0x1.1p-25L));
}

TEST_CASE(
    "prepare: quantized rows of 16-bit floats, padded with zeros, and bounds for them that hold and are "
    "near") {
  spi::with_device(device(), [](spi::Device& device) {
    const auto& listed = device.info.proposers;
    const std::string refusal = refusal_of_halves(device);
    if (std::find(listed.begin(), listed.end(), Proposer::fp16) != listed.end()) REQUIRE(refusal == "");
    if (!refusal.empty()) return;
    for (const DataKind kind : workloads::all_data_kinds)
      for (const std::int64_t dims : {1, 2, 3, 4, 5, 31, 64, 257, 784}) {
        CAPTURE(std::string(workloads::name(kind)));
        const Matrix rows =
            within_range(hard_rows(kind, Set::train, dims == 64 ? 300 : 33, dims, Metric::l2));
        for (const std::vector<float>& centre : {std::vector<float>(size(dims)), mean_of(rows)}) {
          float largest = 0;
          for (std::size_t i = 0; i < rows.values.size(); ++i)
            largest = std::max(largest, std::fabs(rows.values[i] - centre[i % size(dims)]));
          if (largest < 0x1p-40f) continue;  // searches use no such scale
          const float scale = std::ldexp(1.0f, 13 - std::ilogb(largest));
          for (const bool queries : {false, true}) {
            if (queries && dims > 5) continue;  // the same as of training rows
            check_halves(device, rows, centre, 3, scale, queries);
            check_halves(device, rows, centre, 32, scale * 0x1p-24f, queries);  // halves without leading one
          }
        }
      }
  });
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
