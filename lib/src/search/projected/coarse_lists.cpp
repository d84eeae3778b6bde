#include "search/projected/coarse_lists.hpp"

#include "base/numbers.hpp"
#include "certified/host_ranking.hpp"
#include "host/parallel.hpp"
#include "rows/rows.hpp"
#include "search/resident/pipeline.hpp"

namespace kith {

CoarseLists::CoarseLists(const ResidentRows& coarse, const Plan& plan)
    : coarse_(coarse),
      plan_(plan),
      quantized_(quantized_rows_for(coarse, plan, false)),
      centre_(form_for(coarse, plan.proposer).centre),
      workspace_(coarse.device.state(), plan, scratch_of(*coarse.device.state(), plan)),
      proposal_(coarse.device.state(), plan, spi::OnGrid::no),
      reader_(*coarse.device.state(), plan) {}

float CoarseLists::threshold(std::span<const float> query, float value) const {
  return product_threshold(coarse_.metric, query, centre_, value);
}

ListedPlaces CoarseLists::list(MatrixView<const float> queries, std::span<const float> values) {
  const std::shared_ptr<Device::State>& state = coarse_.device.state();
  const std::int64_t count = queries.rows();
  std::vector<float> thresholds(values.size());
  parallel_for(count, count * queries.cols(), plan_.threads, [&](std::int64_t q) {
    thresholds[size(q)] = threshold({queries.row(q), size(queries.cols())}, values[size(q)]);
  });
  upload_rows(*state, workspace_.query_memory(), queries, coarse_.device.info().query_block, plan_.threads);
  const DeviceSession session(*state);
  proposal_.reset(*session, count, thresholds);
  session->enqueue(proposal_.prepare(workspace_.queries(count), quantized_->centre(), 1));
  for (std::size_t c = 0; c < coarse_.chunks.size(); ++c) {
    const Chunk& chunk = coarse_.chunks[c];
    session->enqueue(proposal_.collect(count, quantized_->of(c, 0, chunk.rows), {},
                                       static_cast<std::uint32_t>(chunk.first), workspace_.scratch(), 1));
  }
  return reader_.places(*session, proposal_.listed_places(count));
}

std::span<const float> CoarseLists::lows() {
  const DeviceSession session(*coarse_.device.state());
  return reader_.lows(*session);
}

}  // namespace kith
