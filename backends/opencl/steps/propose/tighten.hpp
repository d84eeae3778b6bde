// What the steps that tighten share: docs/certificate.md, section 4.
#pragma once

#include "steps/propose/proposer.hpp"

namespace kith::opencl {

/// Up to this many keys, groups are smaller.
inline constexpr std::uint32_t short_k = 256;

/// The most parts for a first bound (shortlist.cl).
inline constexpr std::uint32_t most_parts = 512;
inline constexpr std::size_t parts_bytes = std::size_t{2} * most_parts * sizeof(cl_uint);

/// Returns whether the threshold follows from half of a squared distance.
template <class Step>
bool is_halved(const Step& step) {
  return step.proposer != Proposer::none && sums_squares(step.metric);
}

template <class Step>
std::string halves_define(const Step& step) {
  return is_halved(step) ? " -D HALVES" : "";
}

/// Returns the terms of queries that the threshold is computed from; any other matrix if it needs none.
template <class Step>
const spi::Grid<float>& row_terms_of(const Step& step) {
  return is_halved(step) ? step.query_terms : step.threshold;
}

/// Settled of settle.cl, an argument by value: the places of these grids.
struct Settled {
  Place lost, row_terms, threshold;
  cl_uint dims;

  explicit Settled(const spi::TightenStep& step)
      : lost(step.lost), row_terms(row_terms_of(step)), threshold(step.threshold), dims(step.dims) {}
};

/// Returns why the threshold cannot be computed; empty if it can.
template <class Step>
std::string refuse_threshold(const std::vector<Proposer>& proposers, const Step& step) {
  return step.proposer == Proposer::none ? "" : refuse_proposer(proposers, step.proposer, step.dims);
}

}  // namespace kith::opencl
