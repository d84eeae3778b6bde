#include "device.hpp"
#include "steps/metric.hpp"

namespace kith::opencl {
namespace {

/// Shape of double_chains.cl.
struct Shape {
  cl_ulong pairs;
  cl_uint width, n, dims, first_row;
};

}  // namespace

spi::Support Device::check(const spi::DoubleChainsStep& step) const {
  if (step.terms.cols > 0) return {"its kernels heed no terms of columns in double precision", 0};
  if (limits_.double_precision) return {};
  return {"it has no double precision (cl_khr_fp64)", 0};
}

void Device::enqueue(const spi::DoubleChainsStep& step) {
  const std::size_t pairs = step.rows.rows * step.rows.cols;
  if (pairs == 0 || step.train.rows == 0) return;
  constexpr std::size_t items = 64, narrow_dims = 8;
  const bool wide = family_ == Family::groups && step.train.cols > narrow_dims;
  launch("rerank/double_chains.cl", define_metric(step.metric) + define("GROUP", items),
         wide ? "kith_double_chains_wide" : "kith_double_chains", Range{{pairs, 1, 1}, {items, 1, 1}},
         step.queries, step.train, step.rows, step.values,
         Shape{pairs, static_cast<cl_uint>(step.rows.cols), static_cast<cl_uint>(step.train.rows),
               static_cast<cl_uint>(step.train.cols), step.first_row});
}

}  // namespace kith::opencl
