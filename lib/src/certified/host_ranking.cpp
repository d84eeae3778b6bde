#include "certified/host_ranking.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "certified/row_sample.hpp"
#include "host/parallel.hpp"
#include "kith/spi/product_error.hpp"

namespace kith {
namespace {

constexpr std::size_t batch_floats = std::size_t{1} << 22;  ///< floats of a batch: 16 MiB fit into caches
constexpr std::size_t times_ahead = 2;  ///< first, this many times k candidates are ranked

/// An entry of the list of a query.
struct Candidate {
  std::uint32_t place, query;
};

std::size_t longest_of(const ListedPlaces& lists) {
  std::size_t longest = 0;
  for (std::size_t q = 0; q < lists.lengths.size(); ++q) longest = std::max(longest, lists.length(q));
  return longest;
}

std::vector<Candidate> by_place(const ListedPlaces& lists) {
  std::vector<Candidate> all;
  for (std::size_t q = 0; q < lists.lengths.size(); ++q)
    for (std::size_t j = 0; j < lists.length(q); ++j)
      all.push_back({lists.places[q * lists.capacity + j], static_cast<std::uint32_t>(q)});
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) { return a.place < b.place; });
  return all;
}

}  // namespace

float product_threshold(Metric metric, std::span<const float> query, std::span<const float> centre,
                        float value) {
  constexpr float all_pass = std::numeric_limits<float>::infinity();
  if (!sums_squares(metric) || !(value < all_pass)) return value;
  const double g = spi::chain_error(query.size());
  if (!(g < 1)) return all_pass;
  double square = 0;
  for (std::size_t d = 0; d < query.size(); ++d) {
    const double moved = static_cast<double>(query[d]) - static_cast<double>(centre[d]);
    square += moved * moved;
  }
  // The relative error of the sum is at most (dims + 2) 2^-53; the other operations add a few units.
  const double slack = 0x1p-34 + static_cast<double>(query.size()) * 0x1p-52;
  const double half_norm = square / 2,
               half = (static_cast<double>(value) + spi::chain_underflow(query.size())) / (1 - g) / 2;
  return spi::float_above(half - half_norm + (half + half_norm) * slack);
}

HostRanking::HostRanking(Metric metric, const RowsElsewhere& rows, std::vector<float> centre,
                         std::uint32_t threads)
    : metric_(metric), rows_(rows), centre_(std::move(centre)), threads_(threads), chains_(metric, threads) {}

bool HostRanking::wants_bounds(const ListedPlaces& lists, std::size_t bytes) const {
  if (!rows_.in_memory()) return true;
  std::size_t listed = 0;
  for (std::size_t q = 0; q < lists.lengths.size(); ++q) listed += lists.length(q);
  constexpr std::size_t times = 2;  // bounds are contiguous, rows are not
  return listed * centre_.size() * sizeof(float) > times * bytes;
}

std::span<const Key> HostRanking::nearest(MatrixView<const float> queries, const ListedPlaces& lists,
                                          std::span<const float> low, std::int64_t k) {
  const FloatGuard guard;
  m_ = lists.lengths.size();
  k_ = size(k);
  dims_ = size(queries.cols());
  best_.assign(m_ * k_, no_key);
  chains_.take(queries);
  const std::size_t longest = longest_of(lists);
  if (low.empty() || longest <= times_ahead * k_)
    rank_all(lists);
  else
    rank_by_bounds(queries, lists, low, longest);
  for (auto best = best_.begin(); best != best_.end(); best += k)
    std::partition(best, best + k, [](Key key) { return key != no_key; });
  return best_;
}

/// First ranks the candidates that are nearest by their products. Their chains give a threshold; chains of
/// other candidates are computed only if their bounds do not exceed it.
void HostRanking::rank_by_bounds(MatrixView<const float> queries, const ListedPlaces& lists,
                                 std::span<const float> low, std::size_t longest) {
  const std::size_t ahead = times_ahead * k_;
  std::vector<std::uint32_t> lengths(m_);
  bounded_.resize(std::max(bounded_.size(), m_ * longest));
  ahead_.resize(m_ * ahead);
  rest_.resize(m_ * longest);
  const auto m = static_cast<std::int64_t>(m_), work = static_cast<std::int64_t>(m_ * longest);
  parallel_for(m, work, threads_, [&](std::int64_t query) {
    const std::size_t q = size(query), length = lists.length(q), first = std::min(length, ahead);
    Bounded* const own = bounded_.data() + q * longest;
    for (std::size_t j = 0; j < length; ++j)
      own[j] = {low[q * lists.capacity + j], lists.places[q * lists.capacity + j]};
    if (first < length)
      std::nth_element(own, own + first, own + length,
                       [](const Bounded& a, const Bounded& b) { return a.low < b.low; });
    for (std::size_t j = 0; j < first; ++j) ahead_[q * ahead + j] = own[j].place;
    lengths[q] = static_cast<std::uint32_t>(first);
  });
  rank_all({ahead, lengths, ahead_});
  parallel_for(m, work, threads_, [&](std::int64_t query) {
    const std::size_t q = size(query), length = lists.length(q);
    const Bounded* const own = bounded_.data() + q * longest;
    const float threshold = threshold_of(queries.row(query), {best_.data() + q * k_, k_});
    std::size_t left = 0;
    for (std::size_t j = std::min(length, ahead); j < length; ++j)
      if (own[j].low <= threshold) rest_[q * longest + left++] = own[j].place;
    lengths[q] = static_cast<std::uint32_t>(left);
  });
  rank_all({longest, lengths, rest_});
}

