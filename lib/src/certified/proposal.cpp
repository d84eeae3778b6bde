#include "certified/proposal.hpp"
#include "base/numbers.hpp"

#include <algorithm>
#include <limits>

namespace kith {
namespace {

template <class T>
void read(spi::Device& device, const spi::Grid<T>& from, std::vector<T>& to) {
  device.read(*from.memory, from.first * sizeof(T), to.data(), to.size() * sizeof(T));
}

}  // namespace

Proposal::Proposal(const std::shared_ptr<Device::State>& state, const Plan& plan, spi::OnGrid queries)
    : plan_(plan), on_grid_(queries) {
  const ProposalSizes sizes(plan);
  const std::size_t q = size(plan.query_tile);
  quantized_ = DeviceMemory(state, sizes.quantized);
  row_terms_ = DeviceMemory(state, q * spi::terms_a_row * sizeof(float));
  if (sizes.values) values_ = DeviceMemory(state, sizes.values);
  rows_ = DeviceMemory(state, sizes.rows);
  keys_ = DeviceMemory(state, sizes.keys);
  if (sizes.low) low_ = DeviceMemory(state, sizes.low);
  states_ = DeviceMemory(state, 3 * q * sizeof(std::uint32_t));
}

spi::Step Proposal::prepare(const spi::RowBlocks& queries, const spi::Grid<float>& centre,
                            float scale) const {
  return {spi::PrepareStep{spi::proposer_of_queries(plan_.proposer), queries, centre,
                           this->queries(queries.rows), scale, true},
          plan_.threads};
}

spi::Step Proposal::collect(std::int64_t count, const spi::QuantizedRows& train, const spi::Visits& visits,
                            std::uint32_t first_row, const spi::Scratch& scratch, float unscale,
                            float gap_share, bool open) const {
  const std::size_t q = size(count),
                    t = visits.rows ? std::size_t{visits.rows} * visits.count : train.rows.rows;
  spi::CollectStep step{plan_.proposer,
                        plan_.problem.metric,
                        queries(q),
                        train,
                        {values_.get(), 0, q, t, t},
                        threshold(q),
                        first_row,
                        lists(q),
                        scratch,
                        unscale,
                        bounds(q),
                        visits,
                        {},
                        open};
  step.b = spi::product_error(step);
  step.gap_share = gap_share;
  return {step, plan_.threads};
}

spi::Step Proposal::sample(std::int64_t count, const spi::QuantizedRows& train, const spi::Visits& visits,
                           const spi::Scratch& scratch, float unscale, float gap_share) const {
  spi::Step step = collect(count, train, visits, 0, scratch, unscale, gap_share);
  auto& collecting = std::get<spi::CollectStep>(step.work);
  collecting.sample = sample_of(size(count), visits);
  collecting.b = spi::product_error(collecting);  // other kernels, with another error, may take samples
  return step;
}

spi::Step Proposal::tighten_by_sample(std::int64_t count, const spi::Visits& visits,
                                      std::int64_t rank) const {
  const std::size_t q = size(count);
  return {
      spi::TightenBySampleStep{plan_.proposer, plan_.problem.metric, dims(), static_cast<std::uint32_t>(rank),
                               sample_of(q, visits), queries(q).row_terms, threshold(q)},
      plan_.threads};
}

spi::Step Proposal::rerank(const spi::RowBlocks& queries, const spi::RowBlocks& train,
                           std::uint32_t first_row, float square) const {
  spi::RerankStep step{plan_.problem.metric, queries,           train, first_row,
                       lists(queries.rows),  keys(queries.rows)};
  if (square > 0)
    step.products = {bounds(queries.rows).low, this->queries(queries.rows).row_terms,
                     static_cast<float>(spi::most_exact) * square};
  return {step, plan_.threads};
}

spi::Step Proposal::tighten(const spi::Grid<Key>& best, bool afresh, bool guessed,
                            const spi::Scratch& scratch, std::size_t width) const {
  const std::size_t q = best.rows;
  return {spi::TightenStep{plan_.proposer, plan_.problem.metric, dims(),
                           static_cast<std::uint32_t>(best.cols), keys(q, width), counts(q), best,
                           queries(q).row_terms, threshold(q), flags(q), scratch, afresh, guessed},
          plan_.threads};
}

spi::Step Proposal::tighten_by_bounds(std::int64_t count, std::int64_t rank,
                                      const spi::Scratch& scratch) const {
  const std::size_t q = size(count);
  return {
      spi::TightenByBoundsStep{plan_.proposer, plan_.problem.metric, dims(), static_cast<std::uint32_t>(rank),
                               keys(q), counts(q), queries(q).row_terms, threshold(q), flags(q), scratch},
      plan_.threads};
}

spi::Step Proposal::prune(std::int64_t count, bool only_rows) const {
  const std::size_t q = size(count);
  return {spi::PruneStep{threshold(q), lists(q), bounds(q), only_rows}, plan_.threads};
}

void Proposal::reset(spi::Device& device, std::int64_t count, std::span<const float> threshold) const {
  // One write sets thresholds, counts and the marks of lost queries.
  std::vector<float> fresh(3 * size(count));
  std::fill_n(fresh.begin(), size(count), std::numeric_limits<float>::infinity());
  std::copy(threshold.begin(), threshold.end(), fresh.begin());
  static_assert(sizeof(float) == sizeof(std::uint32_t));  // and 0 has the same bits in both
  device.write(*states_.get(), 0, fresh.data(), fresh.size() * sizeof(float));
}

std::vector<float> Proposal::thresholds(spi::Device& device, std::int64_t count) const {
  std::vector<float> threshold(size(count));
  read(device, this->threshold(threshold.size()), threshold);
  return threshold;
}

std::int64_t Proposal::listed(spi::Device& device, std::int64_t count) const {
  std::vector<std::uint32_t> counts(size(count));
  read(device, this->counts(counts.size()), counts);
  std::int64_t total = 0;
  for (const std::uint32_t of_query : counts)
    total += std::min<std::int64_t>(of_query, plan_.candidates * times_);
  return total;
}

CandidatesThere Proposal::listed_places(std::int64_t count) const {
  return {lists(size(count)), bounds(size(count)).low};
}

void Proposal::write_nearest(spi::Device& device, const ListedPlaces& listed, std::size_t width,
                             std::span<const Key> nearest) const {
  std::vector<std::uint32_t> counts(listed.lengths.size());
  for (std::size_t q = 0; q < counts.size(); ++q)  // a list that overflowed must still say so
    counts[q] = static_cast<std::uint32_t>(
        listed.lengths[q] > listed.capacity ? width + 1 : std::min<std::size_t>(listed.lengths[q], width));
  const spi::Grid<std::uint32_t> to = this->counts(counts.size());
  device.write(*to.memory, to.first * sizeof(std::uint32_t), counts.data(),
               counts.size() * sizeof(std::uint32_t));
  device.write(*keys_.get(), 0, nearest.data(), nearest.size() * sizeof(Key));
}

std::vector<std::int64_t> Proposal::lost(Device::State& state, Workspace& workspace,
                                         std::int64_t count) const {
  const std::vector<std::uint32_t> flags = workspace.read_words(state, this->flags(size(count)), count);
  std::vector<std::int64_t> queries;
  for (std::size_t q = 0; q < flags.size(); ++q)
    if (flags[q]) queries.push_back(static_cast<std::int64_t>(q));
  if (!queries.empty()) workspace.forget_keys();
  return queries;
}

spi::QuantizedRows Proposal::queries(std::size_t count) const {
  const std::size_t dims = size(plan_.problem.dims);
  return {{quantized_.get(), 0, count, dims, dims},
          {row_terms_.get(), 0, spi::terms_a_row, count, size(plan_.query_tile)},
          on_grid_};
}

spi::CandidateLists Proposal::lists(std::size_t count) const {
  return {{rows_.get(), 0, count, capacity(), capacity()}, counts(count)};
}

spi::Grid<std::uint32_t> Proposal::counts(std::size_t count) const {
  return {states_.get(), count, count, 1, 1};
}

spi::Grid<std::uint32_t> Proposal::flags(std::size_t count) const {
  return {states_.get(), 2 * count, count, 1, 1};
}

spi::Grid<float> Proposal::threshold(std::size_t count) const {
  return {states_.get(), 0, count, 1, 1};
}

spi::Grid<Key> Proposal::keys(std::size_t count, std::size_t width) const {
  const std::size_t cols = width > 0 ? width : capacity();
  return {keys_.get(), 0, count, cols, cols};
}

/// Returns the matrix of a sample. It uses the memory of keys_, which bounds need only later.
spi::Grid<std::uint32_t> Proposal::sample_of(std::size_t count, const spi::Visits& visits) const {
  const std::size_t groups = std::size_t{visits.rows} * visits.count / spi::sample_rows;
  return {keys_.get(), 0, count, groups, groups};
}

spi::Bounds Proposal::bounds(std::size_t count) const {
  if (!has_own_order(plan_.proposer)) return {};
  return {{low_.get(), 0, count, capacity(), capacity()}, keys(count)};
}

}  // namespace kith
