// Describes a plan in words: `--explain`.
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/border.hpp"
#include "boxes/boxes_rules.hpp"
#include "kith/spi/byte_grid.hpp"
#include "kith/unstable/plan.hpp"
#include "plan/proposal_sizes.hpp"
#include "plan/reasons.hpp"

namespace kith {
namespace {

/// Describes an attempt, except for its name.
std::string said(const Attempt& attempt) {
  using Way = Attempt::Way;
  const std::string share = std::to_string(Attempt::many_open);
  if (attempt.way == Way::exact) return "the queries that are still open, by the chain alone";
  const std::string steps = std::to_string(attempt.seed_rows) + " rows, then " +
                            std::to_string(attempt.growth) + " times all before, at most " +
                            std::to_string(attempt.step_rows) + " a step";
  if (attempt.way == Way::guess)
    return steps +
           "; what is near from the nearest of those seen, and the k-th chain tells whether it was right";
  if (attempt.way == Way::careful)
    return steps + "; what is near from k bounds, for all where more than one in " + share + " is open";
  return steps + "; lists " + std::to_string(attempt.lists) + " times as long, where at most one in " +
         share + " is open";
}

/// Writes lines such as `what           value`. It does not use streams of the standard library: they depend
/// on the locale of the program, which may group digits, and they end a program that contains facets of
/// another standard library.
class Lines {
 public:
  void add(std::string_view what, const auto&... value) {
    text_ += what;
    text_.append(what.size() < width ? width - what.size() : 0, ' ');
    (append(value), ...);
    text_ += '\n';
  }
  std::string text() { return std::move(text_); }

 private:
  static constexpr std::size_t width = 15;
  void append(std::string_view value) { text_ += value; }
  void append(std::integral auto value) { text_ += std::to_string(value); }

  std::string text_;
};

}  // namespace

std::string explain(const Plan& plan) try {
  const Problem& p = plan.problem;
  Lines lines;
  const auto line = [&](std::string_view what, const auto&... value) { lines.add(what, value...); };
  line("device", plan.device);
  std::string shown;
  if (plan.shown)
    shown = std::string(name(*plan.shown)) +
            (is_prepared(*plan.shown) ? ", of rows prepared for it and" : ",") + " compared by ";
  line("problem", shown, name(p.metric), reasons::words_of(p.terms), ", n = ", p.n, ", m = ", p.m,
       ", dims = ", p.dims, ", k = ", p.k);
  if (!plan.double_chains.empty())
    line("search", "in floats, which proposes candidates; doubles rank these by the metric and k asked for");
  if (plan.residence == Residence::stream)
    line("residence", "stream, in chunks of ", plan.chunk_rows,
         " training rows; what follows is for one chunk");
  else if (plan.residence == Residence::quantized)
    line("residence",
         "quantized: the device proposes, and what it proposes is ranked by the rows that the source has");
  if (plan.groups)
    line("groups", plan.groups, ", of which ", plan.groups_apart,
         " are searched one after another, each as an index of its own, and all others together");
  const bool radius = p.k == 0;
  line("chain",
       plan.boxes   ? "boxes, nearest first"
       : radius     ? "distance, then collect and rerank"
       : plan.fused ? "nearest (distance and select in one step)"
                    : "distance, then select",
       plan.proposer == Proposer::none ? "" : ", for queries that the proposer leaves open");
  if (plan.filters)
    line("filter", plan.filters == 1 ? "one for all queries" : "one a query",
         plan.masked     ? ", there are no bounds of rows that do not count"
         : plan.struck   ? ", rows are struck out of longer lists"
         : plan.gathered ? ", the rows that count are gathered and searched alone"
                         : "");
  if (plan.self) line("left out", "training row ", *plan.self, " + q for query q");
  if (!plan.fused && !plan.boxes && !radius) line("selector", name(plan.selector));
  line("proposer", name(plan.proposer));
  if (plan.sample_rows)
    line("sample", plan.sample_rows, " training rows by the proposer, for a first guess, listing none; then ",
         plan.growth, " times as many are listed, and ", plan.growth, " times all before");
  else if (plan.proposer != Proposer::none)
    line("seed", plan.seed_rows, " training rows by the proposer, for the first bounds; then ", plan.growth,
         " times all before");
  if (plan.visit_rows) line("visits", "blocks of ", plan.visit_rows, " training rows, in a mixed order");
  if (plan.proposer != Proposer::none)
    for (const Attempt& attempt : plan.attempts) line("attempt", name(attempt.way), ": ", said(attempt));
  if (!plan.double_chains.empty()) line("double chains", plan.double_chains);
  if (plan.proposer != Proposer::none || radius)
    line("candidates", plan.candidates, " places a query", radius ? " and training tile" : "");
  if (plan.exact_products)
    line("ranked by", "products of whole numbers, which are the chain",
         static_cast<std::size_t>(p.dims) > spi::columns_of_exact_chains(p.metric)
             ? " below 2^24 steps; the chain ranks the others"
             : "");
  if (plan.rows_are_bytes)
    line("rows", bytes_of_rows_as_bytes(p.n, p.dims), " bytes, as they are");
  else if (plan.proposer != Proposer::none)
    line("quantized rows", quantized_bytes(plan.proposer, p.n, p.dims), " bytes, kept with the index");
  if (plan.boxes) {
    line("leaves", "at most ", plan.most_leaves, " a query, then all rows by the chain");
    if (plan.tried_queries) line("sample", plan.tried_queries, " queries, to tell whether boxes pay");
    line("boxes", boxes_bytes(p.n, p.dims), " bytes, kept with the index");
  }
  if (plan.row_copy_bytes) line("row copy", plan.row_copy_bytes, " bytes, likewise");
  line("why", plan.reason);
  line("query tile", plan.query_tile);
  if (!plan.boxes) line("training tile", plan.train_tile);
  if (!radius && !plan.boxes) line("lists", plan.lists);
  line("workspace", plan.workspace_bytes, " bytes");
  return lines.text();
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
