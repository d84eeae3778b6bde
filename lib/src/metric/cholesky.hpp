// Factors a symmetric, positive definite matrix, and multiplies rows by what follows from it. Every operation
// is rounded once, and sums ascend, so that the bits are the same on every machine (docs/contract.md,
// section 1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kith {

/// The lower triangle C of a matrix C C^T. All functions must run under FloatGuard.
class Cholesky {
 public:
  /// Factors the matrix.
  ///   matrix  [dims, dims], whose symmetric part counts: (m_ij + m_ji) / 2
  Cholesky(std::span<const double> matrix, std::int64_t dims);

  /// Returns the first column whose leading matrix is not positive definite; dims if there is none. If there
  /// is one, the other functions have no meaning.
  std::int64_t failed() const { return failed_; }

  /// Replaces x [dims] by C^-1 x: by forward substitution.
  void solve(std::span<double> x) const;
  /// Replaces x [dims] by C^T x.
  ///   from  [dims]  memory for a copy of x
  void multiply(std::span<double> x, std::span<double> from) const;

 private:
  double& at(std::size_t i, std::size_t j) { return factor_[i * dims_ + j]; }

  std::size_t dims_;
  std::int64_t failed_;
  std::vector<double> factor_;   ///< [dims, dims]  row i is that of C, with zeros behind i
  std::vector<double> columns_;  ///< [dims, dims]  row j is column j of C
};

}  // namespace kith
