#include "kith/selector.hpp"

#include "base/names.hpp"
#include "kith/device.hpp"

namespace kith {
namespace {

constexpr std::pair<DeviceKind, std::string_view> kind_names[] = {
    {DeviceKind::cpu, "cpu"}, {DeviceKind::gpu, "gpu"}, {DeviceKind::accelerator, "accelerator"}};

}  // namespace

std::string_view name(Selector selector) {
  return name_in(names_of<Selector>, selector);
}
std::string_view name(Proposer proposer) {
  return name_in(names_of<Proposer>, proposer);
}
std::string_view name(DeviceKind kind) {
  return name_in(kind_names, kind);
}

const std::vector<Selector>& all_selectors() {
  static const std::vector<Selector> all = [] {
    std::vector<Selector> list;
    for (const auto& [selector, text] : names_of<Selector>)
      if (selector != Selector::automatic) list.push_back(selector);
    return list;
  }();
  return all;
}

}  // namespace kith