/// Returns the largest bound of a candidate whose chain is at most the worst of `best`.
float HostRanking::threshold_of(const float* query, std::span<const Key> best) const {
  const Key worst = *std::max_element(best.begin(), best.end());
  if (worst == no_key) return std::numeric_limits<float>::infinity();
  return product_threshold(metric_, {query, dims_}, centre_, value_of(worst));
}

void HostRanking::rank_all(const ListedPlaces& lists) {
  const float* const rows = rows_.in_memory();
  if (!rows) return rank_gathered(lists);
  const std::size_t longest = longest_of(lists);
  std::uint32_t last = 0;
  for (std::size_t q = 0; q < m_; ++q)
    for (std::size_t j = 0; j < lists.length(q); ++j)
      last = std::max(last, lists.places[q * lists.capacity + j]);
  rank(rows, std::size_t{last} + 1, lists, longest);
  join(lists, longest, {});
}

/// Reads rows in batches, each row once for all queries that list it, and ranks them.
void HostRanking::rank_gathered(const ListedPlaces& lists) {
  const std::vector<Candidate> all = by_place(lists);
  const std::size_t most_rows = std::max<std::size_t>(1, batch_floats / dims_);
  std::vector<std::uint32_t> places;  // rows of a batch
  // [m, longest] and [m]: for each query, which of these it lists, and how many
  std::vector<std::uint32_t> own, lengths(m_);
  for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    places.clear();
    std::fill(lengths.begin(), lengths.end(), 0);
    for (; end < all.size(); ++end) {
      if (places.empty() || places.back() != all[end].place) {
        if (places.size() == most_rows) break;
        places.push_back(all[end].place);
      }
      ++lengths[all[end].query];
    }
    const std::size_t longest = *std::max_element(lengths.begin(), lengths.end());
    own.resize(m_ * longest);
    std::fill(lengths.begin(), lengths.end(), 0);
    for (std::size_t i = begin, row = 0; i < end; ++i) {
      if (all[i].place != places[row]) ++row;
      const std::uint32_t q = all[i].query;
      own[q * longest + lengths[q]++] = static_cast<std::uint32_t>(row);
    }
    gathered_.resize(places.size() * dims_);
    rows_.read(places, gathered_.data(), threads_);
    const ListedPlaces batch{longest, lengths, own};
    rank(gathered_.data(), places.size(), batch, longest);
    join(batch, longest, places);
  }
}

/// Computes the chain of every listed place into keys_.
///   rows  [count, dims]
void HostRanking::rank(const float* rows, std::size_t count, const ListedPlaces& lists, std::size_t longest) {
  keys_ = chains_.rank(rows, count, lists, longest);
}

/// Merges the keys of rank() into the best so far.
///   place_of  the place of each ranked row; empty: the row is the place
void HostRanking::join(const ListedPlaces& lists, std::size_t longest,
                       std::span<const std::uint32_t> place_of) {
  parallel_for(static_cast<std::int64_t>(m_), static_cast<std::int64_t>(m_ * longest), threads_,
               [&](std::int64_t query) {
                 const std::size_t q = size(query);
                 Key* const first = keys_.data() + q * longest;
                 Key* const last = first + lists.length(q);
                 if (!place_of.empty())
                   for (Key* key = first; key < last; ++key)
                     *key = make_key(value_of(*key), place_of[row_of(*key)]);
                 // The k best form a heap with the worst on top; few keys are better than that one.
                 const std::span<Key> best(best_.data() + q * k_, k_);
                 std::make_heap(best.begin(), best.end());
                 for (const Key* key = first; key < last; ++key) {
                   if (*key >= best.front()) continue;
                   std::pop_heap(best.begin(), best.end());
                   best.back() = *key;
                   std::push_heap(best.begin(), best.end());
                 }
               });
}

}  // namespace kith
