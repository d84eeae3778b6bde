// What searches make of wide rows: their projections, and a copy of the rows that the host reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "base/floats.hpp"
#include "kith/trace.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/resident_rows.hpp"
#include "search/projected/byte_rows.hpp"
#include "search/projected/projection.hpp"

namespace kith {

/// What some queries taught about searches for k neighbours.
struct ProjectedReach {
  bool pays = false;
  double ratio = 1;         ///< of the bound of the k-th value to the value of a near row of the sample
  std::int64_t listed = 0;  ///< coarse rows within the bound, of a query
};

/// Keeps what searches taught. Any thread may call it.
class ProjectedReaches {
 public:
  /// Records what was learnt about searches for k neighbours.
  void tell(std::int64_t k, const ProjectedReach& reach);
  /// Records that projections left most queries of a tile open. The first time what was known is forgotten,
  /// so that the next search learns anew; the second time they are known not to pay.
  void fail(std::int64_t k);
  std::optional<ProjectedReach> reach(std::int64_t k) const;
  /// Returns whether searches for k neighbours are known not to pay, from those for as many or somewhat
  /// fewer.
  bool loses(std::int64_t k) const;
  /// Returns whether some searches are known to pay.
  bool any_pays() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::int64_t, ProjectedReach> reaches_;
  std::set<std::int64_t> failed_;
};

class ProjectedRows {
 public:
  /// Reads the rows from the device, which it locks now and then. Throws out_of_memory.
  ///   known  what searches of these rows taught; null: nothing
  ProjectedRows(const ResidentRows& index, std::shared_ptr<ProjectedReaches> known, std::uint32_t threads);
  /// Keeps what searches taught, without the rows.
  explicit ProjectedRows(std::shared_ptr<ProjectedReaches> known) : reaches_(std::move(known)) {}

  /// Returns whether it has the rows; what follows must not be called otherwise.
  bool are_made() const { return projection_.has_value(); }
  const Projection& projection() const { return *projection_; }
  /// Returns all rows, [n, dims].
  const float* rows() const { return rows_.data(); }
  /// Returns the rows in bytes if all lie exactly on a grid; else null.
  const ByteRows* byte_rows() const { return bytes_ ? &*bytes_ : nullptr; }
  /// Returns a fine row, [fine_columns].
  const float* fine(std::int64_t place) const { return fine_.data() + place * fine_columns; }
  /// Returns the coarse rows, at the same places, and a copy of every picked_sample_stride-th.
  const ResidentRows& coarse() const { return *coarse_; }
  const ResidentRows& sample() const { return *sample_; }
  std::size_t bytes() const;

  const std::shared_ptr<ProjectedReaches>& reaches() const { return reaches_; }

 private:
  const std::shared_ptr<ProjectedReaches> reaches_;
  const Floats rows_;
  const std::optional<Projection> projection_;
  std::vector<float> fine_;
  std::optional<ByteRows> bytes_;
  std::shared_ptr<const ResidentRows> coarse_, sample_;
};

/// Returns how many rows of so many columns the directions are found from.
std::int64_t most_rows_of_directions(std::int64_t dims);

/// Returns none, with the schema of the coarse rows of an Index.
ResidentRows no_coarse_rows(const ResidentRows& index);

/// Returns how many directions the rows of an Index fill, from a sample that the first call reads.
double filled_directions(const ResidentRows& index, std::uint32_t threads);

/// Returns what was made of the rows of an Index; the first search that needs it makes it. Returns null if
/// there is no room for it; later searches then do not try again. Any thread may call this.
///   trace  gets the time of making it, if it was not there; may be null
std::shared_ptr<const ProjectedRows> projected_rows_with_room(const ResidentRows& index,
                                                              std::uint32_t threads, Trace* trace = nullptr);

/// Returns it if it was made, else null.
std::shared_ptr<const ProjectedRows> made_projected_rows(const ResidentRows& index);

/// Returns what searches of an Index taught; null: nothing.
std::shared_ptr<const ProjectedReaches> known_reaches(const ResidentRows& index);

/// Lets go of rows that no search is known to gain from, if one for k neighbours loses, but not of what
/// searches taught.
void release_useless(const ResidentRows& index, std::int64_t k);

}  // namespace kith
