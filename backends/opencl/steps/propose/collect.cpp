#include <algorithm>
#include <cmath>
#include <limits>

#include "clblast.hpp"
#include "device.hpp"
#include "steps/propose/proposer.hpp"

namespace kith::opencl {
namespace {

constexpr std::uint32_t collect_group = 256, collect_columns = 8 * collect_group, collect_queries = 8;
constexpr std::uint32_t lanes_columns = 8192;  // columns of a work-item

/// Returns how many columns of a product are multiplied at once: enough to fill a GPU, and few enough that
/// CLBlast's copies of its operands are small compared with all data. The number is a multiple of its tiles.
std::size_t product_columns(std::size_t dims) {
  constexpr std::size_t most_elements = std::size_t{1} << 26;
  return std::clamp<std::size_t>(most_elements / dims / 1024 * 1024, 1024, 16384);
}

Product product_of(const spi::CollectStep& step) {
  const std::size_t dims = step.train.rows.cols;
  return {step.values.rows,
          std::min(step.values.cols, product_columns(dims)),
          dims,
          step.queries.rows.stride,
          step.train.rows.stride,
          step.values.stride};
}

std::size_t round_up(std::size_t bytes, std::size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// Returns why CLBlast, which counts in int, cannot count the elements of a product; empty if it can.
std::string refuse_count(const Product& p, std::size_t temporary_bytes) {
  constexpr std::size_t most = std::numeric_limits<int>::max();
  const std::size_t largest =
      std::max({p.q * p.q_stride, p.t * p.t_stride, p.q * p.out_stride, temporary_bytes / sizeof(float)});
  if (largest <= most) return "";
  return "a product with " + std::to_string(p.q) + " queries takes matrices of " + std::to_string(largest) +
         " elements, but CLBlast counts to " + std::to_string(most) + "; use smaller tiles";
}

}  // namespace

spi::Support Device::check(const spi::CollectStep& step) const {
  const bool gemm = step.proposer == Proposer::gemm;
  if (step.proposer == Proposer::none) return {};
  std::string refusal =
      refuse_proposer(info.proposers, step.proposer, static_cast<std::uint32_t>(step.train.rows.cols));
  if (refusal.empty() && gemm) refusal = ClBlast::library().refusal();
  if (!refusal.empty()) return {std::move(refusal), 0};
  if (step.values.rows == 0 || step.values.cols == 0) return {};
  if (step.proposer == Proposer::int4) return {spi::refusal_of_many_queries(step), 0};
  if (step.proposer == Proposer::int8 && by_small_batch(step)) return {};
  if (!gemm)
    return {"", may_fuse_test(step) ? std::max(low_bytes(step), fused_test_bytes(step)) : low_bytes(step)};
  const Product product = product_of(step);
  const std::size_t temporary = ClBlast::library().temporary_bytes(queue_(), product);
  return {refuse_count(product, temporary), low_bytes(step) + temporary};
}

/// Returns whether collect_small_batch.cl runs a step. It needs no scratch.
bool Device::by_small_batch(const spi::CollectStep& step) const {
  return limits_.tensor_cores && step.values.rows <= spi::small_batch && spi::is_scaled(step.proposer);
}

/// Returns the bytes at the beginning of scratch that have `low` of every place, and behind it `gap` if
/// bounds are needed, and `lift` for int8.
std::size_t Device::low_bytes(const spi::CollectStep& step) const {
  const std::size_t lists =
      1 + (step.bounds.low.cols > 0 ? 1 : 0) + (step.proposer == Proposer::int8 ? 1 : 0);
  const std::size_t floats = places_of(step) * lists;
  return round_up(floats * sizeof(float), limits_.part_alignment);
}

void Device::enqueue(const spi::CollectStep& step) {
  if (step.values.rows == 0 || step.values.cols == 0) return;
  if (step.proposer != Proposer::none) {
    if (by_small_batch(step)) return collect_small_batch(step);
    if (spi::products_of(step) == spi::ProductKind::halves_fused_test) return collect_fused_test(step);
    collect_low(step);
  }
  switch (step.proposer) {
    case Proposer::fp16:
    case Proposer::int8:
      return collect_tiles(step);
    case Proposer::dot:
      return collect_dot(step);
    case Proposer::gemm:
      with_room([&] { multiply(step); });
      return collect_values(step);
    default:
      return collect_values(step);
  }
}

/// Compares distances, or products in memory, with the threshold.
void Device::collect_values(const spi::CollectStep& step) {
  const bool products = step.proposer != Proposer::none;
  const spi::Grid<float>& values = step.values;
  const auto run = [&](const char* source, const char* name, const Range& range, const std::string& defines,
                       const auto&... more) {
    launch_listing(step.out, step.bounds, source, defines + (products ? " -D LOW" : ""), name, range, values,
                   static_cast<cl_uint>(values.rows), static_cast<cl_uint>(values.cols),
                   buffer_of(products ? step.scratch.memory : values.memory), cl_ulong{places_of(step)},
                   step.threshold, step.first_row, more...);
  };
  if (family_ == Family::lanes)
    return run("propose/collect_lanes.cl", "kith_collect_lanes",
               Range{{divide_up(values.cols, lanes_columns), values.rows, 1}, {1, 1, 1}}, "",
               cl_uint{lanes_columns});
  const std::size_t across = divide_up(values.cols, collect_columns);
  run("propose/collect.cl", "kith_collect",
      Range{{across * collect_group, divide_up(values.rows, collect_queries), 1}, {collect_group, 1, 1}},
      define("GROUP", collect_group));
}

/// Computes the inner products of the quantized rows.
void Device::multiply(const spi::CollectStep& step) {
  const ClBlast& library = ClBlast::library();
  uses_clblast_ = true;
  Product product = product_of(step);
  const std::size_t temporary_bytes = library.temporary_bytes(queue_(), product);
  cl::Buffer temporary;
  if (temporary_bytes > 0) temporary = part_of(step.scratch.memory, low_bytes(step), temporary_bytes).buffer;
  const auto operand = [&](const spi::Grid<float>& grid, std::size_t first, std::size_t rows,
                           std::size_t cols) {
    return part_of(grid.memory, (grid.first + first) * sizeof(float),
                   ((rows - 1) * grid.stride + cols) * sizeof(float));
  };
  const Operand queries = operand(step.queries.rows, 0, product.q, product.dims);
  for (std::size_t t = 0; t < step.values.cols; t += product.t) {
    product.t = std::min(product.t, step.values.cols - t);
    const Operand train = operand(step.train.rows, t * step.train.rows.stride, product.t, product.dims);
    const Operand out = operand(step.values, t, product.q, product.t);
    library.multiply(queue_(), product, queries, train, out, temporary());
  }
}

/// Returns a part of memory as a sub-buffer, so that places in it are small numbers even if the memory is
/// large. It begins at the last address before `first` that the device allows.
Operand Device::part_of(const spi::Allocation* memory, std::size_t first, std::size_t bytes) const {
  cl::Buffer whole = buffer_of(memory);
  const std::size_t begin = first / limits_.part_alignment * limits_.part_alignment;
  const cl_buffer_region region{begin, first - begin + bytes};
  return {whole.createSubBuffer(CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region),
          (first - begin) / sizeof(float)};
}

/// Computes the values from which the products with each training row are subtracted.
void Device::collect_low(const spi::CollectStep& step) {
  const bool halves = sums_squares(step.metric), lanes = family_ == Family::lanes;
  const std::size_t places = places_of(step);
  const std::uint32_t group = lanes ? 1 : collect_group;
  const std::size_t groups =
      std::min<std::size_t>(divide_up(places, lanes ? 4096 : group), 2 * std::size_t{info.compute_units});
  const bool bytes = step.proposer == Proposer::int8;
  const ErrorNumbers error(step, step.proposer != Proposer::fp16 && !bytes);
  launch("propose/collect_low.cl",
         define("GROUP", group) + define("HALVES", halves ? 1 : 0) +
             (step.bounds.low.cols > 0 ? " -D BOUNDS" : "") + (bytes ? " -D LIFT" : "") +
             (spi::is_exact(step) ? " -D EXACT" : ""),
         "kith_collect_low", Range{{groups * group, 1, 1}, {group, 1, 1}}, step.queries.row_terms,
         static_cast<cl_uint>(step.values.rows), step.train.row_terms,
         static_cast<cl_uint>(step.train.rows.rows), visits_of(step), cl_ulong{places}, error, step.unscale,
         static_cast<cl_uint>(step.train.rows.cols), buffer_of(step.scratch.memory));
}

}  // namespace kith::opencl
