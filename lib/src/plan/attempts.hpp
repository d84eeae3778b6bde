// The attempts of a search: each tile of queries goes through them until all queries are answered.
// docs/certificate.md, section 5.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/unstable/plan.hpp"

namespace kith {

/// Returns the attempts of a plan whose steps and lists are already chosen.
///   may_guess  the rows are in mixed order, and no guess has failed before
std::vector<Attempt> attempts_of(const Plan& plan, bool may_guess);

/// Returns whether an attempt is made if `open` of `count` queries are still open.
bool applies(const Attempt& attempt, std::int64_t open, std::int64_t count);

/// Returns what earlier searches by a proposer have shown; an empty lesson if there were none.
Feedback::Lesson lesson_of(const Feedback& feedback, Proposer proposer);

/// Returns whether a proposer failed for k neighbours or fewer, so that it must not be chosen again for k.
bool overwhelms(const Feedback& feedback, Proposer proposer, std::int64_t k);

}  // namespace kith
