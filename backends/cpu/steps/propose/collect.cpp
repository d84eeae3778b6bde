// collect: appends the training rows whose value is at most the threshold to the lists of their queries.
//
// Work: one comparison per value; memory limits the speed of the scan. Columns are divided into parts, so
// that all threads have work even with few queries. Each part reserves places for all rows that it keeps
// at once.
#include <array>
#include <atomic>

#include "cpu/steps/propose/collect_products.hpp"
#include "cpu/steps/steps.hpp"
#include "host/parallel.hpp"

namespace kith::cpu {
namespace {

/// The columns of a task. The rows that it keeps stay in the first-level cache.
constexpr std::size_t task_columns = 4096;

/// Appends `found` rows to the list of a query; those for which there is no room are only counted.
void append(const spi::CandidateLists& out, std::size_t q, const std::uint32_t* kept, std::size_t found) {
  std::uint32_t& count = elements(out.counts)[q * out.counts.stride];
  const auto more = static_cast<std::uint32_t>(found);
  const std::size_t place = std::atomic_ref(count).fetch_add(more, std::memory_order_relaxed);
  if (place >= out.rows.cols) return;
  std::copy_n(kept, std::min(found, out.rows.cols - place), elements(out.rows) + q * out.rows.stride + place);
}

}  // namespace

spi::Support check(const spi::CollectStep& step, const Resources& with) {
  if (step.proposer == Proposer::none) return {};
  if (step.proposer == Proposer::gemm)
    return {"no matrix library is opened on the CPU; choose proposer dot or none", 0};
  return check_products(step, with);
}

void run(const spi::CollectStep& step, const Resources& with) {
  const std::string refusal = check(step, with).refusal;
  if (!refusal.empty()) throw Error(Errc::unsupported, "cpu: " + refusal);
  if (step.proposer != Proposer::none) return collect_products(step, with);
  const std::size_t m = step.values.rows, n = step.values.cols;
  const std::size_t parts = (n + task_columns - 1) / task_columns;
  if (m * parts == 0) return;
  const float *const values = elements(step.values), *const threshold = elements(step.threshold);
  run_team(m * parts, m * n, with.team, [&](std::size_t task, std::size_t) {
    const std::size_t q = task / parts, begin = task % parts * task_columns;
    const std::size_t count = std::min(n - begin, task_columns);
    std::array<std::uint32_t, task_columns> kept;
    const std::size_t found = with.kernels.collect(
        values + q * step.values.stride + begin, count, threshold[q * step.threshold.stride],
        step.first_row + static_cast<std::uint32_t>(begin), kept.data());
    if (found) append(step.out, q, kept.data(), found);
  });
}

}  // namespace kith::cpu
