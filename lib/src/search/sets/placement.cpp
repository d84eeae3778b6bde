#include "kith/placement.hpp"

#include "base/names.hpp"

namespace kith {
std::string_view name(Placement placement) {
  return name_in(names_of<Placement>, placement);
}

}  // namespace kith
