// Operations by kith.h that must survive faults.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/data.hpp"
#include "faults.hpp"

namespace kith::tests::faults {

/// Holds handles on a device opened by the C interface, and runs operations on them.
class CHandles {
 public:
  /// Keeps references to `train` and `queries`.
  CHandles(const std::string& spec, const Matrix& train, const std::vector<std::int64_t>& labels,
           const Matrix& queries);
  ~CHandles();

  /// Each throws the Error that a status stands for.
  bool right_search(const Neighbors& expected);
  bool right_new_index(const Neighbors& expected);
  bool right_knn(const Neighbors& expected);
  bool right_within(const RadiusNeighbors& expected, float radius);
  bool right_labels(const std::vector<std::int64_t>& expected);
  bool right_model();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kith::tests::faults
