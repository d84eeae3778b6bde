// How some queries are asked for in one part of the rows: with what the filter says of these rows.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kith/matrix_view.hpp"
#include "kith/plan.hpp"

namespace kith {

/// Some things of many, one behind the other.
struct Stretch {
  std::int64_t first = 0, count = 0;
};

/// The words of `filter` for these rows alone: bit t % 32 of word t / 32 is that of row rows.first + t.
///   filters  which rows of `filter`
///   returns  [filters.count, ceil(rows.count / 32)]
std::vector<std::uint32_t> cut_filter(MatrixView<const std::uint32_t> filter, Stretch filters, Stretch rows);

class AskedPart {
 public:
  /// What `options` refers to lives longer.
  ///   m        all queries
  ///   options  for all queries and all rows, by place, without `self`
  ///   some     queries that are asked
  ///   rows     places of the part
  AskedPart(std::int64_t m, const PlanOptions& options, Stretch some, Stretch rows);
  AskedPart(const AskedPart&) = delete;
  AskedPart& operator=(const AskedPart&) = delete;

  const PlanOptions& options() const { return options_; }
  /// Report this part's work as from `from` to `to` of the caller's whole.
  void scale_progress(double from, double to);

 private:
  PlanOptions options_;
  std::vector<std::uint32_t> words_;
};

}  // namespace kith
