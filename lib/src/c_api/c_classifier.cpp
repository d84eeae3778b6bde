// Implements classifiers for C.
#include <memory>
#include <string>

#include "c_api/c_arguments.hpp"
#include "c_api/c_structs.hpp"
#include "vote/votes.hpp"

namespace {

using namespace kith;
using namespace kith::c_api;

/// Holds the arguments of a classification from C.
struct Question {
  Question(const char* where, const kith_classifier* of, const kith_rows* rows, const kith_vote_options* vote,
           const kith_search_options* options)
      : classifier(given(where, "classifier", of).classifier),
        queries(rows_of(where, "query", rows)),
        voting(voting_of(where, vote)),
        how(where, options, classifier.index().positions(), queries.rows) {}

  std::size_t classes(std::int64_t output) const { return classifier.classes(output).size(); }
  /// Returns the shares that Classifier::predict_proba() would return, from counted votes.
  template <class Counted>
  std::vector<double> shares_of(const Counted& from, std::int64_t output) const {
    std::vector<double> scores = from.scores64;
    if (scores.empty()) scores.assign(from.scores.begin(), from.scores.end());
    return shares(voting, from.votes, scores, classes(output), how.options().threads);
  }
  bool in_doubles() const { return classifier.index().arithmetic() == Arithmetic::f64; }
  /// Classifies for the first output, or for all.
  std::vector<Classification> answers(std::int64_t outputs) const {
    std::vector<Classification> all;
    if (outputs == 1)
      all.push_back(classifier.classify(queries, k, voting, how.options(), how.trace()));
    else
      all = classifier.classify_outputs(queries, k, voting, how.options(), how.trace());
    how.tell();
    return all;
  }

  const Classifier& classifier;
  RowsView queries;
  VotingOptions voting;
  Asked how;
  std::int64_t k = 0;
};

/// Returns the caller's arrays. Throws invalid_argument: some are of the other width.
kith_classification arrays_of(const char* where, const kith_classification* answer,
                              const Question& question) {
  check_given(where, "one of answers", answer);
  const kith_classification to = read_struct(where, answer);
  const bool doubles = question.in_doubles();
  if (doubles ? to.scores || to.distance : to.scores64 || to.distance64)
    refuse(where, std::string("the rows are in ") + (doubles ? "double" : "single") +
                      " precision; give kith_classification." +
                      (doubles ? "scores64 and distance64" : "scores and distance"));
  return to;
}

/// Copies scores to an array; the votes if every vote weighs 1.
template <class To, class Scores, class Votes>
void give_scores(To* to, const Scores& scores, const Votes& votes) {
  if (scores.empty())
    give(to, votes);
  else
    give(to, scores);
}

/// Copies labels, votes, scores and shares to the arrays that are not NULL.
template <class Counted>
void give_counts(const kith_classification& to, const Counted& from, const Question& question,
                 std::int64_t output) {
  give(to.label, from.label);
  give(to.votes, from.votes);
  give_scores(to.scores, from.scores, from.votes);
  give_scores(to.scores64, from.scores64, from.votes);
  if (to.share) give(to.share, question.shares_of(from, output));
}

void give_answer(const kith_classification& to, const Classification& from, const Question& question,
                 std::int64_t output) {
  give_counts(to, from, question, output);
  give(to.distance, from.neighbors.distance);
  give(to.distance64, from.neighbors.distance64);
  give(to.row, from.neighbors.row);
}

}  // namespace

kith_status kith_classifier_new(const kith_device* device, const kith_rows* train, const int64_t* labels,
                                int64_t outputs, const float* sample_weights,
                                const kith_index_options* options, kith_classifier** out) {
  return make_handle(__func__, out, [&](const char* where) {
    const Device& on = given(where, "device", device).device;
    const RowsView rows = rows_of(where, "training", train);
    const kith_index_options asked = read_struct(where, options);
    return std::make_unique<kith_classifier>(
        kith_classifier{Classifier(on, rows, MatrixView<const int64_t>(labels, rows.rows, outputs),
                                   choice_of(asked.metric, default_metric), index_options_of(where, asked),
                                   weights_of(where, sample_weights, rows.rows))});
  });
}

kith_status kith_classifier_of_index(const kith_index* index, const int64_t* labels, int64_t outputs,
                                     const float* sample_weights, kith_classifier** out) {
  return make_handle(__func__, out, [&](const char* where) {
    const Index& of = given(where, "index", index).index;
    check_array(where, "labels", labels, of.rows());
    return std::make_unique<kith_classifier>(
        kith_classifier{Classifier(of, MatrixView<const int64_t>(labels, of.rows(), outputs),
                                   weights_of(where, sample_weights, of.rows()))});
  });
}

