// nearest: computes distances and selects in one step. Distances never leave the registers; those that pass
// the threshold of a query are appended to its short list.
#include <array>
#include <limits>

#include "cpu/steps/shortlist.hpp"
#include "cpu/steps/steps.hpp"
#include "host/parallel.hpp"

namespace kith::cpu {
namespace {

/// The number of queries that scan a slab of training rows before the next slab is read. With fewer than 32,
/// memory limits the speed; with more than 64, nothing is gained.
constexpr std::size_t least_task_queries = 32, most_task_queries = 128;
/// The number of tasks per thread, if there are enough queries; it limits how late the last thread ends.
constexpr std::size_t tasks_a_thread = 10;
/// The most bytes for the short lists of a task; if more are needed, a task gets fewer queries.
constexpr std::size_t most_list_bytes = std::size_t{1} << 24;

/// How a step is divided into tasks.
struct Cut {
  Parts parts;
  std::size_t capacity;  ///< entries per list
  std::size_t queries;   ///< queries per task

  std::size_t list_bytes() const { return capacity * sizeof(Key); }

  Cut(const spi::NearestStep& step, std::uint32_t team)
      : parts(step.train.rows, step.lists), capacity(shortlist_capacity(step.k, parts.size)) {
    const std::size_t share = std::size_t{step.queries.rows} * step.lists / (team * tasks_a_thread);
    const std::size_t even = (step.queries.rows + team - 1) / team;  // every thread should have a task
    const std::size_t wanted = std::clamp(share, std::min(even, least_task_queries), most_task_queries);
    const std::size_t fitting = std::min(wanted, most_list_bytes / list_bytes());
    queries = std::min<std::size_t>(step.queries.rows,
                                    std::max(fitting / query_block, std::size_t{1}) * query_block);
  }
};

/// Fills the short lists of queries begin .. end - 1 from one part of the training rows.
void run_task(const spi::NearestStep& step, const Kernels& kernels, const Cut& cut, std::size_t begin,
              std::size_t end, std::size_t g, Key* entries) {
  std::array<float, query_block + most_task_queries + query_block> thresholds;
  std::array<std::size_t, most_task_queries> counts, ranked;
  Shortlists lists{entries, cut.capacity,    counts.data(), ranked.data(), thresholds.data() + query_block,
                   step.k,  kernels.sort_few};
  thresholds.fill(-std::numeric_limits<float>::infinity());  // nothing passes outside the lists
  for (std::size_t q = begin; q < end; ++q) clear(lists, q - begin);

  const std::size_t from = cut.parts.begin(g), until = cut.parts.end(g);
  if (from < until)
    kernels.nearest({step.metric, elements(step.queries), elements(step.train), step.train.dims,
                     step.queries.first + begin, step.queries.first + end, step.train.first + from,
                     step.train.first + until},
                    step.first_row - step.train.first, lists);
  for (std::size_t q = begin; q < end; ++q)
    finish(lists, q - begin, elements(step.out) + q * step.out.stride + g * step.k);
}

}  // namespace

spi::Support check(const spi::NearestStep& step, const Resources& with) {
  const Cut cut(step, with.team);
  return {{}, with.team * cut.queries * cut.list_bytes()};
}

void run(const spi::NearestStep& step, const Resources& with) {
  if (step.queries.rows == 0) return;
  const Cut cut(step, with.team);
  const ScratchParts scratch(spi::NearestStep::name, step.scratch, cut.queries * cut.list_bytes(), with.team);
  const std::size_t m = step.queries.rows, shares = (m + cut.queries - 1) / cut.queries;
  const std::size_t work = m * step.train.rows * step.train.dims;
  run_team(shares * step.lists, work, scratch.team(), [&](std::size_t task, std::size_t thread) {
    const std::size_t begin = task % shares * cut.queries;
    run_task(step, with.kernels, cut, begin, std::min(m, begin + cut.queries), task / shares,
             scratch.of<Key>(thread));
  });
}

}  // namespace kith::cpu
