#include <algorithm>
#include <string>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "check/distance/sums_check.hpp"
#include "check/distance/terms_check.hpp"
#include "kith/error.hpp"
#include "plan/plan_memory.hpp"
#include "plan/reasons.hpp"
#include "plan/rules/plan_rules.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"
#include "search/radius/radius.hpp"

namespace kith {
namespace {

/// A list has one place per so many rows. Then it takes less memory than the distances, and for a query with
/// more rows it is cheaper to read the distances.
constexpr std::int64_t rows_a_place = 16, fewest_places = 64;

void check_options(const std::string& where, const SearchOptions& o) {
  const auto refuse = [&](const std::string& what) {
    throw Error(
        Errc::unsupported,
        where + ": " + what + " has no part in a radius search, which keeps all that is near; drop it");
  };
  if (o.selector != Selector::automatic) refuse("selector " + std::string(name(o.selector)));
  if (!o.sample.empty()) refuse("a sample to choose a selector by");
  if (o.fused == true) refuse("the fused step");
  if (o.proposer != Proposer::automatic && o.proposer != Proposer::none)
    refuse("proposer " + std::string(name(o.proposer)));
  if (o.lists) refuse("lists = " + std::to_string(o.lists));
  if (o.radius) refuse("option radius = " + text_of(*o.radius));
}

/// Halves the query tile or the training tile, whichever is cheaper to halve. Returns false if both
/// are minimal.
bool shrink(Plan& plan) {
  constexpr std::int64_t enough_queries = 16, enough_rows = 1024;
  const bool queries =
      plan.query_tile > enough_queries || (plan.train_tile <= enough_rows && plan.query_tile > 1);
  std::int64_t& tile = queries ? plan.query_tile : plan.train_tile;
  if (tile == 1) return false;
  tile = (tile + 1) / 2;
  return true;
}

/// Plans a search that lists rows within a radius, or counts those within several.
///   radii  0: rows are listed
Plan plan_radii(const std::string& where, const ResidentRows& index, std::int64_t m, std::int64_t radii,
                const SearchOptions& options) {
  const DeviceInfo& device = index.device.info();
  check_options(where, options);
  std::string why;
  if (index.terms) why = test_terms(*index.device.state(), index.metric, index.kind_of_terms());
  if (why.empty() && is_of_sums(index.metric)) why = test_sums(*index.device.state(), index.metric);
  if (!why.empty()) throw Error(Errc::unsupported, where + ": " + device.spec + ": " + why);
  check_rows_left_out(where, index.rows, m, options);
  SearchOptions tiles = options;
  tiles.self.reset();
  tiles.fused = false;
  tiles.boxes = false;  // boxes are tried before: within_by_boxes()
  tiles.proposer = Proposer::none;
  Plan plan =
      plan_problem(device, {index.metric, index.rows, m, index.dims, 1, index.kind_of_terms()}, tiles);
  plan.problem.k = 0;
  plan.lists = 1;
  plan.self = options.self;
  plan.reason = reasons::radius();
  const std::size_t budget = memory_budget(device, plan, options);
  for (;;) {
    plan.candidates =
        radii > 0 ? 1 : std::min(plan.train_tile, std::max(fewest_places, plan.train_tile / rows_a_place));
    const RadiusWorkspace workspace(device, plan, std::max<std::size_t>(1, size(radii)));
    const RadiusWorkspace::Sizes sizes = workspace.sizes();
    const std::size_t scratch = workspace.scratch_bytes(*index.device.state());
    plan.workspace_bytes = sizes.total + scratch;
    if (plan.workspace_bytes <= budget && std::max(sizes.largest, scratch) <= device.largest_allocation)
      return plan;
    if (!shrink(plan))
      throw Error(Errc::out_of_memory, where + ": one query takes " + std::to_string(plan.workspace_bytes) +
                                           " bytes on " + plan.device + ", but " +
                                           std::to_string(std::min(budget, device.largest_allocation)) +
                                           " are allowed; raise the memory limit");
  }
}

}  // namespace

Plan plan_within(const ResidentRows& index, std::int64_t m, const SearchOptions& options) {
  return plan_radii("within", index, m, 0, options);
}

Plan plan_count(const std::string& where, const ResidentRows& index, std::int64_t m, std::int64_t radii,
                const SearchOptions& options) {
  return plan_radii(where, index, m, radii, options);
}

RadiusWorkspace::RadiusWorkspace(const DeviceInfo& device, const Plan& plan, std::size_t radii)
    : plan_(plan), query_block_(device.query_block), train_block_(device.train_block), radii_(radii) {}

RadiusWorkspace::RadiusWorkspace(const std::shared_ptr<Device::State>& state, const Plan& plan,
                                 std::size_t radii)
    : RadiusWorkspace(state->device->info, plan, radii) {
  const std::size_t q = size(plan.query_tile), listed = q * size(plan.candidates);
  scratch_size_ = scratch_bytes(*state);
  queries_ = DeviceMemory(state, packed_bytes(plan.query_tile, plan.problem.dims, query_block_));
  distances_ = DeviceMemory(state, q * size(plan.train_tile) * sizeof(float));
  rows_ = DeviceMemory(state, listed * sizeof(std::uint32_t));
  keys_ = DeviceMemory(state, listed * sizeof(Key));
  bounds_ = DeviceMemory(state, q * radii_ * sizeof(float));
  counts_ = DeviceMemory(state, q * radii_ * sizeof(std::uint32_t));
  if (scratch_size_) scratch_ = DeviceMemory(state, scratch_size_);
}

RadiusWorkspace::Sizes RadiusWorkspace::sizes() const {
  const std::size_t q = size(plan_.query_tile), listed = q * size(plan_.candidates);
  const std::size_t blocks[] = {packed_bytes(plan_.query_tile, plan_.problem.dims, query_block_),
                                q * size(plan_.train_tile) * sizeof(float),
                                listed * sizeof(std::uint32_t),
                                listed * sizeof(Key),
                                q * radii_ * sizeof(float),
                                q * radii_ * sizeof(std::uint32_t),
                                filter_bytes(plan_)};
  Sizes sizes{0, 0};
  for (const std::size_t block : blocks) {
    sizes.total += block;
    sizes.largest = std::max(sizes.largest, block);
  }
  return sizes;
}

std::size_t RadiusWorkspace::scratch_bytes(const Device::State& device) const {
  const spi::RowBlocks train{nullptr, 0, static_cast<std::uint32_t>(plan_.train_tile),
                             static_cast<std::uint32_t>(plan_.problem.dims), train_block_};
  const spi::Grid<float> values = distances(plan_.query_tile, plan_.train_tile);
  std::vector<spi::Step> steps{distance(plan_.query_tile, train), collect(values, 0)};
  if (!is_of_sums(plan_.problem.metric))
    steps.push_back(rerank(plan_.query_tile, size(plan_.candidates), train, 0));
  if (plan_.filters) steps.push_back(mask_step(plan_, nullptr, values, 0));
  std::size_t most = 0;
  for (const spi::Step& step : steps) {
    const spi::Support support = device.check(step);
    if (!support.refusal.empty())
      throw Error(Errc::unsupported, "within: " + plan_.device + ": " + support.refusal);
    most = std::max(most, support.scratch_bytes);
  }
  return most;
}

spi::Grid<float> RadiusWorkspace::distances(std::int64_t count, std::int64_t train_rows) const {
  return {distances_.get(), 0, size(count), size(train_rows), size(train_rows)};
}

spi::Grid<float> RadiusWorkspace::enqueue_distances(const DeviceSession& session, const ResidentRows& index,
                                                    const Tile& tile, const DeviceFilter& filter,
                                                    std::int64_t count, StepTimer& timer) const {
  const spi::Grid<float> all = distances(count, tile.rows);
  session->enqueue(distance(count, tile.rows_on_device(index)));
  timer.after(spi::DistanceStep::name);
  if (!filter) return all;
  session->enqueue(filter.mask(all, static_cast<std::uint32_t>(tile.first)));
  timer.after(spi::MaskStep::name);
  return all;
}

spi::RowBlocks RadiusWorkspace::query_rows(std::int64_t count) const {
  return {queries_.get(), 0, static_cast<std::uint32_t>(count),
          static_cast<std::uint32_t>(plan_.problem.dims), query_block_};
}

spi::CandidateLists RadiusWorkspace::lists(std::size_t count, std::size_t places, std::size_t first) const {
  return {{rows_.get(), 0, count, places, size(plan_.candidates)}, {counts_.get(), first, count, 1, 1}};
}

spi::Step RadiusWorkspace::distance(std::int64_t count, const spi::RowBlocks& train) const {
  return {spi::DistanceStep{plan_.problem.metric, query_rows(count), train, distances(count, train.rows)},
          plan_.threads};
}

spi::Step RadiusWorkspace::collect(const spi::Grid<float>& distances, std::uint32_t first_row,
                                   std::size_t first) const {
  return {spi::CollectStep{Proposer::none,
                           plan_.problem.metric,
                           {},
                           {},
                           distances,
                           {bounds_.get(), first, distances.rows, 1, 1},
                           first_row,
                           lists(distances.rows, size(plan_.candidates), first),
                           {scratch_.get(), scratch_size_}},
          plan_.threads};
}

spi::Step RadiusWorkspace::rerank(std::int64_t count, std::size_t longest, const spi::RowBlocks& train,
                                  std::uint32_t first_row) const {
  return {spi::RerankStep{plan_.problem.metric,
                          query_rows(count),
                          train,
                          first_row,
                          lists(size(count), longest, 0),
                          {keys_.get(), 0, size(count), longest, longest}},
          plan_.threads};
}

}  // namespace kith
