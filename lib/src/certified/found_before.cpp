#include "certified/found_before.hpp"

#include <algorithm>

#include "base/numbers.hpp"

namespace kith {

FoundBefore FoundBefore::slice(std::int64_t first, std::int64_t count) const {
  if (value.empty()) return *this;
  return {value.subspan(size(first * k), size(count * k)), k};
}

std::vector<Key> FoundBefore::keys(std::span<const std::int64_t> queries, std::int64_t width) const {
  std::vector<Key> keys;
  if (value.empty()) return keys;
  keys.reserve(queries.size() * size(width));
  for (const std::int64_t q : queries) {
    const std::span<const std::uint32_t> last = value.subspan(size((q + 1) * k - width), size(width));
    auto row = static_cast<std::uint32_t>(no_row - width);
    for (const std::uint32_t v : last) keys.push_back(v == no_value ? no_key : Key{v} << 32 | row++);
  }
  return keys;
}

void leave_out_before(std::span<Key> list, std::int64_t rows) {
  const auto end =
      std::remove_if(list.begin(), list.end(), [rows](Key key) { return std::int64_t{row_of(key)} >= rows; });
  std::fill(end, list.end(), no_key);
}

}  // namespace kith
