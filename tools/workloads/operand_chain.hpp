// Makes the operands of every stage of one problem by running the stages before it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "workloads/operations.hpp"
#include "workloads/rows.hpp"

namespace kith::workloads {

/// Holds labels as places in the ascending list of the classes that occur.
struct RankedLabels {
  std::vector<std::uint32_t> labels;  ///< [n]
  std::vector<std::int64_t> classes;

  explicit RankedLabels(const std::vector<std::int64_t>& of);
};

class OperandChain {
 public:
  /// Computes an operation, as the reference.
  using Run = std::function<StageResult(const Operation&, const Operands&)>;

  /// The seed also makes a filter for each query, which leaves out half, most, few or whole words of rows,
  /// and weights below 1, some of them 0.
  ///   sizes  metric, k, lists and threads of all stages
  ///   rows   as stages see them: prepared_rows()
  OperandChain(const Operation& sizes, Rows train, Rows queries, const std::vector<std::int64_t>& labels,
               std::uint64_t seed, Run run);

  /// Returns the result of `run` for a stage, computed once. Candidates are the rows not farther than the
  /// k-th; if many rows are equally far, the lists are too short for them.
  const StageResult& result(Stage stage);
  /// Returns a stage with its sizes, and the operands that it reads.
  Operation operation(Stage stage) const;
  const Operands& operands() const { return operands_; }

 private:
  void ready(Stage stage);
  void keep_candidates(const StageResult& collected);

  Rows train_, queries_;
  RankedLabels labels_;
  Operation sizes_;
  Operands operands_;
  const Run run_;
  std::map<Stage, StageResult> results_;
  std::vector<float> distances_, threshold_, weights_;
  std::vector<std::uint32_t> filter_, counts_, candidates_;
  std::vector<Key> empty_;
};

}  // namespace kith::workloads
