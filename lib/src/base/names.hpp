// Tables of enumerators and their names.
#pragma once

#include <array>
#include <string_view>
#include <type_traits>
#include <utility>

#include "kith/choices.hpp"
#include "kith/metric.hpp"
#include "kith/rows_view.hpp"

namespace kith {

/// The number of values that choices.def lists for an enum.
template <class Of>
inline constexpr std::size_t choice_count = 0
#define KITH_CHOICE(Enum, value, text) +(std::is_same_v<Enum, Of> ? 1 : 0)
#include "kith/choices.def"
#undef KITH_CHOICE
    ;

/// The values of an enum of choices.def with their names.
template <class Of>
inline constexpr auto names_of = [] {
  std::array<std::pair<Of, std::string_view>, choice_count<Of>> names{};
  std::size_t at = 0;
#define KITH_CHOICE(Enum, value, text)      \
  if constexpr (std::is_same_v<Enum, Of>) { \
    names[at].first = Enum::value;          \
    names[at++].second = #value;            \
  }
#include "kith/choices.def"
#undef KITH_CHOICE
  return names;
}();

/// The metrics and their names in metrics.def.
template <>
inline constexpr auto names_of<Metric> = std::to_array<std::pair<Metric, std::string_view>>({
#define KITH_METRIC(id, prepare, start, accumulate, finish) {Metric::id, #id},
#define KITH_PREPARED(id, of) {Metric::id, #id},
#define KITH_SUMS(id, ...) {Metric::id, #id},
#include "kith/metrics.def"
#undef KITH_SUMS
#undef KITH_PREPARED
#undef KITH_METRIC
});

/// The elements and their names.
template <>
inline constexpr auto names_of<Element> = std::to_array<std::pair<Element, std::string_view>>({
    {Element::f32, "f32"},
    {Element::f16, "f16"},
    {Element::bf16, "bf16"},
    {Element::u8, "u8"},
    {Element::i8, "i8"},
    {Element::bits, "bits"},
});

/// Further names that parse() accepts.
template <class Of>
inline constexpr std::array<std::pair<Of, std::string_view>, 0> synonyms_of = {};

/// The names that scikit-learn, SciPy, FAISS and usearch use for metrics.
template <>
inline constexpr auto synonyms_of<Metric> = std::to_array<std::pair<Metric, std::string_view>>({
    {Metric::squared_l2, "sqeuclidean"},
    {Metric::l2, "euclidean"},
    {Metric::l1, "manhattan"},
    {Metric::l1, "cityblock"},
    {Metric::linf, "chebyshev"},
    {Metric::negative_dot, "inner_product"},
    {Metric::negative_dot, "dot"},
    {Metric::negative_dot, "ip"},
    {Metric::squared_l2, "l2sq"},
    {Metric::cosine, "cos"},
    {Metric::correlation, "pearson"},
    {Metric::jaccard, "tanimoto"},
});
template <>
inline constexpr auto synonyms_of<Scaling> = std::to_array<std::pair<Scaling, std::string_view>>({
    {Scaling::centre, "center"},
    {Scaling::standardize, "standard"},
    {Scaling::standardize, "zscore"},
    {Scaling::standardize, "z_score"},
    {Scaling::min_max, "minmax"},
    {Scaling::l2_rows, "l2"},
});

/// Returns the name of `value` in `table`, a range of (value, name) pairs.
template <class Table, class Value>
std::string_view name_in(const Table& table, Value value) {
  for (const auto& [candidate, text] : table)
    if (candidate == value) return text;
  return "unknown";
}

}  // namespace kith
