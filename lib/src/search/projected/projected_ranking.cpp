#include "search/projected/projected_ranking.hpp"

#include <algorithm>
#include <limits>

#include "base/numbers.hpp"
#include "certified/byte_grid.hpp"
#include "host/parallel.hpp"
#include "metric/chain.hpp"
#include "rows/row_filter.hpp"

namespace kith {
namespace {

/// How many rows before its turn a fine row is asked for, since memory answers late.
constexpr std::size_t ahead = 6;

void read_ahead(const float* fine) {
  constexpr std::size_t floats_a_line = 16;
  for (std::size_t at = 0; at < std::size_t{fine_columns}; at += floats_a_line) __builtin_prefetch(fine + at);
}

/// Sums the squared differences of two fine rows, until the sum is above `bound`.
float fine_distance(const float* a, const float* b, float bound) {
  constexpr std::size_t lanes = 8, at_once = 32, all = std::size_t{fine_columns};
  float sums[lanes] = {}, sum = 0;
  for (std::size_t d = 0; d < all && !(sum > bound); d += at_once) {
    for (std::size_t at = d; at < d + at_once; at += lanes)
      for (std::size_t i = 0; i < lanes; ++i) {
        const float apart = a[at + i] - b[at + i];
        sums[i] += apart * apart;
      }
    sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  }
  return sum;
}

}  // namespace

ProjectedRanking::ProjectedRanking(const ResidentRows& index, const ProjectedRows& rows,
                                   const CoarseLists& coarse, std::int64_t k, std::uint32_t threads)
    : index_(index),
      rows_(rows),
      coarse_(coarse),
      k_(size(k)),
      threads_(threads),
      chains_(index.metric, threads) {}

std::span<ProjectedRanking::Entry> ProjectedRanking::entries(std::int64_t i) {
  return std::span(entries_).subspan(size(i) * longest_, left_[size(i)]);
}

std::span<Key> ProjectedRanking::best(std::int64_t i) {
  return std::span(best_).subspan(size(i) * k_, k_);
}

/// Returns what the chain of projections of a row that may still be among the k nearest is not above.
float ProjectedRanking::bound(const ProjectedLists& lists, std::int64_t i, std::int64_t columns) {
  const Key worst = best(i).back();
  if (worst == no_key) return std::numeric_limits<float>::infinity();
  return rows_.projection().bound(lists.projected.norms[size(lists.first + i)], value_of(worst), columns);
}

/// Takes the listed rows that count.
void ProjectedRanking::take_listed(const ProjectedLists& lists, std::int64_t i) {
  const std::int64_t q = lists.first + i;
  const std::size_t at = size(i) * lists.places.capacity, length = lists.places.length(size(i));
  const std::uint32_t* const words =
      lists.filter.rows() == 0 ? nullptr : lists.filter.row(lists.filter.rows() > 1 ? q : 0);
  const std::int64_t own = lists.queries.leaves_own() ? lists.queries.own(q) : -1;
  Entry* to = entries_.data() + size(i) * longest_;
  for (std::size_t j = at; j < at + length; ++j) {
    const std::uint32_t place = lists.places.places[j];
    if (std::int64_t{place} != own && (!words || counts(words, place))) *to++ = {lists.low[j], place};
  }
  left_[size(i)] = static_cast<std::size_t>(to - (entries_.data() + size(i) * longest_));
}

/// Drops the rows whose coarse or fine row is too far from that of the query.
void ProjectedRanking::keep_near(const ProjectedLists& lists, std::int64_t i) {
  const std::size_t q = size(lists.first + i);
  const float* const coarse = lists.projected.coarse.data() + q * size(coarse_columns);
  const float* const fine = lists.projected.fine.data() + q * size(fine_columns);
  const float threshold = coarse_.threshold({coarse, size(coarse_columns)}, bound(lists, i, coarse_columns)),
              most = bound(lists, i, fine_columns);
  const std::span<Entry> all = entries(i);
  const auto end = std::partition(all.begin(), all.end(),
                                  [threshold](const Entry& entry) { return entry.low <= threshold; });
  const auto count = static_cast<std::size_t>(end - all.begin());
  std::size_t left = 0;
  for (std::size_t j = 0; j < count; ++j) {
    if (j + ahead < count) read_ahead(rows_.fine(std::int64_t{all[j + ahead].place}));
    const float sum = fine_distance(fine, rows_.fine(std::int64_t{all[j].place}), most);
    if (!(sum > most)) all[left++] = {sum, all[j].place};
  }
  left_[size(i)] = left;
}

/// Drops the rows whose fine row is too far, now that nearer rows are known.
void ProjectedRanking::drop_far(const ProjectedLists& lists, std::int64_t i) {
  const float most = bound(lists, i, fine_columns);
  const std::span<Entry> all = entries(i);
  const auto end =
      std::partition(all.begin(), all.end(), [most](const Entry& entry) { return !(entry.low > most); });
  left_[size(i)] = static_cast<std::size_t>(end - all.begin());
}

/// Moves the `most` entries that are nearest by their lows into the batch.
void ProjectedRanking::take_batch(std::int64_t i, std::size_t most) {
  const std::span<Entry> all = entries(i);
  const std::size_t count = std::min(most, all.size()), rest = all.size() - count;
  // The nearest come last, so that those before them stay where they are.
  if (rest > 0)
    std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(rest), all.end(),
                     [](const Entry& a, const Entry& b) { return a.low > b.low; });
  for (std::size_t j = 0; j < count; ++j) batch_[size(i) * most + j] = all[rest + j].place;
  lengths_[size(i)] = static_cast<std::uint32_t>(count);
  left_[size(i)] = rest;
}

