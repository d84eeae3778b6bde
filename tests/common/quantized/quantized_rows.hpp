// Quantized rows in device memory, and rows for which the certificate holds: docs/certificate.md.
#pragma once

#include "common/device.hpp"
#include "common/quantized/row_terms.hpp"

namespace kith::tests {

/// Scales rows by a power of two if necessary, so that 4 dims M^2 <= 2^100 for any centre among them.
inline Matrix within_range(Matrix rows) {
  float most = 0;
  for (const float value : rows.values) most = std::max(most, std::fabs(value));
  int shift = 0;  // moving by a centre can double an element
  while (16 * static_cast<long double>(rows.cols) * std::ldexp(1.0L * most * most, 2 * shift) > 0x1p100L)
    --shift;
  for (float& value : rows.values) value = std::ldexp(value, shift);
  return rows;
}

/// Computes the mean of the rows, which a search subtracts.
inline std::vector<float> mean_of(const Matrix& rows) {
  std::vector<float> mean;
  for (std::int64_t d = 0; d < rows.cols; ++d) {
    long double sum = 0;
    for (std::int64_t r = 0; r < rows.rows; ++r) sum += rows.row(r)[size(d)];
    mean.push_back(static_cast<float>(sum / static_cast<long double>(rows.rows)));
  }
  return mean;
}

/// Rows, and the quantized form that the device makes of them, between canaries.
struct GuardedQuantizedRows {
  GuardedRows rows;
  GuardedGrid<float> centre, quantized, row_terms;

  GuardedQuantizedRows(spi::Device& device, const Matrix& of, const std::vector<float>& moved_by,
                       std::uint32_t block, std::uint32_t first, const Matrix& around)
      : rows(device, of, block, first, around),
        centre(device, 1, size(of.cols), 1e9f, moved_by),
        quantized(device, size(of.rows), size(of.cols), -123.5f),
        row_terms(device, spi::terms_a_row, size(of.rows), -321.5f) {}

  spi::QuantizedRows grids() const { return {quantized.grid(), row_terms.grid()}; }

  /// Runs the step. Returns why the device refuses, or an empty string if it ran.
  std::string prepare(spi::Device& device, std::uint32_t threads = 0) const {
    return run_step(device, spi::PrepareStep{Proposer::gemm, rows.rows(), centre.grid(), grids()}, threads);
  }
};

/// Checks the terms of all rows, where quantized row r has quantized_of(r, d) in column d, and the memory
/// around them.
///   more_of(row_terms)  that a residual may be too large by
///   size_of(r, d)       the size as which quantized_of(r, d) counts in quantized_norm
///   padding             norm of the sizes of columns behind the last
template <class QuantizedOf, class More, class SizeOf>
void check_row_terms(const GuardedQuantizedRows& guarded_rows, const Matrix& rows,
                     const std::vector<float>& centre, const QuantizedOf& quantized_of, const More& more_of,
                     const SizeOf& size_of, Real padding) {
  const std::vector<float> given = guarded_rows.row_terms.inside();
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    CAPTURE(r);
    RowTerms right(rows.row(r), centre, [&](std::size_t d) { return quantized_of(size(r), d); });
    Real sizes = padding * padding;
    for (std::size_t d = 0; d < centre.size(); ++d) sizes += size_of(size(r), d) * size_of(size(r), d);
    right.quantized_norm = std::sqrt(sizes);
    check_row_terms(Given(given, size(r)), right, rows.cols, more_of(right));
  }
  check_canaries(guarded_rows.row_terms);
  check_unchanged(guarded_rows.rows, guarded_rows.centre);
}

template <class QuantizedOf, class More>
void check_row_terms(const GuardedQuantizedRows& guarded_rows, const Matrix& rows,
                     const std::vector<float>& centre, const QuantizedOf& quantized_of, const More& more_of) {
  check_row_terms(guarded_rows, rows, centre, quantized_of, more_of, quantized_of, 0);
}

/// Holds memory for the copy of the rows that a PrepareStep makes, with canaries before, between and behind
/// the rows.
class RowCopy {
 public:
  ///   gap  canaries between rows; with 0 a device may write several elements at once
  RowCopy(spi::Device& device, const Matrix& of, std::size_t gap)
      : of_(of), stride_(size(of.cols) + gap), memory_(device, image()) {}

  spi::Grid<float> grid() const {
    return {memory_.memory(), around, size(of_.rows), size(of_.cols), stride_};
  }
  /// Returns whether the rows were copied bit for bit, and nothing else was written.
  bool is_right() const {
    std::vector<float> right = memory_.written();
    for (std::int64_t r = 0; r < of_.rows; ++r)
      std::copy(of_.row(r).begin(), of_.row(r).end(),
                right.begin() + static_cast<std::ptrdiff_t>(around + size(r) * stride_));
    const std::vector<float> now = memory_.read();
    return std::memcmp(now.data(), right.data(), now.size() * sizeof(float)) == 0;
  }

 private:
  static constexpr std::size_t around = 64;

  std::vector<float> image() const {
    return std::vector<float>(size(of_.rows) * stride_ + 2 * around, -321.5f);
  }

  const Matrix& of_;
  std::size_t stride_;
  GuardedMemory<float> memory_;
};

}  // namespace kith::tests
