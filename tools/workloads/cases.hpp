// Makes random differential cases: a whole search or classification on a device, and the bits it must give.
// The tests and `kith verify --random-cases` use them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kith/classifier.hpp"
#include "kith/error.hpp"
#include "kith/index.hpp"
#include "kith/rows_view.hpp"
#include "workloads/operations.hpp"
#include "workloads/rows.hpp"

namespace kith::workloads {

inline constexpr std::uint64_t measured_seed = 1;  ///< seed of random data that is only measured

/// Holds a problem and how to solve it: everything that decides the result and the path.
struct Case {
  DataKind data = DataKind::normal;
  std::uint64_t seed = 1;
  std::int64_t n = 1, m = 1, dims = 1, k = 1;
  Metric metric = Metric::squared_l2;
  Element train_element = Element::f32, query_element = Element::f32;  ///< bits by hamming: 32 a column
  std::int64_t classes = 0;         ///< 0: search; else classify, with that many classes
  std::optional<Stage> stage = {};  ///< mask, score or accumulate alone, instead of a search
  Selector selector = Selector::automatic;
  Proposer proposer = Proposer::automatic;
  std::optional<bool> fused = {}, boxes = {};
  std::int64_t lists = 0, query_tile = 0, train_tile = 0;  ///< 0: chosen by the plan
  std::uint32_t threads = 0;
  std::int64_t reserve = 0;  ///< for searches: IndexOptions::reserve, and half of the rows come later

  bool operator==(const Case&) const = default;
};

/// Holds the answer of a case.
struct Answer {
  Neighbors neighbors;
  std::vector<std::int64_t> label;   ///< [m] when it classifies
  std::vector<std::uint32_t> votes;  ///< [m, classes that occur] when it classifies
};

/// Asks an index, or a classifier.
Answer ask(const Index& index, const RowsView& queries, std::int64_t k, const SearchOptions& options,
           Trace* trace = nullptr);
Answer ask(const Classifier& classifier, const RowsView& queries, std::int64_t k,
           const SearchOptions& options, Trace* trace = nullptr);

/// Returns an Index of the rows. If `reserve` is set, half of the rows are added by with().
Index index_of(const Device& device, const RowsView& train, Metric metric, std::int64_t reserve);

/// Draws case `number` of the series `seed` from the methods that `device` has. A case takes some
/// milliseconds. The paths that break most often are drawn most often: tiles of a few rows, k near a power of
/// two or near n, lists longer than their part, nearly equal distances.
Case random_case(const DeviceInfo& device, std::uint64_t seed, std::uint64_t number);

/// Makes a case search by boxes, if it can. Returns whether it does.
bool take_boxes(const DeviceInfo& device, Case& c);

/// Returns the same problem without choices of how to solve it, which the reference solves.
Case problem_of(const Case& c);

/// Returns the rows of a case as float32, with values that their element can hold.
Rows case_rows(const Case& c, Set set);

/// Returns the `kith` command that repeats a case exactly.
std::string command_line(const Case& c, const std::string& device);

/// Returns the answer of the device. Throws as Index::search() and Classifier::classify() do.
Answer answer(const Device& device, const Case& c);

/// Computes the answer slowly by the contract: every chain, a sort of all, a count of votes. It shares
/// metrics.def with the library, and no other code.
///   labels  [n], or null: no votes are wanted
Answer plain_answer(Metric metric, MatrixView<const float> train, MatrixView<const float> queries,
                    std::int64_t k, const std::vector<std::int64_t>* labels);
Answer plain_answer(const Case& c);

/// Computes the same in double precision. Every metric but hamming has it.
Answer plain_answer(Metric metric, MatrixView<const double> train, MatrixView<const double> queries,
                    std::int64_t k, const std::vector<std::int64_t>* labels);

/// Returns rows as the stages read them: divided by their norms for cosine, else copied.
Rows prepared_rows(Metric metric, MatrixView<const float> rows);

/// Returns whether the error says that a device cannot do something,
/// or lacks memory for it; its bits are not at fault.
inline bool is_refusal(const Error& error) {
  return error.code() == Errc::unsupported || error.code() == Errc::out_of_memory;
}

/// Returns the number of the i-th of `count` rows that are spread evenly over `all`.
constexpr std::int64_t spread_row(std::int64_t i, std::int64_t count, std::int64_t all) {
  return i * all / count;
}

/// Copies `count` of the rows, spread evenly.
Rows spread_rows(MatrixView<const float> all, std::int64_t count);

/// Returns where `actual` first differs from `expected`, with both values as decimals and as bits; empty if
/// the bits are equal. Answers of different arithmetic differ.
std::string difference(const Answer& expected, const Answer& actual);

/// Returns the number of queries whose rows differ, or the bits of whose distances do. Both are [queries, k]
/// and of one arithmetic.
std::int64_t different_queries(const Neighbors& expected, const Neighbors& actual);

struct RandomOptions {
  std::uint64_t seed = 1;
  std::uint64_t first = 0;  ///< number of the first case
  std::uint64_t cases = 0;  ///< how many to compare
  double seconds = 0;       ///< stop after so many; 0: never
  bool boxes = false;       ///< runs by boxes every case that can be, and skips the others
  std::stop_token stop;
  std::function<void(double)> progress;  ///< share done, between cases
};

struct RandomResult {
  std::uint64_t compared = 0, different = 0;
  std::uint64_t refused = 0;          ///< the device said `unsupported`; not among `compared`
  std::uint64_t next = 0;             ///< number of the first case not tried
  std::string first_refusal;          ///< message
  std::vector<std::string> failures;  ///< for the first few: difference and command line
};

/// Compares random cases of `device` with `reference`, or with plain_answer() if there is none. An error
/// other than `unsupported` counts as a difference. The run ends if more than ten times as many cases are
/// refused as compared.
RandomResult run_random_cases(const Device& device, const Device* reference, const RandomOptions& options);

/// Returns a text such as `2000 cases, 0 different`, and what was refused.
std::string summary(const RandomResult& result);

}  // namespace kith::workloads
