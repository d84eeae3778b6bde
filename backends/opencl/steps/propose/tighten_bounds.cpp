// Computes the threshold from bounds: those of the listed candidates, or those of a sample.
#include "device.hpp"
#include "steps/propose/tighten.hpp"

namespace kith::opencl {
namespace {

constexpr std::uint32_t sample_small_batch_max_k = 128;  // tighten_sample_small_batch.cl

/// The sizes for tighten_sample_small_batch.cl.
constexpr std::uint32_t sample_group = 256, sample_values = 8;

Shortlist shortlist_of(const spi::TightenBySampleStep& step) {
  return Shortlist(step.k, sample_group * sample_values);
}

}  // namespace

spi::Support Device::check(const spi::TightenByBoundsStep& step) const {
  std::string refusal = refuse_threshold(info.proposers, step);
  if (!refusal.empty() || family_ != Family::lanes) return {std::move(refusal), 0};
  return {"", step.threshold.rows * step.k * sizeof(Key)};
}

void Device::enqueue(const spi::TightenByBoundsStep& step) {
  if (step.threshold.rows == 0) return;
  if (family_ == Family::lanes) return tighten_by_lanes(step);
  tighten_by_groups(step, step.highs, step.counts, step.lost, "");
}

/// Ranks the bounds like chains, in lists in scratch.
void Device::tighten_by_lanes(const spi::TightenByBoundsStep& step) {
  const std::size_t k = step.k;
  const spi::TightenStep sorted{step.proposer,
                                step.metric,
                                step.dims,
                                step.k,
                                step.highs,
                                step.counts,
                                {step.scratch.memory, 0, step.threshold.rows, k, k},
                                step.query_terms,
                                step.threshold,
                                step.lost,
                                {},
                                true};
  tighten_join(sorted);
  tighten_threshold(sorted, halves_define(step) + " -D BOUNDS");
}

spi::Support Device::check(const spi::TightenBySampleStep& step) const {
  return {refuse_threshold(info.proposers, step), 0};
}

/// With many queries, tighten_sample.cl has one warp per query.
void Device::enqueue(const spi::TightenBySampleStep& step) {
  constexpr std::size_t warp = 32, warps = 4, most_of_warp = 1024, most_of_few = 256;
  const std::size_t rows = step.threshold.rows;
  if (rows == 0) return;
  const bool few = rows <= std::size_t{4} * info.compute_units;
  if (few && step.sample.cols > most_of_few && step.k <= sample_small_batch_max_k &&
      shortlist_of(step).refuse(step.k, limits_.local_memory_bytes - parts_bytes).empty())
    return tighten_by_small_batch(step);
  if (!limits_.tensor_cores || step.sample.cols > (few ? most_of_few : most_of_warp))
    return tighten_by_groups(step, step.sample, {}, {}, " -D SAMPLE");
  std::uint32_t each = 4;
  while (each * warp < step.sample.cols) each *= 2;
  launch("bound/tighten_sample.cl", define("EACH", each) + halves_define(step), "kith_tighten_sample",
         Range{{divide_up(rows, warps) * warps * warp, 1, 1}, {warps * warp, 1, 1}}, step.sample,
         static_cast<cl_uint>(step.sample.cols), static_cast<cl_uint>(rows), step.k, step.dims,
         row_terms_of(step), step.threshold);
}

/// Runs tighten_sample_small_batch.cl.
void Device::tighten_by_small_batch(const spi::TightenBySampleStep& step) {
  constexpr std::uint32_t group = sample_group;
  const Shortlist shape = shortlist_of(step);
  const std::uint32_t parts = parts_for(step.k, most_parts);
  launch("bound/tighten_sample_small_batch.cl",
         define("GROUP", group) + define("VALUES", sample_values) + halves_define(step),
         "kith_tighten_sample_small_batch", Range{{group * step.threshold.rows, 1, 1}, {group, 1, 1}},
         step.sample, static_cast<cl_uint>(step.sample.cols), step.k, step.dims, row_terms_of(step),
         step.threshold, shape.sizes(parts), Local{shape.list_bytes()}, Local{shape.buffer_bytes()},
         Local{std::size_t{2} * parts * sizeof(cl_uint)});
}

/// Computes the threshold from the k-th smallest bound by tighten_bounds.cl, which does not sort.
///   counts, lost  of the listed candidates; empty for a sample
template <class Step, class Listed>
void Device::tighten_by_groups(const Step& step, const spi::Grid<Listed>& listed,
                               const spi::Grid<std::uint32_t>& counts, const spi::Grid<std::uint32_t>& lost,
                               const std::string& defines) {
  constexpr std::size_t short_list = 512;
  constexpr std::size_t local_of_many_codes = 49152;
  const std::size_t rows = step.threshold.rows;
  // For few queries, a larger group per query is faster.
  const bool few = rows <= std::size_t{4} * info.compute_units && listed.cols > short_list;
  const bool large = step.k > short_k || few;
  const std::uint32_t items = large ? 256 : 64, digit_bits = large ? 11 : 8;
  const std::uint32_t many_codes = limits_.local_memory_bytes >= local_of_many_codes ? 4096 : 2048;
  launch("bound/tighten_bounds.cl",
         define("GROUP", items) + define("DIGIT_BITS", digit_bits) +
             define("CODES", large ? many_codes : 1024) + halves_define(step) + defines,
         "kith_tighten_bounds", Range{{items * rows, 1, 1}, {items, 1, 1}}, listed,
         static_cast<cl_uint>(listed.cols), counts, step.k, lost, step.dims, row_terms_of(step),
         step.threshold);
}

}  // namespace kith::opencl
