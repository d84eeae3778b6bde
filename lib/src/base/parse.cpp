#include "kith/parse.hpp"

#include <string>
#include <vector>

#include "base/names.hpp"
#include "base/text.hpp"
#include "kith/error.hpp"
#include "kith/names.hpp"

namespace kith {
namespace {

/// The word that messages use for a kind of choice.
template <class Choice>
constexpr std::string_view kind_of = "";
template <>
constexpr std::string_view kind_of<Metric> = "metric";
template <>
constexpr std::string_view kind_of<Element> = "element";
template <>
constexpr std::string_view kind_of<Selector> = "selector";
template <>
constexpr std::string_view kind_of<Proposer> = "proposer";
template <>
constexpr std::string_view kind_of<Arithmetic> = "arithmetic";
template <>
constexpr std::string_view kind_of<Placement> = "placement";
template <>
constexpr std::string_view kind_of<Residence> = "residence";
template <>
constexpr std::string_view kind_of<Weights> = "weights";
template <>
constexpr std::string_view kind_of<TieRule> = "tie rule";
template <>
constexpr std::string_view kind_of<Scaling> = "scaling";
template <>
constexpr std::string_view kind_of<Categories> = "categories";
template <>
constexpr std::string_view kind_of<Missing> = "missing";
template <>
constexpr std::string_view kind_of<Criterion> = "criterion";
template <>
constexpr std::string_view kind_of<SelectionMethod> = "selection method";

}  // namespace

template <class Choice>
Choice parse(std::string_view text) {
  const std::string plain = plain_name(text);
  std::vector<std::string> names, also;
  for (const auto& [value, candidate] : names_of<Choice>) {
    if (candidate == plain) return value;
    names.emplace_back(candidate);
  }
  for (const auto& [value, candidate] : synonyms_of<Choice>) {
    if (candidate == plain) return value;
    also.emplace_back(candidate);
  }
  throw Error(Errc::invalid_argument, std::string(kind_of<Choice>) + ": there is none called \"" +
                                          escaped(text) + "\"; " + advice_on_name(text, names, also));
}

template KITH_API Metric parse(std::string_view);
template KITH_API Element parse(std::string_view);
template KITH_API Selector parse(std::string_view);
template KITH_API Proposer parse(std::string_view);
template KITH_API Arithmetic parse(std::string_view);
template KITH_API Placement parse(std::string_view);
template KITH_API Residence parse(std::string_view);
template KITH_API Weights parse(std::string_view);
template KITH_API TieRule parse(std::string_view);
template KITH_API Scaling parse(std::string_view);
template KITH_API Categories parse(std::string_view);
template KITH_API Missing parse(std::string_view);
template KITH_API Criterion parse(std::string_view);
template KITH_API SelectionMethod parse(std::string_view);

}  // namespace kith
