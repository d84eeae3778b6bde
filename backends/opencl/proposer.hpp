// What the steps of a proposer have in common: docs/certificate.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "device.hpp"

namespace kith::opencl {

/// Whether half a squared distance is what follows from a product (and not the product itself).
inline bool from_squares(Metric metric) {
  return metric == Metric::squared_l2 || metric == Metric::l2;
}

/// Why there is no bound for the products of rows of `dims` columns by a device that has `proposers`; empty
/// when there is one. Roundings are few beside 1 / u as long as columns are.
inline std::string refuse_proposer(const std::vector<Proposer>& proposers, Proposer proposer,
                                   std::uint32_t dims) {
  constexpr std::uint32_t most_dims = 1 << 20;
  if (std::find(proposers.begin(), proposers.end(), proposer) == proposers.end()) {
    std::string has = "none";
    for (std::size_t i = 0; i < proposers.size(); ++i)
      has += (i + 1 < proposers.size() ? ", " : " or ") + std::string(name(proposers[i]));
    return "it has no proposer " + std::string(name(proposer)) + "; choose " + has;
  }
  if (dims == 0 || dims > most_dims)
    return "rows have " + std::to_string(dims) + " columns, but the bound of proposer " +
           std::string(name(proposer)) + " is for 1 to " + std::to_string(most_dims) +
           "; choose proposer none";
  return "";
}

/// Why distances by a metric do not follow from products; empty when they do.
inline std::string refuse_metric(Metric metric) {
  if (from_squares(metric) || metric == Metric::negative_dot || metric == Metric::cosine) return "";
  return "metric " + std::string(name(metric)) + " does not follow from inner products; choose proposer none";
}

/// Places for numbers of the training rows of a step: for dot whole tiles of them (visits.cl).
inline std::size_t places_of(const spi::CollectStep& step) {
  if (step.proposer != Proposer::dot) return step.values.cols;
  return std::size_t{divide_up(step.values.cols, spi::shadow_rows)} * spi::shadow_rows;
}

/// As visits.cl takes them; rows in their order are one visit to the only block.
inline cl_uint4 visits_of(const spi::CollectStep& step) {
  const spi::Visits& visits = step.visits;
  if (visits.rows == 0) return {{divide_up(step.values.cols, spi::shadow_rows), 0, 1, 1}};
  return {{visits.rows / spi::shadow_rows, visits.first, visits.blocks, visits.stride}};
}

}  // namespace kith::opencl
