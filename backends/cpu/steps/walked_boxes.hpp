// What steps share that walk through boxes, a BoxesStep or a CountStep.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "cpu/steps/steps.hpp"
#include "host/parallel.hpp"
#include "kith/spi/boxes.hpp"

namespace kith::cpu {

static_assert(leaf_rows == spi::box_rows);

/// Values that are the same for all queries of a step.
template <class Step>
struct Walked {
  const Step& step;
  const Kernels& kernels;
  std::uint32_t levels;
  std::array<std::uint32_t, spi::most_box_levels> counts;  ///< number of boxes at each level
  std::array<const float*, spi::most_box_levels> bounds;   ///< bounds of the first box of each level
  const float* rows;
  const std::uint32_t* numbers;
  const float* terms;  ///< parameters of columns; null: chains take differences

  Walked(const Step& work, const Kernels& with)
      : step(work), kernels(with), levels(spi::box_levels(work.train.rows.rows)) {
    const std::uint32_t n = work.train.rows.rows;
    for (std::uint32_t l = 0; l < levels; ++l) {
      counts[l] = spi::boxes_of_level(n, l);
      bounds[l] = elements(work.train.bounds) + spi::blocks_before_level(n, l) * work.train.bounds.stride;
    }
    rows = elements(work.train.rows);
    numbers = elements(work.train.numbers);
    terms = terms_of(work.train.rows);
  }

  ///   query  [dims]
  Walker walker(const float* query) const {
    return {step.metric, query, terms, step.train.rows.mixed, step.train.rows.dims};
  }
};

/// Returns a mask of the first `count` of 32 bits.
inline std::uint32_t first_bits(std::size_t count) {
  return count >= 32 ? 0xFFFFFFFFu : (1u << count) - 1u;
}

/// Returns how many bytes each thread needs for the elements of one query.
template <class Step>
std::size_t query_bytes(const Step& step) {
  return std::size_t{step.queries.dims} * sizeof(float);
}

/// Calls walk(q, query) for each query, in the order of the step. A task is several queries that follow each
/// other in it, and read about the same leaves.
///   scratch  query_bytes() for each thread
template <class Step, class Walk>
void for_each_walk(const Step& step, const Resources& with, const spi::Scratch& memory, const Walk& walk) {
  constexpr std::size_t most_queries_a_task = 64;
  constexpr std::size_t work_a_query = 2000;  // elementary operations for a few leaves, roughly
  const std::size_t m = step.queries.rows, dims = step.queries.dims, block = step.queries.block;
  const std::uint32_t* const order = step.order.cols > 0 ? elements(step.order) : nullptr;
  const ScratchParts scratch(Step::name, memory, query_bytes(step), with.team);
  const std::size_t task_size =
      std::clamp<std::size_t>(m / (std::size_t{8} * with.team), 1, most_queries_a_task);
  run_team((m + task_size - 1) / task_size, m * work_a_query, scratch.team(),
           [&](std::size_t task, std::size_t thread) {
             float* const query = scratch.of<float>(thread);
             for (std::size_t i = task * task_size; i < std::min(m, (task + 1) * task_size); ++i) {
               const std::size_t q = order ? order[i] : i, r = step.queries.first + q;
               const float* const from = elements(step.queries) + r / block * dims * block + r % block;
               for (std::size_t d = 0; d < dims; ++d) query[d] = from[d * block];
               walk(q, query);
             }
           });
}

}  // namespace kith::cpu
