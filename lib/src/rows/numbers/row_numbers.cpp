#include "rows/numbers/row_numbers.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "kith/error.hpp"

namespace kith {
namespace {

std::optional<std::int64_t> found_in(const std::vector<std::int64_t>& ascending, std::int64_t value) {
  const auto it = std::lower_bound(ascending.begin(), ascending.end(), value);
  if (it == ascending.end() || *it != value) return std::nullopt;
  return it - ascending.begin();
}

}  // namespace

RowNumbers::RowNumbers(std::vector<std::int64_t> ids)
    : positions_(static_cast<std::int64_t>(ids.size())),
      next_(ids.back() + 1),
      ids_(std::make_shared<const std::vector<std::int64_t>>(std::move(ids))) {}

RowNumbers::RowNumbers(std::int64_t positions, std::int64_t next, std::vector<std::int64_t> position,
                       std::vector<std::int64_t> ids)
    : positions_(positions), next_(next) {
  if (!position.empty()) position_ = std::make_shared<const std::vector<std::int64_t>>(std::move(position));
  if (!ids.empty()) ids_ = std::make_shared<const std::vector<std::int64_t>>(std::move(ids));
}

RowNumbers RowNumbers::with(std::int64_t rows, std::int64_t count, std::span<const std::int64_t> ids) const {
  RowNumbers grown = *this;
  if (position_) {
    std::vector<std::int64_t> positions = *position_;
    positions.resize(positions.size() + at(count));
    std::iota(positions.end() - count, positions.end(), positions_);
    grown.position_ = std::make_shared<const std::vector<std::int64_t>>(std::move(positions));
  }
  grown.positions_ += count;
  if (ids_ || !ids.empty()) {
    std::vector<std::int64_t> all;
    all.reserve(at(rows + count));
    for (std::int64_t place = 0; place < rows; ++place) all.push_back(number(place));
    if (ids.empty()) {
      all.resize(at(rows + count));
      std::iota(all.end() - count, all.end(), next_);
    } else {
      all.insert(all.end(), ids.begin(), ids.end());
    }
    grown.next_ = all.back() + 1;
    grown.ids_ = std::make_shared<const std::vector<std::int64_t>>(std::move(all));
  } else {
    grown.next_ += count;
  }
  return grown;
}

RowNumbers RowNumbers::of(std::span<const std::int64_t> places) const {
  RowNumbers kept = *this;
  std::vector<std::int64_t> positions, ids;
  for (const std::int64_t place : places) {
    positions.push_back(position(place));
    if (ids_) ids.push_back(number(place));
  }
  kept.position_ = std::make_shared<const std::vector<std::int64_t>>(std::move(positions));
  if (ids_) kept.ids_ = std::make_shared<const std::vector<std::int64_t>>(std::move(ids));
  return kept;
}

std::optional<std::int64_t> RowNumbers::place_of_number(std::int64_t number, std::int64_t rows) const {
  return ids_ ? found_in(*ids_, number) : place_of_position(number, rows);
}

std::optional<std::int64_t> RowNumbers::place_of_position(std::int64_t position, std::int64_t rows) const {
  if (position_) return found_in(*position_, position);
  return position >= 0 && position < rows ? std::optional(position) : std::nullopt;
}

void RowNumbers::to_numbers(std::span<std::int64_t> rows) const {
  if (!position_ && !ids_) return;
  for (std::int64_t& row : rows)
    if (row >= 0) row = number(row);
}

std::vector<std::int64_t> order_of_ids(std::string_view where, std::span<const std::int64_t> ids,
                                       std::int64_t rows, std::int64_t least) {
  const auto refuse = [&](const std::string& message) {
    throw Error(Errc::invalid_argument, std::string(where) + ": " + message);
  };
  const auto count = static_cast<std::int64_t>(ids.size());
  if (count == 0) return {};
  if (count != rows)
    refuse(std::to_string(count) + " ids for " + std::to_string(rows) + " rows; give one a row, or none");
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() - 1;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (ids[i] < least || ids[i] > most)
      refuse("the id of row " + std::to_string(i) + " is " + std::to_string(ids[i]) + "; choose from " +
             std::to_string(least) + " to " + std::to_string(most) +
             (least > 0 ? ", since numbers are not given again" : ""));
  std::vector<std::int64_t> order(ids.size());
  std::iota(order.begin(), order.end(), 0);
  const auto id = [&](std::int64_t place) { return ids[static_cast<std::size_t>(place)]; };
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return id(a) < id(b); });
  for (std::size_t i = 1; i < order.size(); ++i)
    if (id(order[i]) == id(order[i - 1]))
      refuse("rows " + std::to_string(order[i - 1]) + " and " + std::to_string(order[i]) +
             " both have the id " + std::to_string(id(order[i])) + "; give each its own");
  return std::is_sorted(order.begin(), order.end()) ? std::vector<std::int64_t>() : order;
}

}  // namespace kith
