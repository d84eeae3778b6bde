#include "command/shared/ranks.hpp"

#include "command/shared/command.hpp"

namespace kith::command {
namespace {

Ranks* ranks_of_this_run = nullptr;

}  // namespace

Ranks* ranks() {
  return ranks_of_this_run;
}

void set_ranks(Ranks* together) {
  ranks_of_this_run = together;
}

bool speaks() {
  return !ranks_of_this_run || ranks_of_this_run->rank() == 0;
}

Device open_my_device(const std::string& spec) {
  const ActivityLine activity("opening " + spec + " (OpenCL compiles its kernels the first time)");
  if (!ranks_of_this_run) return open_device(spec);
  const std::vector<std::string> specs = split_commas(spec);
  return open_device(specs[static_cast<std::size_t>(ranks_of_this_run->place()) % specs.size()]);
}

}  // namespace kith::command
