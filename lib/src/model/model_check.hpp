// Checks whether the parts of a Model fit together.
#pragma once

#include <span>
#include <string_view>

#include "kith/model.hpp"

namespace kith {

/// Holds the name of a section of a model file, and its check.
struct ModelSection {
  std::string_view name;
  void (*check)(const Model& model);  ///< throws Error: "model: ..." or "preparation: ..."
};

/// Returns every section in order; each check relies on those before it.
std::span<const ModelSection> model_checks();

/// Throws invalid_argument, which names the first error.
void check_model(const Model& model);

}  // namespace kith
