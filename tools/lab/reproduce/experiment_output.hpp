// Makes what `kith-lab reproduce` prints and writes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/experiments/experiment.hpp"
#include "lab/experiments/memory.hpp"

namespace kith::command {

/// Returns the text for people: the question, the paper's figures beside ours, every series as a column, and
/// all that was assumed, refused and checked.
std::string experiment_text(const experiments::Result& result);

/// Returns the whole result; a number that is missing is null. `exact` writes infinity as "inf" or "-inf".
nlohmann::ordered_json experiment_json(const experiments::Result& result, bool exact = false);

/// Returns the result that exact JSON describes, bit for bit. Throws what nlohmann throws if it
/// describes none.
experiments::Result experiment_of(const nlohmann::ordered_json& json);

/// Convert the measurements within an experiment to JSON and back.
nlohmann::ordered_json memory_json(const std::vector<experiments::Memory::Kept>& all);
std::vector<experiments::Memory::Kept> memory_of(const nlohmann::ordered_json& json);

/// Returns the points alone, a line each (RFC 4180); a missing number is empty:
///   experiment,chart,x_title,y_title,series,device,x,y,joules
std::string experiments_csv(const std::vector<experiments::Result>& results);

}  // namespace kith::command
