// Arguments from C as the C++ interface takes them.
#pragma once

#include <cstdint>

#include "c_api/c_border.hpp"
#include "c_api/c_handles.hpp"
#include "kith/device_neighbors.hpp"
#include "kith/index.hpp"
#include "kith/index_file.hpp"
#include "kith/matrix_view.hpp"
#include "kith/parse.hpp"
#include "kith/preparation.hpp"
#include "kith/rows_view.hpp"
#include "kith/trace.hpp"
#include "kith/unstable/plan.hpp"
#include "kith/voting.hpp"
#include "rows/landing.hpp"

namespace kith::c_api {

/// The choice called `text`; `fallback` for NULL.
template <class Choice>
Choice choice_of(const char* text, Choice fallback) {
  return text ? parse<Choice>(text) : fallback;
}

/// Not checked yet. Throws unsupported: an element or place that the library does not know.
/// Throws invalid_argument: NULL.
RowsView rows_of(const char* where, const char* what, const kith_rows* rows);
/// Likewise memory for answers.
DeviceNeighbors answers_of(const char* where, const kith_device_answers* answers);
/// Rows as float32, for what takes no other element. Throws as land() does; invalid_argument: bits.
LandedRows numbers_of(const char* where, const char* what, const kith_rows* rows);

/// The ids of rows that are added; empty for NULL.
inline std::span<const std::int64_t> ids_of(const char* where, const std::int64_t* ids, std::int64_t rows) {
  if (!ids) return {};
  return array_of(where, "ids", ids, rows);
}

/// Metric, features and weights, with defaults for NULL.
struct Training {
  Metric metric = default_metric;
  TrainOptions options;
};
Training training_of(const char* where, const kith_train_options* given);

IndexOptions index_options_of(const char* where, const kith_index_options& from);

OpenOptions open_options_of(const char* where, const kith_open_options* given);

/// Index::search() to arrays of the caller.
///   distance, row  [m, k]; null: not wanted
void search_to_arrays(const Index& in, const RowsView& asked, std::int64_t k, const SearchOptions& options,
                      Trace* trace, float* distance, int64_t* row);

VotingOptions voting_of(const char* where, const kith_vote_options* given);

PreparationOptions preparation_options_of(const char* where, const kith_preparation_options* given);

/// A call of C that ends with KITH_INTERRUPTED where `progress` says so; empty for NULL.
std::function<void(double)> progress_of(kith_progress progress, void* user);

/// What a search of an index is told, and the trace that hears of it.
class Asked {
 public:
  ///   n, m  training rows and queries
  Asked(const char* where, const kith_search_options* given, std::int64_t n, std::int64_t m);

  const SearchOptions& options() const { return options_; }
  Trace* trace() const { return trace_ ? &trace_->trace : nullptr; }
  /// After the search: the texts of its trace.
  void tell() const;

 private:
  SearchOptions options_;
  kith_trace* trace_ = nullptr;
};

}  // namespace kith::c_api
