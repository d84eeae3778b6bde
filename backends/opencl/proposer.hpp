// What the steps of a proposer have in common: docs/certificate.md.
#pragma once

#include <cstdint>
#include <string>

#include "kith/metric.hpp"
#include "kith/selector.hpp"

namespace kith::opencl {

/// Whether half a squared distance is what follows from a product (and not the product itself).
inline bool from_squares(Metric metric) {
  return metric == Metric::squared_l2 || metric == Metric::l2;
}

/// Why there is no bound for the products of rows of `dims` columns; empty when there is one. Roundings
/// are few beside 1 / u as long as columns are.
inline std::string refuse_proposer(Proposer proposer, std::uint32_t dims) {
  constexpr std::uint32_t most_dims = 1 << 20;
  if (proposer != Proposer::gemm)
    return "it has no proposer " + std::string(name(proposer)) + "; choose none or gemm";
  if (dims == 0 || dims > most_dims)
    return "rows have " + std::to_string(dims) + " columns, but the bound of proposer gemm is for 1 to " +
           std::to_string(most_dims) + "; choose proposer none";
  return "";
}

/// Why distances by a metric do not follow from products; empty when they do.
inline std::string refuse_metric(Metric metric) {
  if (from_squares(metric) || metric == Metric::negative_dot || metric == Metric::cosine) return "";
  return "metric " + std::string(name(metric)) + " does not follow from inner products; choose proposer none";
}

}  // namespace kith::opencl
