#include "search/resident/staying_queries.hpp"

#include "base/numbers.hpp"
#include "kith/error.hpp"
#include "rows/rows.hpp"

namespace kith {

/// Returns memory for the next tile; null if there is no room.
const DeviceMemory* StayingQueries::memory_for(std::size_t tile, std::size_t bytes) {
  if (tile != tiles_.size() || bytes > most_bytes_ - bytes_) return nullptr;
  try {
    tiles_.emplace_back(state_, bytes);
  } catch (const Error& error) {
    if (error.code() != Errc::out_of_memory) throw;
    return nullptr;
  }
  bytes_ += bytes;
  return &tiles_.back();
}

void StayingQueries::place(const Plan& plan, std::int64_t first, const QueryRows& queries,
                           Workspace& workspace) {
  if (plan.query_tile != tile_rows_) {
    tiles_.clear();
    bytes_ = 0;
    tile_rows_ = plan.query_tile;
  }
  const std::size_t tile = size(first / plan.query_tile);
  if (tile < tiles_.size()) return workspace.take_queries(tiles_[tile]);
  const std::uint32_t block = state_->info.query_block;
  const DeviceMemory* const memory = memory_for(tile, packed_bytes(queries.rows(), queries.cols(), block));
  queries.put(*state_, memory ? *memory->get() : workspace.query_memory(), block, plan.threads);
  if (memory) workspace.take_queries(*memory);
}

}  // namespace kith
