// Makes synthetic rows: data that reveal mistakes, and data of benchmarks. Equal arguments give the same bits
// on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kith/matrix_view.hpp"
#include "kith/metric.hpp"

namespace kith::workloads {

/// Says what rows are made of, and what each kind can reveal.
enum class DataKind {
  uniform,    ///< uniform in [0, 1)
  normal,     ///< mean 0, variance 1
  grid,       ///< -1, -0, 0, 1: nearly every distance is a tie
  equal,      ///< all training rows are equal, and most queries equal them
  offset,     ///< normal + 10000: far from the origin, where expanded formulas fail
  clusters,   ///< tight clusters of rows that lie far apart
  outliers,   ///< normal, but one row in a hundred is a thousand times as large
  subnormal,  ///< elements, or their squares, below the smallest normal float: a flush to zero shows
  huge,       ///< 1e30 and more, where squares overflow to infinity, beside 1e18, where they just fit
  integers,   ///< 0 .. 218, as in SIFT
  // These may also deceive a proposer, which rounds its products:
  near_duplicates,  ///< copies of four rows that differ by a 2^8th, 2^11th, 2^14th or 2^23rd, or not at all
  aligned,          ///< multiples of one row of signs: all elements of a row round the same way
  crowd,            ///< half of the rows are nearly one row, and one query in 16 is
  descending,       ///< each row nearer to all queries than most rows before it
  one_huge,         ///< normal, but the fourth training row is 10^12 times as large, and decides every scale
  decades,          ///< each row times one of 10^-6, 10^-5, ... 10^6
  integers_2048,    ///< 2044 .. 2052, where 16-bit floats stop to hold every integer
  integers_16777216,  ///< 2^24 - 8 .. 2^24 + 8, where single precision stops
  byte_grid,          ///< a + b j, j = 0 .. 255, a and b by the seed, except in one row of 97
};

/// Every step is tested with these.
inline constexpr std::array all_data_kinds = {
    DataKind::uniform,  DataKind::normal,   DataKind::grid,      DataKind::equal, DataKind::offset,
    DataKind::clusters, DataKind::outliers, DataKind::subnormal, DataKind::huge,  DataKind::integers,
};

/// Every proposer is also tested with these.
inline constexpr std::array adversarial_data_kinds = {
    DataKind::near_duplicates, DataKind::aligned,           DataKind::crowd,
    DataKind::descending,      DataKind::one_huge,          DataKind::decades,
    DataKind::integers_2048,   DataKind::integers_16777216, DataKind::byte_grid,
};

std::string_view name(DataKind kind);

/// Returns the kind called `text`. Throws invalid_argument, and lists the names, if there is none.
DataKind parse_data_kind(std::string_view text);

/// Returns `uniform, normal, ...`.
std::string data_kind_names();

/// Owns rows. It is no vector, since ten million rows need not be zeroed first.
class Rows {
 public:
  Rows() = default;
  Rows(std::int64_t rows, std::int64_t dims);

  float* row(std::int64_t r) { return values_.get() + r * dims_; }
  std::int64_t rows() const { return rows_; }
  std::int64_t dims() const { return dims_; }
  MatrixView<const float> view() const { return {values_.get(), rows_, dims_}; }

 private:
  std::unique_ptr<float[]> values_;
  std::int64_t rows_ = 0, dims_ = 0;
};

/// Names the two sets of a problem, which share their clusters, but no rows.
enum class Set { train, queries };

/// Makes rows first .. first + out.rows() - 1 of an endless set.
void fill_rows(DataKind kind, std::uint64_t seed, Set set, std::int64_t first, MatrixView<float> out);

/// Returns the first `rows` rows of that set. Uses all cores.
///   metric  cosine: a row of zeros, which has no direction, begins with a 1 instead; all rows of a set are
///           multiplied by a power of two that follows from the seed, unless the kind has all sizes
Rows make_rows(DataKind kind, std::uint64_t seed, Set set, std::int64_t rows, std::int64_t dims,
               Metric metric = Metric::squared_l2);

/// Returns whether the contract admits `kind` for `metric`: negative_dot refuses rows that could reach
/// inf - inf, which `huge` is made of.
bool admits(Metric metric, DataKind kind);

/// Returns a label for each of n rows: at most `classes` different ones, sparse, in no order; empty if
/// `classes` is 0.
std::vector<std::int64_t> make_labels(std::uint64_t seed, std::int64_t n, std::int64_t classes);

}  // namespace kith::workloads
