#include "kith/placement.hpp"

#include "base/names.hpp"

namespace kith {
namespace {

constexpr std::pair<Placement, std::string_view> placement_names[] = {
    {Placement::automatic, "automatic"}, {Placement::split, "split"}, {Placement::replicate, "replicate"}};

}  // namespace

std::string_view name(Placement placement) {
  return name_in(placement_names, placement);
}

Placement placement_named(std::string_view text) {
  return parse_in(placement_names, "placement", text);
}

}  // namespace kith
