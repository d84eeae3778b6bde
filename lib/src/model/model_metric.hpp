// What the metric of a model takes, by the names of IndexOptions.
#pragma once

#include <string>
#include <vector>

#include "kith/model.hpp"

namespace kith {

struct ModelParameter {
  std::string name;
  std::vector<double> values;  ///< none of `degrees`, which says all by being there
};

using ModelParameters = std::vector<ModelParameter>;

/// Returns the rows in the precision of the model.
RowsView rows_of(const Model& model);

/// Returns the options of an Index of the rows: the columns that count, and what the metric takes.
IndexOptions index_options_of(const Model& model);

/// Returns what the metric takes, in the order of files.
ModelParameters parameters_of(const Model& model);

/// Returns the options of an Index with these parameters, and nothing else. Throws invalid_argument: there is
/// none, or one that is unknown, or not in its place.
IndexOptions metric_options_of(const ModelParameters& parameters);

}  // namespace kith
