#include "kith/placement.hpp"

#include "base/names.hpp"

namespace kith {
std::string_view name(Placement placement) {
  return name_in(names_of<Placement>, placement);
}

Placement placement_named(std::string_view text) {
  return parse_in(names_of<Placement>, "placement", text);
}

}  // namespace kith
