#include "search/straight/straight_rules.hpp"

#include <algorithm>

#include "base/numbers.hpp"
#include "host/parallel.hpp"
#include "kith/metric.hpp"
#include "rows/chunks.hpp"
#include "rows/landing.hpp"

namespace kith {
namespace {

/// A piece of rows, as floats: it fits the second cache of a core beside what else a search needs.
constexpr std::int64_t cached_bytes = std::int64_t{1} << 18;

/// Each query begins a list in each piece, which takes about as long as copying 1/640 of the piece for
/// every neighbour and 16 times as long besides. Measured with AVX2 on rows of 3 to 784 columns: with k =
/// 10 up to 24 queries gained, and 32 did only by wide rows; with k = 100 up to 5.
constexpr std::int64_t most_lists = 640, lists_a_query = 16;

/// All rows are one piece, which is searched as that of an Index is. Making the Index takes longer than
/// up to so many multiply-adds.
constexpr std::int64_t most_work_of_one = std::int64_t{1} << 24, most_queries = 1 << 12, most_keys = 1 << 20;

std::int64_t columns_of(const SearchOnce& asked) {
  return landed_cols(asked.rows.element, asked.rows.cols);
}

/// Returns how many columns of a block of rows fit a piece.
std::int64_t widest_block(const SearchOnce& asked) {
  return cached_bytes / (static_cast<std::int64_t>(sizeof(float)) * asked.device.info().train_block);
}

/// Returns how many rows a piece may have, of which one block fits at least.
std::int64_t most_rows_of_piece(const SearchOnce& asked) {
  return widest_block(asked) / columns_of(asked) * asked.device.info().train_block;
}

/// Returns whether a search costs less without an Index.
bool pays(const SearchOnce& asked) {
  const std::int64_t n = asked.rows.rows, m = asked.queries.rows;
  if (n <= most_rows_of_piece(asked))
    return m <= std::min({most_queries, most_keys / asked.k, most_work_of_one / (n * columns_of(asked))});
  return m <= most_lists / (asked.k + lists_a_query);
}

#define KITH_ALIKE_choice(name) given.name == like.name
#define KITH_ALIKE_choices(name) given.name == like.name
#define KITH_ALIKE_number(name) given.name == like.name
#define KITH_ALIKE_flag(name) given.name == like.name
#define KITH_ALIKE_whether(name) given.name == like.name
#define KITH_ALIKE_given(name) given.name == like.name
#define KITH_ALIKE_list(name) given.name == like.name
#define KITH_ALIKE_text(name) given.name == like.name
#define KITH_ALIKE_filter(name) given.name.rows() == 0 && given.name.cols() == 0
#define KITH_ALIKE_stop(name) true  // heeded, as `progress` is
#define KITH_ALIKE_progress(name) true
#define KITH_ALIKE_beside(name) true  // an argument beside the options in C++
#define KITH_ALIKE(kind, type, name, ...) &&(KITH_ALIKE_##kind(name))

/// Returns whether options have their defaults, but for those that a search of rows where they lie heeds.
bool are_plain(const SearchOptions& given) {
  SearchOptions like;
  like.threads = given.threads;
  like.radius = given.radius;
  return true
#define KITH_TUNING_OPTION KITH_ALIKE
#define KITH_SEARCH_OPTION KITH_ALIKE
#include "kith/options.def"
      ;
}

bool are_plain(const IndexOptions& given) {
  const IndexOptions like;
  return true
#define KITH_INDEX_OPTION KITH_ALIKE
#include "kith/options.def"
      ;
}

bool has_plain_chain(Metric metric) {
  return metric == Metric::hamming ||
         std::find(number_metrics.begin(), number_metrics.end(), metric) != number_metrics.end();
}

/// Returns whether the rows are searched where they lie. That changes no answer.
bool goes_straight(const SearchOnce& asked) {
  const auto& [device, rows, queries, k, metric, options, index_options] = asked;
  if (!device.info().profile.host_threads) return false;
  if (rows.where != Where::host || queries.where != Where::host || is_wide(rows.element)) return false;
  if (rows.rows < 1 || rows.rows > most_rows || rows.cols < 1 || queries.rows < 1 || k < 1 || k > rows.rows)
    return false;
  if (columns_of(asked) > widest_block(asked)) return false;  // else sizes may overflow below
  return has_plain_chain(metric) && are_plain(options) && are_plain(index_options) && pays(asked);
}

}  // namespace

std::optional<StraightPieces> straight_pieces(const SearchOnce& asked) {
  if (!goes_straight(asked)) return std::nullopt;
  constexpr std::int64_t pieces_a_round = 64, pieces_a_thread = 8;
  const std::int64_t n = asked.rows.rows, block = asked.device.info().train_block,
                     most = most_rows_of_piece(asked);
  const std::uint32_t threads = team_size(asked.options.threads);
  if (n <= most) return StraightPieces{divide_up(n, block) * block, 1, 1, 1, threads};
  const std::uint32_t team = team_for(size(n * columns_of(asked)), threads);
  const std::int64_t even = divide_up(divide_up(n, most), team) * team;  // all threads end together
  const std::int64_t rows = divide_up(divide_up(n, even), block) * block, count = divide_up(n, rows);
  const std::int64_t busy = std::min<std::int64_t>(team, count);
  return StraightPieces{rows, count, std::min(count, std::max(pieces_a_round, pieces_a_thread * busy)),
                        static_cast<std::uint32_t>(busy), 1};
}

}  // namespace kith
