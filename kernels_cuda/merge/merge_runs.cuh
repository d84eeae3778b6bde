// The sorted runs that the first kernel of local_sort, k_min and merge_sort makes of every part, and the
// function that merges them into one list per part.
#pragma once

#include "common/part.cuh"

namespace kith::cuda {

/// Run i of a part holds the k smallest of its values i * length .. (i + 1) * length - 1. If each part has
/// only one run, that is the list, and it is written straight to `out`.
struct Runs {
  std::uint32_t length;
  std::uint32_t count;  // number of runs of the longest part
  std::uint32_t kept;   // most keys of a run: min(length, k)
  bool padded;          // every run has `kept` keys, the last ones no_key
  std::size_t pitch;    // distance, in keys, from the runs of one part to those of the next
  Key* keys;            // [lists, pitch]; behind them is as much space again for merging
};

/// Where a run is written, and how many of its keys.
struct RunPlace {
  Key* to;
  std::uint32_t keys;
};

__device__ inline RunPlace place_of(const Selection& selection, const Runs& runs, const Part& part,
                                    std::uint32_t list, std::uint32_t run) {
  if (runs.count == 1) return {part.out, selection.k};
  const std::uint64_t begin = std::uint64_t{run} * runs.length;
  const std::uint64_t values = begin < part.count ? part.count - begin : 0;
  const std::uint32_t keys = runs.padded ? (values ? runs.kept : 0)
                                         : static_cast<std::uint32_t>(min(std::uint64_t{runs.kept}, values));
  return {runs.keys + list * runs.pitch + std::size_t{run} * runs.kept, keys};
}

/// Lays out runs that each cover `length` values. `memory` has scratch_a_row bytes for each row.
Runs runs_of(const Selection& selection, std::uint32_t length, void* memory);
std::size_t scratch_a_row(const Selection& selection, std::uint32_t length);

/// Merges the runs of each part and writes the lists. Each pass drops all but k keys of a run.
cudaError_t merge_runs(const Queue& queue, const Selection& selection, const Runs& runs);

}  // namespace kith::cuda
