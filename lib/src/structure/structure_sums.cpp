#include "structure/structure_sums.hpp"

#include <algorithm>
#include <string>

#include "base/numbers.hpp"
#include "base/refuse.hpp"
#include "device/timing.hpp"
#include "device/watcher.hpp"
#include "kith/error.hpp"
#include "metric/chain.hpp"
#include "plan/plan_memory.hpp"
#include "plan/reasons.hpp"
#include "rows/rows.hpp"
#include "structure/structure_batch.hpp"
#include "structure/structure_tiles.hpp"
#include "vote/voting.hpp"

namespace kith {
namespace {

// bytes of sums, on the device and on the host
constexpr std::size_t usual_batch_bytes = std::size_t{1} << 28;

/// Holds the state of one call of run_sums().
class SumsRun {
 public:
  SumsRun(const SumsTask& task, std::span<SumsInput> inputs, const SearchOptions& options)
      : task_(task),
        inputs_(inputs),
        options_(options),
        info_(task.state->info),
        n_(static_cast<std::int64_t>(task.codes.size())),
        dims_(most_dims()),
        budget_(structure_budget(info_, task.resident, dims_, options)),
        tiles_(choose_tiles()) {}

  void run(Trace* trace, const TakeSums& take) {
    std::int64_t steps = 0;
    for (const SumsInput& input : inputs_) steps += divide_up(n_, tiles_.queries) * train_tiles(input);
    Watcher watcher(options_, steps);
    watcher.check_stop();
    if (trace) start(*trace);
    const DeviceMemory labels = upload_labels(task_.state, task_.codes);
    SumsBatch batch(task_, inputs_, tiles_, options_, labels);
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      for (std::int64_t first = 0; first < n_; first += tiles_.queries) {
        const std::int64_t count = std::min(tiles_.queries, n_ - first);
        if (!batch.empty() && !holds(batch, inputs_[i], count)) {
          batch.run(watcher, trace, take);
          release(&inputs_[i]);
        }
        copy_rows(inputs_[i]);
        batch.add(i, first, count, trace);
        bytes_ += queries_bytes(inputs_[i], count);
      }
    batch.run(watcher, trace, take);
    release(nullptr);
  }

 private:
  std::int64_t most_dims() const {
    std::int64_t dims = 0;
    for (const SumsInput& input : inputs_) dims = std::max(dims, input.from.dims());
    return dims;
  }

  /// Chooses tiles that leave memory for the rows of one input that is not on the device yet.
  SumsTiles choose_tiles() const {
    const bool copies = std::any_of(inputs_.begin(), inputs_.end(),
                                    [](const SumsInput& input) { return input.chunks.empty(); });
    const std::size_t rows = copies ? packed_bytes(n_, dims_, info_.train_block) : 0;
    return sums_tiles(info_, {n_, dims_, task_.classes}, budget_ > rows ? budget_ - rows : 0, options_);
  }

  /// Returns the number of tiles into which the rows of an input are cut, chunk by chunk.
  std::int64_t train_tiles(const SumsInput& input) const {
    std::int64_t tiles = 0;
    if (input.chunks.empty()) {
      const std::int64_t most = rows_a_chunk(info_, input.from.dims());
      for (std::int64_t first = 0; first < n_; first += most)
        tiles += divide_up(std::min(most, n_ - first), tiles_.rows);
    }
    for (const Chunk& chunk : input.chunks) tiles += divide_up(chunk.rows, tiles_.rows);
    return tiles;
  }

  std::size_t rows_bytes(const SumsInput& input) const {
    return packed_bytes(n_, input.from.dims(), info_.train_block);
  }
  std::size_t queries_bytes(const SumsInput& input, std::int64_t count) const {
    return packed_bytes(count, input.from.dims(), info_.query_block);
  }

