#include "search/groups/row_groups.hpp"

#include <algorithm>
#include <functional>
#include <mutex>
#include <numeric>
#include <string>

#include "base/numbers.hpp"
#include "base/refuse.hpp"
#include "search/doubles/double_index.hpp"
#include "search/doubles/double_rows_of_index.hpp"
#include "search/stores/row_store.hpp"

namespace kith {

void check_borders(std::string_view where, std::string_view what, const std::vector<std::int64_t>& borders,
                   std::int64_t count) {
  const std::string groups = "groups of " + std::string(what), to = std::to_string(count);
  if (borders.size() < 2)
    refuse(where, groups + " have " + std::to_string(borders.size()) + " borders; give those from 0 to " +
                      to + ", one more than there are groups");
  if (borders.front() != 0)
    refuse(where, groups + " begin at " + std::to_string(borders.front()) +
                      "; give borders that ascend from 0 to " + to);
  if (borders.back() != count)
    refuse(where, groups + " end at " + std::to_string(borders.back()) +
                      "; give borders that ascend from 0 to " + to);
  const auto falls = std::adjacent_find(borders.begin(), borders.end(), std::greater<>());
  if (falls != borders.end())
    refuse(where, groups + " have border " + std::to_string(falls - borders.begin() + 1) + " at " +
                      std::to_string(falls[1]) + " behind " + std::to_string(falls[0]) +
                      "; give borders that ascend");
}

DeviceMemory borders_on_device(const std::shared_ptr<Device::State>& state,
                               const std::vector<std::int64_t>& borders) {
  std::vector<std::uint32_t> narrow(borders.size());
  std::transform(borders.begin(), borders.end(), narrow.begin(),
                 [](std::int64_t border) { return static_cast<std::uint32_t>(border); });
  return uploaded(state, narrow);
}

std::size_t RowGroups::bytes_of_rows(const Index::State& index) {
  return index.store->info().bytes + (index.doubles ? index.doubles->rows.bytes_on_device() : 0);
}

std::size_t RowGroups::bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t sum = on_device_ ? on_device_->get()->bytes : 0;
  for (const auto& [group, own] : alone_)
    if (own) sum += bytes_of_rows(*own);  // none if making it failed
  return sum;
}

RowRange RowGroups::rows(std::int64_t g) const {
  const std::int64_t first = borders_[size(g)];
  return {first, borders_[size(g) + 1] - first};
}

std::shared_ptr<const DeviceMemory> RowGroups::on_device(const std::shared_ptr<Device::State>& state) const {
  const std::lock_guard lock(mutex_);
  if (!on_device_) on_device_ = std::make_shared<const DeviceMemory>(borders_on_device(state, borders_));
  return on_device_;
}

std::shared_ptr<const Index::State> RowGroups::alone(const Index::State& all, std::int64_t g) const {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const Index::State>& made = alone_[g];
  if (made) return made;
  const RowRange range = rows(g);
  std::vector<std::int64_t> places(size(range.count));
  std::iota(places.begin(), places.end(), range.first);
  auto own = std::make_shared<Index::State>(all);
  own->groups = nullptr;
  if (own->arithmetic == Arithmetic::f64)
    keep_doubles(*own, places);
  else
    own->store = all.store->subset(all, places);
  own->rows = range.count;
  own->numbers = RowNumbers(range.count);
  made = std::move(own);
  return made;
}

}  // namespace kith
