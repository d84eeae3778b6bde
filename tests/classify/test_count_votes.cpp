// Votes are counted on the device if that saves work, else on the host, with the same answers.
#include <variant>

#include "common/device.hpp"
#include "common/oracle.hpp"
#include "common/proxy_device.hpp"
#include "common/vote_oracle.hpp"
#include "kith/classifier.hpp"
#include "kith/filter.hpp"

namespace kith::tests {
namespace {

using Labels = std::vector<std::int64_t>;

/// Counts the steps that a classification enqueued on its device.
struct Asked {
  int searches = 0;  ///< steps other than counting votes
  int votes = 0, scores = 0;
  int uploads_after = 0;  ///< writes since the last step of the search
};

class Observed : public ProxyDevice {
 public:
  Observed(std::unique_ptr<spi::Device> real, std::shared_ptr<Asked> asked)
      : ProxyDevice(std::move(real)), asked_(std::move(asked)) {}

  void write(spi::Allocation& to, std::size_t offset, const void* from, std::size_t bytes) override {
    ++asked_->uploads_after;
    ProxyDevice::write(to, offset, from, bytes);
  }
  void enqueue(const spi::Step& step) override {
    const bool votes = std::holds_alternative<spi::VoteStep>(step.work),
               scores = std::holds_alternative<spi::ScoreStep>(step.work);
    asked_->votes += votes;
    asked_->scores += scores;
    if (!votes && !scores) {
      ++asked_->searches;
      asked_->uploads_after = 0;
    }
    ProxyDevice::enqueue(step);
  }

 private:
  const std::shared_ptr<Asked> asked_;
};

/// A problem with so many queries that counting on a device would pay.
struct Problem {
  static constexpr std::int64_t n = 300, m = 2100, k = 8;
  Matrix train = hard_rows(DataKind::grid, Set::train, n, 2, Metric::l1),
         queries = hard_rows(DataKind::grid, Set::queries, m, 2, Metric::l1);
  Labels labels = workloads::make_labels(5, n, 6);
  std::vector<float> sample_weights;

  Problem() {
    for (std::int64_t t = 0; t < n; ++t) sample_weights.push_back(0.5f + static_cast<float>(t % 7));
  }
};

/// Classifies the first `m` queries on a CPU, and returns what its device was asked for.
Asked asked_by(const Problem& problem, std::int64_t m, const VotingOptions& voting,
               const SearchOptions& options = {}, const std::vector<float>& sample_weights = {}) {
  const auto asked = std::make_shared<Asked>();
  const Classifier classifier(cpu_behind<Observed>(asked), problem.train, problem.labels, Metric::l1, {},
                              sample_weights);
  *asked = {};
  classifier.classify(MatrixView<const float>(problem.queries).slice(0, m), Problem::k, voting, options);
  CHECK(asked->searches > 0);
  return *asked;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("votes: tiles that the device counts and tiles that the host counts") {
  const Problem problem;
  const Classifier classifier(device(), problem.train, problem.labels, Metric::l1);
  Trace trace;
  const Classification found = classifier.classify(problem.queries, Problem::k, {.query_tile = 2060}, &trace);
  const bool whole_tiles = trace.plan.query_tile == 2060;  // a device with little memory takes smaller tiles
  CHECK(trace.seconds.count("vote") == (whole_tiles ? 1 : 0));
  CHECK(trace.seconds.count("decide") == 1);
  const Neighbors expected = neighbors(Metric::l1, problem.queries, problem.train, Problem::k);
  REQUIRE(difference(found.neighbors, expected) == "");
  const VoteOracle oracle(VotingOptions{}, problem.labels);
  for (std::int64_t q = 0; q < Problem::m; ++q) {
    const auto list = list_of(expected, size(q), Problem::k, problem.labels);
    REQUIRE(found.label[size(q)] == oracle.label(list));
    std::vector<std::uint32_t> votes(classifier.classes().size());
    for (std::int64_t j = 0; j < Problem::k; ++j)
      ++votes[classifier.codes()[size(expected.row[size(q * Problem::k + j)])]];
    REQUIRE(std::equal(votes.begin(), votes.end(),
                       found.votes.begin() + static_cast<std::ptrdiff_t>(size(q) * votes.size())));
  }
  CHECK(classifier.predict(problem.queries, Problem::k, {.query_tile = 2060}) == found.label);
}

TEST_SUITE_END();

TEST_CASE("votes: a device counts what many queries ask without weights") {
  const Problem problem;
  const Asked many = asked_by(problem, Problem::m, {});
  CHECK(many.votes == 1);
  CHECK(many.uploads_after == 0);
  CHECK(asked_by(problem, 20, {}).votes == 0);
}

TEST_CASE("votes: the host counts all else, and uploads nothing for it") {
  const Problem problem;
  const std::int64_t m = Problem::m;
  const RowFilter filter = RowFilter::only(Problem::n, Labels{1, 2, 3, 50, 60, 70, 80, 90, 100, 200});
  VotingOptions by_rank{.weights = Weights::rank};
  by_rank.rank_weights.assign(Problem::k, 0.25f);
  const std::vector<double> priors(6, 2.0);
  const std::pair<const char*, Asked> all[] = {
      {"1 / distance", asked_by(problem, m, {.weights = Weights::distance})},
      {"rank", asked_by(problem, m, by_rank)},
      {"samples", asked_by(problem, m, {}, {}, problem.sample_weights)},
      {"priors", asked_by(problem, m, {.priors = priors})},
      {"ties", asked_by(problem, m, {.tie = TieRule::nearest})},
      {"filter", asked_by(problem, m, {}, {.filter = filter})},
      {"self", asked_by(problem, 200, {}, {.self = 0})},
  };
  for (const auto& [what, asked] : all) {
    const std::string why = what;
    CAPTURE(why);
    CHECK(asked.votes == 0);
    CHECK(asked.scores == 0);
    CHECK(asked.uploads_after == 0);
  }
}

}  // namespace
}  // namespace kith::tests
