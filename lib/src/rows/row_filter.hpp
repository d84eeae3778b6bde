// The training rows that do not count in a search: SearchOptions::filter and SearchOptions::self.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "device/device_state.hpp"
#include "kith/spi.hpp"
#include "kith/unstable/plan.hpp"

namespace kith {

/// Returns the number of words of a filter over n training rows.
constexpr std::int64_t words_of_filter(std::int64_t n) {
  return (n + 31) / 32;
}

/// Returns whether there is a filter.
inline bool has_filter(const SearchOptions& options) {
  return options.filter.rows() != 0 || options.filter.cols() != 0;
}

/// Throws invalid_argument: k is not from 1 to n, or to n - 1 if a row is not its own neighbour.
void check_k(std::string_view where, std::int64_t k, std::int64_t n, const SearchOptions& options);

/// Throws invalid_argument: SearchOptions::filter is not [1 or m, ceil(n / 32)], or the queries are more than
/// the training rows from SearchOptions::self on.
void check_rows_left_out(std::string_view where, std::int64_t n, std::int64_t m,
                         const SearchOptions& options);

/// Returns whether steps of the device heed a filter: not if rows are struck out of lists, or gathered.
inline bool filters_on_device(const Plan& plan) {
  return plan.filters > 0 && !plan.struck && !plan.gathered;
}

/// Returns whether row t counts.
///   words  of one filter
inline bool counts(const std::uint32_t* words, std::uint32_t t) {
  return (words[t / 32] >> t % 32 & 1u) != 0;
}

/// Returns how many bytes of device memory the filter of a plan takes; 0 without one.
std::size_t filter_bytes(const Plan& plan);

/// A filter in device memory: one row of words for all queries, or one for each query of a tile.
class DeviceFilter {
 public:
  /// Copies the filter if one row of words serves all queries. Without a filter, all rows count. Locks the
  /// device. Throws out_of_memory.
  DeviceFilter(const std::shared_ptr<Device::State>& state, const Plan& plan, const SearchOptions& options);

  explicit operator bool() const { return filters_on_device(plan_); }
  /// Copies the words of queries first ... first + count - 1, if each query has its own. Locks the device.
  void upload(std::int64_t first, std::int64_t count) const;
  /// Returns the words of a tile of `queries` queries, or those for all; empty without a filter.
  spi::Grid<std::uint32_t> words(std::int64_t queries) const;
  ///   from  as in MaskStep
  spi::Step mask(const spi::Grid<float>& distances, std::uint32_t first_row,
                 const spi::Grid<float>& from = {}) const;

 private:
  void copy(std::int64_t first, std::int64_t count) const;

  const std::shared_ptr<Device::State> state_;
  const Plan plan_;
  const MatrixView<const std::uint32_t> words_;
  DeviceMemory memory_;
};

/// Makes the step of DeviceFilter::mask(). Its memory may be null if the step is only checked.
spi::Step mask_step(const Plan& plan, spi::Allocation* filter, const spi::Grid<float>& distances,
                    std::uint32_t first_row, const spi::Grid<float>& from = {});

/// Returns whether a key belongs to a pair that MaskStep excluded, or to no pair.
constexpr bool is_masked(Key key) {
  return key >> 32 == no_value;
}

/// Completes a list of a search for its caller: masked keys become no_key. With `own`, the key of that row is
/// removed and later keys move up; if the list does not have it, the last key is removed.
void tidy(std::span<Key> list, std::optional<std::uint32_t> own);

}  // namespace kith
