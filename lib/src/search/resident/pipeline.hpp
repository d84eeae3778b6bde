// The whole search, tile by tile.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "certified/found_before.hpp"
#include "kith/error.hpp"
#include "kith/spi.hpp"
#include "kith/trace.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/landed/query_rows.hpp"
#include "rows/resident_rows.hpp"
#include "rows/row_filter.hpp"
#include "tiles/workspace.hpp"

namespace kith {

class StayingQueries;

/// Receives each finished query tile: queries first .. first + count - 1 have their keys in
/// Workspace::result(count). Called without a lock.
using OnTile = std::function<void(Workspace& workspace, std::int64_t first, std::int64_t count)>;

/// The most scratch a step of `plan` needs. Throws unsupported when the device refuses one.
std::size_t scratch_of(const Device::State& device, const Plan& plan);

/// make_plan() for this Index, with the device's scratch counted and its refusals heard.
Plan plan_search(const ResidentRows& index, std::int64_t m, std::int64_t k, const SearchOptions& options,
                 const Feedback& feedback);

/// One way to plan a search: by which rules, and whether boxes may be used where the caller leaves it open.
struct PlanWay {
  enum class Rules { measured, built_in, chain };  ///< `chain`: the built-in ones without a proposer
  Rules rules = Rules::built_in;
  bool boxes = true;
};

/// What refused a plan.
struct PlanFailure {
  Errc code = Errc::unsupported;
  const Plan* at_work = nullptr;  ///< that was being carried out; null: it was planning that failed
};

/// The ways that are left when `way` failed, in the order in which they are tried. A pure function. What the
/// caller asks for is not given up.
std::vector<PlanWay> ways_after(const PlanWay& way, const SearchOptions& options, const PlanFailure& failure);

/// Plans of a search, by the first way that neither planning nor the search refuses.
class SearchPlanner {
 public:
  /// All of these live longer.
  SearchPlanner(const ResidentRows& index, std::int64_t m, std::int64_t k, const SearchOptions& options,
                const Feedback& feedback);

  /// By the way at hand. Throws what refuses it.
  Plan plan() const;
  /// Go on to the next way; false where there is none.
  ///   at_work  as in PlanFailure
  bool give_way(const Error& error, const Plan* at_work);

 private:
  const ResidentRows& index_;
  const Problem problem_;
  const SearchOptions& options_;
  const Feedback feedback_;  ///< and what is known of the rows and measured on the device
  PlanWay way_;
  std::string note_;  ///< on those that gave way
};

/// Bring the queries of a tile, the first of which is number `first` of the filter, to where steps read them.
///   staying_queries  who keeps the queries on the device; null: nobody
void upload_tile(const ResidentRows& index, const Plan& plan, const QueryRows& queries, std::int64_t first,
                 Workspace& workspace, const DeviceFilter& filter, Trace* trace,
                 StayingQueries* staying_queries = nullptr);

/// A search by one plan. Refers to memory of others.
struct PlannedSearch {
  const ResidentRows& rows;
  const Plan& plan;
  const SearchOptions& options;
  QueryRows queries;        ///< prepared
  float largest_query = 0;  ///< no element of them is above
  Trace* trace = nullptr;
  /// Called once, before the first tile is taken and while the device works, if it can; may be empty. Under
  /// the device's lock with a Trace, else without.
  std::function<void()> overlap = {};
  StayingQueries* staying_queries = nullptr;  ///< as for upload_tile()
  FoundBefore known = {};                     ///< of the queries: keys of FoundBefore are then among theirs
};

/// Each tile of queries goes through the attempts of the plan.
/// Returns the queries whose lists are left empty, since the device has no rows that the chain could read.
std::vector<std::int64_t> search_tiles(PlannedSearch search, const OnTile& on_tile);

}  // namespace kith
