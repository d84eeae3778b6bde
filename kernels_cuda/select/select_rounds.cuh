// What selectors share that work in rounds: scratch for as many rows as fit, and one launch per round.
// No twin in kernels_cl: there scratch is for all rows, and the back end launches once.
#pragma once

#include "common/part.cuh"
#include "select/selectors.hpp"

namespace kith::cuda {

/// Launches one round, for all of whose rows scratch is large enough.
using SelectRound = cudaError_t (*)(const Queue&, const Selection&, void* scratch);

template <auto bytes_a_row>
std::size_t scratch_by_rows(const spi::SelectStep& step) {
  const Selection selection = selection_of(step);
  return scratch_of_rounds(selection, bytes_a_row(selection));
}

template <auto bytes_a_row, SelectRound round>
cudaError_t select_by_rows(const Queue& queue, const spi::SelectStep& step) {
  const Selection selection = selection_of(step);
  return in_rounds(selection, step.scratch, bytes_a_row(selection),
                   [&](const Selection& rows) { return round(queue, rows, address_of<void>(step.scratch)); });
}

/// Returns a selector that needs `bytes_a_row` bytes of scratch for each row, the same for every row. If it
/// is 0, one round takes all rows.
template <auto bytes_a_row, SelectRound round>
constexpr SelectorKernels selector_by_rows(Selector selector) {
  return {selector, scratch_by_rows<bytes_a_row>, select_by_rows<bytes_a_row, round>};
}

}  // namespace kith::cuda
