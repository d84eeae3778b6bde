// Helps tests of model files: makes models, and splits a file into sections that a test can change.
#pragma once

#include "common/data_files.hpp"
#include "kith/model.hpp"

namespace kith::tests::models {

using data_files::bytes;
using data_files::Folder;
using std::string;

/// Makes a small classifier in which every part differs from its default.
inline Model small_classifier() {
  const std::vector<float> given{0, 1, 5, /**/ 2, 0.5f, 7, /**/ 0, -3, 5, /**/ 1, 4, 7};
  Model model;
  model.metric = Metric::l1;
  model.k = 3;
  model.voting.weights = Weights::rank;
  model.voting.tie = TieRule::nearest;
  model.voting.rank_weights = {1, 0.5f, 0.25f};
  model.voting.priors = {0.25, 0.75};
  model.voting.costs = {0, 1, 2, 0};
  model.voting.no_label = -7;
  const MatrixView<const float> train(given.data(), 4, 3);
  model.preparation =
      Preparation(train, {{Scaling::standardize, Scaling::l2_rows}, {0, 2}, Categories::one_hot});
  model.features = {5, 0, 3, 2};
  model.columns = {"colour", "size, in \"cm\"", ""};
  model.category_texts = {{"red", "green", "blue"}, {}, {"a", "", "c"}};
  model.n = 4;
  model.dims = 6;
  model.rows = model.preparation.apply(train);
  model.labels = {1, 0, 0, 1};
  model.label_texts = {"no", "yes"};
  model.sample_weights = {1, 2, 0, 0.5f};
  return model;
}

inline Model small_regressor() {
  Model model;
  model.metric = Metric::linf;
  model.n = 3;
  model.dims = 2;
  model.outputs = 2;
  model.rows = {1, 2, /**/ 3, -4, /**/ 1e-45f, 5};
  model.values = {0.1, -0.0, /**/ 1e300, 5e-324, /**/ -2, 7};
  return model;
}

/// Makes a model whose metric takes something.
inline Model weighted_regressor() {
  Model model = small_regressor();
  model.metric = Metric::l2;
  model.metric_options.column_weights = {0.5, 3};
  return model;
}

/// Returns the name and content of each section of a file.
using Sections = std::vector<std::pair<string, string>>;

inline string words(std::initializer_list<std::int64_t> values) {
  return bytes<std::int64_t>(values);
}

inline string text(const string& value) {
  return words({static_cast<std::int64_t>(value.size())}) + value;
}

/// Appends a 64-bit FNV-1a checksum, implemented independently of the library.
inline string with_checksum(const string& summed) {
  std::uint64_t sum = 14695981039346656037u;
  for (const char c : summed) {
    sum ^= static_cast<unsigned char>(c);
    sum *= 1099511628211u;
  }
  return summed + bytes<std::uint64_t>({sum});
}

inline string assembled(const Sections& sections, std::int64_t version = 1) {
  string content;
  for (const auto& [name, inside] : sections) content += (name + string(8, '\0')).substr(0, 8) + text(inside);
  return with_checksum("\x93kithmdl" + words({version, static_cast<std::int64_t>(content.size()) + 32}) +
                       content);
}

inline std::int64_t word_at(const string& file, std::size_t at) {
  std::int64_t word = 0;
  for (std::size_t i = 8; i-- > 0;) word = word << 8 | static_cast<unsigned char>(file.at(at + i));
  return word;
}

inline Sections sections_of(const string& file) {
  Sections sections;
  for (std::size_t at = 24; at + 8 < file.size();) {
    const auto size = static_cast<std::size_t>(word_at(file, at + 8));
    sections.emplace_back(file.substr(at, 8).c_str(), file.substr(at + 16, size));
    at += 16 + size;
  }
  return sections;
}

inline string& content_of(Sections& sections, const string& name) {
  for (auto& [candidate, content] : sections)
    if (candidate == name) return content;
  FAIL("there is no section " << name);
  return sections[0].second;
}

/// Returns the offset in the file at which the content of a section begins.
inline std::size_t start_of(const Sections& sections, const string& name) {
  std::size_t at = 24;
  for (const auto& [candidate, content] : sections) {
    if (candidate == name) return at + 16;
    at += 16 + content.size();
  }
  FAIL("there is no section " << name);
  return at;
}

}  // namespace kith::tests::models
