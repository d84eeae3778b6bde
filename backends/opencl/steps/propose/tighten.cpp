#include <algorithm>

#include "check.hpp"
#include "device.hpp"
#include "steps/propose/proposer.hpp"

namespace kith::opencl {
namespace {

constexpr std::uint32_t tighten_chunk = 2048, tighten_piece = 8;  // tighten.cl
constexpr std::uint32_t sample_few_max_k = 128;                   // tighten_sample_few.cl
constexpr std::uint32_t short_k = 256, keys_at_a_time = 512, most_parts = 512;

Shortlist shortlist_of(const spi::TightenStep& step) {
  return Shortlist(step.k, keys_at_a_time);
}

/// Of the parts of a first bound (shortlist.cl).
constexpr std::size_t parts_bytes = std::size_t{2} * most_parts * sizeof(cl_uint);

bool fits(const spi::TightenStep& step, std::size_t local_memory_bytes) {
  return step.k <= 2048 && shortlist_of(step).refuse(step.k, local_memory_bytes - parts_bytes).empty();
}

/// How a group keeps the smallest of a sample, as tighten_sample_few.cl says.
constexpr std::uint32_t sample_group = 256, sample_values = 8;

Shortlist shortlist_of_sample(const spi::TightenStep& step) {
  return Shortlist(step.k, sample_group * sample_values);
}

bool is_by_bounds(const spi::TightenStep& step) {
  return step.of != spi::TightenStep::Of::chains;
}

bool is_by_sample(const spi::TightenStep& step) {
  return step.of == spi::TightenStep::Of::sample;
}

/// Whether a k-th best half of a squared distance is what theta follows from.
bool is_halved(const spi::TightenStep& step) {
  return step.proposer != Proposer::none && from_squares(step.metric);
}

/// Whether `best` is only written.
bool is_afresh(const spi::TightenStep& step) {
  return step.afresh || is_by_bounds(step);
}

/// Work-items a query. Comparisons of a sort end with barriers, at which more items wait longer; long lists
/// have work for many. (NVIDIA's driver takes no kernel of more than 256, whatever the device allows.)
std::uint32_t group_of(const spi::TightenStep& step) {
  return step.k <= short_k ? 128 : 256;
}

/// How tighten.cl is compiled.
std::string tighten_defines(const spi::TightenStep& step) {
  const std::uint32_t group = group_of(step);
  return define("GROUP", group) + define("VALUES", keys_at_a_time / group) + define("CHUNK", tighten_chunk) +
         define("PIECE", tighten_piece) + (is_afresh(step) ? " -D AFRESH" : "");
}

/// How settle.cl is.
std::string settle_defines(const spi::TightenStep& step) {
  return std::string(is_halved(step) ? " -D HALVES" : "") + (is_by_bounds(step) ? " -D BOUNDS" : "") +
         (step.guessed ? " -D GUESSED" : "");
}

/// The facts of queries that theta is made with; something where it is not.
const spi::Grid<float>& facts_of(const spi::TightenStep& step) {
  return is_halved(step) ? step.query_facts : step.theta;
}

}  // namespace

spi::Support Device::check(const spi::TightenStep& step) const {
  if (step.k == 0) return {"k = 0; choose at least 1", 0};
  if (is_by_sample(step) && step.proposer != Proposer::fp16 && step.proposer != Proposer::int8)
    return {"samples are of proposers fp16 and int8", 0};
  if (step.proposer != Proposer::none) {
    std::string refusal = refuse_proposer(info.proposers, step.proposer, step.dims);
    if (refusal.empty()) refusal = refuse_metric(step.metric);
    if (!refusal.empty()) return {std::move(refusal), 0};
  }
  if (family_ == Family::lanes || is_by_bounds(step) || fits(step, limits_.local_memory_bytes)) return {};
  return {"", step.best.rows * 2 * std::max<std::size_t>(step.keys.cols, step.k) * sizeof(Key)};
}

void Device::enqueue(const spi::TightenStep& step) {
  if (step.best.rows == 0) return;
  if (is_by_sample(step)) return tighten_by_sample(step);
  if (family_ != Family::lanes && is_by_bounds(step)) return tighten_by_bounds(step);
  if (step.keys.cols > 0 || is_afresh(step)) {
    if (family_ != Family::lanes && fits(step, limits_.local_memory_bytes)) return tighten_at_once(step);
    tighten_join(step);
  }
  tighten_theta(step);
}

/// theta from the k-th smallest bound, which nobody has to sort for. As tighten_bounds.cl says.
template <class Listed>
void Device::tighten_by_groups(const spi::TightenStep& step, const spi::Grid<Listed>& listed,
                               const std::string& defines) {
  constexpr std::size_t short_list = 512;
  constexpr std::size_t local_of_many_codes = 49152;
  const std::size_t rows = step.best.rows;
  // A larger group a query is done sooner, as long as there are few.
  const bool few = rows <= std::size_t{4} * info.compute_units && listed.cols > short_list;
  const bool large = step.k > short_k || few;
  const std::uint32_t items = large ? 256 : 64, digit_bits = large ? 11 : 8;
  const std::uint32_t many_codes = limits_.local_memory_bytes >= local_of_many_codes ? 4096 : 2048;
  launch("bound/tighten_bounds.cl",
         define("GROUP", items) + define("DIGIT_BITS", digit_bits) +
             define("CODES", large ? many_codes : 1024) + (is_halved(step) ? " -D HALVES" : "") + defines,
         "kith_tighten_bounds", Range{{items * rows, 1, 1}, {items, 1, 1}}, listed,
         static_cast<cl_uint>(listed.cols), step.counts, step.k, step.lost, step.dims, facts_of(step),
         step.theta);
}

void Device::tighten_by_bounds(const spi::TightenStep& step) {
  tighten_by_groups(step, step.keys, "");
}

/// As tighten_sample_few.cl says.
void Device::tighten_by_few(const spi::TightenStep& step) {
  constexpr std::uint32_t group = sample_group;
  const Shortlist shape = shortlist_of_sample(step);
  const std::uint32_t parts = parts_for(step.k, most_parts);
  launch("bound/tighten_sample_few.cl",
         define("GROUP", group) + define("VALUES", sample_values) + (is_halved(step) ? " -D HALVES" : ""),
         "kith_tighten_sample_few", Range{{group * step.best.rows, 1, 1}, {group, 1, 1}}, step.sample,
         static_cast<cl_uint>(step.sample.cols), step.k, step.dims, facts_of(step), step.theta,
         shape.list_size, shape.capacity, shape.merge_at, Local{shape.list_bytes()},
         Local{shape.buffer_bytes()}, Local{std::size_t{2} * parts * sizeof(cl_uint)}, parts);
}

/// Of many queries a warp each, as tighten_sample.cl says.
void Device::tighten_by_sample(const spi::TightenStep& step) {
  constexpr std::size_t warp = 32, warps = 4, most_of_warp = 1024, most_of_few = 256;
  const bool few = step.best.rows <= std::size_t{4} * info.compute_units;
  if (few && step.sample.cols > most_of_few && step.k <= sample_few_max_k &&
      shortlist_of_sample(step).refuse(step.k, limits_.local_memory_bytes - parts_bytes).empty())
    return tighten_by_few(step);
  if (step.sample.cols > (few ? most_of_few : most_of_warp))
    return tighten_by_groups(step, step.sample, " -D SAMPLE");
  std::uint32_t each = 4;
  while (each * warp < step.sample.cols) each *= 2;
  launch("bound/tighten_sample.cl", define("EACH", each) + (is_halved(step) ? " -D HALVES" : ""),
         "kith_tighten_sample",
         Range{{divide_up(step.best.rows, warps) * warps * warp, 1, 1}, {warps * warp, 1, 1}}, step.sample,
         static_cast<cl_uint>(step.sample.cols), static_cast<cl_uint>(step.best.rows), step.k, step.dims,
         facts_of(step), step.theta);
}

/// By one kernel, where a list of k fits into local memory.
void Device::tighten_at_once(const spi::TightenStep& step) {
  const bool seeded = is_afresh(step) && step.k <= short_k;
  const std::uint32_t group = group_of(step), parts = seeded ? parts_for(step.k, most_parts) : 1;
  const Shortlist shape = shortlist_of(step);
  launch("bound/tighten.cl", tighten_defines(step) + settle_defines(step) + (seeded ? " -D SEEDED" : ""),
         "kith_tighten", Range{{group * step.best.rows, 1, 1}, {group, 1, 1}}, step.keys,
         static_cast<cl_uint>(step.keys.cols), step.counts, step.k, step.best, shape.list_size,
         shape.capacity, shape.merge_at, Local{shape.list_bytes()}, Local{shape.buffer_bytes()},
         Local{std::size_t{2} * parts * sizeof(cl_uint)}, parts, step.lost, step.dims, facts_of(step),
         step.theta);
}

/// The k best of the best so far and the candidates.
void Device::tighten_join(const spi::TightenStep& step) {
  const bool lanes = family_ == Family::lanes;
  const std::size_t items = lanes ? 1 : group_of(step);
  const Range range{{items * step.best.rows, 1, 1}, {items, 1, 1}};
  const auto run = [&](const char* source, const std::string& defines, const char* name,
                       const auto&... arguments) {
    launch(source, defines, name, range, step.keys, static_cast<cl_uint>(step.keys.cols), step.counts, step.k,
           step.best, arguments...);
  };
  if (lanes) return run("bound/tighten_lanes.cl", is_afresh(step) ? " -D AFRESH" : "", "kith_tighten_lanes");
  run("bound/tighten.cl", tighten_defines(step) + settle_defines(step), "kith_tighten_runs",
      buffer_of(step.scratch.memory));
}

/// What still counts as near, and empty lists.
void Device::tighten_theta(const spi::TightenStep& step) {
  const std::size_t rows = step.best.rows;
  launch("bound/tighten_theta.cl", settle_defines(step), "kith_tighten_theta",
         Range{{rows, 1, 1}, {family_ == Family::lanes ? 1u : 64u, 1, 1}}, step.best,
         static_cast<cl_uint>(rows), step.k, step.counts, static_cast<cl_uint>(step.keys.cols), step.lost,
         step.dims, facts_of(step), step.theta);
}

}  // namespace kith::opencl
