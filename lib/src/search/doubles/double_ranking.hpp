// Computes the chains in double precision of candidates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "kith/matrix_view.hpp"
#include "kith/options.hpp"
#include "kith/trace.hpp"
#include "rows/index_state.hpp"
#include "search/doubles/ranking_tiles.hpp"

namespace kith {

/// Says who computes the chains in double precision.
struct DoubleRanker {
  std::string why_host;  ///< why the host does, which continues "since"; empty: the device does

  bool is_device() const { return why_host.empty(); }
  /// Returns Plan::double_chains.
  std::string said() const { return is_device() ? "by the device" : "by the host, since " + why_host; }
};

/// Chooses the device if it is a single one that has passed the test of this step, and if it has room for the
/// rows. Locks the device, the first time for longer.
DoubleRanker double_ranker(const RankedAmong& among, const SearchOptions& options);

/// Copies the rows to the device if it is to rank them. Returns who ranks then: the host if memory ran out.
DoubleRanker prepare_ranker(const RankedAmong& among, const SearchOptions& options);

class DoubleRanking {
 public:
  /// Prepares the ranker. What `among` refers to must outlive this.
  DoubleRanking(const RankedAmong& among, const SearchOptions& options);

  /// Passes the raw value of each listed row to `take`, in ascending order of queries.
  ///   queries  [m, dims], prepared
  ///   places   [m, width], or [1, width] for all queries; no_row: there is none
  ///   trace    gets the time of the device; null: not wanted
  void rank(MatrixView<const double> queries, MatrixView<const std::uint32_t> places, const TakeValues& take,
            Trace* trace);

  /// Says who has ranked so far, or will.
  const DoubleRanker& ranker() const { return ranker_; }

 private:
  void rank_here(MatrixView<const double> queries, MatrixView<const std::uint32_t> places,
                 const TakeValues& take) const;

  const RankedAmong among_;
  const std::uint32_t threads_;
  DoubleRanker ranker_;
};

}  // namespace kith
