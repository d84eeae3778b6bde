// The whole search: the only loop over tiles there is.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "chunks.hpp"
#include "device_state.hpp"
#include "kith/index.hpp"
#include "kith/plan.hpp"
#include "kith/spi.hpp"
#include "kith/trace.hpp"
#include "workspace.hpp"

namespace kith {

struct Index::State {
  Device device;
  Metric metric = Metric::squared_l2;
  std::int64_t rows = 0;
  std::int64_t dims = 0;
  float largest = 0;  ///< max |element|, for check_range()
  std::vector<Chunk> chunks;
};

/// Receives each finished query tile: queries first .. first + count - 1 have their keys in
/// Workspace::result(count). Called without a lock.
using Take = std::function<void(Workspace& workspace, std::int64_t first, std::int64_t count)>;

/// make_plan() for this Index, with the device's scratch counted and its refusals heard.
Plan plan_search(const Index::State& index, std::int64_t m, std::int64_t k, const PlanOptions& options);

/// Run `plan` over prepared queries.
void run(const Index::State& index, const Plan& plan, const PlanOptions& options,
         MatrixView<const float> queries, Trace* trace, const Take& take);

}  // namespace kith
