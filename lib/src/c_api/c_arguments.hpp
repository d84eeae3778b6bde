// Converts arguments from C to those of the C++ interface.
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

/// Returns the choice called `text`; `fallback` for NULL.
template <class Choice>
Choice choice_of(const char* text, Choice fallback) {
  return text ? parse<Choice>(text) : fallback;
}

/// Returns a flag. Throws invalid_argument: it is neither 0 nor 1.
bool is_set(const char* where, const char* what, std::int32_t wish);

/// Converts rows without checking them. Throws unsupported: an element or place that the library does not
/// know. Throws invalid_argument: NULL.
RowsView rows_of(const char* where, const char* what, const kith_rows* rows);
/// Converts memory for answers in the same way.
DeviceNeighbors answers_of(const char* where, const kith_device_answers* answers);
/// Converts rows to float32, for functions that take no other element. Throws as land() does;
/// invalid_argument: bits.
LandedRows numbers_of(const char* where, const char* what, const kith_rows* rows);

/// Returns the ids of rows that are added; empty for NULL.
inline std::span<const std::int64_t> ids_of(const char* where, const std::int64_t* ids, std::int64_t rows) {
  if (!ids) return {};
  return array_of(where, "ids", ids, rows);
}

/// Returns the sample weights of rows; empty for NULL.
inline std::vector<float> weights_of(const char* where, const float* weights, std::int64_t rows) {
  return copy_of(where, "sample_weights", weights, weights ? rows : 0);
}

IndexOptions index_options_of(const char* where, const kith_index_options& from);

OpenOptions open_options_of(const char* where, const kith_open_options* given);

/// The arithmetic of an index for arrays of a caller: of float or uint32_t, or of double or uint64_t.
template <class Value>
inline constexpr Arithmetic arithmetic_of_array = sizeof(Value) == 8 ? Arithmetic::f64 : Arithmetic::f32;

/// Returns the vector of Neighbors that holds distances of this width.
template <class Distance>
const auto& distances_of(const Neighbors& found) {
  if constexpr (arithmetic_of_array<Distance> == Arithmetic::f64)
    return found.distance64;
  else
    return found.distance;
}

/// Throws invalid_argument: the arithmetic of an index is not that of the arrays of a function.
///   instead  the function for that arithmetic
void check_width(const char* where, Arithmetic of_index, Arithmetic of_arrays, const char* instead);

VotingOptions voting_of(const char* where, const kith_vote_options* given);

PreparationOptions preparation_options_of(const char* where, const kith_preparation_options* given);

/// Returns a C++ callback for `progress`, which throws an error that ends the call with KITH_INTERRUPTED if
/// `progress` says so; empty for NULL.
std::function<void(double)> progress_of(kith_progress progress, void* user);

/// Holds the options of a search of an index, and its trace.
class Asked {
 public:
  ///   n, m  training rows and queries
  Asked(const char* where, const kith_search_options* given, std::int64_t n, std::int64_t m);

  const SearchOptions& options() const { return options_; }
  Trace* trace() const { return trace_ ? &trace_->trace : nullptr; }
  /// Writes the texts of the trace, after the search.
  void tell() const;

 private:
  SearchOptions options_;
  kith_trace* trace_ = nullptr;
};

}  // namespace kith::c_api
