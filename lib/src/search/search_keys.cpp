// Searches of a shard: keys instead of neighbours.
#include <algorithm>
#include <string>
#include <utility>

#include "base/numbers.hpp"
#include "kith/error.hpp"
#include "kith/key.hpp"
#include "rows/landed/centred_rows.hpp"
#include "rows/mapped_options.hpp"
#include "rows/rows.hpp"
#include "search/search.hpp"
#include "search/shard_lists.hpp"

namespace kith {
namespace {

/// Lists of `found` keys with as many places as were asked for.
Keys padded(const Keys& found, std::int64_t k) {
  Keys keys = lists_of_none(found.queries, k);
  for (std::int64_t q = 0; q < found.queries; ++q) {
    const std::size_t from = size(q * found.k), to = size(q * k);
    std::copy_n(found.value.data() + from, found.k, keys.value.data() + to);
    std::copy_n(found.row.data() + from, found.k, keys.row.data() + to);
  }
  return keys;
}

/// search(neighbours, options by place, room for them) as keys of m queries, in the memory of `keys`.
template <class Search>
Keys keys_by(const Index::State& index, std::int64_t m, std::int64_t k, const PlanOptions& options, Keys keys,
             const Search& search) {
  check_no_self("search_keys", options);
  const MappedOptions mapped("search_keys", index, options, m, std::nullopt);
  // The plan refuses k < 1. Where all rows are removed, it searches for one that is not found.
  const std::int64_t here = k < 1 ? k : std::clamp<std::int64_t>(index.live(), 1, k);
  search(here, mapped.options(), [&] {
    keys.queries = m;
    keys.k = here;
    keys.value.resize(cells_of(m, here));
    keys.row.resize(keys.value.size());
    return FoundPlaces{nullptr, keys.row.data(), keys.value.data()};
  });
  return here == k ? keys : padded(keys, k);
}

}  // namespace

void check_no_self(std::string_view where, const PlanOptions& options) {
  if (options.self)
    throw Error(Errc::unsupported, std::string(where) + ": self = " + std::to_string(*options.self) +
                                       ", but a row leaves the lists after the merge; search for k + 1 and "
                                       "call leave_out() then");
}

Keys search_for_keys(const Index::State& index, const RowsView& given, std::int64_t k,
                     const PlanOptions& options, Trace* trace) {
  const CentredRows queries("search_keys", "query", index, given);
  return keys_by(index, given.rows, k, options, {},
                 [&](std::int64_t here, const PlanOptions& way, const MakeRoom& make_room) {
                   search_to(index, queries, here, way, trace, make_room, nullptr);
                 });
}

Keys search_for_keys(const Index::State& index, const CheckedQueries& queries, std::int64_t k,
                     const PlanOptions& options, Trace* trace, Keys room) {
  return keys_by(index, queries.given.rows, k, options, std::move(room),
                 [&](std::int64_t here, const PlanOptions& way, const MakeRoom& make_room) {
                   search_checked(index, queries, here, way, trace, make_room);
                 });
}

}  // namespace kith
