// Runs a whole search, tile by tile.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "certified/found_before.hpp"
#include "kith/error.hpp"
#include "kith/spi.hpp"
#include "kith/trace.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/queries/query_rows.hpp"
#include "rows/resident_rows.hpp"
#include "rows/row_filter.hpp"
#include "tiles/workspace.hpp"

namespace kith {

class StayingQueries;

/// Receives each finished query tile: queries first .. first + count - 1 have their keys in
/// Workspace::result(count). Called without a lock.
using OnTile = std::function<void(Workspace& workspace, std::int64_t first, std::int64_t count)>;

/// Returns the most scratch that a step of `plan` needs. Throws unsupported if the device refuses one.
std::size_t scratch_of(const Device::State& device, const Plan& plan);

/// Plans a search of these rows by make_plan(), and heeds the device's scratch and refusals.
Plan plan_search(const ResidentRows& index, std::int64_t m, std::int64_t k, const SearchOptions& options,
                 const Feedback& feedback);

/// Plans a search by the first way that neither planning nor the search refuses.
class SearchPlanner {
 public:
  /// All arguments must outlive this.
  SearchPlanner(const ResidentRows& index, std::int64_t m, std::int64_t k, const SearchOptions& options,
                const Feedback& feedback);

  /// Plans by the present way. Throws the error that refuses it.
  Plan plan() const;
  /// Goes on to the next way. Returns false if there is none. No way gives up what the caller asks for.
  ///   at_work  plan that failed while it ran; null: planning failed
  bool give_way(const Error& error, const Plan* at_work);

 private:
  enum class Rules { measured, built_in, chain };  ///< `chain`: built-in rules without a proposer
  /// Says by which rules to plan, and whether boxes may be used if the caller leaves it open.
  struct Way {
    Rules rules = Rules::built_in;
    bool boxes = true;
  };
  std::optional<Way> way_after(Errc code, const Plan* at_work) const;

  const ResidentRows& index_;
  const Problem problem_;
  const SearchOptions& options_;
  const Feedback feedback_;  ///< includes what is known about the rows, and what was measured on the device
  Way way_;
  std::string note_;  ///< names the ways that failed
};

/// Copies the queries of a tile to where steps read them. Query 0 of the tile goes by filter `first`.
///   staying_queries  keeps the queries on the device; null: they are copied
void upload_tile(const ResidentRows& index, const Plan& plan, const QueryRows& queries, std::int64_t first,
                 Workspace& workspace, const DeviceFilter& filter, Trace* trace,
                 StayingQueries* staying_queries = nullptr);

/// Describes a search by one plan. It refers to memory of others.
struct PlannedSearch {
  const ResidentRows& rows;
  const Plan& plan;
  const SearchOptions& options;
  QueryRows queries;        ///< prepared
  float largest_query = 0;  ///< no element of the queries is above it
  Trace* trace = nullptr;
  /// Is called once, before the first tile is handed on, if possible while the device works; it may be empty.
  /// With a Trace it is called under the device's lock, else without.
  std::function<void()> overlap = {};
  StayingQueries* staying_queries = nullptr;  ///< as for upload_tile()
  std::function<std::span<Key>()> room = {};  ///< where the host takes the keys of a tile; empty: it may not
  FoundBefore known = {};                     ///< known about the queries; the lists may then contain rows
                                              ///< found before
};

/// Lets each tile of queries go through the attempts of the plan. Returns the queries whose lists are left
/// empty, because the device has no rows that the chain could read.
std::vector<std::int64_t> search_tiles(PlannedSearch search, const OnTile& on_tile);

}  // namespace kith
