#include <algorithm>

#include "device.hpp"
#include "steps/metric.hpp"
#include "steps/propose/proposer.hpp"

namespace kith::opencl {
namespace {

constexpr std::uint32_t team_queries = 8, team_items = 32;  // rerank_lines.cl

/// Returns whether rerank_lines.cl can copy whole lines of rows. It needs PTX, which devices with a proposer
/// for tensor cores accept.
bool comes_in_lines(const DeviceInfo& info, const spi::RerankStep& step) {
  constexpr std::size_t most_places = std::size_t{1} << 28;  // places of eight queries are counted in 32 bits
  const std::vector<Proposer>& has = info.proposers;
  return step.train.block == 1 && step.train.dims % 4 == 0 && step.queries.first % team_queries == 0 &&
         step.candidates.rows.cols <= most_places &&
         std::find(has.begin(), has.end(), Proposer::fp16) != has.end();
}

}  // namespace

spi::Support Device::check(const spi::RerankStep& step) const {
  spi::RowBlocks train = step.train;
  // its rows are contiguous
  if (train.block == 1 && family_ != Family::lanes) train.block = info.train_block;
  return {refuse_rows(info, step.queries, train), 0};
}

void Device::enqueue(const spi::RerankStep& step) {
  const spi::RowBlocks &q = step.queries, &t = step.train;
  const spi::CandidateLists& from = step.candidates;
  if (q.rows == 0 || t.rows == 0 || from.rows.cols == 0) return;
  const bool lanes = family_ == Family::lanes;
  // With more columns some chains may differ from the results of products, so all chains are computed.
  if (!lanes && step.products.low.cols > 0 && t.dims <= spi::columns_of_exact_chains(step.metric))
    return rerank_products(step);
  if (comes_in_lines(info, step)) return rerank_lines(step);
  const std::size_t items = lanes ? 1 : 64;
  // Groups share a list if there are too few lists to fill the device.
  const std::size_t groups =
      lanes ? 1
            : std::clamp<std::size_t>(64 * info.compute_units / q.rows, 1, divide_up(from.rows.cols, items));
  const Range range =
      lanes ? Range{{q.rows, 1, 1}, {1, 1, 1}} : Range{{items * groups, q.rows, 1}, {items, 1, 1}};
  const std::string shape = lanes ? define("QUERY_BLOCK", q.block) + define("TRAIN_BLOCK", t.block)
                                  : define("GROUP", items) + (t.block == 1 ? " -D IN_ORDER" : "");
  launch(lanes ? "rerank/rerank_lanes.cl" : "rerank/rerank.cl", define_metric(step.metric) + shape,
         lanes ? "kith_rerank_lanes" : "kith_rerank", range, Sides{q, t}, step.first_row, from.rows,
         static_cast<cl_uint>(from.rows.cols), from.counts, step.out);
}

/// Runs rerank_products.cl.
void Device::rerank_products(const spi::RerankStep& step) {
  constexpr std::size_t items = 64;
  const spi::CandidateLists& from = step.candidates;
  const std::size_t rows = step.queries.rows;
  const std::size_t groups = std::clamp<std::size_t>(std::size_t{64} * info.compute_units / rows, 1,
                                                     divide_up(from.rows.cols, items));
  spi::Grid<float> half_norms = step.products.query_terms;
  half_norms.first += spi::half_norm * half_norms.stride;
  half_norms.stride = 1;
  launch("rerank/rerank_products.cl",
         define("GROUP", items) + define("HALVES", sums_squares(step.metric) ? 1 : 0), "kith_rerank_products",
         Range{{items * groups, rows, 1}, {items, 1, 1}}, step.products.low, half_norms, from.rows,
         static_cast<cl_uint>(from.rows.cols), from.counts, step.out);
}

/// Runs rerank_lines.cl.
void Device::rerank_lines(const spi::RerankStep& step) {
  const spi::RowBlocks &q = step.queries, &t = step.train;
  const spi::CandidateLists& from = step.candidates;
  const std::uint32_t teams = divide_up(q.rows, team_queries);
  // There are enough groups for all compute units, if every list is full.
  const std::size_t enough = divide_up(std::size_t{24} * info.compute_units, teams),
                    most = divide_up(from.rows.cols * team_queries, team_items);
  const auto parts = static_cast<cl_uint>(std::min(enough, most));
  launch("rerank/rerank_lines.cl", define_metric(step.metric), "kith_rerank_lines",
         Range{{std::size_t{teams} * parts * team_items, 1, 1}, {team_items, 1, 1}}, Sides{q, t},
         step.first_row, from.rows, static_cast<cl_uint>(from.rows.cols), from.counts, step.out, teams,
         parts);
}

}  // namespace kith::opencl
