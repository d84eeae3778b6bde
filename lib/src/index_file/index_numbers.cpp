#include "index_file/index_numbers.hpp"

#include <bit>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "base/numbers.hpp"

namespace kith {
namespace {

template <class T>
std::vector<T> values_of(const std::vector<unsigned char>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// Reads numbers that must ascend, be at least 0, and stay below `end`.
std::vector<std::int64_t> ascending(const IndexLayout& layout, const IndexPart& part,
                                    std::string_view section, const std::vector<unsigned char>& bytes,
                                    std::int64_t end) {
  std::vector<std::int64_t> numbers = values_of<std::int64_t>(bytes);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] < 0 || numbers[i] >= end || (i > 0 && numbers[i] <= numbers[i - 1]))
      refuse_index_file(section_of(layout, *layout.find(section), part).offset + i * sizeof(std::int64_t),
                        std::string(section) + " has " + std::to_string(numbers[i]) +
                            ", which does not ascend, or is not below " + std::to_string(end) +
                            "; save the index again");
  return numbers;
}

/// Returns the places, in the file, of removed rows.
std::vector<std::int64_t> removed_in(const IndexPart& part, const std::vector<unsigned char>& bytes) {
  std::vector<std::int64_t> places;
  const std::vector<std::uint32_t> words = values_of<std::uint32_t>(bytes);
  const std::int64_t before = part.first / removed_bits_a_word * removed_bits_a_word;
  for (std::size_t w = 0; w < words.size(); ++w)
    for (std::uint32_t rest = words[w]; rest != 0; rest &= rest - 1)
      places.push_back(before + static_cast<std::int64_t>(w) * removed_bits_a_word + std::countr_zero(rest));
  return places;
}

}  // namespace

void take_numbers(const IndexLayout& layout, const IndexPart& part, const IndexNumbers& from,
                  Index::State& state) {
  const IndexFileInfo& info = layout.info;
  const bool whole = part.rows == info.rows;
  std::vector<std::int64_t> positions =
      ascending(layout, part, positions_section, from.positions, info.positions);
  if (!whole && positions.empty()) {
    positions.resize(size(part.rows));
    std::iota(positions.begin(), positions.end(), part.first);
  }
  state.numbers = RowNumbers(info.positions, info.next_row, std::move(positions),
                             ascending(layout, part, ids_section, from.ids, info.next_row));
  std::vector<std::int64_t> places = removed_in(part, from.removed);
  if ((whole && static_cast<std::int64_t>(places.size()) != info.removed) ||
      (!places.empty() && places.back() >= info.rows))
    refuse_index_file(layout.find(removed_section)->offset,
                      "section removed has " + std::to_string(places.size()) + " rows of " +
                          std::to_string(info.rows) + ", and the head counts " +
                          std::to_string(info.removed) + "; save the index again");
  const std::int64_t end = part.first + part.rows;
  std::erase_if(places, [&](std::int64_t place) { return place < part.first || place >= end; });
  for (std::int64_t& place : places) place -= part.first;
  state.removed = state.removed.with(places);
}

}  // namespace kith