kith_status kith_classifier_with(const kith_classifier* classifier, const kith_rows* more,
                                 const int64_t* labels, const float* sample_weights, const int64_t* ids,
                                 kith_classifier** out) {
  return make_handle(__func__, out, [&](const char* where) {
    const Classifier& before = given(where, "classifier", classifier).classifier;
    const RowsView rows = rows_of(where, "added", more);
    const std::vector<float> weights = weights_of(where, sample_weights, rows.rows);
    const MatrixView<const int64_t> answers(labels, rows.rows, before.outputs());
    return std::make_unique<kith_classifier>(
        kith_classifier{before.with(rows, answers, weights, ids_of(where, ids, rows.rows))});
  });
}

kith_status kith_classifier_without(const kith_classifier* classifier, const int64_t* rows, int64_t count,
                                    kith_classifier** out) {
  return make_handle(__func__, out, [&](const char* where) {
    const Classifier& before = given(where, "classifier", classifier).classifier;
    return std::make_unique<kith_classifier>(
        kith_classifier{before.without(array_of(where, "rows", rows, count))});
  });
}

kith_status kith_classifier_compact(const kith_classifier* classifier, kith_classifier** out) {
  return make_handle(__func__, out, [&](const char* where) {
    return std::make_unique<kith_classifier>(
        kith_classifier{given(where, "classifier", classifier).classifier.compact()});
  });
}

void kith_classifier_free(kith_classifier* classifier) {
  delete classifier;
}

kith_status kith_classifier_describe(const kith_classifier* classifier, kith_classifier_info* info) {
  return guarded(__func__, [&](const char* where) {
    const Classifier& from = given(where, "classifier", classifier).classifier;
    auto to = KITH_INIT(kith_classifier_info);
    to.outputs = from.outputs();
    if (!from.sample_weights().empty()) to.sample_weights = from.sample_weights().data();
    write_struct(where, info, to);
  });
}

kith_status kith_classifier_classes(const kith_classifier* classifier, int64_t output,
                                    const int64_t** classes, int64_t* class_count, const uint32_t** codes) {
  return guarded(__func__, [&](const char* where) {
    const Classifier& from = given(where, "classifier", classifier).classifier;
    const std::vector<int64_t>& labels = from.classes(output);
    if (classes) *classes = labels.data();
    if (class_count) *class_count = static_cast<int64_t>(labels.size());
    if (codes) *codes = from.codes(output).data();
  });
}

kith_status kith_classifier_index(const kith_classifier* classifier, kith_index** out) {
  return make_handle(__func__, out, [&](const char* where) {
    return std::make_unique<kith_index>(
        kith_index{given(where, "classifier", classifier).classifier.index()});
  });
}

kith_status kith_classifier_predict(const kith_classifier* classifier, const kith_rows* queries, int64_t k,
                                    const kith_vote_options* vote, const kith_search_options* options,
                                    int64_t* label) {
  return guarded(__func__, [&](const char* where) {
    Question question(where, classifier, queries, vote, options);
    check_array(where, "label", label, question.queries.rows);
    question.k = k;
    if (!question.how.trace()) {  // then votes need not be kept
      give(label, question.classifier.predict(question.queries, k, question.voting, question.how.options()));
      return;
    }
    const std::vector<Classification> all = question.answers(question.classifier.outputs());
    for (std::size_t q = 0; q < all[0].label.size(); ++q)
      for (const Classification& one : all) *label++ = one.label[q];
  });
}

kith_status kith_classifier_predict_proba(const kith_classifier* classifier, const kith_rows* queries,
                                          int64_t k, const kith_vote_options* vote,
                                          const kith_search_options* options, int64_t output, double* share) {
  return guarded(__func__, [&](const char* where) {
    Question question(where, classifier, queries, vote, options);
    check_array(where, "share", share, question.queries.rows);
    question.k = k;
    check_number(where, "output", output, static_cast<std::size_t>(question.classifier.outputs()));
    if (!question.how.trace()) {
      give(share, question.classifier.predict_proba(question.queries, k, question.voting,
                                                    question.how.options(), output));
      return;
    }
    const Classification one =
        std::move(question.answers(question.classifier.outputs())[static_cast<std::size_t>(output)]);
    give(share, question.shares_of(one, output));
  });
}

