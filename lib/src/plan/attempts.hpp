// The ladder of a search: what a tile of queries goes through until all are answered. docs/certificate.md,
// section 5.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/plan.hpp"

namespace kith {

/// The attempts of a plan whose steps and lists are decided.
///   may_guess  the rows come in a mixed order, and guesses have not misled
std::vector<Attempt> attempts_of(const Plan& plan, bool may_guess);

/// Whether `open` of `count` queries are as many as an attempt is for.
bool applies(const Attempt& attempt, std::int64_t open, std::int64_t count);

/// What is known of a proposer; nothing where no search has taught it.
Feedback::Lesson lesson_of(const Feedback& feedback, Proposer proposer);

/// Whether a proposer is not to be chosen for k neighbours again.
bool overwhelms(const Feedback& feedback, Proposer proposer, std::int64_t k);

}  // namespace kith
