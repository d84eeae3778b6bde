#include "steps/metric.hpp"

#include <algorithm>
#include <string_view>

#include "device.hpp"

namespace kith::opencl {
namespace {

struct Chain {
  Metric metric;
  std::string_view text;
};

constexpr Chain chains[] = {
#define KITH_METRIC(id, prepare, start, accumulate, finish) {Metric::id, #start ", " #accumulate},
#include "kith/metrics.def"
#undef KITH_METRIC
};

}  // namespace

std::string define_metric(Metric metric) {
  if (is_of_sums(metric)) return define("METRIC", name(metric));
  const auto find = [](const auto& wanted) {
    return std::find_if(std::begin(chains), std::end(chains), wanted);
  };
  const auto* const own = find([&](const Chain& chain) { return chain.metric == metric; });
  const auto* const first = find([&](const Chain& chain) { return chain.text == own->text; });
  return define("METRIC", name(first->metric));
}

}  // namespace kith::opencl
