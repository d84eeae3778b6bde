// What an Index holds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "device/device_state.hpp"
#include "kith/index.hpp"
#include "kith/plan.hpp"
#include "rows/byte_grid.hpp"
#include "rows/chunks.hpp"
#include "rows/landing.hpp"
#include "rows/lessons.hpp"
#include "rows/numbers/removed_rows.hpp"
#include "rows/numbers/row_numbers.hpp"

namespace kith {

class IndexBoxes;
class IndexQuantizedRows;
class PartedRows;

/// What searches make of the rows on a device, and learn about them. Snapshots that differ only in which rows
/// are removed share it.
struct MadeOfRows {
  explicit MadeOfRows(const DeviceInfo& info) : quantized_mutex(info) {}

  Lessons lessons;
  DeviceMutex quantized_mutex;
  std::map<Proposer, std::shared_ptr<const IndexQuantizedRows>> quantized_rows;
  std::shared_ptr<const IndexBoxes> boxes;
};

struct Index::State {
  ///   shared  of another State with the same rows on the device; null: nothing is made yet
  State(Device on, Metric measure, std::int64_t given, std::vector<std::int64_t> counting,
        std::shared_ptr<MadeOfRows> shared = nullptr)
      : device(std::move(on)),
        metric(measure),
        columns(given),
        features(std::move(counting)),
        dims(compares_bits(measure) ? landed_cols(Element::bits, given)
                                    : static_cast<std::int64_t>(features.size())),
        made(shared ? std::move(shared) : std::make_shared<MadeOfRows>(device.info())) {}

  /// The features as prepare_rows() takes them: empty when all columns count, as bits always do.
  std::span<const std::int64_t> mask() const {
    const bool all = compares_bits(metric) || dims == columns;
    return all ? std::span<const std::int64_t>() : std::span(features);
  }

  /// max |element| that check_range() asks for.
  float largest_of_all() const { return std::max(largest, largest_of_shards); }

  /// Rows that are not removed.
  std::int64_t live() const { return rows - removed.count(); }

  Device device;
  Metric metric = Metric::squared_l2;
  std::int64_t rows = 0;               ///< on the device, those that are removed included
  std::int64_t columns = 0;            ///< of rows and queries, as given: of bits their number
  std::vector<std::int64_t> features;  ///< the columns that count, ascending
  std::int64_t dims = 0;               ///< columns of the rows on the device: as many, of bits words of 32
  Element element = Element::f32;      ///< that all rows were given in; f32 where these differ
  float largest = 0;                   ///< max |element|
  std::int64_t first_row = 0;          ///< IndexOptions::first_row
  float largest_of_shards = 0;         ///< IndexOptions::largest
  std::vector<Chunk> chunks;
  /// Where no single device holds the rows as a whole: who searches them; there are no chunks then, and what
  /// is made of the rows is kept there. Null: the rows are in the chunks.
  std::shared_ptr<const PartedRows> parted;
  /// The rows are bytes: chunks are without memory, and quantized rows of int8 are the rows. What exact
  /// products do not answer, `parted` does.
  bool rows_are_bytes = false;
  std::vector<float> centre;  ///< SampledValues of the rows
  double clip_range = 0;      ///< clip_range_of() the rows
  ByteGrid grid;              ///< likewise
  /// The standard deviation of a row's squared distances to others, over the norm of a centred row. 0: where
  /// distances are no squares, or there is none.
  double spread = 0;
  std::vector<double> shift;  ///< [columns] IndexOptions::centre, which all but a caller's rows are free of
  RowNumbers numbers;         ///< of the rows, by their places
  RemovedRows removed;        ///< by their places
  std::shared_ptr<MadeOfRows> made;
  Lessons& lessons = made->lessons;  ///< of searches, for plans
  DeviceMutex& quantized_mutex = made->quantized_mutex;
  /// Each made by the first search by its proposer.
  std::map<Proposer, std::shared_ptr<const IndexQuantizedRows>>& quantized_rows = made->quantized_rows;
  std::shared_ptr<const IndexBoxes>& boxes = made->boxes;  ///< likewise
};

}  // namespace kith
