#include "plan/attempts.hpp"

#include <algorithm>

#include "base/names.hpp"
#include "plan/guess.hpp"
#include "plan/proposal_sizes.hpp"

namespace kith {
namespace {

constexpr std::pair<Attempt::Way, std::string_view> way_names[] = {{Attempt::Way::guess, "guess"},
                                                                   {Attempt::Way::careful, "careful"},
                                                                   {Attempt::Way::longer, "longer"},
                                                                   {Attempt::Way::exact, "exact"}};

/// If queries are few, lists may be this many times as long in the same memory.
constexpr std::int64_t longer_lists = Attempt::many_open;

}  // namespace

std::string_view name(Attempt::Way way) {
  return name_in(way_names, way);
}

std::vector<Attempt> attempts_of(const Plan& plan, bool may_guess) {
  using Way = Attempt::Way;
  using When = Attempt::When;
  if (plan.proposer == Proposer::none) return {Attempt{}};
  const std::int64_t k = plan.problem.k, most = plan.train_tile;
  const std::int64_t seed = careful_seed(k, plan.seed_rows),
                     growth = careful_growth(k, plan.candidates, plan.growth);
  std::vector<Attempt> attempts;
  if (may_guess && has_own_order(plan.proposer)) {
    const std::int64_t first =
        plan.sample_rows > 0 ? std::min(plan.sample_rows * plan.growth, most) : plan.seed_rows;
    attempts.push_back({Way::guess, When::many, first, plan.growth, most, 1});
  }
  attempts.push_back({Way::careful, When::many, seed, growth, most, 1});
  // Most lists that overflowed were nearly long enough, so that steps may stay long at first. Steps so short
  // that no list can overflow are many; these come next.
  const std::int64_t fits = plan.candidates * longer_lists / 2;
  attempts.push_back({Way::longer, When::few, seed, growth, most, longer_lists});
  if (fits < most) attempts.push_back({Way::longer, When::few, seed, growth, fits, longer_lists});
  attempts.push_back({});
  return attempts;
}

bool applies(const Attempt& attempt, std::int64_t open, std::int64_t count) {
  if (open == 0) return false;
  const bool many = open * Attempt::many_open > count;
  return attempt.when == Attempt::When::any || many == (attempt.when == Attempt::When::many);
}

Feedback::Lesson lesson_of(const Feedback& feedback, Proposer proposer) {
  for (const Feedback::Lesson& lesson : feedback.lessons)
    if (lesson.proposer == proposer) return lesson;
  return {proposer};
}

bool overwhelms(const Feedback& feedback, Proposer proposer, std::int64_t k) {
  const std::int64_t from = lesson_of(feedback, proposer).overwhelmed_from;
  return from > 0 && k >= from;
}

}  // namespace kith
