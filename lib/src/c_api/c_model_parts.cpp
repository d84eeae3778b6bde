// Points kith_model_parts to all that a model holds.
#include <algorithm>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "c_api/c_handles.hpp"
#include "c_api/c_structs.hpp"
#include "kith/error.hpp"
#include "model/model_metric.hpp"

namespace {

using namespace kith;
using namespace kith::c_api;

void append_pointers(const std::vector<std::string>& texts, std::vector<const char*>& to) {
  for (const std::string& text : texts) to.push_back(text.c_str());
}

/// Throws unsupported: a text contains NUL, where it would end for C.
void check_texts(const std::vector<std::string>& texts) {
  for (const std::string& text : texts)
    if (text.find('\0') != std::string::npos)
      throw Error(Errc::unsupported,
                  "kith_model_describe: the text \"" + escaped(text) +
                      "\" has a zero byte in it, which no text of C can have; read the model by "
                      "C++, or rename the label, category or column");
}

/// Returns the address of a list; NULL if it is empty.
template <class T>
const T* address_of(const std::vector<T>& list) {
  return list.empty() ? nullptr : list.data();
}

template <class T>
int64_t count_of(const std::vector<T>& list) {
  return static_cast<int64_t>(list.size());
}

void give_metric_options(const IndexOptions& from, kith_index_options& to) {
  to.column_weights = address_of(from.column_weights);
  to.column_weights_count = count_of(from.column_weights);
  to.variances = address_of(from.variances);
  to.variances_count = count_of(from.variances);
  to.covariance = address_of(from.covariance);
  to.covariance_count = count_of(from.covariance);
  to.inverse_covariance = address_of(from.inverse_covariance);
  to.inverse_covariance_count = count_of(from.inverse_covariance);
  to.ranges = address_of(from.ranges);
  to.ranges_count = count_of(from.ranges);
  to.p = from.p;
  to.categorical = address_of(from.categorical);
  to.categorical_count = count_of(from.categorical);
  to.degrees = from.degrees ? 1 : 0;
}

}  // namespace

kith_model::kith_model(Model of)
    : model(std::move(of)),
      rows(KITH_INIT(kith_rows)),
      vote(KITH_INIT(kith_vote_options)),
      metric_options(KITH_INIT(kith_index_options)),
      preparation{model.preparation} {
  if (model.arithmetic == Arithmetic::f64)
    rows.data = model.rows64.data(), rows.element = KITH_F64;
  else
    rows.data = model.rows.data();
  rows.rows = model.n;
  rows.cols = model.dims;
  const VotingOptions& voting = model.voting;
  vote.weights = name(voting.weights).data();
  vote.tie = name(voting.tie).data();
  vote.rank_weights = address_of(voting.rank_weights);
  vote.rank_weights_count = count_of(voting.rank_weights);
  vote.priors = address_of(voting.priors);
  vote.priors_count = count_of(voting.priors);
  vote.costs = address_of(voting.costs);
  vote.costs_count = count_of(voting.costs);
  vote.has_no_label = 1;
  vote.no_label = voting.no_label;
  give_metric_options(model.metric_options, metric_options);
  append_pointers(model.columns, columns);
  append_pointers(model.label_texts, label_texts);
  append_pointers(model.answer_names, answer_names);
  append_pointers(model.unread_names, unread_names);
  for (const std::vector<std::string>& column : model.category_texts) {
    append_pointers(column, category_texts);
    category_counts.push_back(count_of(column));
  }
}

kith_model_parts kith_model::described() const {
  for (const auto* texts : {&model.columns, &model.label_texts, &model.answer_names, &model.unread_names})
    check_texts(*texts);
  for (const std::vector<std::string>& column : model.category_texts) check_texts(column);
  auto to = KITH_INIT(kith_model_parts);
  to.metric = name(model.metric).data();
  to.k = model.k;
  to.vote = &vote;
  if (!model.preparation.changes_nothing()) to.preparation = &preparation;
  to.rows = &rows;
  to.features = address_of(model.features);
  to.features_count = count_of(model.features);
  to.outputs = model.outputs;
  to.labels = address_of(model.labels);
  to.values = address_of(model.values);
  to.sample_weights = address_of(model.sample_weights);
  to.columns = address_of(columns);
  to.column_count = count_of(columns);
  to.label_texts = address_of(label_texts);
  to.label_text_count = count_of(label_texts);
  to.answer_names = address_of(answer_names);
  to.row_numbers = address_of(model.row_numbers);
  to.category_texts = address_of(category_texts);
  to.category_counts = address_of(category_counts);
  to.category_column_count = count_of(category_counts);
  if (model.first_index >= 0)
    to.has_first_index = 1, to.first_index = static_cast<int32_t>(model.first_index);
  to.unread = address_of(model.unread);
  to.unread_names = address_of(unread_names);
  to.unread_count = count_of(model.unread);
  if (!parameters_of(model).empty()) to.metric_options = &metric_options;
  return to;
}
