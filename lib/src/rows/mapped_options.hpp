// Converts the options of a caller, which use positions of rows, to places of rows on the device.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kith/unstable/plan.hpp"
#include "rows/index_state.hpp"

namespace kith {

/// SearchOptions::filter and SearchOptions::self use positions (row_numbers.hpp). The options that this class
/// returns use places, and their filter also excludes removed rows.
class MappedOptions {
 public:
  /// `index` and `options` must live longer than this object.
  ///   m  number of queries
  ///   k  empty: the search has no number of neighbours
  /// Throws invalid_argument if rows are removed: as check_k() and check_rows_left_out() do, and if a row
  /// that is its own query is removed. If no row is removed, the plan checks this.
  MappedOptions(std::string_view where, const Index::State& index, const SearchOptions& options,
                std::int64_t m, std::optional<std::int64_t> k);

  const SearchOptions& options() const { return changed_ ? own_ : given_; }

 private:
  void map_self(std::string_view where, const Index::State& index, std::int64_t m);
  void map_filter(const Index::State& index);

  const SearchOptions& given_;
  bool changed_ = false;
  SearchOptions own_;
  std::vector<std::uint32_t> words_;  ///< the filter of own_
};

}  // namespace kith
