// An Index of rows that a Source has.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/border.hpp"
#include "base/numbers.hpp"
#include "kith/error.hpp"
#include "kith/index.hpp"
#include "rows/rows.hpp"
#include "search/index_checks.hpp"
#include "search/parted/quantized_elsewhere.hpp"

namespace kith {
namespace {

[[noreturn]] void refuse_source(Errc code, const std::string& message) {
  throw Error(code, "index: " + message);
}

RowsInfo checked_info(const std::shared_ptr<const Source>& source) {
  if (!source) refuse_source(Errc::invalid_argument, "there is no source (a null pointer); give one");
  const RowsInfo info = source->info();
  if (info.rows < 1 || info.cols < 1)
    refuse_source(Errc::invalid_argument, source->name() + " has rows [" + std::to_string(info.rows) + ", " +
                                              std::to_string(info.cols) +
                                              "]; give at least one row and one column");
  return info;
}

/// The rows as an Index has them that is given them at once.
Index resident_index(Device device, const Source& source, const RowsInfo& info, Metric metric,
                     const IndexOptions& options) {
  if (const std::optional<RowsView> rows = source.in_memory()) return Index(device, *rows, metric, options);
  std::vector<unsigned char> raw(cells_of(info.rows, row_bytes(info.element, info.cols)));
  source.read(0, info.rows, raw.data());
  return Index(std::move(device), RowsView(raw.data(), info.element, info.rows, info.cols), metric, options);
}

void check_ids(const IndexOptions& options) {
  if (std::is_sorted(options.ids.begin(), options.ids.end())) return;
  refuse_source(Errc::unsupported,
                "ids do not ascend, but rows of a source stay where they are; give ids that ascend, or "
                "residence resident");
}

/// max |element|, for which all rows are read once.
float largest_of_source(const StreamedSet& set) {
  std::vector<unsigned char> raw;
  float largest = 0;
  for (std::int64_t first = 0; first < set.rows.rows; first += set.sizes.chunk_rows) {
    const std::int64_t count = std::min(set.sizes.chunk_rows, set.rows.rows - first);
    largest = std::max(largest, read_source(set, first, count, raw, 0, nullptr).largest);
  }
  return largest;
}

}  // namespace

Index::Index(Device device, std::shared_ptr<const Source> source, Metric metric,
             const IndexOptions& options) try {
  const RowsInfo info = checked_info(source);
  check_element("index", "training", RowsView(nullptr, info.element, info.rows, info.cols), metric);
  auto state =
      std::make_shared<State>(device, metric, info.cols, checked_features(options, metric, info.cols));
  const bool fits = fits_device(device.info(), info.rows, state->dims, options.memory_limit);
  Residence residence = options.residence;
  if (residence == Residence::automatic) residence = fits ? Residence::resident : Residence::stream;
  if (residence == Residence::resident) {
    *this = resident_index(std::move(device), *source, info, metric, options);
    return;
  }
  check_ids(options);
  check_shard(options, metric, info.rows, 0);
  static_cast<void>(order_of_ids("index", options.ids, info.rows, 0));
  IndexOptions room = options;
  if (residence == Residence::quantized)
    room.memory_limit = room_beside_quantized(device.info(), info.rows, state->dims, options.memory_limit);
  StreamedSet set{device,
                  std::move(source),
                  metric,
                  info,
                  state->features,
                  state->dims,
                  options.first_row,
                  options.largest,
                  stream_sizes(device.info(), info.rows, state->dims, room)};
  if (metric == Metric::negative_dot && set.largest == 0) set.largest = largest_of_source(set);
  state->rows = info.rows;
  state->element = info.element;
  state->largest = set.largest;
  state->first_row = options.first_row;
  state->largest_of_shards = options.largest;
  state->numbers = options.ids.empty() ? RowNumbers(info.rows) : RowNumbers(options.ids);
  if (residence == Residence::quantized) {
    state->parted = std::make_shared<QuantizedElsewhere>(set);
    state->largest = std::max(set.largest, state->parted->largest_element());
  } else {
    state->parted = std::make_shared<StreamedRows>(std::move(set));
  }
  state_ = std::move(state);
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
