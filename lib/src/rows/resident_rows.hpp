// Defines the training rows that one device holds, and what searches build from them and keep: quantized
// rows, boxes, and lessons for later plans.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "device/device_state.hpp"
#include "kith/device.hpp"
#include "kith/metric.hpp"
#include "kith/rows_view.hpp"
#include "kith/source.hpp"
#include "rows/chunks.hpp"
#include "rows/landed/byte_grid.hpp"
#include "rows/landed/column_terms.hpp"
#include "rows/landed/periodic_box.hpp"
#include "rows/landing.hpp"
#include "rows/lessons.hpp"

namespace kith {

class GapRows;
class IndexBoxes;
class ProjectedRows;
class RowBands;
class IndexQuantizedRows;

/// How rows are compared, and on which device or set of devices.
struct RowSchema {
  RowSchema(Device on, Metric measure, std::int64_t given, std::vector<std::int64_t> counting)
      : device(std::move(on)),
        metric(chain_metric(measure)),
        shown(measure, has_codes(measure, given) ? 1 : 0),
        columns(given),
        features(std::move(counting)),
        dims(compares_bits(measure) ? landed_cols(Element::bits, given)
                                    : static_cast<std::int64_t>(features.size())) {}

  /// Returns the features as prepare_rows() takes them: empty if all columns count, as with bits.
  std::span<const std::int64_t> mask() const {
    const bool all = compares_bits(metric) || dims == columns;
    return all ? std::span<const std::int64_t>() : std::span(features);
  }

  /// Returns whether no step ranks the rows of a list.
  bool ranks_no_lists() const { return terms != nullptr || is_of_sums(metric); }

  Device device;
  Metric metric = Metric::squared_l2;      ///< whose chain compares rows, once they are prepared
  ShownBy shown;                           ///< the caller's metric, which turns raw values into distances
  std::int64_t columns = 0;                ///< columns of rows and queries, as given; bits count one by one
  std::vector<std::int64_t> features;      ///< the columns that count, ascending
  std::int64_t dims = 0;                   ///< columns of rows on the device; for bits, 32-bit words
  Element element = Element::f32;          ///< the element in which all rows were given; f32 if these differ
  float largest_of_shards = 0;             ///< IndexOptions::largest
  std::shared_ptr<const PeriodicBox> box;  ///< in which the rows are; null: there is none
  std::shared_ptr<const ColumnTerms> terms;  ///< in the place of differences; null: there are none

  /// Compares and shows rows as another schema of the same metric does, whose terms are on the same device.
  void compare_as(const RowSchema& other) {
    shown = other.shown;
    box = other.box;
    terms = other.terms;
  }
  /// Returns what the chain takes in each column.
  Terms kind_of_terms() const { return terms ? terms->kind() : Terms::differences; }
  /// Sets the terms by their parameters, [dims]; empty: the chain takes differences.
  void set_terms(std::vector<double> values) {
    terms = values.empty() ? nullptr : std::make_shared<const ColumnTerms>(device, std::move(values));
  }
};

/// What searches build from the rows on a device, and learn about them. Snapshots that differ only in their
/// removed rows share it.
struct MadeOfRows {
  explicit MadeOfRows(const DeviceInfo& info) : quantized_mutex(info) {}

  Lessons lessons;  ///< what searches teach later plans
  DeviceMutex quantized_mutex;
  /// The first search by a proposer makes its quantized rows.
  std::map<Proposer, std::shared_ptr<const IndexQuantizedRows>> quantized_rows;
  bool row_copy_lacks_room = false;                ///< there was no room for them with a copy of the rows
  std::shared_ptr<const IndexBoxes> boxes;         ///< made by the first search by boxes
  std::shared_ptr<const RowBands> bands;           ///< made by the first search by bands
  std::shared_ptr<const GapRows> gaps;             ///< made by the first search by products of gaps
  std::atomic<bool> gaps_lack_room = false;        ///< there was no room for these
  std::shared_ptr<const ProjectedRows> projected;  ///< made by the first search by projections
  std::atomic<bool> projected_lack_room = false;   ///< there was no room for these
  double filled_directions = 0;                    ///< by a sample of the rows; 0: not yet known
};

/// How int4 rounds training rows.
struct HalfBytes {
  double range = 0;  ///< the largest |element| that is a half byte; 0: not known
  double off = 0;    ///< root mean square of the distance of a row from its half bytes
};

/// Rows in chunks of memory of one device. Searches identify them by their places 0, 1, ...
struct ResidentRows : RowSchema {
  ///   shared  of other ResidentRows with the same rows on the device; null: nothing is built yet
  explicit ResidentRows(RowSchema schema, std::shared_ptr<MadeOfRows> shared = nullptr)
      : RowSchema(std::move(schema)),
        made(shared ? std::move(shared) : std::make_shared<MadeOfRows>(device.info())) {}

  /// Returns the max |element| for check_range().
  float largest_of_all() const { return std::max(largest, largest_of_shards); }

  std::int64_t rows = 0;  ///< on the device, including removed rows
  float largest = 0;      ///< max |element|
  std::vector<Chunk> chunks;
  /// The rows are stored as bytes: chunks have no memory, and the rows are the quantized rows of int8.
  bool rows_are_bytes = false;
  /// With `quantized`, chunks have no memory, and there is one kind of quantized rows, which propose.
  Residence residence = Residence::resident;
  std::size_t search_bytes = 0;  ///< with `quantized`: number of bytes of device memory for a search
  std::vector<float> centre;     ///< SampledValues of the rows
  double clip_range = 0;         ///< clip_range_of() the rows
  HalfBytes half_bytes;          ///< of the same sample
  ByteGrid grid;                 ///< found in the same sample
  /// The standard deviation of a row's squared distances to others, divided by the norm of a centred row. 0
  /// if distances are not squares, or if there is no other row.
  double spread = 0;
  std::shared_ptr<MadeOfRows> made;
};

}  // namespace kith
