// Searches that many tests make: all hard data, every selector.
#pragma once

#include "common/device.hpp"
#include "common/oracle.hpp"
#include "kith/index.hpp"

namespace kith::tests {

/// Calls body(metric, queries, train) for all hard data and every metric that admits them.
///   queries [m, dims]; train [n, dims]
template <class Body>
void for_each_hard_search(std::int64_t m, std::int64_t n, std::int64_t dims, const Body& body) {
  for (const DataKind kind : workloads::all_data_kinds)
    for (const Metric metric : number_metrics) {
      if (!workloads::admits(metric, kind)) continue;
      CAPTURE_ALL(workloads::name(kind), name(metric));
      body(metric, hard_rows(kind, Set::queries, m, dims, metric),
           hard_rows(kind, Set::train, n, dims, metric));
    }
}

/// Checks that each selector of the device finds `expected`, or refuses. Only the selector that sorts within
/// a block may refuse, if k exceeds the block.
inline void check_every_selector(const Index& index, const Matrix& queries, std::int64_t k,
                                 SearchOptions options, const Neighbors& expected) {
  for (const Selector selector : device().info().selectors) {
    CAPTURE_ALL(k, name(selector));
    options.selector = selector;
    std::string different;
    const std::string refusal =
        error_of([&] { different = difference(index.search(queries, k, options), expected); });
    CHECK(different == "");
    const bool above_its_block = selector == Selector::local_sort && k > 256;
    CHECK((refusal == "nothing was thrown") == !above_its_block);
  }
}

}  // namespace kith::tests
