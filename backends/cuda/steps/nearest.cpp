#include "nearest/nearest_at_once.hpp"

#include "steps/steps.hpp"

namespace kith::cuda {
namespace {

/// The kernels that a step may use.
enum class Way { rows, at_once, low_dim, tiles };

Way way_of(const DeviceInfo& info, const Queue& queue, const spi::NearestStep& step) {
  // With fewer queries a tile of 128 would compute more padding than queries.
  if (step.queries.rows <= spi::small_batch)
    return info.profile.pairs_at_once > 0 && fits_at_once(queue, step) ? Way::at_once : Way::rows;
  return step.train.dims <= low_dim_max_dims && step.k <= low_dim_max_k ? Way::low_dim : Way::tiles;
}

}  // namespace

spi::Support Device::check(const spi::NearestStep& step) const {
  std::string refusal = refusal_of_rows("queries", step.queries);
  if (refusal.empty()) refusal = refusal_of_rows("training rows", step.train);
  if (refusal.empty()) refusal = refusal_of_lists(step.queries.rows, step.lists);
  if (refusal.empty() && step.k > nearest_max_k)
    refusal = "the fused step keeps at most " + std::to_string(nearest_max_k) +
              " neighbours, but k = " + std::to_string(step.k) + "; use distance and select";
  if (!refusal.empty()) return {refusal, 0};
  if (step.queries.rows == 0) return {};
  switch (way_of(info, queue_, step)) {
    case Way::rows:
      break;
    case Way::at_once:
      return {"", nearest_at_once_scratch(queue_, step)};
    case Way::low_dim:
      return {"", nearest_low_dim_scratch(queue_, step)};
    case Way::tiles:
      return {"", nearest_tiles_scratch(queue_, step)};
  }
  return {};
}

cudaError_t Device::enqueue(const spi::NearestStep& step) {
  if (step.queries.rows == 0) return cudaSuccess;
  switch (way_of(info, queue_, step)) {
    case Way::rows:
      break;
    case Way::at_once:
      return nearest_at_once(queue_, step);
    case Way::low_dim:
      return nearest_low_dim(queue_, step);
    case Way::tiles:
      return nearest_tiles(queue_, step);
  }
  return nearest_rows(queue_, step);
}

}  // namespace kith::cuda
