#include "command/rows/ranks.hpp"

#include "command/shared/command.hpp"

namespace kith::command {
namespace {

Ranks* joined = nullptr;

}  // namespace

Ranks* ranks() {
  return joined;
}

void set_ranks(Ranks* together) {
  joined = together;
}

bool speaks() {
  return !joined || joined->rank() == 0;
}

Device open_my_device(const std::string& spec) {
  if (!joined) return open_device(spec);
  const std::vector<std::string> specs = split_commas(spec);
  return open_device(specs[static_cast<std::size_t>(joined->place()) % specs.size()]);
}

}  // namespace kith::command
