#include <algorithm>
#include <bit>

#include "device.hpp"
#include "steps/metric.hpp"

namespace kith::opencl {
namespace {

constexpr std::uint32_t groups_max_k = 64;  // keys of a list that fit into registers
constexpr std::uint32_t most_registers_dims = 16;
constexpr std::uint32_t group_items = 64, rows_each = 8;
constexpr std::uint32_t parts = 128;  // of rows_each rows, which are read twice
constexpr std::uint32_t few_columns = 3;

/// The Shape of group_of.cl, an argument by value.
struct GroupsShape {
  cl_uint borders, first_query, first_row, k;
  cl_uint from_group;
  cl_uint asks_itself, own;
};

GroupsShape shape_of(const spi::GroupsStep& step) {
  return {static_cast<cl_uint>(step.row_borders.cols),
          step.first_query,
          step.first_row,
          step.k,
          step.from_group ? 1u : 0u,
          step.own >= 0 ? 1u : 0u,
          static_cast<cl_uint>(step.own)};
}

}  // namespace

spi::Support Device::check(const spi::GroupsStep& step) const {
  std::string refusal = refuse_rows(info, step.queries, step.train);
  if (refusal.empty() && family_ == Family::groups && step.k > groups_max_k)
    refusal = "k = " + std::to_string(step.k) + ", but a search of many groups keeps lists of up to " +
              std::to_string(groups_max_k) + "; search each group by itself";
  return {refusal, 0};
}

void Device::enqueue(const spi::GroupsStep& step) {
  const spi::RowBlocks &q = step.queries, &t = step.train;
  if (q.rows == 0) return;
  const std::string metric = define_metric(step.metric);
  if (family_ == Family::lanes) {
    const Lanes lanes(limits_.vector_width, q, t);
    return launch("groups/groups_lanes.cl", metric + lanes.defines, "kith_groups_lanes",
                  Range{{lanes.passes, 1, 1}, {1, 1, 1}}, Sides{q, t}, step.query_borders, step.row_borders,
                  shape_of(step), step.out);
  }
  std::string defines = metric + define("LIST", std::max(4u, std::bit_ceil(step.k))) +
                        define("GROUP", group_items) + define("EACH", rows_each) +
                        define("QUEUE", 2 * rows_each);
  if (t.dims <= most_registers_dims) defines += define("DIMS", t.dims);
  // Bounds of parts pay for groups of many rows, read twice at little cost (groups_points.cl).
  const std::size_t rows_a_group = t.rows / (step.row_borders.cols - 1);
  const bool twice =
      t.dims <= few_columns && rows_a_group >= spi::fewest_rows_twice && rows_a_group <= spi::most_rows_twice;
  if (twice) defines += define("PARTS", parts);
  launch(twice ? "groups/groups_points.cl" : "groups/groups.cl", defines,
         twice ? "kith_groups_points" : "kith_groups", Range{{q.rows, 1, 1}, {group_items, 1, 1}},
         Sides{q, t}, step.query_borders, step.row_borders, shape_of(step), step.out);
}

}  // namespace kith::opencl
