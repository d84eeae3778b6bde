// The parts that the JSON of search, classify and regress share: the settings, and a line for each query.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "command/input/query_flags.hpp"
#include "command/shared/json.hpp"
#include "kith/trace.hpp"
#include "report/document.hpp"

namespace kith::command {

/// Adds `train`, `rows`, `dims`, `queries`, `metric`, `arithmetic`, `device`.
///   asked  says which queries there are
void add_rows_asked(report::Document& document, const Training& training, std::int64_t queries, Metric metric,
                    const DeviceInfo& device, const std::string& asked = "");
/// Adds these, `k` and `radius`: k or radius is null.
void add_asked(report::Document& document, const Training& training, const files::Table& queries,
               Metric metric, const DeviceInfo& device, const QueryFlags& query_flags);

/// Returns radii as numbers; each has been parsed already.
nlohmann::ordered_json radii_json(const std::vector<std::string>& radii, Arithmetic arithmetic);

/// Adds `members` for a set of devices only: the work of each member.
void add_members(report::Document& document, const Trace& trace);

/// Lists the neighbours of a query, nearest first: `[{"row": 3, "distance": 0.5}]`. A distance is the
/// shortest number that gives the same bits back; null if it is NaN or infinite.
///   more  adds other facts about a training row
nlohmann::ordered_json neighbors_json(
    const RadiusNeighbors& found, std::int64_t q,
    const std::function<void(std::size_t row, nlohmann::ordered_json& neighbor)>& more = {});

/// Prints one JSON document: `document`, and in it `results`, an array with a line for each query.
void print_results(const report::Document& document, std::int64_t queries,
                   const std::function<nlohmann::ordered_json(std::int64_t q)>& result);

}  // namespace kith::command
