#include "rows/row_filter.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "kith/error.hpp"

namespace kith {

static_assert(ordered(std::bit_cast<float>(spi::masked_bits)) == no_value);

void check_k(std::string_view where, std::int64_t k, std::int64_t n, const SearchOptions& options) {
  const std::int64_t most = options.self ? n - 1 : n;
  if (k >= 1 && k <= most) return;
  throw Error(Errc::invalid_argument,
              std::string(where) + ": k = " + std::to_string(k) + " is out of range for an index of " +
                  std::to_string(n) + (n == 1 ? " row" : " rows") +
                  (options.self ? ", each left out of its own list" : "") +
                  (most < 1 ? "; give it rows" : "; choose k from 1 to " + std::to_string(most)));
}

void check_rows_left_out(std::string_view where, std::int64_t n, std::int64_t m,
                         const SearchOptions& options) {
  const auto text = [](std::int64_t value) { return std::to_string(value); };
  const auto refuse = [&](const std::string& message) {
    throw Error(Errc::invalid_argument, std::string(where) + ": " + message);
  };
  const MatrixView<const std::uint32_t>& filter = options.filter;
  const std::int64_t words = words_of_filter(n);
  if (has_filter(options) && (filter.cols() != words || (filter.rows() != 1 && filter.rows() != m)))
    refuse("the filter is [" + text(filter.rows()) + ", " + text(filter.cols()) + "], but " + text(n) +
           " training rows and " + text(m) + " queries take [1, " + text(words) + "] or [" + text(m) + ", " +
           text(words) + "]; RowFilter makes one");
  if (options.self && (*options.self < 0 || *options.self > n - m))
    refuse("self = " + text(*options.self) + " with " + text(m) + " queries, but the index holds " + text(n) +
           (n == 1 ? " row" : " rows") + "; all of self ... self + m - 1 must be rows");
}

std::size_t filter_bytes(const Plan& plan) {
  if (!filters_on_device(plan)) return 0;
  const auto words = static_cast<std::size_t>(words_of_filter(plan.problem.n));
  const auto rows = static_cast<std::size_t>(std::min(plan.filters, plan.query_tile));
  return rows * words * sizeof(std::uint32_t);
}

DeviceFilter::DeviceFilter(const std::shared_ptr<Device::State>& state, const Plan& plan,
                           const SearchOptions& options)
    : state_(state), plan_(plan), words_(options.filter) {
  if (!*this) return;
  memory_ = DeviceMemory(state, filter_bytes(plan));
  if (plan.filters == 1) copy(0, 1);
}

void DeviceFilter::upload(std::int64_t first, std::int64_t count) const {
  if (*this && plan_.filters > 1) copy(first, count);
}

void DeviceFilter::copy(std::int64_t first, std::int64_t count) const {
  const std::size_t bytes = static_cast<std::size_t>(words_.cols()) * sizeof(std::uint32_t);
  const DeviceSession session(*state_);
  if (words_.stride() == words_.cols()) {
    session->write(*memory_.get(), 0, words_.row(first), static_cast<std::size_t>(count) * bytes);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i)
    session->write(*memory_.get(), static_cast<std::size_t>(i) * bytes, words_.row(first + i), bytes);
}

spi::Grid<std::uint32_t> DeviceFilter::words(std::int64_t queries) const {
  if (!*this) return {};
  const auto words = static_cast<std::size_t>(words_of_filter(plan_.problem.n));
  return {memory_.get(), 0, plan_.filters == 1 ? 1 : static_cast<std::size_t>(queries), words, words};
}

spi::Step DeviceFilter::mask(const spi::Grid<float>& distances, std::uint32_t first_row,
                             const spi::Grid<float>& from) const {
  return mask_step(plan_, memory_.get(), distances, first_row, from);
}

spi::Step mask_step(const Plan& plan, spi::Allocation* filter, const spi::Grid<float>& distances,
                    std::uint32_t first_row, const spi::Grid<float>& from) {
  const auto words = static_cast<std::size_t>(words_of_filter(plan.problem.n));
  const std::size_t rows = plan.filters == 1 ? 1 : distances.rows;
  return {spi::MaskStep{{filter, 0, rows, words, words}, first_row, distances, from}, plan.threads};
}

void tidy(std::span<Key> list, std::optional<std::uint32_t> own) {
  std::replace_if(list.begin(), list.end(), is_masked, no_key);
  if (!own) return;
  const auto found =
      std::find_if(list.begin(), list.end(), [&](Key key) { return key != no_key && row_of(key) == *own; });
  const auto at = found == list.end() ? list.end() - 1 : found;
  std::move(at + 1, list.end(), at);
  list.back() = no_key;
}

}  // namespace kith
