#include "rows/copies/find_copies.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "base/xxh64.hpp"
#include "host/parallel.hpp"

namespace kith {
namespace {

/// So few rows are searched as fast as they are compared.
constexpr std::int64_t fewest_rows = 1 << 14;
/// A sample of sampled * sqrt(n) rows has sampled^2 / 2 pairs of equal rows for each copy that a row has.
constexpr double sampled = 8;
/// The sample may be wrong by so much about the share of rows that repeat others: all rows then decide.
constexpr double least_part = 0.5, least_part_of_sample = 0.35;

std::uint64_t digest(const RowsInOrder& rows, std::int64_t place, std::size_t bytes) {
  return Xxh64::of(rows.at(place), bytes);
}

/// Returns a number that looks random: the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t mixed(std::uint64_t i) {
  i = (i + 1) * 0x9E3779B97F4A7C15u;
  i = (i ^ (i >> 30)) * 0xBF58476D1CE4E5B9u;
  i = (i ^ (i >> 27)) * 0x94D049BB133111EBu;
  return i ^ (i >> 31);
}

/// A table of distinct rows by their digests, with open addressing.
class DistinctRows {
 public:
  DistinctRows(const RowsInOrder& rows, const std::vector<std::uint64_t>& digests)
      : rows_(rows),
        digests_(digests),
        bytes_(size(row_bytes(rows.rows.element, rows.rows.cols))),
        slots_(std::bit_ceil(2 * digests.size() + 1), none) {}

  /// Returns the distinct row that equals the row at `place`; the row itself becomes one if there is none.
  std::uint32_t number(std::int64_t place) {
    const std::size_t mask = slots_.size() - 1;
    const std::uint64_t mine = digests_[size(place)];
    for (std::size_t slot = static_cast<std::size_t>(mine) & mask;; slot = (slot + 1) & mask) {
      if (slots_[slot] == none) {
        slots_[slot] = static_cast<std::uint32_t>(first_.size());
        first_.push_back(place);
        return slots_[slot];
      }
      const std::int64_t other = first_[slots_[slot]];
      if (digests_[size(other)] == mine && std::memcmp(rows_.at(other), rows_.at(place), bytes_) == 0)
        return slots_[slot];
    }
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  const RowsInOrder& rows_;
  const std::vector<std::uint64_t>& digests_;
  const std::size_t bytes_;
  std::vector<std::uint32_t> slots_;
  std::vector<std::int64_t> first_;  ///< [distinct] the first copy of each
};

/// Returns a sample of rows, none twice. Each number below `length` chooses a part of so many places, and in
/// it the place of that number, turned by the part's own offset, so that rows that repeat with any
/// period show their copies.
std::vector<std::int64_t> sample_of(const RowsInOrder& rows) {
  const auto n = static_cast<std::uint64_t>(rows.count());
  const auto length = static_cast<std::uint64_t>(sampled * std::sqrt(static_cast<double>(n)));
  const std::uint64_t parts = (n + length - 1) / length;
  std::vector<std::int64_t> sample;
  sample.reserve(length);
  for (std::uint64_t i = 0; i < length; ++i) {
    const std::uint64_t part = mixed(i) % parts, place = part * length + (i + mixed(length + part)) % length;
    if (place < n)
      sample.push_back(rows.order.empty() ? static_cast<std::int64_t>(place) : rows.order[place]);
  }
  return sample;
}

/// Estimates from a sample which share of all rows repeats others. Rows that it has three times or more have
/// many copies. Of the others, copies are estimated from the pairs among all pairs of the sample.
double share_of_copies(const RowsInOrder& rows) {
  const std::vector<std::int64_t> sample = sample_of(rows);
  const RowCopies found = find_copies({rows.rows, sample});
  double frequent = 0, pairs = 0;
  for (std::int64_t d = 0; d < found.distinct(); ++d) {
    const std::size_t copies = found.of(d).size();
    if (copies == 2) ++pairs;
    if (copies > 2) frequent += static_cast<double>(copies);
  }
  const double all = static_cast<double>(sample.size()), others = all - frequent;
  if (others <= 0) return 1;
  const double copies = 2 * pairs * static_cast<double>(rows.count()) / (all * others);
  return (frequent + others * copies / (1 + copies)) / all;
}

}  // namespace

RowCopies find_copies(const RowsInOrder& rows) {
  const std::int64_t n = rows.count();
  const std::size_t bytes = size(row_bytes(rows.rows.element, rows.rows.cols));
  std::vector<std::uint64_t> digests(size(n));
  constexpr std::int64_t at_once = 1024;
  parallel_for(divide_up(n, at_once), n * static_cast<std::int64_t>(bytes / sizeof(float) + 1), 0,
               [&](std::int64_t block) {
                 for (std::int64_t i = block * at_once; i < std::min(n, (block + 1) * at_once); ++i)
                   digests[size(i)] = digest(rows, i, bytes);
               });
  DistinctRows distinct(rows, digests);
  std::vector<std::uint32_t> distinct_of(size(n));
  for (std::int64_t place = 0; place < n; ++place) distinct_of[size(place)] = distinct.number(place);
  return RowCopies(std::move(distinct_of));
}

std::optional<RowCopies> copies_to_merge(const RowsInOrder& rows, std::optional<bool> asked) {
  if (asked) return *asked ? std::optional(find_copies(rows)) : std::nullopt;
  const FloatGuard guard;
  if (rows.count() < fewest_rows || share_of_copies(rows) < least_part_of_sample) return std::nullopt;
  RowCopies copies = find_copies(rows);
  const double share = 1 - static_cast<double>(copies.distinct()) / static_cast<double>(copies.rows());
  if (share < least_part) return std::nullopt;
  return copies;
}

std::vector<unsigned char> distinct_rows(const RowsInOrder& rows, const RowCopies& copies) {
  const std::size_t bytes = size(row_bytes(rows.rows.element, rows.rows.cols));
  std::vector<unsigned char> some(size(copies.distinct()) * bytes);
  parallel_for(copies.distinct(), static_cast<std::int64_t>(some.size() / sizeof(float)), 0,
               [&](std::int64_t d) {
                 std::memcpy(some.data() + size(d) * bytes, rows.at(copies.of(d).front()), bytes);
               });
  return some;
}

}  // namespace kith