kith_status kith_classifier_classify(const kith_classifier* classifier, const kith_rows* queries, int64_t k,
                                     const kith_vote_options* vote, const kith_search_options* options,
                                     int64_t outputs, kith_classification* const* answers) {
  return guarded(__func__, [&](const char* where) {
    Question question(where, classifier, queries, vote, options);
    question.k = k;
    const std::int64_t all = question.classifier.outputs();
    if (outputs != 1 && outputs != all)
      refuse(where, "outputs = " + std::to_string(outputs) + "; give 1, for the first, or " +
                        std::to_string(all) + ", for all");
    std::vector<kith_classification> to;
    for (const kith_classification* answer : array_of(where, "answers", answers, outputs))
      to.push_back(arrays_of(where, answer, question));
    const std::vector<Classification> found = question.answers(outputs);
    for (std::size_t output = 0; output < found.size(); ++output)
      give_answer(to[output], found[output], question, static_cast<std::int64_t>(output));
  });
}

namespace {

///   instead  the function for radii of the other width
template <class Radius>
kith_status classify_within(const char* function, const char* instead, const kith_classifier* classifier,
                            const kith_rows* queries, const Radius* radii, std::int64_t radius_count,
                            const kith_vote_options* vote, const kith_search_options* options,
                            kith_classification* answer, kith_within** neighbors) {
  if (neighbors) *neighbors = nullptr;
  return guarded(function, [&](const char* where) {
    const Question question(where, classifier, queries, vote, options);
    check_given(where, "answer", answer);
    const std::span<const Radius> most = array_of(where, "radii", radii, radius_count);
    check_width(where, question.classifier.index().arithmetic(), arithmetic_of_array<Radius>, instead);
    const kith_classification to = arrays_of(where, answer, question);
    auto within = std::make_unique<kith_within>();
    RadiusClassification found = question.classifier.classify_within(
        question.queries, most, question.voting, question.how.options(), question.how.trace());
    question.how.tell();
    give_counts(to, found, question, 0);
    if (!neighbors) return;
    within->found = std::move(found.neighbors);
    *neighbors = within.release();
  });
}

template <class Distance>
kith_status sweep(const char* function, const char* instead, const kith_classifier* classifier,
                  const kith_rows* queries, const std::int64_t* ks, std::int64_t k_count,
                  const kith_vote_options* vote, const kith_search_options* options, std::int64_t* label,
                  Distance* distance, std::int64_t* row) {
  return guarded(function, [&](const char* where) {
    const Question question(where, classifier, queries, vote, options);
    check_array(where, "label", label, question.queries.rows);
    if (distance)
      check_width(where, question.classifier.index().arithmetic(), arithmetic_of_array<Distance>, instead);
    const Sweep found =
        question.classifier.sweep(question.queries, array_of(where, "ks", ks, k_count), question.voting,
                                  question.how.options(), question.how.trace());
    question.how.tell();
    for (const std::vector<std::int64_t>& labels : found.label) {
      give(label, labels);
      label += labels.size();
    }
    give(distance, distances_of<Distance>(found.neighbors));
    give(row, found.neighbors.row);
  });
}

}  // namespace

kith_status kith_classifier_classify_within(const kith_classifier* classifier, const kith_rows* queries,
                                            const float* radii, int64_t radius_count,
                                            const kith_vote_options* vote, const kith_search_options* options,
                                            kith_classification* answer, kith_within** neighbors) {
  return classify_within(__func__, "kith_classifier_classify_within_f64", classifier, queries, radii,
                         radius_count, vote, options, answer, neighbors);
}

kith_status kith_classifier_classify_within_f64(const kith_classifier* classifier, const kith_rows* queries,
                                                const double* radii, int64_t radius_count,
                                                const kith_vote_options* vote,
                                                const kith_search_options* options,
                                                kith_classification* answer, kith_within** neighbors) {
  return classify_within(__func__, "kith_classifier_classify_within", classifier, queries, radii,
                         radius_count, vote, options, answer, neighbors);
}

kith_status kith_classifier_sweep(const kith_classifier* classifier, const kith_rows* queries,
                                  const int64_t* ks, int64_t k_count, const kith_vote_options* vote,
                                  const kith_search_options* options, int64_t* label, float* distance,
                                  int64_t* row) {
  return sweep(__func__, "kith_classifier_sweep_f64", classifier, queries, ks, k_count, vote, options, label,
               distance, row);
}

kith_status kith_classifier_sweep_f64(const kith_classifier* classifier, const kith_rows* queries,
                                      const int64_t* ks, int64_t k_count, const kith_vote_options* vote,
                                      const kith_search_options* options, int64_t* label, double* distance,
                                      int64_t* row) {
  return sweep(__func__, "kith_classifier_sweep", classifier, queries, ks, k_count, vote, options, label,
               distance, row);
}
