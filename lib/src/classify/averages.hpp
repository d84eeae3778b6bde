// Computes weighted means of the values of neighbours on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "classify/host_votes.hpp"
#include "host/parallel.hpp"
#include "kith/matrix_view.hpp"
#include "vote/weights.hpp"

namespace kith {

/// Copies values, one row for each training row. Throws invalid_argument as Regressor does.
std::vector<double> checked_values(MatrixView<const double> values, std::int64_t rows);

/// Holds the values of the training rows.
struct RowValues {
  std::size_t outputs;
  std::span<const double> values;  ///< [n, outputs]
};

/// Computes the means over one list; NaN if no weight is above 0.
///   means  [outputs], out
void average(const RowValues& of, const Weigher& weigher, const NeighborList& list, double* means);

/// Computes the means of m queries; `list_of(q)` is the list of query q. The caller has checked the weights.
///   cells    number of neighbours of all queries together
///   returns  [m, outputs]
template <class ListOf>
std::vector<double> average_all(const RowValues& of, std::span<const float> sample_weights,
                                const VotingOptions& voting, Arithmetic arithmetic, std::int64_t m,
                                std::size_t cells, std::uint32_t threads, const ListOf& list_of) {
  std::vector<double> means(static_cast<std::size_t>(m) * of.outputs);
  const Weigher weigher(voting, sample_weights, arithmetic);
  parallel_for(m, static_cast<std::int64_t>(cells * of.outputs), threads, [&](std::int64_t q) {
    average(of, weigher, list_of(static_cast<std::size_t>(q)),
            means.data() + static_cast<std::size_t>(q) * of.outputs);
  });
  return means;
}

}  // namespace kith
