// A search as its caller asks for it, and by the places of rows on the device.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kith/unstable/plan.hpp"
#include "rows/index_state.hpp"

namespace kith {

/// SearchOptions::filter and SearchOptions::self go by position (row_numbers.hpp). Behind this class they go
/// by place, and removed rows are in the filter, too.
class MappedOptions {
 public:
  /// `index` and `options` live longer.
  ///   m  queries
  ///   k  nothing: of no search for so many
  /// Throws invalid_argument, where rows are removed: as check_k() and check_rows_left_out() do, and a row
  /// that is its own query is removed. Where none is, that is left to the plan.
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
