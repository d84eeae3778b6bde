#include "kith/metric.hpp"

#include "names.hpp"

namespace kith {
namespace {

constexpr std::pair<Metric, std::string_view> metric_names[] = {
#define KITH_METRIC(id, prepare, start, fold, finish) {Metric::id, #id},
#include "kith/metrics.def"
#undef KITH_METRIC
};

}  // namespace

std::string_view name(Metric metric) {
  return name_in(metric_names, metric);
}

Metric parse_metric(std::string_view text) {
  return parse_in(metric_names, "metric", text);
}

}  // namespace kith
