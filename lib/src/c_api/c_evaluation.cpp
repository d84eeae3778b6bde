// Implements evaluations for C.
#include <memory>

#include "c_api/c_arguments.hpp"
#include "c_api/c_structs.hpp"
#include "kith/evaluation.hpp"

namespace {

using namespace kith;
using namespace kith::c_api;

/// Holds rows whose true labels are known, and the arguments of their evaluation.
struct Examined {
  const Classifier& classifier;
  RowsView rows;
  const VotingOptions& voting;
  const SearchOptions& options;
  Trace* trace;
};

/// Makes a handle of what evaluate(examined, where) returns.
template <class Evaluate>
kith_status make_evaluation(const char* function, const kith_classifier* classifier, const kith_rows* rows,
                            const kith_vote_options* vote, const kith_search_options* options,
                            kith_evaluation** out, const Evaluate& evaluate) {
  return make_handle(function, out, [&](const char* where) {
    const Classifier& of = given(where, "classifier", classifier).classifier;
    const RowsView asked = rows_of(where, "query", rows);
    const VotingOptions voting = voting_of(where, vote);
    const Asked how(where, options, of.index().positions(), asked.rows);
    Evaluation found = evaluate(Examined{of, asked, voting, how.options(), how.trace()}, where);
    how.tell();
    const std::int64_t best = found.best_k();
    return std::make_unique<kith_evaluation>(kith_evaluation{std::move(found), best});
  });
}

}  // namespace

kith_status kith_evaluate(const kith_classifier* classifier, const kith_rows* queries, const int64_t* truth,
                          int64_t k_max, const kith_vote_options* vote, const kith_search_options* options,
                          kith_evaluation** out) {
  return make_evaluation(
      __func__, classifier, queries, vote, options, out, [&](const Examined& of, const char* where) {
        return evaluate(of.classifier, of.rows, array_of(where, "truth", truth, of.rows.rows), k_max,
                        of.voting, of.options, of.trace);
      });
}

kith_status kith_leave_one_out(const kith_classifier* classifier, const kith_rows* train, int64_t k_max,
                               const kith_vote_options* vote, const kith_search_options* options,
                               kith_evaluation** out) {
  return make_evaluation(
      __func__, classifier, train, vote, options, out, [&](const Examined& of, const char*) {
        return leave_one_out(of.classifier, of.rows, k_max, of.voting, of.options, of.trace);
      });
}

kith_status kith_cross_validate(const kith_classifier* classifier, const kith_rows* train,
                                const int64_t* folds, int64_t k_max, const kith_vote_options* vote,
                                const kith_search_options* options, kith_evaluation** out) {
  return make_evaluation(
      __func__, classifier, train, vote, options, out, [&](const Examined& of, const char* where) {
        return cross_validate(of.classifier, of.rows, array_of(where, "folds", folds, of.rows.rows), k_max,
                              of.voting, of.options, of.trace);
      });
}

kith_status kith_stratified_folds(const int64_t* labels, int64_t n, int64_t folds, uint64_t seed,
                                  int64_t* fold) {
  return guarded(__func__, [&](const char* where) {
    check_array(where, "fold", fold, n);
    give(fold, stratified_folds(array_of(where, "labels", labels, n), folds, seed));
  });
}

void kith_evaluation_free(kith_evaluation* evaluation) {
  delete evaluation;
}

kith_status kith_evaluation_describe(const kith_evaluation* evaluation, kith_evaluation_info* info) {
  return guarded(__func__, [&](const char* where) {
    const kith_evaluation& handle = given(where, "evaluation", evaluation);
    const Evaluation& from = handle.evaluation;
    auto to = KITH_INIT(kith_evaluation_info);
    to.rows = from.rows;
    to.k_max = from.k_max;
    to.best_k = handle.best_k;
    to.class_count = static_cast<int64_t>(from.classes.size());
    to.classes = from.classes.data();
    to.correct = from.correct.data();
    to.confusion = from.confusion.data();
    write_struct(where, info, to);
  });
}

kith_status kith_evaluation_scores(const kith_evaluation* evaluation, int64_t k, double* precision,
                                   double* recall, double* f1, int64_t* support) {
  return guarded(__func__, [&](const char* where) {
    for (const ClassScore& score : given(where, "evaluation", evaluation).evaluation.scores(k)) {
      if (precision) *precision++ = score.precision;
      if (recall) *recall++ = score.recall;
      if (f1) *f1++ = score.f1;
      if (support) *support++ = score.support;
    }
  });
}
