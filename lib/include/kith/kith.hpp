// kith: exact k-nearest-neighbour search and classification. Every device returns the same bits.
//
//   #include <kith/kith.hpp>
//
//   kith::Device device = kith::open_device();                         // the best one here
//   kith::Index index(device, {train.data(), n, dims});                // copies the rows
//   kith::Neighbors found = index.search({queries.data(), m, dims}, k);
//   found.row[q * k];                                                // nearest row of query q
//   found.distance[q * k];                                             // and how far it is
//
//   kith::Classifier classifier(device, {train.data(), n, dims}, labels);
//   std::vector<std::int64_t> label = classifier.predict({queries.data(), m, dims}, k);
//   label = classifier.predict({queries.data(), m, dims}, k, {.weights = kith::Weights::distance});
//
//   kith::Regressor regressor(device, {train.data(), n, dims}, values);
//   std::vector<double> value = regressor.predict({queries.data(), m, dims}, k);
//
// Rows are row-major floats, or other elements (rows_view.hpp). Metrics are in metric.hpp, devices and their
// names in device.hpp, what calls may be told in options.hpp, how neighbours vote in voting.hpp, single
// stages in unstable/stages.hpp. Everything that fails throws kith::Error (error.hpp). The contract is
// docs/contract.md.
#pragma once

#include "kith/centre.hpp"
#include "kith/choices.hpp"
#include "kith/classifier.hpp"
#include "kith/count_radii.hpp"
#include "kith/device.hpp"
#include "kith/device_neighbors.hpp"
#include "kith/error.hpp"
#include "kith/evaluation.hpp"
#include "kith/feature_selection.hpp"
#include "kith/filter.hpp"
#include "kith/index.hpp"
#include "kith/index_file.hpp"
#include "kith/key.hpp"
#include "kith/keys.hpp"
#include "kith/knn.hpp"
#include "kith/knn_graph.hpp"
#include "kith/labels.hpp"
#include "kith/matrix_view.hpp"
#include "kith/metric.hpp"
#include "kith/model.hpp"
#include "kith/neighbors.hpp"
#include "kith/options.hpp"
#include "kith/pairs.hpp"
#include "kith/parse.hpp"
#include "kith/placement.hpp"
#include "kith/preparation.hpp"
#include "kith/regressor.hpp"
#include "kith/rows_view.hpp"
#include "kith/save_options.hpp"
#include "kith/selector.hpp"
#include "kith/shard_votes.hpp"
#include "kith/source.hpp"
#include "kith/structure.hpp"
#include "kith/trace.hpp"
#include "kith/unfinished.hpp"
#include "kith/version.hpp"
#include "kith/voting.hpp"
