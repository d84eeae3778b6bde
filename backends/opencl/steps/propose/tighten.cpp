#include <algorithm>

#include "device.hpp"
#include "steps/propose/tighten.hpp"

namespace kith::opencl {
namespace {

constexpr std::uint32_t tighten_chunk = 2048, tighten_piece = 8;  // tighten.cl
constexpr std::uint32_t keys_at_a_time = 512;

Shortlist shortlist_of(const spi::TightenStep& step) {
  return Shortlist(step.k, keys_at_a_time);
}

bool fits(const spi::TightenStep& step, std::size_t local_memory_bytes) {
  return step.k <= 2048 && shortlist_of(step).refuse(step.k, local_memory_bytes - parts_bytes).empty();
}

/// Returns the number of work-items per query. Steps of a sort end with barriers, at which larger groups wait
/// longer, but long lists have work for many items. (NVIDIA's driver accepts no kernel of more than 256
/// items, whatever the device allows.)
std::uint32_t group_of(const spi::TightenStep& step) {
  return step.k <= short_k ? 128 : 256;
}

/// Returns the compiler options of tighten.cl.
std::string tighten_defines(const spi::TightenStep& step) {
  const std::uint32_t group = group_of(step);
  return define("GROUP", group) + define("VALUES", keys_at_a_time / group) + define("CHUNK", tighten_chunk) +
         define("PIECE", tighten_piece) + (step.afresh ? " -D AFRESH" : "");
}

/// Returns the compiler option with which warps sort lists.
std::string sort_define(const spi::TightenStep& step, const Limits& limits) {
  return limits.tensor_cores && step.afresh && step.k > short_k ? " -D WARPS" : "";
}

/// Returns the compiler options of settle.cl.
std::string settle_defines(const spi::TightenStep& step) {
  return halves_define(step) + (step.guessed ? " -D GUESSED" : "");
}

}  // namespace

spi::Support Device::check(const spi::TightenStep& step) const {
  if (std::string refusal = refuse_threshold(info.proposers, step); !refusal.empty())
    return {std::move(refusal), 0};
  if (family_ == Family::lanes || fits(step, limits_.local_memory_bytes)) return {};
  return {"", step.best.rows * 2 * std::max<std::size_t>(step.keys.cols, step.k) * sizeof(Key)};
}

void Device::enqueue(const spi::TightenStep& step) {
  if (step.best.rows == 0) return;
  if (step.keys.cols > 0 || step.afresh) {
    if (family_ != Family::lanes && fits(step, limits_.local_memory_bytes)) return tighten_at_once(step);
    tighten_join(step);
  }
  tighten_threshold(step, settle_defines(step));
}

/// Uses a single kernel, if a list of k fits into local memory.
void Device::tighten_at_once(const spi::TightenStep& step) {
  const bool seeded = step.afresh && step.k <= short_k;
  const std::uint32_t group = group_of(step), parts = seeded ? parts_for(step.k, most_parts) : 1;
  const Shortlist shape = shortlist_of(step);
  launch("bound/tighten.cl",
         tighten_defines(step) + sort_define(step, limits_) + settle_defines(step) +
             (seeded ? " -D SEEDED" : ""),
         "kith_tighten", Range{{group * step.best.rows, 1, 1}, {group, 1, 1}}, step.keys,
         static_cast<cl_uint>(step.keys.cols), step.counts, step.k, step.best, shape.sizes(parts),
         Local{shape.list_bytes()}, Local{shape.buffer_bytes()},
         Local{std::size_t{2} * parts * sizeof(cl_uint)}, buffer_of(step.lost.memory),
         buffer_of(row_terms_of(step).memory), buffer_of(step.threshold.memory), Settled(step));
}

/// Merges the candidates into the best so far.
void Device::tighten_join(const spi::TightenStep& step) {
  const bool lanes = family_ == Family::lanes;
  const std::size_t items = lanes ? 1 : group_of(step);
  const Range range{{items * step.best.rows, 1, 1}, {items, 1, 1}};
  const auto run = [&](const char* source, const std::string& defines, const char* name,
                       const auto&... arguments) {
    launch(source, defines, name, range, step.keys, static_cast<cl_uint>(step.keys.cols), step.counts, step.k,
           step.best, arguments...);
  };
  if (lanes) return run("bound/tighten_lanes.cl", step.afresh ? " -D AFRESH" : "", "kith_tighten_lanes");
  run("bound/tighten.cl", tighten_defines(step) + settle_defines(step), "kith_tighten_runs",
      buffer_of(step.scratch.memory));
}

/// Computes the thresholds, and empties the lists.
///   defines  compiler options of settle.cl
void Device::tighten_threshold(const spi::TightenStep& step, const std::string& defines) {
  const std::size_t rows = step.best.rows;
  launch("bound/tighten_threshold.cl", defines, "kith_tighten_threshold",
         Range{{rows, 1, 1}, {family_ == Family::lanes ? 1u : 64u, 1, 1}}, step.best,
         static_cast<cl_uint>(rows), step.k, step.counts, static_cast<cl_uint>(step.keys.cols),
         buffer_of(step.lost.memory), buffer_of(row_terms_of(step).memory), buffer_of(step.threshold.memory),
         Settled(step));
}

}  // namespace kith::opencl
