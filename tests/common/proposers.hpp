// Helps tests of proposers.
#pragma once

#include "common/device.hpp"
#include "common/oracle.hpp"
#include "kith/index.hpp"

namespace kith::tests {

/// Returns why the device under test refuses `proposer`; empty if it does not.
inline std::string refusal_of(Proposer proposer) {
  const Index index(device(), matrix(1, {1, 2, 3}));
  const std::string text = error_of([&] { index.search(matrix(1, {2}), 1, {.proposer = proposer}); });
  return text == "nothing was thrown" ? "" : text;
}

/// Calls body(proposer) for each proposer that works on this device.
template <class Body>
void for_each_proposer(const Body& body) {
  for (const Proposer proposer : device().info().proposers) {
    if (!refusal_of(proposer).empty()) continue;
    CAPTURE(std::string(name(proposer)));
    body(proposer);
  }
}

}  // namespace kith::tests
