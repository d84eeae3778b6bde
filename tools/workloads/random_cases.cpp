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

/// Returns where the rows or the bits of distances first differ; empty if they are equal.
template <class Distances>
std::string different_neighbor(const Neighbors& right, const Distances& expected, const Neighbors& found,
                               const Distances& actual) {
  if (right.queries != found.queries || right.k != found.k || right.row.size() != found.row.size() ||
      expected.size() != actual.size())
    return "the result is [" + std::to_string(found.queries) + ", " + std::to_string(found.k) +
           "], expected [" + std::to_string(right.queries) + ", " + std::to_string(right.k) + "]";
  for (std::size_t i = 0; i < right.row.size(); ++i) {
    if (right.row[i] == found.row[i] && std::memcmp(&expected[i], &actual[i], sizeof expected[i]) == 0)
      continue;
    const std::size_t k = static_cast<std::size_t>(right.k);
    return "query " + std::to_string(i / k) + ", place " + std::to_string(i % k) + ": " +
           neighbor_text(found.row[i], actual[i]) + ", expected " + neighbor_text(right.row[i], expected[i]);
  }
  return "";
}

}  // namespace

std::string difference(const Answer& expected, const Answer& actual) {
  const Neighbors &right = expected.neighbors, &found = actual.neighbors;
  if (right.arithmetic != found.arithmetic)
    return "the result is " + std::string(name(found.arithmetic)) + ", expected " +
           std::string(name(right.arithmetic));
  const std::string neighbor = right.arithmetic == Arithmetic::f64
                                   ? different_neighbor(right, right.distance64, found, found.distance64)
                                   : different_neighbor(right, right.distance, found, found.distance);
  if (!neighbor.empty()) return neighbor;
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
  const auto differ = [k](const auto& right, const auto& found, std::size_t q) {
    return std::memcmp(right.data() + q * k, found.data() + q * k, k * sizeof right[0]) != 0;
  };
  for (std::size_t q = 0; q < static_cast<std::size_t>(expected.queries); ++q)
    if (differ(expected.row, actual.row, q) ||
        (expected.arithmetic == Arithmetic::f64 ? differ(expected.distance64, actual.distance64, q)
                                                : differ(expected.distance, actual.distance, q)))
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
