// The whole search, tile by tile.
#pragma once

#include <cstdint>
#include <functional>

#include "kith/plan.hpp"
#include "kith/spi.hpp"
#include "kith/trace.hpp"
#include "rows/index_state.hpp"
#include "tiles/workspace.hpp"

namespace kith {

/// Receives each finished query tile: queries first .. first + count - 1 have their keys in
/// Workspace::result(count). Called without a lock.
using Take = std::function<void(Workspace& workspace, std::int64_t first, std::int64_t count)>;

/// The most scratch a step of `plan` needs. Throws unsupported when the device refuses one.
std::size_t scratch_of(const Device::State& device, const Plan& plan);

/// make_plan() for this Index, with the device's scratch counted and its refusals heard.
Plan plan_search(const Index::State& index, std::int64_t m, std::int64_t k, const PlanOptions& options);
/// The same by the built-in rules alone, whatever was measured.
Plan plan_untuned(const Index::State& index, std::int64_t m, std::int64_t k, const PlanOptions& options);

/// Run `plan` over prepared queries, of which no element is above `largest_query`.
///   meanwhile  called once, before the first take and while the device works, if it can; may be empty. Under
///              the device's lock with a Trace, else without
void run(const Index::State& index, const Plan& plan, const PlanOptions& options,
         MatrixView<const float> queries, float largest_query, Trace* trace, std::function<void()> meanwhile,
         const Take& take);

}  // namespace kith
