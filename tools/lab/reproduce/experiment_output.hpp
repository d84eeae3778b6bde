// What `kith-lab reproduce` prints and writes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/experiments/experiment.hpp"
#include "lab/experiments/memory.hpp"

namespace kith::command {

/// For people: the question, the paper beside what was seen here, every series as a column, and all that
/// was assumed, refused and checked.
std::string experiment_text(const experiments::Result& result);

/// All of it; a number that could not be had is null. `exact` tells infinity from that, as "inf" or "-inf".
nlohmann::ordered_json experiment_json(const experiments::Result& result, bool exact = false);

/// Returns the result whose exact JSON this is, bit for bit. Throws what nlohmann throws: it is none.
experiments::Result experiment_of(const nlohmann::ordered_json& json);

/// The same of what was measured within an experiment.
nlohmann::ordered_json memory_json(const std::vector<experiments::Memory::Kept>& all);
std::vector<experiments::Memory::Kept> memory_of(const nlohmann::ordered_json& json);

/// Returns the points alone, a line each (RFC 4180); a number that could not be had is empty:
///   experiment,chart,x_title,y_title,series,device,x,y,joules
std::string experiments_csv(const std::vector<experiments::Result>& results);

}  // namespace kith::command
