// What steps refuse, regardless of the device.
#include "kith/spi/refusals.hpp"

#include <variant>

namespace kith::spi {
namespace {

std::string refusal_of_sides(std::size_t queries, std::size_t train) {
  if (queries == train && train > 0) return "";
  return "queries have " + std::to_string(queries) + " columns and training rows " + std::to_string(train) +
         "; they must have as many, at least one";
}

std::string refusal_of_chains(const RowBlocks& queries, const RowBlocks& train) {
  return refusal_of_sides(queries.dims, train.dims);
}

/// Refuses terms for a metric that does not take them.
std::string refusal_of_terms(Metric metric, const RowBlocks& train) {
  if (train.mixed && !takes_mixed_terms(metric))
    return "metric " + std::string(name(metric)) + " takes no terms of columns; choose l1 or nan_manhattan";
  if (!train.terms || train.mixed || takes_box(metric)) return "";
  return "metric " + std::string(name(metric)) +
         " is not of differences, but the rows are in a periodic box; choose l2, squared_l2, l1 or linf";
}

/// Refuses terms for steps that do not heed them.
std::string refusal_of_any_terms(const RowBlocks& train) {
  if (!train.terms) return "";
  return std::string(train.mixed ? "columns have terms" : "the rows are in a periodic box") +
         ", which steps distance, boxes and count heed; choose one of these";
}

/// Refuses metrics of two sums for steps that compute chains.
std::string refusal_of_sums(Metric metric) {
  if (!is_of_sums(metric)) return "";
  return "metric " + std::string(name(metric)) +
         " is a quotient of two sums, which step distance alone computes; choose that";
}

/// Refuses more bits than the words of a row have.
std::string refusal_of_bits(const RowBlocks& train) {
  if (train.bits <= std::uint64_t{32} * train.dims) return "";
  return "training rows have " + std::to_string(train.bits) + " bits in " + std::to_string(train.dims) +
         " words of 32; give as many words as the bits take";
}

std::string refusal_of_list(std::uint32_t k) {
  return k > 0 ? "" : "k = 0; choose at least 1";
}

/// Refuses an empty list, or no lists.
std::string refusal_of_lists(std::uint32_t k, std::uint32_t lists) {
  if (k > 0 && lists > 0) return "";
  return "k = " + std::to_string(k) + " and lists = " + std::to_string(lists) + "; both must be at least 1";
}

std::string refusal_of_classes(std::uint32_t classes) {
  return classes > 0 ? "" : "there are no classes; give at least one";
}

std::string refusal_of_bytes(Proposer proposer, std::size_t dims) {
  if (!multiplies_bytes(proposer) || dims <= most_dims_int8) return "";
  return "proposers int8 and int4 are for up to " + std::to_string(most_dims_int8) +
         " columns, and there are " + std::to_string(dims) + "; choose another proposer";
}

std::string refusal_of_first(const std::string& what, const Grid<float>& rows) {
  if (rows.first % quantized_block_rows == 0) return "";
  return what + " begin at a multiple of " + std::to_string(quantized_block_rows) + " rows; not at row " +
         std::to_string(rows.first);
}

/// Refuses metrics and sizes for which distances do not follow from products of quantized rows.
std::string refusal_of_products(Proposer proposer, Metric metric, std::size_t dims) {
  if (!sums_squares(metric) && metric != Metric::negative_dot)
    return "metric " + std::string(name(metric)) +
           " does not follow from inner products; choose proposer none";
  // The library of gemm decides how many columns it can count.
  return proposer == Proposer::gemm ? "" : refusal_of_columns(proposer, dims, most_dims);
}

std::string refusal_of_error(const CollectStep& step) {
  if (step.b > 0 && step.b < 1) return "";
  return "a step of proposer " + std::string(name(step.proposer)) + " has b = " + std::to_string(step.b) +
         " for the error of its products, which is to be above 0 and below 1; set it to product_error() of "
         "the step";
}

std::string refusal_of_sample(const CollectStep& step) {
  if (step.sample.cols == 0) return "";
  if (!is_scaled(step.proposer) || step.visits.rows == 0 || step.bounds.low.cols == 0)
    return "samples are of visits, by proposers fp16, int8 and int4, with bounds; ask for none";
  const std::size_t groups = step.values.cols / sample_rows;
  if (step.sample.cols == groups) return "";
  return "a sample of these visits has " + std::to_string(groups) + " columns, not " +
         std::to_string(step.sample.cols);
}

std::string refusal_of_visits(const CollectStep& step) {
  if (step.visits.rows > 0 && step.proposer == Proposer::gemm)
    return "proposer gemm multiplies training rows in their order; give no visits";
  if (step.visits.rows % quantized_block_rows == 0) return "";
  return "visits are of a multiple of " + std::to_string(quantized_block_rows) + " rows; not of " +
         std::to_string(step.visits.rows);
}

/// Refuses nothing, for all other steps.
template <class AnyOther>
std::string refusal(const AnyOther&) {
  return "";
}

std::string refusal(const DistanceStep& step) {
  std::string why = refusal_of_chains(step.queries, step.train);
  if (why.empty()) why = refusal_of_bits(step.train);
  return why.empty() ? refusal_of_terms(step.metric, step.train) : why;
}

std::string refusal(const SelectStep& step) {
  if (step.distances.cols == 0) return "there are no training rows; give at least one";
  return refusal_of_lists(step.k, step.lists);
}

std::string refusal(const NearestStep& step) {
  if (step.train.rows == 0) return "there are no training rows; give at least one";
  std::string why = refusal_of_chains(step.queries, step.train);
  if (why.empty()) why = refusal_of_any_terms(step.train);
  if (why.empty()) why = refusal_of_sums(step.metric);
  return why.empty() ? refusal_of_lists(step.k, step.lists) : why;
}

std::string refusal(const MergeStep& step) {
  return refusal_of_lists(step.k, step.lists);
}

std::string refusal(const VoteStep& step) {
  return refusal_of_classes(step.classes);
}

std::string refusal(const ScoreStep& step) {
  return refusal_of_classes(step.classes);
}

std::string refusal(const AccumulateStep& step) {
  return refusal_of_classes(step.classes);
}

std::string refusal(const PrepareStep& step) {
  if (step.copy.rows > 0 && !is_scaled(step.proposer))
    return "rows are copied for proposers fp16, int8 and int4; ask for no copy";
  return refusal_of_bytes(step.proposer, step.rows.dims);
}

std::string refusal(const RecoverStep& step) {
  return refusal_of_first("quantized rows", step.rows.rows);
}

std::string refusal(const CollectStep& step) {
  if (step.proposer == Proposer::none) {
    const bool more = step.bounds.low.cols > 0 || step.visits.rows > 0 || step.sample.cols > 0;
    return more ? "bounds, visits and samples are for proposers, and there is none; ask for none of them"
                : "";
  }
  std::string why = refusal_of_products(step.proposer, step.metric, step.train.rows.cols);
  if (why.empty()) why = refusal_of_bytes(step.proposer, step.train.rows.cols);
  if (why.empty()) why = refusal_of_error(step);
  if (why.empty()) why = refusal_of_visits(step);
  if (why.empty()) why = refusal_of_sample(step);
  if (!why.empty() || step.proposer == Proposer::gemm) return why;  // its rows may begin anywhere
  const std::string what = "quantized rows of proposer " + std::string(name(step.proposer));
  why = refusal_of_first(what, step.queries.rows);
  return why.empty() ? refusal_of_first(what, step.train.rows) : why;
}

std::string refusal(const RerankStep& step) {
  std::string why = refusal_of_chains(step.queries, step.train);
  if (why.empty()) why = refusal_of_sums(step.metric);
  return why.empty() ? refusal_of_any_terms(step.train) : why;
}

/// Refuses what no step can do that makes a threshold for candidates of a proposer.
template <class Tighten>
std::string refusal_of_threshold(const Tighten& step) {
  if (step.k == 0) return refusal_of_list(step.k);
  return step.proposer == Proposer::none ? "" : refusal_of_products(step.proposer, step.metric, step.dims);
}

std::string refusal(const TightenStep& step) {
  return refusal_of_threshold(step);
}

std::string refusal(const TightenByBoundsStep& step) {
  return refusal_of_threshold(step);
}

std::string refusal(const TightenBySampleStep& step) {
  if (!is_scaled(step.proposer)) return "samples are of proposers fp16, int8 and int4; choose one of these";
  return refusal_of_threshold(step);
}

std::string refusal(const GroupsStep& step) {
  const std::size_t borders = step.query_borders.cols, others = step.row_borders.cols;
  if (borders != others || borders < 2)
    return "queries have " + std::to_string(borders) + " borders and rows " + std::to_string(others) +
           "; they must have as many, at least two";
  std::string why = refusal_of_chains(step.queries, step.train);
  if (why.empty()) why = refusal_of_any_terms(step.train);
  if (why.empty()) why = refusal_of_sums(step.metric);
  return why.empty() ? refusal_of_list(step.k) : why;
}

std::string refusal(const DoubleChainsStep& step) {
  if (compares_bits(step.metric)) return "rows of doubles hold no bits; choose another metric than hamming";
  std::string why = refusal_of_sides(step.queries.cols, step.train.cols);
  if (why.empty()) why = refusal_of_sums(step.metric);
  if (!why.empty() || step.queries.rows == step.rows.rows) return why;
  return "there are " + std::to_string(step.queries.rows) + " queries and " + std::to_string(step.rows.rows) +
         " lists; give a list for each query";
}

std::string refusal(const BoxesStep& step) {
  std::string why = refusal_of_chains(step.queries, step.train.rows);
  if (why.empty()) why = refusal_of_terms(step.metric, step.train.rows);
  if (why.empty()) why = refusal_of_sums(step.metric);
  return why.empty() ? refusal_of_list(step.k) : why;
}

std::string refusal(const CountStep& step) {
  std::string why = refusal_of_chains(step.queries, step.train.rows);
  if (why.empty()) why = refusal_of_terms(step.metric, step.train.rows);
  if (why.empty()) why = refusal_of_sums(step.metric);
  if (why.empty() && step.bounds.cols == 0) why = "there are no bounds to count by; give at least one";
  return why;
}

std::string refusal(const OrderStep& step) {
  return step.rows.empty() ? "there are no rows to put in order; give at least one part of them" : "";
}

std::string refusal(const PackBoxesStep& step) {
  return step.rows.empty() ? "there are no rows to put into boxes; give at least one part of them" : "";
}

}  // namespace

std::string refusal_of(const Step& step) {
  return std::visit([](const auto& work) { return refusal(work); }, step.work);
}

std::string refusal_of_block(const char* what, const RowBlocks& rows, std::uint32_t takes) {
  if (rows.block == takes) return "";
  return std::string(what) + " come in blocks of " + std::to_string(rows.block) +
         " rows, but this device takes " + std::to_string(takes) + "; pack them again";
}

std::string refusal_of_columns(Proposer proposer, std::size_t dims, std::size_t most) {
  if (dims > 0 && dims <= most) return "";
  return "the bound of proposer " + std::string(name(proposer)) + " is for 1 to " + std::to_string(most) +
         " columns, and there are " + std::to_string(dims) + "; choose proposer none";
}

std::string refusal_of_many_queries(const CollectStep& step) {
  if (step.values.rows <= small_batch) return "";
  return "proposer " + std::string(name(step.proposer)) + " is for up to " + std::to_string(small_batch) +
         " queries a step, and there are " + std::to_string(step.values.rows) + "; choose fp16";
}

}  // namespace kith::spi
