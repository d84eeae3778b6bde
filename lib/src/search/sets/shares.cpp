#include "search/sets/shares.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "device/device_set.hpp"
#include "kith/error.hpp"

namespace kith {
namespace {

/// An Index is replicated if each member would hold fewer rows than this: so few rows are searched in a time
/// that does not depend on their number, and each part would return as many neighbours as the whole.
constexpr std::int64_t few_rows = 1024;

[[noreturn]] void refuse_shares(const std::string& message) {
  throw Error(Errc::invalid_argument, "index: " + message);
}

void check_shares(const Device& set, std::span<const double> given) {
  const std::string& spec = set.info().spec;
  const std::size_t members = members_of(set).size();
  if (given.size() != members)
    refuse_shares(std::to_string(given.size()) + " shares for the " + std::to_string(members) +
                  " members of " + spec + "; give one each");
  for (std::size_t i = 0; i < members; ++i)
    if (!std::isfinite(given[i]) || given[i] < 0)
      refuse_shares("share " + std::to_string(i) + " of " + spec + " is " + text_of(given[i]) +
                    "; give numbers of 0 or more");
  if (std::all_of(given.begin(), given.end(), [](double share) { return share == 0; }))
    refuse_shares("all shares of " + spec + " are 0; give one member a part");
}

}  // namespace

Placement chosen_placement(Placement asked, std::int64_t rows, std::int64_t members) {
  if (asked != Placement::automatic) return asked;
  return rows < few_rows * members ? Placement::replicate : Placement::split;
}

std::vector<double> shares_of(const Device& set, std::span<const double> given, Metric metric,
                              std::int64_t dims) {
  const FloatGuard guard;
  std::vector<double> shares(given.begin(), given.end());
  if (given.empty())
    shares = member_speeds(set, metric, dims);
  else
    check_shares(set, given);
  const double largest = *std::max_element(shares.begin(), shares.end());
  for (double& share : shares) share /= largest;  // so that their sum is finite
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

std::vector<std::int64_t> cut_by_shares(std::int64_t count, std::span<const double> shares,
                                        std::int64_t unit) {
  const FloatGuard guard;
  std::vector<std::int64_t> ends{0};
  std::size_t last = shares.size() - 1;
  while (last > 0 && shares[last] == 0) --last;  // members behind it get nothing
  double before = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    before += shares[i];
    const double units = std::round(static_cast<double>(count) * before / static_cast<double>(unit));
    const std::int64_t whole = count / unit;
    const auto end = static_cast<std::int64_t>(std::clamp(units, 0.0, static_cast<double>(whole))) * unit;
    ends.push_back(i >= last ? count : std::max(end, ends.back()));
  }
  return ends;
}

}  // namespace kith
