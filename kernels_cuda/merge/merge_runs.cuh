// Sorted runs of every part, as the first kernel of local_sort, k_min and merge_sort leaves them, and
// their merging into one list a part.
#pragma once

#include "common/part.cuh"

namespace kith::cuda {

/// Run i of a part is made of its values i * length .. (i + 1) * length - 1, of which the k smallest
/// count. Where there is but one run a part it is the list and goes straight to `out`.
struct Runs {
  std::uint32_t length;
  std::uint32_t count;  // of the longest part
  std::uint32_t kept;   // keys of a run at most: min(length, k)
  bool padded;          // every run has `kept` keys, the last ones no_key
  std::size_t pitch;    // keys from the runs of one part to those of the next
  Key* keys;            // [lists, pitch]; behind them as many again for merging
};

/// Where a run goes, and how many keys of it.
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

/// Runs of so many values each; `memory` has scratch_a_row bytes for each row.
Runs runs_of(const Selection& selection, std::uint32_t length, void* memory);
std::size_t scratch_a_row(const Selection& selection, std::uint32_t length);

/// Merge the runs of each part, cut to k at every pass, and write the lists.
cudaError_t merge_runs(const Queue& queue, const Selection& selection, const Runs& runs);

}  // namespace kith::cuda
