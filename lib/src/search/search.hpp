// A search from the caller's queries to finished neighbours: what Index and Classifier share.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "kith/keys.hpp"
#include "kith/neighbors.hpp"
#include "search/checked_queries.hpp"
#include "search/pipeline.hpp"

namespace kith {

class BorrowedAnswers;

/// Where neighbours are written, [m, k] each.
struct FoundPlaces {
  float* distance = nullptr;
  std::int64_t* index = nullptr;
  std::uint32_t* value = nullptr;  ///< instead of `distance`; `index` then counts from Index::first_row()
  const BorrowedAnswers* on_device = nullptr;  ///< instead of all others
};

/// Called once all is checked, before the first neighbour is written; again where a search begins anew.
using MakeRoom = std::function<FoundPlaces()>;

/// Check and prepare `queries`, search, and write distances and rows. Rows are given by their places, keys
/// by their numbers.
///   options  by place (MappedOptions)
///   also  called for each query tile when it is in its place and while its keys are on the device, without a
///         lock; may be empty. With `self` or a filter keys of rows that do not count are still among these.
///         Not called of an Index in parts, whose keys are on no single device
void search_to(const Index::State& index, const RowsView& queries, std::int64_t k, const PlanOptions& options,
               Trace* trace, const MakeRoom& make_room, const Take& also);

/// The same of queries that are checked and prepared.
void search_checked(const Index::State& index, const CheckedQueries& queries, std::int64_t k,
                    const PlanOptions& options, Trace* trace, const MakeRoom& make_room);

/// The same for a caller: options by position, rows by number.
void search_numbers(const Index::State& index, const RowsView& queries, std::int64_t k,
                    const PlanOptions& options, Trace* trace, const MakeRoom& make_room);

/// The same as Index::search_into() in memory of the device.
void search_on_device(const Index::State& index, const RowsView& queries, std::int64_t k,
                      const DeviceNeighbors& found, const PlanOptions& options, Trace* trace);

/// search_to() into `found`, which gets the room it lacks.
void search_with(const Index::State& index, const RowsView& queries, std::int64_t k,
                 const PlanOptions& options, Trace* trace, Neighbors& found, const Take& also);

/// All rows within radii, in the same way: options and rows by place.
RadiusNeighbors search_within(const Index::State& index, const RowsView& queries,
                              std::span<const float> radii, const PlanOptions& options, Trace* trace);

/// The same as Index::within_keys(), options by place.
RadiusKeys search_within_keys(const Index::State& index, const RowsView& queries,
                              std::span<const float> radii, const PlanOptions& options, Trace* trace);
/// The same of queries that are checked and prepared.
RadiusKeys search_within_keys(const Index::State& index, const CheckedQueries& queries,
                              std::span<const float> radii, const PlanOptions& options, Trace* trace);

/// The same as Index::search_keys().
Keys search_for_keys(const Index::State& index, const RowsView& queries, std::int64_t k,
                     const PlanOptions& options, Trace* trace);
/// The same of queries that are checked and prepared. Rows that are not among the k nearest of these and of
/// those that were found before may be missing.
///   room  keys whose memory is used
Keys search_for_keys(const Index::State& index, const CheckedQueries& queries, std::int64_t k,
                     const PlanOptions& options, Trace* trace, Keys room = {});

/// Throws unsupported: PlanOptions::checkpoint where rows do not pass through the device.
void check_checkpoint(std::string_view where, const Index::State& index, const PlanOptions& options);

/// Throws unsupported: PlanOptions::self where keys are asked for.
void check_no_self(std::string_view where, const PlanOptions& options);

}  // namespace kith
