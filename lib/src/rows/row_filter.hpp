// Training rows that do not count in a search: SearchOptions::filter and SearchOptions::self.
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

/// Words that a filter over n training rows has.
constexpr std::int64_t words_of_filter(std::int64_t n) {
  return (n + 31) / 32;
}

/// Whether there is a filter at all.
inline bool has_filter(const SearchOptions& options) {
  return options.filter.rows() != 0 || options.filter.cols() != 0;
}

/// Throws invalid_argument: k is not from 1 to n, or to n - 1 where a row is not its own neighbour.
void check_k(std::string_view where, std::int64_t k, std::int64_t n, const SearchOptions& options);

/// Throws invalid_argument: SearchOptions::filter is not [1 or m, ceil(n / 32)], or queries from
/// SearchOptions::self on are not all training rows.
void check_rows_left_out(std::string_view where, std::int64_t n, std::int64_t m,
                         const SearchOptions& options);

/// Whether steps of the device heed a filter: not where rows are struck out of lists, or gathered.
inline bool filters_on_device(const Plan& plan) {
  return plan.filters > 0 && !plan.struck && !plan.gathered;
}

/// Whether row t counts.
///   words  of one filter
inline bool counts(const std::uint32_t* words, std::uint32_t t) {
  return (words[t / 32] >> t % 32 & 1u) != 0;
}

/// Device bytes of the filter of a plan; 0 without one.
std::size_t filter_bytes(const Plan& plan);

/// The filter in device memory: the words that are for all queries, or those of a query tile.
class DeviceFilter {
 public:
  /// Without a filter, all rows count. One row of words is copied now. Locks the device.
  /// Throws out_of_memory.
  DeviceFilter(const std::shared_ptr<Device::State>& state, const Plan& plan, const SearchOptions& options);

  explicit operator bool() const { return filters_on_device(plan_); }
  /// Copy the words of queries first ... first + count - 1, if each has its own. Locks the device.
  void upload(std::int64_t first, std::int64_t count) const;
  /// The words of a tile of `queries` queries, or those for all; empty without a filter.
  spi::Grid<std::uint32_t> words(std::int64_t queries) const;
  ///   from  as MaskStep has it
  spi::Step mask(const spi::Grid<float>& distances, std::uint32_t first_row,
                 const spi::Grid<float>& from = {}) const;

 private:
  void copy(std::int64_t first, std::int64_t count) const;

  const std::shared_ptr<Device::State> state_;
  const Plan plan_;
  const MatrixView<const std::uint32_t> words_;
  DeviceMemory memory_;
};

/// The step of DeviceFilter::mask(), for checking with null memory.
spi::Step mask_step(const Plan& plan, spi::Allocation* filter, const spi::Grid<float>& distances,
                    std::uint32_t first_row, const spi::Grid<float>& from = {});

/// Whether a key belongs to a pair that MaskStep struck out, or to none.
constexpr bool is_masked(Key key) {
  return key >> 32 == no_value;
}

/// Make a list of a search what its caller was promised: a masked key becomes no_key. With `own`, the key of
/// that row goes and the later ones move up; where it is not in the list, the last key goes.
void tidy(std::span<Key> list, std::optional<std::uint32_t> own);

}  // namespace kith
