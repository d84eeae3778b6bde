// Tests the step vote, which counts one vote per neighbour: docs/contract.md, section 5.
#include "common/device.hpp"
#include "common/oracle.hpp"
#include "common/vote_oracle.hpp"
#include "kith/unstable/stages.hpp"
#include "workloads/random.hpp"

namespace kith::tests {
namespace {

using stages::Votes;

/// Counts votes one by one.
Votes counted(const std::vector<Key>& keys, std::size_t k, const std::vector<std::uint32_t>& labels,
              std::size_t classes) {
  Votes votes;
  for (std::size_t row = 0; row < keys.size(); row += k) {
    std::vector<std::uint32_t> counts(classes);
    for (std::size_t j = row; j < row + k; ++j)
      if (keys[j] != no_key) ++counts[labels[row_of(keys[j])]];
    const auto most = std::max_element(counts.begin(), counts.end());  // the first of several
    votes.winner.push_back(*most == 0 ? no_row : static_cast<std::uint32_t>(most - counts.begin()));
    votes.counts.insert(votes.counts.end(), counts.begin(), counts.end());
  }
  return votes;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("vote: most votes win, and of several classes with as many the smallest") {
  const std::vector<std::uint32_t> labels{2, 0, 1, 1, 2, 0};
  const Votes votes =
      stages::vote(device(), lists_of_rows(3, {0, 2, 3, /**/ 4, 3, 1, /**/ 5, 4, 0}), labels, 3);
  CHECK(votes == Votes{{1, 0, 2}, {0, 2, 1, /**/ 1, 1, 1, /**/ 1, 0, 2}});
}

TEST_CASE("vote: the order of the neighbours does not matter") {
  const std::vector<std::uint32_t> labels{3, 1, 3, 1};
  CHECK(stages::vote(device(), lists_of_rows(4, {0, 2, 1, 3}), labels, 4) == Votes{{1}, {0, 2, 0, 2}});
  CHECK(stages::vote(device(), lists_of_rows(4, {1, 3, 0, 2}), labels, 4) == Votes{{1}, {0, 2, 0, 2}});
}

TEST_CASE("vote: places without a neighbour have no vote, and a row of them no winner") {
  const std::vector<std::uint32_t> labels{0, 1};
  CHECK(stages::vote(device(), lists_of_rows(3, {1, no_row, no_row, /**/ no_row, no_row, no_row}), labels,
                     2) == Votes{{1, no_row}, {0, 1, /**/ 0, 0}});
}

TEST_CASE("vote: one class, one neighbour") {
  CHECK(stages::vote(device(), lists_of_rows(1, {0}), std::vector<std::uint32_t>{0}, 1) == Votes{{0}, {1}});
}

constexpr spi::VoteMethod methods[] = {spi::VoteMethod::automatic, spi::VoteMethod::atomic,
                                       spi::VoteMethod::branch_free};

/// Runs one vote step between canaries.
void check_guarded(spi::Device& device, spi::VoteMethod method, const std::vector<Key>& keys, std::uint32_t k,
                   const std::vector<std::uint32_t>& labels, std::uint32_t classes) {
  CAPTURE(static_cast<int>(method));
  const std::size_t q = keys.size() / k;
  const GuardedGrid<Key> in(device, q, k, make_key(0, 0), keys);  // key 0 would be one more vote
  const GuardedGrid<std::uint32_t> table(device, 1, labels.size(), 0, labels);
  const GuardedGrid<std::uint32_t> counts(device, q, classes, 0xCAFECAFEu), winner(device, q, 1, 0xCAFECAFEu);
  REQUIRE(run_step(device, spi::VoteStep{in.grid(), table.grid(), classes, counts.grid(), winner.grid(),
                                         method}) == "");
  const Votes expected = counted(keys, k, labels, classes);
  CHECK(difference(winner.inside(), expected.winner) == "");
  CHECK(difference(counts.inside(), expected.counts) == "");
  check_canaries(counts, winner);
  check_unchanged(in, table);
}

TEST_CASE("vote: all methods count the same: ties, no vote, all votes for one") {
  const std::vector<std::uint32_t> labels{2, 0, 1, 1, 2, 0};
  const auto keys = [](const std::vector<std::uint32_t>& rows) { return lists_of_rows(4, rows).keys; };
  spi::with_device(device(), [&](spi::Device& device) {
    for (const spi::VoteMethod method : methods) {
      check_guarded(device, method, keys({0, 1, 2, 3}), 4, labels, 3);  // label 1 has two votes
      check_guarded(device, method, keys({4, 3, 0, 2}), 4, labels, 3);  // labels 1 and 2 have two votes each
      check_guarded(device, method, keys({4, 0, 4, 0}), 4, labels, 3);  // all vote for label 2
      check_guarded(device, method, keys({5, no_row, no_row, no_row}), 4, labels, 3);
      check_guarded(device, method, std::vector<Key>(8, no_key), 4, labels, 3);  // nobody votes
    }
  });
}

TEST_CASE("vote: any number of queries, neighbours and classes, by every method, between canaries") {
  spi::with_device(device(), [](spi::Device& device) {
    for (const std::size_t q : {1u, 2u, 17u, 64u, 1000u})
      for (const std::uint32_t k : {1u, 5u, 33u, 300u, 2049u})
        for (const std::uint32_t classes : {1u, 2u, 10u, 257u, 5000u, 9000u}) {
          if (q * k > 40000 || q * classes > 100000) continue;
          CAPTURE_ALL(q, k, classes);
          workloads::Random random(q + k + classes);
          std::vector<std::uint32_t> labels(3000);
          for (std::uint32_t& label : labels) label = static_cast<std::uint32_t>(random.below(classes));
          std::vector<Key> keys(q * k);
          for (Key& neighbour : keys)
            neighbour = random.one_in(10) ? no_key
                                          : make_key(1, static_cast<std::uint32_t>(random.below(
                                                            static_cast<std::int64_t>(labels.size()))));
          for (const spi::VoteMethod method : methods)
            check_guarded(device, method, keys, k, labels, classes);
        }
  });
}

TEST_CASE("vote: refuses what it could not count") {
  const std::vector<std::uint32_t> labels{0, 1, 2};
  const auto refusal = [&](const stages::KeyLists& lists, std::uint32_t classes) {
    return error_of([&] { stages::vote(device(), lists, labels, classes); });
  };
  CHECK(refusal(lists_of_rows(1, {0}), 2) ==
        "invalid_argument: vote: label 2 of row 2 is not below classes = 2; give labels 0 to 1");
  CHECK(refusal(lists_of_rows(1, {0}), 0) ==
        "invalid_argument: vote: there are no classes; give at least one");
  CHECK(refusal(lists_of_rows(1, {3}), 3) ==
        "invalid_argument: vote: a neighbour is row 3 but there are 3 labels; give one a row");
  CHECK(refusal({1, 2, 1, {1, 2}}, 3) == "invalid_argument: vote: 2 lists a row; merge them first");
  CHECK(stages::vote(device(), {0, 1, 3, {}}, labels, 3) == Votes{});
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
