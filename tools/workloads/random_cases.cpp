#include <bit>
#include <cstring>

#include "kith/error.hpp"
#include "workloads/cases.hpp"
#include "workloads/clock.hpp"
#include "workloads/operand_chain.hpp"

namespace kith::workloads {
namespace {

constexpr std::size_t most_shown = 5;  ///< so many texts are kept; all failures are counted

/// Checks one stage against the contract, with the operands that `kith compare` gives it.
std::string check_stage(const Device& device, const Case& c) {
  const auto rows = [&](Set set, std::int64_t count) {
    return prepared_rows(c.metric, make_rows(c.data, c.seed, set, count, c.dims, c.metric).view());
  };
  Operation sizes{.metric = c.metric, .k = c.k, .threads = c.threads};
  OperandChain chain(sizes, rows(Set::train, c.n), rows(Set::queries, c.m),
                     make_labels(c.seed, c.n, c.classes), c.seed, plain_result);
  const StageResult& expected = chain.result(*c.stage);
  return difference(expected, result_of(device, chain.operation(*c.stage), chain.operands(), "case"));
}

/// Checks one case. Returns what is wrong; empty if the bits are equal.
std::string check(const Device& device, const Device* reference, const Case& c) {
  if (c.stage) return check_stage(device, c);
  const Answer expected = reference ? answer(*reference, problem_of(c)) : plain_answer(c);
  return difference(expected, answer(device, c));
}

}  // namespace

std::string difference(const Answer& expected, const Answer& actual) {
  const Neighbors &right = expected.neighbors, &found = actual.neighbors;
  if (right.queries != found.queries || right.k != found.k || right.row.size() != found.row.size() ||
      right.distance.size() != found.distance.size())
    return "the result is [" + std::to_string(found.queries) + ", " + std::to_string(found.k) +
           "], expected [" + std::to_string(right.queries) + ", " + std::to_string(right.k) + "]";
  for (std::size_t i = 0; i < right.row.size(); ++i) {
    const bool same = right.row[i] == found.row[i] && std::bit_cast<std::uint32_t>(right.distance[i]) ==
                                                          std::bit_cast<std::uint32_t>(found.distance[i]);
    if (same) continue;
    const std::size_t k = static_cast<std::size_t>(right.k);
    return "query " + std::to_string(i / k) + ", place " + std::to_string(i % k) + ": " +
           neighbor_text(found.row[i], found.distance[i]) + ", expected " +
           neighbor_text(right.row[i], right.distance[i]);
  }
  if (expected.votes.size() != actual.votes.size() || expected.label.size() != actual.label.size())
    return "the votes are of another shape";
  for (std::size_t q = 0; q < expected.label.size(); ++q)
    if (expected.label[q] != actual.label[q])
      return "query " + std::to_string(q) + ": label " + std::to_string(actual.label[q]) + ", expected " +
             std::to_string(expected.label[q]);
  for (std::size_t i = 0; i < expected.votes.size(); ++i) {
    if (expected.votes[i] == actual.votes[i]) continue;
    const std::size_t classes = expected.votes.size() / expected.label.size();
    return "query " + std::to_string(i / classes) + ", class " + std::to_string(i % classes) + ": " +
           std::to_string(actual.votes[i]) + " votes, expected " + std::to_string(expected.votes[i]);
  }
  return "";
}

std::int64_t different_queries(const Neighbors& expected, const Neighbors& actual) {
  const auto k = static_cast<std::size_t>(expected.k);
  std::int64_t different = 0;
  for (std::size_t q = 0; q < static_cast<std::size_t>(expected.queries); ++q)
    if (std::memcmp(&expected.distance[q * k], &actual.distance[q * k], k * sizeof(float)) != 0 ||
        std::memcmp(&expected.row[q * k], &actual.row[q * k], k * sizeof(std::int64_t)) != 0)
      ++different;
  return different;
}

RandomResult run_random_cases(const Device& device, const Device* reference, const RandomOptions& options) {
  const Clock clock;
  RandomResult result;
  result.next = options.first;
  while (result.compared < options.cases && !options.stop.stop_requested() &&
         (options.seconds <= 0 || clock.seconds() < options.seconds)) {
    Case c = random_case(device.info(), options.seed, result.next++);
    if (options.boxes && !take_boxes(device.info(), c)) continue;
    std::string wrong;
    try {
      wrong = check(device, reference, c);
      ++result.compared;
    } catch (const Error& error) {
      if (error.code() == Errc::unsupported) {
        if (result.refused++ == 0) result.first_refusal = error.what();
        if (result.refused > 10 * (result.compared + 10)) break;
        continue;
      }
      ++result.compared;
      wrong = error.what();
    }
    if (!wrong.empty()) {
      ++result.different;
      if (result.failures.size() < most_shown)
        result.failures.push_back(wrong + "\n  " + command_line(c, device.info().spec));
    }
    if (options.progress)
      options.progress(static_cast<double>(result.compared) / static_cast<double>(options.cases));
  }
  return result;
}

std::string summary(const RandomResult& result) {
  std::string text =
      std::to_string(result.compared) + " cases, " + std::to_string(result.different) + " different";
  if (result.refused)
    text += " (" + std::to_string(result.refused) + " more were refused, the first: " + result.first_refusal +
            ")";
  return text;
}

}  // namespace kith::workloads
