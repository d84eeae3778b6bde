#include "classify/answers.hpp"

#include <algorithm>
#include <cstdio>

#include "classify/host_votes.hpp"
#include "host/parallel.hpp"
#include "kith/error.hpp"
#include "kith/labels.hpp"

namespace kith {
namespace {

constexpr std::int64_t answers_at_once = std::int64_t{1} << 22;  // bounds the memory of a batch

/// Joins the classes of the training rows and those of the truth.
std::vector<std::int64_t> united(std::vector<std::int64_t> classes, std::span<const std::int64_t> truth) {
  classes.insert(classes.end(), truth.begin(), truth.end());
  return classes_of(std::move(classes));
}

/// Returns the number of cells in the confusion matrices of all k. Throws out_of_memory if they take
/// too much.
std::size_t checked_cells(const std::string& where, std::size_t classes, std::int64_t k_max) {
  const std::size_t most = most_confusion_bytes / sizeof(std::uint32_t);
  const auto layers = static_cast<std::size_t>(k_max);
  const double cells =
      static_cast<double>(classes) * (static_cast<double>(classes) + 1) * static_cast<double>(k_max);
  if (cells <= static_cast<double>(most)) return layers * classes * (classes + 1);
  char gib[32];
  std::snprintf(gib, sizeof gib, "%.1f", cells * sizeof(std::uint32_t) / 0x1p30);
  throw Error(Errc::out_of_memory, where + ": the confusion of " + std::to_string(classes) +
                                       " classes for each k up to " + std::to_string(k_max) + " takes " +
                                       gib + " GiB, and 1 GiB is allowed; choose a smaller k_max");
}

}  // namespace

Answers::Answers(const std::string& where, const Classifier& classifier, std::span<const std::int64_t> truth,
                 std::int64_t k_max, const VotingOptions& voting, std::uint32_t threads)
    : threads_(threads) {
  const std::size_t classes = classifier.classes().size();
  check_voting(where, voting, classifier.index().metric(), classes, k_max);
  result_.k_max = k_max;
  result_.classes = united(classifier.classes(), truth);
  result_.confusion.resize(checked_cells(where, result_.classes.size(), k_max));
  result_.correct.resize(static_cast<std::size_t>(k_max));
  for (const std::int64_t label : classifier.classes()) place_of_.push_back(place(label));
  scorers_.assign(team_size(threads), Scorer(voting, classes, classifier.codes(), classifier.sample_weights(),
                                             classifier.index().arithmetic()));
}

std::uint32_t Answers::place(std::int64_t label) const {
  const auto& classes = result_.classes;
  return static_cast<std::uint32_t>(std::lower_bound(classes.begin(), classes.end(), label) -
                                    classes.begin());
}

void Answers::add(const Neighbors& found, std::span<const std::int64_t> truth) {
  std::vector<std::uint32_t> places;
  places.reserve(truth.size());
  for (const std::int64_t label : truth) places.push_back(place(label));
  const std::int64_t share = std::max<std::int64_t>(1, answers_at_once / found.k);
  for (std::int64_t first = 0; first < found.queries; first += share) {
    const std::int64_t queries = std::min(share, found.queries - first);
    answer(found, first, queries);
    count(queries,
          std::span(places).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(queries)));
  }
  result_.rows += found.queries;
}

/// Finds the winner of `count` queries for every k, in one pass over the ranks of each query.
void Answers::answer(const Neighbors& found, std::int64_t first, std::int64_t count) {
  const auto k_max = static_cast<std::size_t>(found.k);
  const auto none = static_cast<std::uint32_t>(result_.classes.size());
  answers_.resize(static_cast<std::size_t>(count) * k_max);
  const std::size_t work = answers_.size() * 8;  // a vote takes several operations
  run_team(static_cast<std::size_t>(count), work, static_cast<std::uint32_t>(scorers_.size()),
           [&](std::size_t q, std::size_t thread) {
             Scorer& scorer = scorers_[thread];
             scorer.begin();
             const std::size_t from = (static_cast<std::size_t>(first) + q) * k_max;
             const NeighborList list = all_in(found).part(from, k_max);
             for (std::size_t j = 0; j < k_max; ++j) {
               scorer.add(list.index[j], list.distance(j));
               const std::int64_t winner = scorer.winner();
               answers_[q * k_max + j] =
                   winner == Scorer::no_winner ? none : place_of_[static_cast<std::size_t>(winner)];
             }
           });
}

/// Each thread counts for other k, each of which has its own matrix, so that no two write to the same cells.
void Answers::count(std::int64_t queries, std::span<const std::uint32_t> truth) {
  const auto k_max = static_cast<std::size_t>(result_.k_max);
  const std::size_t classes = result_.classes.size(), columns = classes + 1;
  parallel_for(result_.k_max, queries * result_.k_max, threads_, [&](std::int64_t place) {
    const auto j = static_cast<std::size_t>(place);
    std::uint32_t* const confusion = result_.confusion.data() + j * classes * columns;
    std::int64_t correct = 0;
    for (std::size_t q = 0; q < truth.size(); ++q) {
      const std::uint32_t answer = answers_[q * k_max + j];
      ++confusion[truth[q] * columns + answer];
      correct += answer == truth[q];
    }
    result_.correct[j] += correct;
  });
}

}  // namespace kith
