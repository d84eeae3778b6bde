#include <vector>

#include "base/border.hpp"
#include "base/float_guard.hpp"
#include "kith/classifier.hpp"
#include "vote/votes.hpp"

namespace kith {

std::vector<double> class_shares(const VotingOptions& voting, const Classification& found,
                                 std::size_t classes) try {
  const FloatGuard guard;
  if (!found.scores64.empty()) return checked_shares(voting, found.votes, found.scores64, classes);
  return checked_shares(voting, found.votes, std::vector<double>(found.scores.begin(), found.scores.end()),
                        classes);
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
