#include <algorithm>

#include "device.hpp"
#include "steps/metric.hpp"

namespace kith::opencl {
namespace {

constexpr std::size_t most_bounds_of_launch = 256;

/// The Shape of count.cl, an argument by value.
struct CountShape {
  Place boxes, bounds, filter, counts, leaves;
  cl_ulong order_first, numbers_first;
  cl_uint q_first, n, dims, many, adds;
};

/// Returns the local memory of a work-group in addition to that which count.cl declares.
std::size_t query_bytes_of(const spi::CountStep& step) {
  return std::size_t{step.queries.dims} * sizeof(float);
}
std::size_t tally_bytes(std::size_t many) {
  const std::size_t words = (spi::most_box_levels + 1) * spi::box_rows + 2 * many + 1;
  return (many > 1 ? words : 1) * sizeof(cl_uint);
}

}  // namespace

spi::Support Device::check(const spi::CountStep& step) const {
  constexpr std::size_t own_bytes = 64;
  spi::RowBlocks rows = step.train.rows;
  rows.block = info.train_block;  // boxes have their own block size
  std::string refusal = refuse_rows(info, step.queries, rows);
  const std::size_t needed =
      own_bytes + query_bytes_of(step) + tally_bytes(std::min(step.bounds.cols, most_bounds_of_launch));
  if (refusal.empty() && needed > limits_.local_memory_bytes)
    refusal = std::to_string(step.queries.dims) + " columns take " + std::to_string(needed) +
              " bytes of local memory in a walk through boxes, but the device has " +
              std::to_string(limits_.local_memory_bytes) + "; choose no boxes";
  return {refusal, 0};
}

void Device::enqueue(const spi::CountStep& step) {
  const spi::RowBlocks& q = step.queries;
  if (q.rows == 0) return;
  const spi::Boxes& t = step.train;
  spi::Grid<std::uint32_t> filter = step.filter, counts = step.counts;
  spi::Grid<float> bounds = step.bounds;
  if (filter.rows == 1) filter.stride = 0;
  if (bounds.rows == 1) bounds.stride = 0;
  std::string defines = define_metric(step.metric) + define("QUERY_BLOCK", q.block);
  if (step.order.cols > 0) defines += " -D ORDERED";
  if (filter.cols > 0) defines += " -D FILTERED";
  if (t.rows.terms) defines += t.rows.mixed ? " -D TERMS -D MIXED" : " -D TERMS";
  for (std::size_t first = 0; first < step.bounds.cols; first += most_bounds_of_launch) {
    const std::size_t many = std::min(most_bounds_of_launch, step.bounds.cols - first);
    bounds.first = step.bounds.first + first;
    counts.first = step.counts.first + first;
    launch("boxes/count.cl", many > 1 ? defines + " -D SEVERAL" : defines, "kith_count",
           Range{{std::size_t{q.rows} * spi::box_rows, 1, 1}, {spi::box_rows, 1, 1}}, buffer_of(q.memory),
           buffer_or_none(step.order.memory), buffer_of(t.rows.memory), buffer_of(t.numbers.memory),
           buffer_of(t.bounds.memory), buffer_of(bounds.memory), buffer_or_none(filter.memory),
           buffer_or_none(t.rows.terms), buffer_of(counts.memory), buffer_of(step.leaves.memory),
           CountShape{t.bounds, bounds, filter, counts, step.leaves, step.order.first, t.numbers.first,
                      q.first, t.rows.rows, q.dims, static_cast<cl_uint>(many), first > 0},
           Local{query_bytes_of(step)}, Local{tally_bytes(many)});
  }
}

}  // namespace kith::opencl
