// collect, dot and bf16: inner products of shadows, tested as they come.
//
// What a product is taken from, low(t), is computed first, in double precision, rounded down. Then each task
// takes some queries and a part of the training rows. docs/certificate.md, section 4.
#include "cpu/collect_products.hpp"

#include <algorithm>

#include "cpu/bounds.hpp"
#include "parallel.hpp"

namespace kith::cpu {
namespace {

constexpr std::size_t most_task_queries = 128, tasks_a_thread = 8;
constexpr std::size_t most_dims = std::size_t{1} << 20;  // so that roundings are few beside 1 / u

double fact(const spi::Grid<float>& facts, spi::Fact which, std::size_t r) {
  return static_cast<double>(elements(facts)[which * facts.stride + r]);
}

/// Of all queries of the step.
struct Largest {
  double norm = 0, error = 0, shadow_norm = 0;
};

Largest largest_of(const spi::CollectStep& step, double b) {
  Largest largest;
  for (std::size_t q = 0; q < step.values.rows; ++q) {
    const double length = fact(step.queries.facts, spi::shadow_norm, q);
    largest.norm = std::max(largest.norm, fact(step.queries.facts, spi::norm, q));
    largest.shadow_norm = std::max(largest.shadow_norm, length);
    largest.error = std::max(largest.error, fact(step.queries.facts, spi::residual, q) + b * length);
  }
  return largest;
}

/// low [t]. The factor of the error is more than the roundings of its computation.
void compute_low(const spi::CollectStep& step, float* low) {
  const auto dims = static_cast<double>(step.train.rows.cols);
  const double steps = (dims + 2) * unit_of_float, b = steps / (1 - steps) * (1 + 0x1p-50);
  const bool squares = from_products(step.metric) == FromProducts::as_squares;
  const double chain = squares ? 0 : b, tiny = dims * (squares ? 0x1p-120 : 0x1p-119);
  const Largest largest = largest_of(step, b);
  for (std::size_t t = 0; t < step.values.cols; ++t) {
    const auto of_row = [&](spi::Fact which) { return fact(step.train.facts, which, t); };
    const double length = of_row(spi::shadow_norm);
    const double error = (largest.norm * (of_row(spi::residual) + chain * of_row(spi::norm)) +
                          largest.error * length + tiny * (1 + largest.shadow_norm + length)) *
                         (1 + 0x1p-20);
    low[t] = -float_above(error - (squares ? of_row(spi::half_norm) : 0.0));
  }
}

/// Elements of the shadow from row to row.
std::size_t pitch_of(Proposer proposer, std::size_t dims) {
  return proposer == Proposer::dot ? dims
                                   : (dims + spi::shadow_dims - 1) / spi::shadow_dims * spi::shadow_dims;
}

const void* shadow_of(const spi::CollectStep& step, const spi::Grid<float>& rows) {
  const std::size_t element = step.proposer == Proposer::dot ? sizeof(float) : sizeof(std::uint16_t);
  return bytes_of(*rows.memory) + rows.first * pitch_of(step.proposer, rows.cols) * element;
}

std::size_t padded_rows(const spi::CollectStep& step) {
  return (step.values.cols + train_block - 1) / train_block * train_block;
}

}  // namespace

spi::Support check_products(const spi::CollectStep& step, const Resources& with) {
  const auto& has = with.proposers();
  const std::string what = "proposer " + std::string(name(step.proposer));
  if (std::find(has.begin(), has.end(), step.proposer) == has.end())
    return {what + " is not made for this CPU; choose proposer dot or none", 0};
  if (from_products(step.metric) == FromProducts::not_at_all)
    return {"metric " + std::string(name(step.metric)) +
                " does not follow from inner products; choose proposer none",
            0};
  if (step.train.rows.cols > most_dims)
    return {"the bound of " + what + " holds for at most " + std::to_string(most_dims) +
                " columns, but these are " + std::to_string(step.train.rows.cols) + "; choose proposer none",
            0};
  if (step.queries.rows.first % spi::shadow_rows || step.train.rows.first % spi::shadow_rows)
    return {"shadows of " + what + " begin at a multiple of " + std::to_string(spi::shadow_rows) + " rows",
            0};
  return {{}, padded_rows(step) * sizeof(float)};
}

void collect_products(const spi::CollectStep& step, const Resources& with) {
  const std::size_t m = step.values.rows, n = step.values.cols, dims = step.train.rows.cols;
  if (m == 0 || n == 0) return;
  auto* const low = reinterpret_cast<float*>(bytes_of(*step.scratch.memory));
  std::fill(low + n, low + padded_rows(step), std::numeric_limits<float>::infinity());
  compute_low(step, low);
  // Many queries a task share the training rows in the cache; few queries leave these to be shared out.
  const std::size_t wanted = with.team * tasks_a_thread;
  const std::size_t even = (m / wanted + 31) / 32 * 32;
  const std::size_t queries = std::clamp<std::size_t>(even, 32, most_task_queries),
                    groups = (m + queries - 1) / queries;
  const std::size_t parts = std::clamp<std::size_t>(wanted / groups, 1, (n + 1023) / 1024);
  const std::size_t part = (n / parts + train_block) / train_block * train_block;
  const auto propose = step.proposer == Proposer::dot ? with.kernels.propose : with.set.propose_bf16;
  run_team(groups * parts, m * n * dims, with.team, [&](std::size_t task, std::size_t) {
    const std::size_t q = task / parts * queries, t = task % parts * part;
    if (t >= n) return;
    propose({shadow_of(step, step.queries.rows), shadow_of(step, step.train.rows), dims, q,
             std::min(m, q + queries), t, std::min(n, t + part), low, elements(step.theta), step.theta.stride,
             step.first_row, elements(step.out.rows), step.out.rows.stride, step.out.rows.cols,
             elements(step.out.counts), step.out.counts.stride});
  });
}

}  // namespace kith::cpu
