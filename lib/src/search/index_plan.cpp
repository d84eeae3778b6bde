#include "search/index_plan.hpp"

#include <mutex>

#include "boxes/index_boxes.hpp"
#include "certified/quantized_rows.hpp"
#include "search/filtered/gathered_search.hpp"
#include "search/parted/parted_rows.hpp"
#include "search/pipeline.hpp"

namespace kith {

Plan plan_of(const Index::State& index, std::int64_t m, std::int64_t k, const PlanOptions& options,
             const Feedback& feedback) {
  if (index.parted) return index.parted->plan(index, m, k, options, feedback);
  if (gathers(index, m, k, options)) return plan_gathered(index, m, k, options);
  return plan_search(index, m, k, options, feedback);
}

void prepare_for(const Index::State& index, std::int64_t m, std::int64_t k, const PlanOptions& options) {
  if (index.parted) return index.parted->prepare(index, m, k, options);
  Feedback told = index.lessons.feedback();
  told.boxes_made = true;                     // so that what it takes to make them is no reason against them
  if (gathers(index, m, k, options)) return;  // nothing is kept
  const Plan plan = plan_search(index, m, k, options, told);
  if (plan.boxes)
    boxes_for(index, options);
  else if (plan.proposer != Proposer::none)
    quantized_rows_for(index, plan);
}

Feedback feedback_of(const Index::State& index) {
  return index.parted ? index.parted->feedback() : index.lessons.feedback();
}

std::size_t memory_of(const Index::State& index) {
  if (index.parted) return index.parted->memory_bytes();
  std::size_t bytes = 0;
  for (const Chunk& chunk : index.chunks) bytes += chunk.memory.get()->bytes;
  const std::lock_guard lock(index.quantized_mutex);
  for (const auto& [proposer, quantized] : index.quantized_rows)
    if (quantized) bytes += quantized->bytes();  // none where there was no memory for it
  if (index.boxes) bytes += index.boxes->bytes();
  return bytes;
}

}  // namespace kith
