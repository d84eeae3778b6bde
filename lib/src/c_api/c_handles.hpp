// Defines the opaque handles of kith.h.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "kith/classifier.hpp"
#include "kith/device.hpp"
#include "kith/evaluation.hpp"
#include "kith/index.hpp"
#include "kith/keys.hpp"
#include "kith/kith.h"
#include "kith/model.hpp"
#include "kith/neighbors.hpp"
#include "kith/preparation.hpp"
#include "kith/regressor.hpp"
#include "kith/trace.hpp"

/// Holds a DeviceInfo, with its lists as texts.
struct DescribedDevice {
  explicit DescribedDevice(const kith::DeviceInfo& of);
  kith_device_info described() const;

  kith::DeviceInfo info;
  std::string selectors, proposers;
};

struct kith_inventory {
  std::vector<kith::BackendInfo> backends;
  std::vector<DescribedDevice> devices;
  std::vector<std::string> warnings;
};

struct kith_device {
  explicit kith_device(kith::Device opened) : device(std::move(opened)), described(device.info()) {}
  kith::Device device;
  DescribedDevice described;
};

struct kith_stop {
  std::stop_source source;
};

struct kith_trace {
  kith::Trace trace;
  std::string plan;  ///< explain()
};

struct kith_index {
  kith::Index index;
};

struct kith_within {
  kith::RadiusNeighbors found;
};

struct kith_pairs {
  kith::PairSearch search;
  kith::Pairs found;
};

struct kith_radius_keys {
  kith::RadiusKeys keys;
};

struct kith_classifier {
  kith::Classifier classifier;
};

struct kith_regressor {
  kith::Regressor regressor;
};

struct kith_evaluation {
  kith::Evaluation evaluation;
  std::int64_t best_k;
};

struct kith_preparation {
  kith::Preparation preparation;
};

/// Holds a model, and the memory that kith_model_parts points to.
struct kith_model {
  explicit kith_model(kith::Model of);
  kith_model(const kith_model&) = delete;
  kith_model& operator=(const kith_model&) = delete;
  /// Throws unsupported: a text has a zero byte in it.
  kith_model_parts described() const;

  kith::Model model;
  kith_rows rows;
  kith_vote_options vote;
  kith_index_options metric_options;
  kith_preparation preparation;
  std::vector<const char*> columns, label_texts, answer_names, category_texts, unread_names;
  std::vector<std::int64_t> category_counts;
};
