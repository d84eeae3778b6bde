#include "kith/index.hpp"

#include <string>

#include "chain.hpp"
#include "kith/error.hpp"
#include "parallel.hpp"
#include "pipeline.hpp"
#include "rows.hpp"
#include "search.hpp"
#include "timing.hpp"

namespace kith {
namespace {

void check_shape(MatrixView<const float> train) {
  if (train.rows() < 1 || train.cols() < 1)
    throw Error(Errc::invalid_argument, "index: the training rows are [" + std::to_string(train.rows()) +
                                            ", " + std::to_string(train.cols()) +
                                            "]; give at least one row and one column");
  if (train.rows() > most_rows)
    throw Error(Errc::invalid_argument, "index: " + std::to_string(train.rows()) +
                                            " training rows, but an index holds at most " +
                                            std::to_string(most_rows) + "; split them over several");
}

}  // namespace

Index::Index(Device device, MatrixView<const float> train, Metric metric, const IndexOptions&) {
  check_shape(train);
  const PreparedRows rows = prepare_rows("index", "training", train, metric, 0);
  auto state = std::make_shared<State>(std::move(device), metric, train.rows(), train.cols(), rows.largest);
  state->chunks = upload_chunks(state->device.state(), rows.view, 0);
  state->centre = centre_of(rows.view, metric);
  state_ = std::move(state);
}

Neighbors Index::search(MatrixView<const float> queries, std::int64_t k, const PlanOptions& options,
                        Trace* trace) const {
  Neighbors found;
  search_with(*state_, queries, k, options, trace, found, [](Workspace&, std::int64_t, std::int64_t) {});
  return found;
}

Plan Index::plan(std::int64_t m, std::int64_t k, const PlanOptions& options) const {
  return plan_search(*state_, m, k, options);
}

const Device& Index::device() const {
  return state_->device;
}
Metric Index::metric() const {
  return state_->metric;
}
std::int64_t Index::rows() const {
  return state_->rows;
}
std::int64_t Index::dims() const {
  return state_->dims;
}

std::size_t Index::memory_bytes() const {
  std::size_t bytes = 0;
  for (const Chunk& chunk : state_->chunks) bytes += chunk.memory.get()->bytes;
  const std::lock_guard lock(state_->shadow_mutex);
  for (const auto& [proposer, shadow] : state_->shadows) bytes += shadow->bytes();
  return bytes;
}

}  // namespace kith
