// Whether the parts of a Model fit together.
#pragma once

#include <span>
#include <string_view>

#include "kith/model.hpp"

namespace kith {

/// One section of a model file, and what must hold for it.
struct ModelSection {
  std::string_view name;
  void (*check)(const Model& model);  ///< throws Error: "model: ..." or "preparation: ..."
};

/// Every section; each check relies on those before it.
std::span<const ModelSection> model_checks();

/// Throws invalid_argument: the first thing that is wrong.
void check_model(const Model& model);

}  // namespace kith
