#include "kith/metric.hpp"

#include "base/border.hpp"
#include "base/names.hpp"

namespace kith {
namespace {

constexpr std::pair<Metric, std::string_view> metric_names[] = {
#define KITH_METRIC(id, prepare, start, accumulate, finish) {Metric::id, #id},
#include "kith/metrics.def"
#undef KITH_METRIC
};

/// The names that scikit-learn, SciPy, FAISS and usearch have for these metrics.
constexpr std::pair<Metric, std::string_view> synonyms[] = {
    {Metric::squared_l2, "sqeuclidean"}, {Metric::l2, "euclidean"},
    {Metric::l1, "manhattan"},           {Metric::l1, "cityblock"},
    {Metric::linf, "chebyshev"},         {Metric::negative_dot, "inner_product"},
    {Metric::negative_dot, "dot"},       {Metric::negative_dot, "ip"},
    {Metric::squared_l2, "l2sq"},        {Metric::cosine, "cos"},
};

}  // namespace

std::string_view name(Metric metric) {
  return name_in(metric_names, metric);
}

std::vector<std::string_view> other_names(Metric metric) try {
  std::vector<std::string_view> names;
  for (const auto& [candidate, text] : synonyms)
    if (candidate == metric) names.push_back(text);
  return names;
} catch (...) {
  rethrow_as_error();
}

Metric parse_metric(std::string_view text) {
  return parse_in(metric_names, "metric", text, &synonyms);
}

}  // namespace kith
