#include "lab/experiments/ann.hpp"

#include "kith/error.hpp"

#ifdef KITH_WITH_ANN
#include <ANN/ANN.h>
#endif

namespace kith::experiments {

#ifdef KITH_WITH_ANN

bool ann_built_in() {
  return true;
}

struct AnnPeer::State {
  std::vector<double> values;
  std::vector<ANNpoint> rows;
  std::vector<double> query;
  std::vector<ANNidx> index;
  std::vector<ANNdist> distance;
  std::unique_ptr<ANNpointSet> set;  // reads rows
};

AnnPeer::AnnPeer(MatrixView<const float> train, Structure structure) : state_(std::make_unique<State>()) {
  const std::int64_t n = train.rows(), dims = train.cols();
  state_->values.reserve(static_cast<std::size_t>(n * dims));
  for (std::int64_t t = 0; t < n; ++t)
    state_->values.insert(state_->values.end(), train.row(t), train.row(t) + dims);
  for (std::int64_t t = 0; t < n; ++t) state_->rows.push_back(state_->values.data() + t * dims);
  state_->query.resize(static_cast<std::size_t>(dims));
  const int rows = static_cast<int>(n), cols = static_cast<int>(dims);
  if (structure == Structure::kd_tree) {
    state_->set = std::make_unique<ANNkd_tree>(state_->rows.data(), rows, cols);
  } else {
    state_->set = std::make_unique<ANNbruteForce>(state_->rows.data(), rows, cols);
  }
}

std::vector<std::int64_t> AnnPeer::search(const float* query, std::int64_t k) {
  state_->query.assign(query, query + state_->query.size());
  state_->index.resize(static_cast<std::size_t>(k));
  state_->distance.resize(static_cast<std::size_t>(k));
  state_->set->annkSearch(state_->query.data(), static_cast<int>(k), state_->index.data(),
                          state_->distance.data(), 0);
  return {state_->index.begin(), state_->index.end()};
}

#else

bool ann_built_in() {
  return false;
}

struct AnnPeer::State {};

AnnPeer::AnnPeer(MatrixView<const float>, Structure) {
  throw Error(Errc::unsupported, "experiment: ANN is not built in; install libann-dev and build again");
}

std::vector<std::int64_t> AnnPeer::search(const float*, std::int64_t) {
  return {};
}

#endif

AnnPeer::~AnnPeer() = default;

}  // namespace kith::experiments
