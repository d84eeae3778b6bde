#include "kith/voting.hpp"

#include "base/names.hpp"

namespace kith {
std::string_view name(Weights weights) {
  return name_in(names_of<Weights>, weights);
}
std::string_view name(TieRule rule) {
  return name_in(names_of<TieRule>, rule);
}

}  // namespace kith
