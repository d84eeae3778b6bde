// Where the answers of a search go.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kith/key.hpp"
#include "kith/keys.hpp"
#include "kith/metric.hpp"
#include "kith/neighbors.hpp"
#include "kith/spi.hpp"
#include "kith/trace.hpp"
#include "rows/index_state.hpp"
#include "tiles/workspace.hpp"

namespace kith {

/// The nearest rows of some queries, in memory of the device.
struct KeysOnDevice {
  spi::Grid<Key> keys;     ///< [count, w]  masked ones behind all others
  std::int64_t first = 0;  ///< the number of query 0
  std::int64_t k = 0;      ///< of each list so many are wanted
  /// The place of the row that query 0 is, and leaves out, as query q leaves out the row behind by q.
  std::optional<std::int64_t> own = {};
  /// The places of the rows of keys, ascending; empty: these are places.
  std::span<const std::int64_t> places = {};
};

/// Gets the nearest rows of each query, by their places.
class AnswerSink {
 public:
  AnswerSink() = default;
  virtual ~AnswerSink() = default;
  AnswerSink(const AnswerSink&) = delete;
  AnswerSink& operator=(const AnswerSink&) = delete;

  /// All is checked, and k nearest rows of each of m queries follow. Called once more where a search begins
  /// anew.
  virtual void begin(std::int64_t m, std::int64_t k) = 0;
  /// Take answers from memory of the device. Returns whether it does: else they come by put(). Called without
  /// a lock.
  virtual bool take_on_device(const KeysOnDevice& found, Trace* trace) {
    static_cast<void>(found), static_cast<void>(trace);
    return false;
  }
  /// The k nearest rows of one query, padded with no_key. Several threads call it for different queries.
  virtual void put(std::int64_t query, std::span<const Key> nearest) = 0;
  /// Those of all queries, by places of more bits than a Key has. What `keys` holds is the sink's to take.
  virtual void put_all(Keys& keys) = 0;
  /// Answers of queries first ... first + count - 1 are put, and their keys are still on the device, in the
  /// result of `workspace`. With `self` or a filter keys of rows that do not count are among these. Not
  /// called of rows in parts. Called without a lock.
  virtual void tile_done(Workspace& workspace, std::int64_t first, std::int64_t count) {
    static_cast<void>(workspace), static_cast<void>(first), static_cast<void>(count);
  }
};

/// Distances and rows in memory of the host, [m, k] each.
class HostSink : public AnswerSink {
 public:
  HostSink(Metric metric, float* distance, std::int64_t* row)
      : metric_(metric), distance_(distance), row_(row) {}
  void begin(std::int64_t, std::int64_t k) override { k_ = k; }
  void put(std::int64_t query, std::span<const Key> nearest) override;
  void put_all(Keys& keys) override;

 protected:
  explicit HostSink(Metric metric) : HostSink(metric, nullptr, nullptr) {}
  void write_to(float* distance, std::int64_t* row) {
    distance_ = distance;
    row_ = row;
  }

 private:
  const Metric metric_;
  float* distance_;
  std::int64_t* row_;
  std::int64_t k_ = 0;
};

/// The same in Neighbors, which get the memory that they lack.
class NeighborsSink : public HostSink {
 public:
  NeighborsSink(Metric metric, Neighbors& found) : HostSink(metric), found_(found) {}
  void begin(std::int64_t m, std::int64_t k) override;

 private:
  Neighbors& found_;
};

/// Keys that shards exchange.
class KeysSink final : public AnswerSink {
 public:
  ///   to       whose memory is used
  ///   k        keys a list; a search for fewer leaves the others empty
  ///   numbers  of the rows; null: they keep their places
  KeysSink(Keys& to, std::int64_t k, const RowNumbering* numbers = nullptr)
      : to_(to), k_(k), numbers_(numbers) {}
  void begin(std::int64_t m, std::int64_t k) override;
  void put(std::int64_t query, std::span<const Key> nearest) override;
  void put_all(Keys& keys) override;

 private:
  std::int64_t shown(std::int64_t place) const {
    return place < 0 || !numbers_ ? place : numbers_->first_row + numbers_->numbers.number(place);
  }

  Keys& to_;
  const std::int64_t k_;
  const RowNumbering* const numbers_;
};

}  // namespace kith
