// What selectors share that work by blocks: those that sort a whole part tile by tile, and those that sort
// runs, which are then merged.
// No twin in kernels_cl: there the back end does this, in steps/select/published/select_blocks.cpp.
#pragma once

#include "merge/merge_runs.cuh"
#include "select/select_rounds.cuh"

namespace kith::cuda {

/// Returns the bytes for the sorted tiles of the parts of a row; 0 if each part is a single tile.
template <std::uint32_t tile>
std::size_t bytes_of_tiles(const Selection& selection) {
  const std::size_t width = width_of(selection);
  return width <= tile ? 0 : width * selection.lists * sizeof(Key);
}

/// The first sorts parts of several tiles in `sorted`; the second sorts parts of one tile.
using SortLong = cudaError_t (*)(const Queue&, const Selection&, Key* sorted);
using SortShort = cudaError_t (*)(const Queue&, const Selection&);

template <std::uint32_t tile, SortShort sort_short, SortLong sort_long>
cudaError_t sort_tiles_whole(const Queue& queue, const Selection& rows, void* scratch) {
  return width_of(rows) <= tile ? sort_short(queue, rows)
                                : sort_long(queue, rows, static_cast<Key*>(scratch));
}

template <std::uint32_t tile, SortShort sort_short, SortLong sort_long>
constexpr SelectorKernels selector_by_tiles(Selector selector) {
  return selector_by_rows<bytes_of_tiles<tile>, sort_tiles_whole<tile, sort_short, sort_long>>(selector);
}

/// The first returns the number of values of a run; the second is the kernel that makes the runs.
using RunLength = std::uint32_t (*)(const Selection&);
using SortRuns = cudaError_t (*)(const Queue&, const Selection&, const Runs&);

template <RunLength length>
std::size_t bytes_of_runs(const Selection& selection) {
  return scratch_a_row(selection, length(selection));
}

template <RunLength length, SortRuns sort_runs>
cudaError_t sort_and_merge_runs(const Queue& queue, const Selection& rows, void* scratch) {
  const Runs runs = runs_of(rows, length(rows), scratch);
  const cudaError_t error = sort_runs(queue, rows, runs);
  return error == cudaSuccess ? merge_runs(queue, rows, runs) : error;
}

template <RunLength length, SortRuns sort_runs>
constexpr SelectorKernels selector_by_runs(Selector selector) {
  return selector_by_rows<bytes_of_runs<length>, sort_and_merge_runs<length, sort_runs>>(selector);
}

}  // namespace kith::cuda
