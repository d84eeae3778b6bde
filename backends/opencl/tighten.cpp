#include <algorithm>

#include "check.hpp"
#include "device.hpp"
#include "proposer.hpp"

namespace kith::opencl {
namespace {

constexpr std::uint32_t tighten_group = 128, tighten_values = 2;  // tighten.cl
constexpr std::uint32_t tighten_chunk = 2048, tighten_piece = 8;

bool fits(const spi::TightenStep& step, std::size_t local_memory_bytes) {
  return step.k <= 2048 &&
         Shortlist(step.k, tighten_group * tighten_values).refuse(step.k, local_memory_bytes).empty();
}

/// Whether `best` is only written.
bool is_afresh(const spi::TightenStep& step) {
  return step.afresh || step.of == spi::TightenStep::Of::bounds;
}

}  // namespace

spi::Support Device::check(const spi::TightenStep& step) const {
  if (step.k == 0) return {"k = 0; choose at least 1", 0};
  if (step.proposer != Proposer::none) {
    std::string refusal = refuse_proposer(info.proposers, step.proposer, step.dims);
    if (refusal.empty()) refusal = refuse_metric(step.metric);
    if (!refusal.empty()) return {std::move(refusal), 0};
  }
  if (family_ == Family::lanes || fits(step, limits_.local_memory_bytes)) return {};
  return {"", step.best.rows * 2 * std::max<std::size_t>(step.keys.cols, step.k) * sizeof(Key)};
}

void Device::enqueue(const spi::TightenStep& step) {
  if (step.best.rows == 0) return;
  if (step.keys.cols > 0 || is_afresh(step)) tighten_join(step);
  tighten_theta(step);
}

/// The k best of the best so far and the candidates.
void Device::tighten_join(const spi::TightenStep& step) {
  const std::size_t rows = step.best.rows;
  const auto run = [&](const char* source, const std::string& defines, const char* name, std::size_t items,
                       const auto&... arguments) {
    launch(source, defines + (is_afresh(step) ? " -D AFRESH" : ""), name,
           Range{{items * rows, 1, 1}, {items, 1, 1}}, step.keys, static_cast<cl_uint>(step.keys.cols),
           step.counts, step.k, step.best, arguments...);
  };
  if (family_ == Family::lanes) return run("tighten_lanes.cl", "", "kith_tighten_lanes", 1);
  const std::string defines = define("GROUP", tighten_group) + define("VALUES", tighten_values) +
                              define("CHUNK", tighten_chunk) + define("PIECE", tighten_piece);
  if (!fits(step, limits_.local_memory_bytes))
    return run("tighten.cl", defines, "kith_tighten_runs", tighten_group, buffer_of(step.scratch.memory));
  const Shortlist shape(step.k, tighten_group * tighten_values);
  run("tighten.cl", defines, "kith_tighten", tighten_group, shape.list_size, shape.capacity, shape.merge_at,
      Local{shape.list_bytes()}, Local{shape.buffer_bytes()});
}

/// What still counts as near, and empty lists.
void Device::tighten_theta(const spi::TightenStep& step) {
  const bool halves = step.proposer != Proposer::none && from_squares(step.metric);
  const bool bounds = step.of == spi::TightenStep::Of::bounds;
  const std::size_t rows = step.best.rows;
  launch("tighten_theta.cl", std::string(halves ? " -D HALVES" : "") + (bounds ? " -D BOUNDS" : ""),
         "kith_tighten_theta", Range{{rows, 1, 1}, {family_ == Family::lanes ? 1u : 64u, 1, 1}}, step.best,
         static_cast<cl_uint>(rows), step.k, step.counts, static_cast<cl_uint>(step.keys.cols), step.lost,
         step.dims, halves ? step.query_facts : step.theta, step.theta);
}

}  // namespace kith::opencl
