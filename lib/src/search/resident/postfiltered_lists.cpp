#include "search/resident/postfiltered_lists.hpp"

#include <algorithm>
#include <vector>

#include "base/numbers.hpp"
#include "device/timing.hpp"
#include "host/parallel.hpp"
#include "plan/plan_memory.hpp"
#include "rows/row_filter.hpp"
#include "search/resident/boxed_search.hpp"
#include "search/resident/pipeline.hpp"
#include "search/resident/rest_search.hpp"

namespace kith {
namespace {

/// Returns the row of the filter that is for query `q` of the search.
const std::uint32_t* words_for(const SearchOptions& options, std::int64_t q) {
  return options.filter.row(options.filter.rows() == 1 ? 0 : q);
}

/// Strikes rows that do not count out of one list. Returns how many rows are left, at most k; they
/// come first.
///   own  the query's own row, which does not count; -1: none
std::int64_t strike(std::span<Key> list, const std::uint32_t* words, std::int64_t own, std::int64_t k) {
  std::int64_t left = 0;
  for (const Key key : list) {
    if (is_masked(key) || left == k) break;
    const std::uint32_t row = row_of(key);
    if (counts(words, row) && static_cast<std::int64_t>(row) != own) list[size(left++)] = key;
  }
  std::fill(list.begin() + left, list.end(), no_key);
  return left;
}

/// Finds the nearest rows of some queries of a tile by the chain with the filter.
///   returns  [numbers.size(), k]
std::vector<Key> by_chain(const ResidentRows& index, const Plan& plan, const SearchOptions& options,
                          const QueryRows& queries, std::int64_t first,
                          const std::vector<std::int64_t>& numbers, std::int64_t k) {
  const auto count = static_cast<std::int64_t>(numbers.size());
  SearchOptions way = options_for_rest(index, plan, options);
  std::vector<std::uint32_t> words;
  if (options.filter.rows() > 1) {
    words = gathered(options.filter, numbers, first);
    way.filter = {words.data(), count, options.filter.cols()};
  }
  const Plan chain = plan_search(index, count, k, way, {});
  std::vector<Key> keys(numbers.size() * size(k));
  search_tiles({index, chain, way, queries.chosen(numbers)}, [&](Workspace& workspace, std::int64_t at,
                                                                 std::int64_t some) {
    const DeviceSession session(*index.device.state());
    session->read(*workspace.result(some).memory, 0, keys.data() + at * k, size(some * k) * sizeof(Key));
  });
  return keys;
}

}  // namespace

void leave_filtered_out(const ResidentRows& index, const Plan& plan, const SearchOptions& options,
                        const QueryRows& queries, std::int64_t first, std::int64_t k, std::span<Key> keys,
                        Trace* trace) {
  const Stopwatch striking;
  const std::int64_t count = queries.rows(), width = plan.problem.k;
  const auto own_of = [&](std::int64_t q) { return plan.self ? *plan.self + first + q : -1; };
  const auto list_of = [&](std::int64_t q) { return keys.subspan(size(q * width), size(width)); };
  std::vector<std::int64_t> left(size(count));
  parallel_for(count, count * width, plan.threads, [&](std::int64_t q) {
    left[size(q)] = strike(list_of(q), words_for(options, first + q), own_of(q), k);
  });
  std::vector<std::int64_t> open;
  for (std::int64_t q = 0; q < count && width < plan.problem.n; ++q)
    if (left[size(q)] < k) open.push_back(q);
  if (trace) trace->seconds["finish"] += striking.seconds();
  if (open.empty()) return;
  const std::int64_t most = std::min(k + (plan.self ? 1 : 0), plan.problem.n);
  std::vector<Key> found = by_chain(index, plan, options, queries, first, open, most);
  for (std::size_t i = 0; i < open.size(); ++i) {
    const std::span<Key> list(found.data() + i * size(most), size(most));
    const std::int64_t rows = strike(list, words_for(options, first + open[i]), own_of(open[i]), k);
    std::copy_n(list.begin(), rows, list_of(open[i]).begin());
  }
  if (trace) trace->fallbacks += static_cast<std::int64_t>(open.size());
}

}  // namespace kith
