#include "kith/model.hpp"

#include "base/border.hpp"
#include "kith/error.hpp"
#include "model/model_check.hpp"
#include "model/model_metric.hpp"

namespace kith {
namespace {

/// Refuses a model whose parts do not fit together, or that lacks what the caller asks for.
///   there   whether it has it
///   wanted  name of what the caller asks for
///   other   what it has instead
void check_holds(const Model& model, bool there, const std::string& wanted, const std::string& other) {
  check_model(model);
  if (!there)
    throw Error(Errc::invalid_argument, "model: it holds " + other + ", not " + wanted + "; ask for its " +
                                            (wanted == "labels" ? "regressor" : "classifier"));
}

}  // namespace

Classifier Model::classifier(Device device) const try {
  check_holds(*this, !labels.empty(), "labels", "values");
  return Classifier(std::move(device), rows_of(*this),
                    MatrixView<const std::int64_t>(labels.data(), n, outputs), metric,
                    index_options_of(*this), sample_weights);
} catch (...) {
  rethrow_as_error();
}

Regressor Model::regressor(Device device) const try {
  check_holds(*this, !values.empty(), "values", "labels");
  return Regressor(std::move(device), rows_of(*this), MatrixView<const double>(values.data(), n, outputs),
                   metric, index_options_of(*this), sample_weights);
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
