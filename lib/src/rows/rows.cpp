#include "rows/rows.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "device/host_buffer.hpp"
#include "host/parallel.hpp"
#include "kith/error.hpp"
#include "metric/chain.hpp"
#include "rows/pack_block.hpp"
#include "rows/queries/sent_queries.hpp"

namespace kith {
namespace {

/// Returns the largest |element| of a row; NaN if it has a NaN or an infinity.
///   gaps  NaN are missing values, which do not count
template <bool gaps = false>
float largest_of(const float* row, std::int64_t dims) {
  // Without their signs, floats have the order of their bits as whole numbers; infinities and NaN come last.
  // Compilers vectorise a maximum of whole numbers, but no maximum of floats that has to notice a NaN.
  constexpr std::int32_t magnitude = 0x7FFFFFFF, infinity = 0x7F800000;
  std::int32_t largest = 0;
  for (std::int64_t d = 0; d < dims; ++d) {
    const std::int32_t value = std::bit_cast<std::int32_t>(row[d]) & magnitude;
    largest = std::max(largest, gaps && value > infinity ? 0 : value);
  }
  return largest < infinity ? std::bit_cast<float>(largest) : std::nanf("");
}

/// Returns the largest |element| of all rows; nothing if one is NaN or infinite.
///   take   is called with the first and the number of some rows whose values are in the caches, by
///          several threads; the first is a multiple of `block`
template <class Take>
std::optional<float> largest_of_rows(MatrixView<const float> rows, bool gaps, std::uint32_t threads,
                                     std::int64_t block, const Take& take) {
  constexpr std::int64_t share_floats = 1 << 14;
  const std::int64_t a_share =
      divide_up(std::max<std::int64_t>(1, share_floats / std::max<std::int64_t>(rows.cols(), 1)), block) *
      block;
  std::vector<float> largest(size(divide_up(rows.rows(), a_share)));
  const auto largest_in = gaps ? largest_of<true> : largest_of<false>;
  parallel_for(static_cast<std::int64_t>(largest.size()), rows.rows() * rows.cols(), threads,
               [&](std::int64_t share) {
                 const std::int64_t first = share * a_share, end = std::min(first + a_share, rows.rows());
                 float most = 0;
                 for (std::int64_t r = first; r < end; ++r) {
                   const float row = largest_in(rows.row(r), rows.cols());
                   most = std::isnan(row) || std::isnan(most) ? std::nanf("") : std::max(most, row);
                 }
                 largest[size(share)] = most;
                 take(first, end - first);
               });
  float most = 0;
  for (const float of_share : largest) {
    if (std::isnan(of_share)) return std::nullopt;
    most = std::max(most, of_share);
  }
  return most;
}

/// Names the first element that is NaN or infinite.
[[noreturn]] void refuse_not_finite(std::string_view where, std::string_view what,
                                    MatrixView<const float> rows, bool gaps,
                                    std::span<const std::int64_t> features, std::int64_t first_row) {
  const auto wrong = [&](float value) { return !std::isfinite(value) && !(gaps && std::isnan(value)); };
  std::int64_t r = 0, d = 0;
  while (!wrong(rows(r, d)))
    if (++d == rows.cols()) {
      d = 0;
      ++r;
    }
  const std::int64_t column = features.empty() ? d : features[static_cast<std::size_t>(d)];
  throw Error(Errc::invalid_argument, std::string(where) + ": " + place_text(what, first_row + r, column) +
                                          " holds " + (std::isnan(rows(r, d)) ? "NaN" : "an infinity") +
                                          (gaps ? "; make every value finite, or NaN where it is missing"
                                                : "; make every value finite, or leave the row out"));
}

/// Copies the columns that count into contiguous rows.
void gather(PreparedRows& rows, std::span<const std::int64_t> features, std::uint32_t threads) {
  const MatrixView<const float> from = rows.view;
  const std::size_t dims = features.size();
  Floats chosen(static_cast<std::size_t>(from.rows()) * dims);
  parallel_for(from.rows(), from.rows() * static_cast<std::int64_t>(dims), threads, [&](std::int64_t r) {
    float* const to = chosen.data() + static_cast<std::size_t>(r) * dims;
    for (std::size_t d = 0; d < dims; ++d) to[d] = from(r, features[d]);
  });
  rows.own = std::move(chosen);
  rows.view = MatrixView<const float>(rows.own.data(), from.rows(), static_cast<std::int64_t>(dims));
}

/// Divides each row by its norm. The rows may already be in `own`. Elements of rows shorter than 1 become
/// larger, so the largest is computed again.
void make_unit_rows(std::string_view where, std::string_view what, PreparedRows& rows, bool all_columns,
                    std::uint32_t threads, std::int64_t first_row) {
  const MatrixView<const float> from = rows.view;
  const std::int64_t dims = from.cols();
  rows.own.resize(static_cast<std::size_t>(from.rows() * dims));
  std::atomic<std::int64_t> first_zero = from.rows();
  std::atomic<float> largest = 0.0f;
  parallel_for(from.rows(), from.rows() * dims, threads, [&](std::int64_t r) {
    float* const unit = rows.own.data() + r * dims;
    if (make_unit_row(from.row(r), dims, unit)) return raise(largest, largest_of(unit, dims));
    std::int64_t known = first_zero;
    while (r < known && !first_zero.compare_exchange_weak(known, r)) {
    }
  });
  if (first_zero < from.rows())
    throw Error(Errc::invalid_argument, std::string(where) + ": " + std::string(what) + " row " +
                                            std::to_string(first_row + first_zero) + " is all zeros" +
                                            (all_columns ? "" : " in the columns that count") +
                                            ", which has no direction; leave it out for cosine");
  rows.view = MatrixView<const float>(rows.own.data(), from.rows(), dims);
  rows.largest = largest;
}

}  // namespace

void check_view(std::string_view where, std::string_view what, const void* data, std::int64_t rows,
                std::int64_t cols, std::int64_t stride, std::int64_t element_bytes) {
  const auto refuse = [&](const std::string& why) {
    throw Error(Errc::invalid_argument, std::string(where) + ": the " + std::string(what) + " rows are [" +
                                            std::to_string(rows) + ", " + std::to_string(cols) + "]" + why);
  };
  if (rows < 0 || cols < 0) refuse("; give 0 or more of each");
  if (rows == 0 || cols == 0) return;
  if (!data) refuse(" but have no address (a null pointer); give that of the first element");
  if (rows > 1 && stride < cols)
    refuse(" with a stride of " + std::to_string(stride) +
           ", so that they overlap; the stride counts elements from one row to the next, at least " +
           std::to_string(cols));
  const std::int64_t most = std::numeric_limits<std::ptrdiff_t>::max() / element_bytes;
  if (cols > most / rows || (rows > 1 && stride > most / rows))
    refuse(", more than any memory holds; check the counts");
}

bool make_unit_row(const float* row, std::int64_t dims, float* unit) {
  double sum = 0;
  for (std::int64_t d = 0; d < dims; ++d) sum += static_cast<double>(row[d]) * static_cast<double>(row[d]);
  const double norm = std::sqrt(sum);
  for (std::int64_t d = 0; d < dims; ++d) unit[d] = static_cast<float>(static_cast<double>(row[d]) / norm);
  return norm > 0;
}

std::size_t cells_of(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t most = std::numeric_limits<std::ptrdiff_t>::max() / 16;
  if (a > 0 && b > most / a) throw std::length_error("cells_of");
  return static_cast<std::size_t>(a * b);
}

PreparedRows prepare_rows(std::string_view where, std::string_view what, const RowsView& given, Metric metric,
                          std::uint32_t threads, std::span<const std::int64_t> features,
                          std::int64_t first_row, SentQueries* sent) {
  check_element(where, what, given, metric);
  LandedRows landed = land(where, what, given, threads);
  const FloatGuard guard;
  PreparedRows prepared{landed.view, std::move(landed.own), 0};
  if (compares_bits(metric)) return prepared;
  if (!features.empty()) gather(prepared, features, threads);
  const MatrixView<const float> rows = prepared.view;
  const bool gaps = takes_gaps(metric);
  const std::int64_t part = sent ? sent->part() : std::max<std::int64_t>(rows.rows(), 1);
  for (std::int64_t first = 0; first < rows.rows(); first += part) {
    const std::int64_t count = std::min(part, rows.rows() - first);
    const auto largest = largest_of_rows(rows.slice(first, count), gaps, threads, sent ? sent->block() : 1,
                                         [&](std::int64_t r, std::int64_t some) {
                                           if (sent) sent->take(rows, first + r, some);
                                         });
    if (!largest) refuse_not_finite(where, what, rows, gaps, features, first_row);
    prepared.largest = std::max(prepared.largest, *largest);
    if (sent) sent->send(first, count);
  }
  if (prepare_of(metric) == Prepare::unit_rows)
    make_unit_rows(where, what, prepared, features.empty(), threads, first_row);
  return prepared;
}

void check_range(std::string_view where, Metric metric, MatrixView<const float> queries,
                 float largest_train) {
  if (metric != Metric::negative_dot) return;
  for (std::int64_t q = 0; q < queries.rows(); ++q) {
    const double largest_query = largest_of(queries.row(q), queries.cols());
    const double bound =
        static_cast<double>(queries.cols()) * largest_query * static_cast<double>(largest_train);
    if (bound < static_cast<double>(FLT_MAX)) continue;
    throw Error(Errc::invalid_argument, std::string(where) + ": query row " + std::to_string(q) +
                                            " reaches " + text_of(largest_query) + " and the training rows " +
                                            text_of(largest_train) + ": dims * both = " + text_of(bound) +
                                            " may overflow float; scale them so that it stays below " +
                                            text_of(FLT_MAX));
  }
}

std::size_t packed_bytes(std::int64_t rows, std::int64_t dims, std::uint32_t block) {
  const std::int64_t padded = (rows + block - 1) / block * block;
  return static_cast<std::size_t>(padded) * static_cast<std::size_t>(dims) * sizeof(float);
}

void write_packed(MatrixView<const float> rows, std::uint32_t block, std::uint32_t threads,
                  std::span<float> staging, Reader reader, const WriteBytes& write) {
  const std::int64_t dims = rows.cols(), blocks = (rows.rows() + block - 1) / block;
  const std::size_t block_floats = static_cast<std::size_t>(dims) * block;
  const auto step = static_cast<std::int64_t>(staging.size() / block_floats);
  // Blocks with few columns are packed faster than they are distributed to threads.
  constexpr std::size_t share_floats = std::size_t{1} << 13;
  const auto a_share = static_cast<std::int64_t>(std::max<std::size_t>(1, share_floats / block_floats));

  for (std::int64_t first = 0; first < blocks; first += step) {
    const std::int64_t count = std::min(step, blocks - first);
    parallel_for((count + a_share - 1) / a_share, count * static_cast<std::int64_t>(block_floats), threads,
                 [&](std::int64_t share) {
                   for (std::int64_t i = share * a_share; i < std::min((share + 1) * a_share, count); ++i)
                     pack_block(rows, (first + i) * block, block,
                                staging.data() + static_cast<std::size_t>(i) * block_floats, reader);
                 });
    write(static_cast<std::size_t>(first) * block_floats * sizeof(float), staging.data(),
          static_cast<std::size_t>(count) * block_floats * sizeof(float));
  }
}

std::size_t staging_floats(std::int64_t rows, std::int64_t dims, std::uint32_t block) {
  constexpr std::size_t most_floats = std::size_t{1} << 23;  // 32 MiB per write
  const std::size_t block_floats = static_cast<std::size_t>(dims) * block;
  const auto blocks = static_cast<std::size_t>((rows + block - 1) / block);
  return std::min(std::max<std::size_t>(1, most_floats / block_floats), blocks) * block_floats;
}

std::unique_ptr<HostBuffer> begin_upload(Device::State& state, spi::Allocation& to,
                                         MatrixView<const float> rows, std::uint32_t block,
                                         std::uint32_t threads) {
  const std::size_t floats = packed_bytes(rows.rows(), rows.cols(), block) / sizeof(float);
  if (rows.rows() == 0 || staging_floats(rows.rows(), rows.cols(), block) < floats) {
    upload_rows(state, to, rows, block, threads);
    return nullptr;
  }
  auto buffer = std::make_unique<HostBuffer>(state, floats * sizeof(float));
  const bool locked = buffer->reader() == Reader::device;
  write_packed(rows, block, threads, buffer->as<float>(floats), buffer->reader(),
               [&](std::size_t offset, const void* from, std::size_t bytes) {
                 const DeviceSession session(state);
                 locked ? session->write_later(to, offset, from, bytes)
                        : session->write(to, offset, from, bytes);
               });
  return locked ? std::move(buffer) : nullptr;
}

void upload_rows(Device::State& state, spi::Allocation& to, MatrixView<const float> rows, std::uint32_t block,
                 std::uint32_t threads, std::int64_t begin) {
  if (rows.rows() == 0) return;
  const std::size_t staged = staging_floats(rows.rows(), rows.cols(), block);
  const HostBuffer buffer(state, staged * sizeof(float));
  const std::size_t at = packed_bytes(begin, rows.cols(), block);
  write_packed(rows, block, threads, buffer.as<float>(staged), buffer.reader(),
               [&](std::size_t offset, const void* from, std::size_t bytes) {
                 const DeviceSession session(state);
                 session->write(to, at + offset, from, bytes);
               });
}

}  // namespace kith
