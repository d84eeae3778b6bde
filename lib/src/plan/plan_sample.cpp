#include "plan/plan_sample.hpp"

#include <algorithm>
#include <string>

#include "kith/error.hpp"
#include "plan/reasons.hpp"
#include "plan/rules/plan_rules.hpp"

namespace kith {
void check_sample(const SearchOptions& options) {
  if (options.sample.empty()) return;
  const std::string sample =
      "a sample to choose among " + reasons::names_of(options.sample) + " was asked for";
  const auto refuse = [](const std::string& why) { throw Error(Errc::invalid_argument, "search: " + why); };
  if (options.selector != Selector::automatic)
    refuse(sample + ", and selector " + std::string(name(options.selector)) + "; drop one of the two");
  if (options.fused == true)
    refuse(sample + ", and the fused step, which has its own selection; drop one of the two");
  if (std::find(options.sample.begin(), options.sample.end(), Selector::automatic) != options.sample.end())
    refuse(sample + ", but automatic is no selector; name those to be timed");
}

Plan plan_before_sample(const DeviceInfo& device, const Problem& problem, const SearchOptions& options) {
  SearchOptions first = options;
  first.sample.clear();
  const auto& has = device.selectors;
  const auto found = std::find_if(options.sample.begin(), options.sample.end(), [&](Selector s) {
    return std::find(has.begin(), has.end(), s) != has.end();
  });
  if (found == options.sample.end())
    throw Error(Errc::unsupported, "search: " + device.spec + " has none of the selectors to be sampled, " +
                                       reasons::names_of(options.sample) + "; it has " +
                                       reasons::names_of(has));
  first.selector = *found;
  Plan plan = plan_problem(device, problem, first);
  plan.reason = reasons::to_be_sampled(options.sample);
  return plan;
}

}  // namespace kith
