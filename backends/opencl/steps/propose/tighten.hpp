// What the steps that tighten have in common: docs/certificate.md, section 4.
#pragma once

#include "check.hpp"
#include "steps/propose/proposer.hpp"

namespace kith::opencl {

/// Up to so many keys take smaller groups.
inline constexpr std::uint32_t short_k = 256;

/// Of the parts of a first bound (shortlist.cl).
inline constexpr std::uint32_t most_parts = 512;
inline constexpr std::size_t parts_bytes = std::size_t{2} * most_parts * sizeof(cl_uint);

/// Whether half of a squared distance is what the threshold follows from.
template <class Step>
bool is_halved(const Step& step) {
  return step.proposer != Proposer::none && sums_squares(step.metric);
}

template <class Step>
std::string halves_define(const Step& step) {
  return is_halved(step) ? " -D HALVES" : "";
}

/// The terms of queries that the threshold is made with; something where it is not.
template <class Step>
const spi::Grid<float>& row_terms_of(const Step& step) {
  return is_halved(step) ? step.query_terms : step.threshold;
}

/// Settled of settle.cl, an argument by value: where these grids stand.
struct Settled {
  Place lost, row_terms, threshold;
  cl_uint dims;

  explicit Settled(const spi::TightenStep& step)
      : lost(step.lost), row_terms(row_terms_of(step)), threshold(step.threshold), dims(step.dims) {}
};

/// Why the threshold cannot be made; empty when it can.
template <class Step>
std::string refuse_threshold(const std::vector<Proposer>& proposers, const Step& step) {
  return step.proposer == Proposer::none ? "" : refuse_proposer(proposers, step.proposer, step.dims);
}

}  // namespace kith::opencl
