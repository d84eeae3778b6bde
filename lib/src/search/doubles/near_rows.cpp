#include "search/doubles/near_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/float_guard.hpp"
#include "host/parallel.hpp"
#include "kith/key.hpp"
#include "search/lists/trace_sums.hpp"
#include "search/resident/boxed_search.hpp"
#include "search/stores/search.hpp"

namespace kith {
namespace {

/// Returns how many of the next queries are looked for at once: at most `most`, and at most `most_far` whose
/// bound is infinite, since each of these finds all rows.
std::size_t count_of_batch(std::span<const float> bounds, std::size_t most, std::size_t most_far) {
  std::size_t far = 0, count = 0;
  for (; count < std::min(most, bounds.size()); ++count)
    if (std::isinf(bounds[count]) && ++far > most_far) break;
  return count;
}

/// Returns which part of `all` queries is done if this part is of `count` queries behind `first` others.
double part_of_all(std::size_t all, std::size_t first, std::size_t count, double part) {
  return (static_cast<double>(first) + part * static_cast<double>(count)) / static_cast<double>(all);
}

}  // namespace

void NearRows::each(const OpenQueries& open,
                    const std::function<void(std::size_t i, std::span<const RankedRow> list)>& take) {
  // As many queries at a time as find so many rows, which take some 50 bytes each.
  constexpr std::size_t most_rows = std::size_t{1} << 24, fewest = 16, growth = 8;
  const std::size_t most_far = std::max<std::size_t>(1, most_rows / size(index_.rows));
  std::size_t batch = std::min(fewest, most_far);
  for (std::size_t first = 0; first < open.numbers.size();) {
    const std::size_t count = count_of_batch(std::span(open.bounds).subspan(first), batch, most_far);
    const Found found = find(open, first, count);
    const std::vector<std::vector<RankedRow>> lists =
        ranked(std::span(open.numbers).subspan(first, count), found);
    for (std::size_t i = 0; i < count; ++i) take(first + i, lists[i]);
    first += count;
    const std::size_t each = std::max<std::size_t>(1, found.places.size() / count);
    batch = std::clamp<std::size_t>(most_rows / each, 1, batch * growth);
  }
}

/// Searches the floats within the radii of queries first ... first + count - 1 of `open`.
NearRows::Found NearRows::find(const OpenQueries& open, std::size_t first, std::size_t count) {
  const auto begin = open.numbers.begin() + static_cast<std::ptrdiff_t>(first);
  const std::vector<std::int64_t> chosen(begin, begin + static_cast<std::ptrdiff_t>(count));
  const std::vector<float> rows = gathered(queries_.floats(), chosen, 0);
  const auto m = static_cast<std::int64_t>(count);
  SearchOptions way = options_;
  way.self.reset();
  if (options_.progress)
    way.progress = [&](const Progress& some) {
      const FloatGuard guard;
      call_back(options_.progress, Progress{part_of_all(open.numbers.size(), first, count, some.fraction)});
    };
  std::vector<std::uint32_t> words;
  if (way.filter.rows() > 1) {
    words = gathered(options_.filter, chosen, 0);
    way.filter = {words.data(), m, options_.filter.cols()};
  }
  Trace trace = trace_ ? asked_like(*trace_) : Trace{};
  RadiusNeighbors near =
      search_within(*index_.doubles->proposing, {rows.data(), m, index_.dims},
                    std::span(open.bounds).subspan(first, count), way, trace_ ? &trace : nullptr);
  if (trace_) add_queries(*trace_, trace);
  return {std::move(near.first), std::move(near.row)};
}

/// Ranks the rows of some queries, in groups of lists of similar lengths: a few long lists do not widen all.
std::vector<std::vector<RankedRow>> NearRows::ranked(std::span<const std::int64_t> numbers,
                                                     const Found& found) {
  const FloatGuard guard;
  std::vector<std::size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return found.count(a) < found.count(b); });
  std::vector<std::vector<RankedRow>> lists(numbers.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    const std::size_t most = 2 * found.count(order[begin]) + 64;
    for (end = begin; end < order.size() && found.count(order[end]) <= most;) ++end;
    rank_group(numbers, found, std::span(order).subspan(begin, end - begin), lists);
  }
  if (trace_) trace_->ranked_doubles += static_cast<std::int64_t>(found.places.size());
  return lists;
}

void NearRows::rank_group(std::span<const std::int64_t> numbers, const Found& found,
                          std::span<const std::size_t> group, std::vector<std::vector<RankedRow>>& lists) {
  const std::size_t width = found.count(group.back());
  const auto count = static_cast<std::int64_t>(group.size()), cols = static_cast<std::int64_t>(width);
  std::vector<std::int64_t> chosen;
  std::vector<std::uint32_t> places(group.size() * width, no_row);
  for (std::size_t g = 0; g < group.size(); ++g) {
    chosen.push_back(numbers[group[g]]);
    std::transform(found.places.begin() + found.first[group[g]],
                   found.places.begin() + found.first[group[g] + 1],
                   places.begin() + static_cast<std::ptrdiff_t>(g * width),
                   [](std::int64_t place) { return static_cast<std::uint32_t>(place); });
  }
  const std::vector<double> queries = gathered(queries_.doubles(), chosen, 0);
  const auto take = [&](std::int64_t first, std::int64_t some, std::span<const double> values) {
    constexpr std::int64_t work_a_row = 16;  // rough work of sorting it
    parallel_for(some, some * cols * work_a_row, options_.threads, [&](std::int64_t i) {
      const std::size_t g = size(first + i);
      const std::int64_t own = options_.self ? *options_.self + chosen[g] : -1;
      std::vector<RankedRow>& list = lists[group[g]];
      for (std::size_t j = 0; j < width && places[g * width + j] != no_row; ++j)
        if (const std::uint32_t place = places[g * width + j]; place != own)
          list.push_back({ordered(values[size(i) * width + j]), place});
      std::sort(list.begin(), list.end());
    });
  };
  ranking_.rank({queries.data(), count, index_.dims}, {places.data(), count, cols}, take, trace_);
}

}  // namespace kith
