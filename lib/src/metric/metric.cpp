#include "kith/metric.hpp"

#include "base/border.hpp"
#include "base/names.hpp"

namespace kith {
std::string_view name(Metric metric) {
  return name_in(names_of<Metric>, metric);
}

std::vector<std::string_view> other_names(Metric metric) try {
  std::vector<std::string_view> names;
  for (const auto& [candidate, text] : synonyms_of<Metric>)
    if (candidate == metric) names.push_back(text);
  return names;
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
