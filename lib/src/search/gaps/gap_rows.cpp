#include "search/gaps/gap_rows.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <numeric>
#include <utility>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "certified/row_sample.hpp"
#include "device/timing.hpp"
#include "host/parallel.hpp"
#include "kith/error.hpp"
#include "rows/read_back.hpp"
#include "rows/rows.hpp"
#include "search/picked/picked_search.hpp"
#include "search/resident/some_rows.hpp"

namespace kith {
namespace {

Floats rows_of(const ResidentRows& index, std::uint32_t threads) {
  Floats rows(cells_of(index.rows, index.dims));
  read_places(index, 0, index.rows, rows.data(), threads);
  return rows;
}

/// Returns what rows of a sample tell of the columns.
GapColumns columns_of(MatrixView<const float> rows) {
  const FloatGuard guard;
  const std::int64_t stride = sample_stride(rows.rows());
  return GapColumns({rows.data(), divide_up(rows.rows(), stride), rows.cols(), stride * rows.cols()});
}

std::shared_ptr<const ResidentRows> sample_of(const ResidentRows& index, std::uint32_t threads) {
  return kept_rows(index, places_of_sample(index.rows), threads);
}

}  // namespace

GapRows::GapRows(const ResidentRows& index, std::uint32_t threads)
    : rows_(rows_of(index, threads)),
      columns_(columns_of({rows_.data(), index.rows, index.dims})),
      extended_(extended_rows_of(index, threads)),
      sample_(sample_of(index, threads)) {}

/// Extends rows first, first + stride, ..., in memory that is used again from call to call.
MatrixView<const float> GapRows::some_extended(std::int64_t first, std::int64_t count, std::int64_t stride,
                                               std::uint32_t threads, Floats& to) const {
  const std::int64_t width = columns_.width();
  to.resize(cells_of(count, width));
  parallel_for(count, count * width, threads,
               [&](std::int64_t i) { columns_.extend_row(row(first + i * stride), to.data() + i * width); });
  return {to.data(), count, width};
}

std::shared_ptr<const ResidentRows> GapRows::extended_rows_of(const ResidentRows& index,
                                                              std::uint32_t threads) const {
  constexpr std::int64_t floats_at_once = 1 << 21;  // 8 MiB stay in a cache
  const std::shared_ptr<Device::State>& state = index.device.state();
  const std::uint32_t block = index.device.info().train_block;
  const std::int64_t width = columns_.width(),
                     at_once = divide_up(floats_at_once, width * block) * std::int64_t{block};
  Floats room;
  auto extended = std::make_shared<ResidentRows>(no_extended_rows(index));
  extended->rows = index.rows;
  extended->chunks = chunks_without_memory(index.device.info(), index.rows, width);
  for (Chunk& chunk : extended->chunks) {
    const auto memory = std::make_shared<DeviceMemory>(state, packed_bytes(chunk.rows, width, block));
    for (std::int64_t first = 0; first < chunk.rows; first += at_once) {
      const std::int64_t count = std::min(at_once, chunk.rows - first);
      const MatrixView<const float> some = some_extended(chunk.first + first, count, 1, threads, room);
      for (const float value : room) extended->largest = std::max(extended->largest, std::fabs(value));
      upload_rows(*state, *memory->get(), some, block, threads, first);
    }
    chunk.memory = {memory, memory->get()};
  }
  const std::int64_t stride = sample_stride(index.rows);
  const MatrixView<const float> sample =
      some_extended(0, divide_up(index.rows, stride), stride, threads, room);
  sampled_values(sample, extended->metric, extended->element, threads).tell(*extended);
  return extended;
}

ResidentRows no_extended_rows(const ResidentRows& index) {
  std::vector<std::int64_t> all(size(gap_parts * index.dims));
  std::iota(all.begin(), all.end(), 0);
  const auto width = static_cast<std::int64_t>(all.size());
  return ResidentRows(RowSchema(index.device, Metric::negative_dot, width, std::move(all)));
}

std::shared_ptr<const GapRows> gap_rows_for(const ResidentRows& index, std::uint32_t threads, Trace* trace) {
  const std::lock_guard lock(index.made->quantized_mutex);
  if (index.made->gaps) return index.made->gaps;
  const FloatGuard guard;
  const Stopwatch making;
  index.made->gaps = std::make_shared<GapRows>(index, threads);
  if (trace) trace->seconds["extend"] += making.seconds();
  return index.made->gaps;
}

std::shared_ptr<const GapRows> gap_rows_with_room(const ResidentRows& index, const SearchOptions& options,
                                                  Trace* trace) {
  const bool may_give_way = options.proposer == Proposer::automatic;
  try {
    return gap_rows_for(index, options.threads, trace);
  } catch (const Error& error) {
    if (!may_give_way || error.code() != Errc::out_of_memory) throw;
  } catch (const std::bad_alloc&) {
    if (!may_give_way) throw;
  }
  index.made->gaps_lack_room = true;
  return nullptr;
}

std::shared_ptr<const GapRows> made_gap_rows(const ResidentRows& index) {
  const std::lock_guard lock(index.made->quantized_mutex);
  return index.made->gaps;
}

}  // namespace kith
