// The whole search, tile by tile.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "rows/chunks.hpp"
#include "device/device_state.hpp"
#include "kith/index.hpp"
#include "kith/plan.hpp"
#include "kith/spi.hpp"
#include "kith/trace.hpp"
#include "plan/plan_memory.hpp"
#include "certified/shadow.hpp"
#include "tiles/workspace.hpp"

namespace kith {

struct Index::State {
  State(Device on, Metric measure, std::int64_t given, std::vector<std::int64_t> counting)
      : device(std::move(on)),
        metric(measure),
        columns(given),
        features(std::move(counting)),
        dims(static_cast<std::int64_t>(features.size())) {}

  /// The features as prepare_rows() takes them: empty when all columns count.
  std::span<const std::int64_t> mask() const {
    return dims == columns ? std::span<const std::int64_t>() : std::span(features);
  }

  Device device;
  Metric metric = Metric::squared_l2;
  std::int64_t rows = 0;
  std::int64_t columns = 0;            ///< of rows and queries, as given
  std::vector<std::int64_t> features;  ///< the columns that count, ascending
  std::int64_t dims = 0;               ///< as many: columns of the rows on the device
  float largest = 0;                   ///< max |element|, for check_range()
  std::vector<Chunk> chunks;
  std::vector<float> centre;  ///< centre_of() the rows
  double reach = 0;           ///< reach_of() the rows
  mutable DeviceMutex shadow_mutex{device.info()};
  /// Each made by the first search by its proposer.
  mutable std::map<Proposer, std::shared_ptr<const IndexShadow>> shadows;

  /// Throws out_of_memory.
  ///   trace  is told what it took, if it was not there; may be null
  std::shared_ptr<const IndexShadow> shadow_for(const Plan& plan, Trace* trace = nullptr) const;
};

/// Receives each finished query tile: queries first .. first + count - 1 have their keys in
/// Workspace::result(count). Called without a lock.
using Take = std::function<void(Workspace& workspace, std::int64_t first, std::int64_t count)>;

/// The most scratch a step of `plan` needs. Throws unsupported when the device refuses one.
std::size_t scratch_of(const spi::Device& device, const Plan& plan);

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
