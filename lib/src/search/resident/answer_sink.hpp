// Declares sinks, which receive the answers of a search.
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

/// Holds the nearest rows of some queries, in memory of the device.
struct KeysOnDevice {
  spi::Grid<Key> keys;     ///< [count, w]  masked keys come last
  std::int64_t first = 0;  ///< number of the first of these queries
  std::int64_t k = 0;      ///< how many neighbours of each list are wanted
  /// With leave-one-out, the place of the row that is query 0 here; query q is the row q places behind it.
  std::optional<std::int64_t> own = {};
  /// Maps rows in keys to places, ascending; empty if keys have places already.
  std::span<const std::int64_t> places = {};
};

/// Receives the nearest rows of each query, by their places. Must be called under a FloatGuard.
class AnswerSink {
 public:
  AnswerSink() = default;
  virtual ~AnswerSink() = default;
  AnswerSink(const AnswerSink&) = delete;
  AnswerSink& operator=(const AnswerSink&) = delete;

  /// Announces the k nearest rows of each of m queries, after all checks. Called again if a search
  /// starts again.
  virtual void begin(std::int64_t m, std::int64_t k) = 0;
  /// Returns whether take_on_device() takes answers.
  virtual bool takes_on_device() const { return false; }
  /// Takes answers from memory of the device. If it returns false, they come by put() instead. Called without
  /// a lock.
  virtual bool take_on_device(const KeysOnDevice& found, Trace* trace) {
    static_cast<void>(found), static_cast<void>(trace);
    return false;
  }
  /// Takes the k nearest rows of one query, padded with no_key. Several threads call it for
  /// different queries.
  virtual void put(std::int64_t query, std::span<const Key> nearest) = 0;
  /// Takes the k nearest rows of each of several successive queries, [, k]. Several threads call it for
  /// different queries, but not if takes_lists().
  virtual void put_lists(std::int64_t first, std::span<const Key> lists, std::size_t k) {
    for (std::size_t at = 0; at < lists.size(); at += k) put(first++, lists.subspan(at, k));
  }
  /// Returns whether put_lists() takes less time for a whole tile at once than for parts of it by several
  /// threads.
  virtual bool takes_lists() const { return false; }
  /// Takes the rows of all queries, if places need more bits than a Key has. The sink may move from `keys`.
  virtual void put_all(Keys& keys) = 0;
  /// Tells that the answers of queries first ... first + count - 1 were put, while their keys are still on
  /// the device, in the result of `workspace`. With `self`, a filter or a radius there are also keys of rows
  /// that do not count. Not called if rows are searched in parts. Called without a lock.
  virtual void tile_done(Workspace& workspace, std::int64_t first, std::int64_t count) {
    static_cast<void>(workspace), static_cast<void>(first), static_cast<void>(count);
  }
};

/// Passes on only rows within SearchOptions::radius: a list ends where its rows lie beyond.
class CutSink final : public AnswerSink {
 public:
  ///   bound  the largest raw value within the radius
  CutSink(AnswerSink& to, float bound) : to_(to), bound_(bound) {}
  void begin(std::int64_t m, std::int64_t k) override { to_.begin(m, k); }
  void put(std::int64_t query, std::span<const Key> nearest) override;
  void put_all(Keys& keys) override;
  void tile_done(Workspace& workspace, std::int64_t first, std::int64_t count) override {
    to_.tile_done(workspace, first, count);
  }

 private:
  AnswerSink& to_;
  const float bound_;
};

/// Writes distances and rows to memory of the host, [m, k] each.
class HostSink : public AnswerSink {
 public:
  HostSink(ShownBy shown, float* distance, std::int64_t* row)
      : shown_(shown), distance_(distance), row_(row) {}
  void begin(std::int64_t, std::int64_t k) override { k_ = k; }
  void put(std::int64_t query, std::span<const Key> nearest) override {
    put_lists(query, nearest, nearest.size());
  }
  /// The lists have as many keys as begin() announced.
  void put_lists(std::int64_t first, std::span<const Key> lists, std::size_t k) override;
  void put_all(Keys& keys) override;

 protected:
  explicit HostSink(ShownBy shown) : HostSink(shown, nullptr, nullptr) {}
  void write_to(float* distance, std::int64_t* row) {
    distance_ = distance;
    row_ = row;
  }

 private:
  const ShownBy shown_;
  float* distance_;
  std::int64_t* row_;
  std::int64_t k_ = 0;
};

/// Writes to Neighbors, and allocates the memory that they lack.
class NeighborsSink : public HostSink {
 public:
  NeighborsSink(ShownBy shown, Neighbors& found) : HostSink(shown), found_(found) {}
  void begin(std::int64_t m, std::int64_t k) override;

 private:
  Neighbors& found_;
};

/// Writes keys that shards exchange.
class KeysSink final : public AnswerSink {
 public:
  ///   to       gets the keys; its memory is used again
  ///   k        keys per list; a search for fewer leaves the others empty
  ///   numbers  numbers of the rows; null: they keep their places
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
