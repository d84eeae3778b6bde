#include "search/stores/resident_store.hpp"

#include <algorithm>
#include <mutex>

#include "boxes/index_boxes.hpp"
#include "certified/quantized_rows.hpp"
#include "certified/row_sample.hpp"
#include "metric/chain.hpp"
#include "rows/read_back.hpp"
#include "search/bands/banded_search.hpp"
#include "search/bands/row_bands.hpp"
#include "search/gaps/gap_rows.hpp"
#include "search/gaps/gapped_search.hpp"
#include "search/projected/projected_rows.hpp"
#include "search/projected/projected_search.hpp"
#include "search/resident/pipeline.hpp"
#include "search/resident/prefiltered_search.hpp"
#include "search/resident/resident_search.hpp"
#include "search/resident/some_rows.hpp"

namespace kith {
namespace {

/// Returns the largest |element - centre| of a sample of `rows`. It is 0 for bits: no proposer is used for
/// them, and they must not be computed with as floats.
double reach_of(MatrixView<const float> rows, const ResidentRows& all) {
  return compares_bits(all.metric) ? 0 : clip_range_of(rows, all.centre, 1);
}

}  // namespace

std::shared_ptr<const ResidentRows> resident_rows(const RowStore& store) {
  const auto* const resident = dynamic_cast<const ResidentStore*>(&store);
  return resident ? resident->resident() : nullptr;
}

std::size_t bytes_of(const ResidentRows& rows) {
  std::size_t bytes = 0;
  for (const Chunk& chunk : rows.chunks)
    if (chunk.memory) bytes += chunk.memory->bytes;
  const std::lock_guard lock(rows.made->quantized_mutex);
  for (const auto& [proposer, quantized] : rows.made->quantized_rows)
    if (quantized) bytes += quantized->bytes();  // null if there was no memory for it
  if (rows.made->boxes) bytes += rows.made->boxes->bytes();
  if (rows.made->bands) bytes += rows.made->bands->bytes();
  if (const auto& gaps = rows.made->gaps) bytes += bytes_of(gaps->extended()) + bytes_of(gaps->sample());
  if (const auto& projected = rows.made->projected; projected && projected->are_made())
    bytes += projected->bytes() + bytes_of(projected->coarse()) + bytes_of(projected->sample());
  return bytes;
}

Plan plan_resident(const ResidentRows& rows, std::int64_t m, std::int64_t k, const SearchOptions& given,
                   const Feedback& feedback) {
  SearchOptions own;
  const SearchOptions& options = options_for(rows, given, own);
  if (takes_bands(rows, options)) return plan_banded(rows, m, k, options);
  if (takes_gap_products(rows, m, k, options)) return plan_gapped(rows, m, k, options);
  if (takes_projections(rows, m, k, options)) return plan_projected(rows, m, k, options);
  if (prefilters(rows, m, k, options)) return plan_prefiltered(rows, m, k, options);
  return plan_search(rows, m, k, options, feedback);
}

void prepare_resident(const ResidentRows& rows, std::int64_t m, std::int64_t k,
                      const SearchOptions& options) {
  Feedback told = rows.made->lessons.feedback();
  told.boxes_made = told.bytes_made = true;  // so that the cost of making them does not count
  if (takes_bands(rows, options)) return static_cast<void>(bands_for(rows, options));
  if (takes_gap_products(rows, m, k, options, true)) return prepare_gapped(rows, m, k, options);
  if (takes_projections(rows, m, k, options, true)) return prepare_projected(rows, m, k, options);
  if (prefilters(rows, m, k, options)) return;  // a search of gathered rows keeps nothing
  const Plan plan = plan_search(rows, m, k, options, told);
  if (plan.boxes)
    boxes_for(rows, options);
  else if (plan.proposer != Proposer::none)
    quantized_rows_for(rows, plan, true);
}

std::shared_ptr<const ResidentRows> resident_of(const RowSchema& schema, std::vector<Chunk> chunks,
                                                MatrixView<const float> sample, float largest) {
  auto rows = std::make_shared<ResidentRows>(schema);
  rows->chunks = std::move(chunks);
  rows->rows = rows->chunks.back().first + rows->chunks.back().rows;
  rows->largest = largest;
  sampled_values(sample, schema.metric, schema.element).tell(*rows);
  return rows;
}

std::shared_ptr<const RowStore> appended_to(const RowSchema& all, const ResidentRows& before,
                                            const RowsForIndex& more) {
  RowsOfIndex put = put_rows(all, more);
  auto grown = std::make_shared<ResidentRows>(all);
  grown->rows = before.rows + more.rows.rows;
  grown->largest = std::max(before.largest, put.largest);
  grown->chunks = before.chunks;
  for (Chunk& chunk : put.chunks) grown->chunks.push_back(std::move(chunk));
  grown->centre = before.centre;
  grown->clip_range = std::max(before.clip_range, reach_of(put.sample.view, *grown));
  grown->half_bytes = before.half_bytes;
  grown->grid = before.grid;
  grown->spread = before.spread;
  return std::make_shared<ResidentStore>(std::move(grown));
}

StoreInfo ResidentStore::info() const {
  return {Residence::resident, bytes_of(*resident_), resident_->chunks.size() == 1, 0,
          resident_->made->lessons.feedback()};
}

Plan ResidentStore::plan(std::int64_t m, std::int64_t k, const SearchOptions& options,
                         const Feedback& feedback) const {
  return plan_resident(*resident_, m, k, options, feedback);
}

void ResidentStore::read(std::int64_t first, std::int64_t count, float* to, std::uint32_t threads) const {
  read_places(*resident_, first, count, to, threads);
}

std::shared_ptr<const RowStore> ResidentStore::appended(const RowSchema& all,
                                                        const RowsForIndex& more) const {
  return appended_to(all, *resident_, more);
}

std::shared_ptr<const RowStore> ResidentStore::subset(const RowSchema&,
                                                      std::span<const std::int64_t> places) const {
  return std::make_shared<ResidentStore>(compacted_rows(*resident_, places));
}

}  // namespace kith
