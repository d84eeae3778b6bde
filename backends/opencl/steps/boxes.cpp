#include "device.hpp"
#include "steps/metric.hpp"

namespace kith::opencl {
namespace {

/// The Shape of boxes.cl, an argument by value.
struct BoxesShape {
  Place bounds, filter, within, out, leaves;
  cl_ulong order_first, numbers_first;
  cl_uint q_first, n, dims, k, most_leaves;
};

/// Returns the local memory of a work-group in addition to that which boxes.cl declares.
std::size_t query_bytes(const spi::BoxesStep& step) {
  return std::size_t{step.queries.dims} * sizeof(float);
}
std::size_t list_bytes(const spi::BoxesStep& step) {
  return std::size_t{2} * step.k * sizeof(Key);
}

}  // namespace

spi::Support Device::check(const spi::BoxesStep& step) const {
  constexpr std::size_t own_bytes = spi::box_rows * (spi::most_box_levels * sizeof(float) + sizeof(Key)) + 64;
  spi::RowBlocks rows = step.train.rows;
  rows.block = info.train_block;  // boxes have their own block size
  std::string refusal = refuse_rows(info, step.queries, rows);
  const std::size_t needed = own_bytes + query_bytes(step) + list_bytes(step);
  if (refusal.empty() && needed > limits_.local_memory_bytes)
    refusal = "k = " + std::to_string(step.k) + " and " + std::to_string(step.queries.dims) +
              " columns take " + std::to_string(needed) +
              " bytes of local memory beside boxes, but the device has " +
              std::to_string(limits_.local_memory_bytes) + "; choose a smaller k, or no boxes";
  return {refusal, 0};
}

void Device::enqueue(const spi::BoxesStep& step) {
  const spi::RowBlocks& q = step.queries;
  if (q.rows == 0) return;
  const spi::Boxes& t = step.train;
  std::string defines = define_metric(step.metric) + define("QUERY_BLOCK", q.block);
  if (step.order.cols > 0) defines += " -D ORDERED";
  if (step.filter.cols > 0) defines += " -D FILTERED";
  if (step.within.cols > 0) defines += " -D WITHIN";
  if (t.rows.terms) defines += t.rows.mixed ? " -D TERMS -D MIXED" : " -D TERMS";
  spi::Grid<std::uint32_t> filter = step.filter;
  if (filter.rows == 1) filter.stride = 0;
  launch("boxes/boxes.cl", defines, "kith_boxes",
         Range{{std::size_t{q.rows} * spi::box_rows, 1, 1}, {spi::box_rows, 1, 1}}, buffer_of(q.memory),
         buffer_or_none(step.order.memory), buffer_of(t.rows.memory), buffer_of(t.numbers.memory),
         buffer_of(t.bounds.memory), buffer_or_none(filter.memory), buffer_or_none(step.within.memory),
         buffer_or_none(t.rows.terms), buffer_of(step.out.memory), buffer_of(step.leaves.memory),
         BoxesShape{t.bounds, filter, step.within, step.out, step.leaves, step.order.first, t.numbers.first,
                    q.first, t.rows.rows, q.dims, step.k, step.most_leaves},
         Local{query_bytes(step)}, Local{list_bytes(step)});
}

}  // namespace kith::opencl