/// Returns keys as HostChains::rank() does, by sums of whole numbers.
std::span<const Key> ProjectedRanking::keys_of_bytes(const ProjectedLists& lists, const ListedPlaces& batch) {
  constexpr std::size_t rows_ahead = 2;
  const ByteRows& rows = *rows_.byte_rows();
  const float step = static_cast<float>(index_.grid.step()), square = step * step;
  const std::size_t dims = size(index_.dims);
  keys_.resize(size(lists.count) * batch.capacity);
  parallel_for(lists.count, lists.count * static_cast<std::int64_t>(batch.capacity * dims) / 8, threads_,
               [&](std::int64_t i) {
                 const std::uint32_t* const places = batch.places.data() + size(i) * batch.capacity;
                 for (std::size_t j = 0; j < batch.length(size(i)); ++j) {
                   if (j + rows_ahead < batch.length(size(i))) rows.read_ahead(places[j + rows_ahead]);
                   const std::int64_t apart = rows.apart(query_bytes_->row(size(i)), places[j]);
                   const std::span query(lists.queries.rows().row(lists.first + i), dims);
                   const float value =
                       apart <= spi::most_exact
                           ? static_cast<float>(apart) * square
                           : chain(index_.metric, query, {rows_.rows() + places[j] * dims, dims});
                   keys_[size(i) * batch.capacity + j] = make_key(value, places[j]);
                 }
               });
  return keys_;
}

/// Ranks the next rows of each query. Returns false if there are none.
bool ProjectedRanking::rank_batch(const ProjectedLists& lists, std::size_t most) {
  const std::int64_t count = lists.count;
  batch_.resize(size(count) * most);
  parallel_for(count, count * static_cast<std::int64_t>(longest_), threads_,
               [&](std::int64_t i) { take_batch(i, most); });
  std::int64_t total = 0;
  for (const std::uint32_t length : lengths_) total += length;
  if (total == 0) return false;
  ranked_ += total;
  const ListedPlaces batch{most, lengths_, batch_};
  const std::span<const Key> keys =
      query_bytes_ ? keys_of_bytes(lists, batch) : chains_.rank(rows_.rows(), size(index_.rows), batch, most);
  parallel_for(count, total * 8, threads_, [&](std::int64_t i) {
    const std::span<Key> own = best(i);
    for (std::size_t j = 0; j < lengths_[size(i)]; ++j) {
      const Key key = keys[size(i) * most + j];
      if (key >= own.back()) continue;
      const auto at = std::upper_bound(own.begin(), own.end(), key);
      std::move_backward(at, own.end() - 1, own.end());
      *at = key;
    }
  });
  return true;
}

std::span<const Key> ProjectedRanking::nearest(const ProjectedLists& lists) {
  constexpr std::size_t least = 16;
  const std::int64_t count = lists.count;
  longest_ = lists.places.capacity;
  entries_.resize(size(count) * longest_);
  left_.assign(size(count), 0);
  lengths_.assign(size(count), 0);
  best_.assign(size(count) * k_, no_key);
  ranked_ = 0;
  const MatrixView<const float> queries = lists.queries.rows().slice(lists.first, count);
  query_bytes_.reset();
  if (rows_.byte_rows() && lie_on(index_.grid, queries, threads_))
    query_bytes_.emplace(index_.grid, queries, threads_);
  else
    chains_.take(queries);
  const auto work = count * static_cast<std::int64_t>(longest_);
  const auto each = [&](void (ProjectedRanking::*step)(const ProjectedLists&, std::int64_t),
                        std::int64_t a_row) {
    parallel_for(count, work * a_row, threads_, [&](std::int64_t i) { (this->*step)(lists, i); });
  };
  each(&ProjectedRanking::take_listed, 1);
  rank_batch(lists, std::max(least, k_ + k_ / 2));
  each(&ProjectedRanking::keep_near, fine_columns / 8);
  for (std::size_t most = std::max(least, k_ + k_ / 2); rank_batch(lists, most); most *= 2)
    each(&ProjectedRanking::drop_far, 1);
  return best_;
}

}  // namespace kith