  /// Returns whether the batch may grow by a query tile of an input.
  bool holds(const SumsBatch& batch, const SumsInput& input, std::int64_t count) const {
    const std::size_t sums = batch.bytes() + batch.bytes_of(count);
    const std::size_t rows = input.chunks.empty() ? rows_bytes(input) : 0;
    return sums <= std::min(usual_batch_bytes, info_.largest_allocation) &&
           bytes_ + queries_bytes(input, count) + rows + sums + distances_bytes(tiles_) <= budget_;
  }

  /// Copies the rows of an input to the device, for this batch.
  void copy_rows(SumsInput& input) {
    if (!input.chunks.empty()) return;
    const std::vector<float> rows = input.from.rows(0, n_);
    input.chunks = upload_chunks(task_.state, {rows.data(), n_, input.from.dims()}, 0, options_.threads);
    copied_.push_back(&input);
    bytes_ += rows_bytes(input);
  }

  /// Frees the rows that were copied for a finished batch, except those of `next`.
  void release(const SumsInput* next) {
    bytes_ = 0;
    std::erase_if(copied_, [&](SumsInput* input) {
      if (input == next)
        bytes_ += rows_bytes(*input);
      else
        input->chunks.clear();
      return input != next;
    });
  }

  /// Writes the plan into the trace.
  void start(Trace& trace) const {
    restart(trace);
    trace.plan.problem = {task_.metric, n_, n_, dims_, 0};
    if (task_.terms) trace.plan.problem.terms = task_.terms->kind();
    trace.plan.device = info_.spec;
    trace.plan.query_tile = tiles_.queries;
    trace.plan.train_tile = tiles_.rows;
    trace.plan.threads = options_.threads;
    trace.plan.workspace_bytes = tiles_bytes(info_, {n_, dims_, task_.classes}, tiles_);
    trace.plan.reason = reasons::class_sums();
    trace.query_tiles = divide_up(n_, tiles_.queries);
    trace.train_tiles = train_tiles(inputs_[0]);
  }

  const SumsTask& task_;
  const std::span<SumsInput> inputs_;
  const SearchOptions& options_;
  const DeviceInfo& info_;
  const std::int64_t n_, dims_;
  const std::size_t budget_;
  const SumsTiles tiles_;
  std::vector<SumsInput*> copied_;
  std::size_t bytes_ = 0;  ///< bytes of rows and queries of this batch
};

}  // namespace

std::vector<float> SampleRows::rows(std::int64_t first, std::int64_t count) const {
  const auto columns = static_cast<std::size_t>(dims());
  std::vector<float> gathered(static_cast<std::size_t>(count) * columns);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const auto place = static_cast<std::size_t>(first) + i;
    const std::int64_t sample = order.empty() ? static_cast<std::int64_t>(place) : order[place];
    const float* const row = samples.row(sample);
    float* const to = gathered.data() + i * columns;
    for (std::size_t d = 0; d < columns; ++d) to[d] = row[features[d]];
    if (prepare_of(metric) == Prepare::unit_rows && !make_unit_row(to, dims(), to))
      refuse("structure", "sample row " + std::to_string(sample) +
                              " is all zeros in the columns that count, which has no direction; leave it out "
                              "for cosine");
  }
  return gathered;
}

void refuse_filters(const SearchOptions& options) {
  if (options.filter.rows() == 0 && !options.self && !options.radius) return;
  throw Error(
      Errc::invalid_argument,
      "structure: the plan has a filter, self or a radius, but here all samples count; leave them out");
}

std::size_t structure_budget(const DeviceInfo& device, std::int64_t resident, std::int64_t dims,
                             const SearchOptions& options) {
  Plan plan;
  plan.problem = {Metric::squared_l2, resident, resident, dims, 1};
  return memory_budget(device, plan, options);
}

void run_sums(const SumsTask& task, std::span<SumsInput> inputs, const SearchOptions& options, Trace* trace,
              const TakeSums& take) {
  if (inputs.empty()) return;
  const Stopwatch total;
  SumsRun(task, inputs, options).run(trace, take);
  if (trace) trace->total_seconds = total.seconds();
}

}  // namespace kith
