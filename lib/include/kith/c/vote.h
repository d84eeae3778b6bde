// Classifies by rows with labels, predicts by rows with values, and evaluates both.
#ifndef KITH_C_VOTE_H
#define KITH_C_VOTE_H

#include "kith/c/search.h"

KITH_C_BEGIN

typedef struct kith_classifier kith_classifier;

/// Copy rows to a device, and labels. Free by kith_classifier_free(). Labels and weights are in the order of
/// the rows as given: where options.ids put rows in another order, they go with them.
///   train           [n, dims]     as for kith_index_new(), as are the options
///   labels          [n, outputs]  any numbers; outputs is at least 1
///   sample_weights  [n]           finite, 0 or more: what the vote of each row is multiplied by; NULL: all 1
KITH_C_API kith_status kith_classifier_new(const kith_device* device, const kith_rows* train,
                                           const int64_t* labels, int64_t outputs,
                                           const float* sample_weights, const kith_index_options* options,
                                           kith_classifier** out);
/// Make a classifier of the rows of an index, which shares their memory. Labels and weights are in the order
/// of kith_index_numbers(). Free by kith_classifier_free().
KITH_C_API kith_status kith_classifier_of_index(const kith_index* index, const int64_t* labels,
                                                int64_t outputs, const float* sample_weights,
                                                kith_classifier** out);
/// A classifier of these rows and more; `classifier` stays as it is. Free by kith_classifier_free().
///   more            [rows, dims]
///   labels          [rows, outputs]  also new ones
///   sample_weights  [rows]; NULL: all 1
///   ids             [rows]  as for kith_index_with(); NULL: numbers continue
KITH_C_API kith_status kith_classifier_with(const kith_classifier* classifier, const kith_rows* more,
                                            const int64_t* labels, const float* sample_weights,
                                            const int64_t* ids, kith_classifier** out);
/// Remove or compact rows as kith_index_without() and kith_index_compact() do; classes stay. Free
/// by kith_classifier_free().
KITH_C_API kith_status kith_classifier_without(const kith_classifier* classifier, const int64_t* rows,
                                               int64_t count, kith_classifier** out);
KITH_C_API kith_status kith_classifier_compact(const kith_classifier* classifier, kith_classifier** out);
KITH_C_API void kith_classifier_free(kith_classifier* classifier);

typedef struct kith_classifier_info {
  uint64_t size;
  int64_t outputs;              ///< labels per row
  const float* sample_weights;  ///< [n]; NULL: all 1
} kith_classifier_info;
/// What `info` points to belongs to `classifier`.
KITH_C_API kith_status kith_classifier_describe(const kith_classifier* classifier,
                                                kith_classifier_info* info);
/// Get the distinct labels of an output, ascending, and for each training row, in the order of numbers, the
/// place of its label among them, [n]. Removed rows are included until kith_classifier_compact(). Each
/// pointer may be NULL; the arrays belong to `classifier`.
KITH_C_API kith_status kith_classifier_classes(const kith_classifier* classifier, int64_t output,
                                               const int64_t** classes, int64_t* class_count,
                                               const uint32_t** codes);
/// Get its rows as an index, which shares their memory. Free by kith_index_free().
KITH_C_API kith_status kith_classifier_index(const kith_classifier* classifier, kith_index** out);

/// Predict the label of each query.
///   label  [m, outputs]  out
/// KITH_UNSUPPORTED: weights `distance` with `negative_dot`.
KITH_C_API kith_status kith_classifier_predict(const kith_classifier* classifier, const kith_rows* queries,
                                               int64_t k, const kith_vote_options* vote,
                                               const kith_search_options* options, int64_t* label);
/// Compute the share of each class in the score, with priors but not costs; zeros for a query without a vote.
///   share  [m, classes of the output]  out
KITH_C_API kith_status kith_classifier_predict_proba(const kith_classifier* classifier,
                                                     const kith_rows* queries, int64_t k,
                                                     const kith_vote_options* vote,
                                                     const kith_search_options* options, int64_t output,
                                                     double* share);

/// Says where a classification writes; NULL: not wanted.
typedef struct kith_classification {
  uint64_t size;
  int64_t* label;    ///< [m]
  uint32_t* votes;   ///< [m, classes]  neighbours of each class
  float* scores;     ///< [m, classes]  sums of weights; the votes if every vote weighs 1
  double* share;     ///< [m, classes]  as kith_classifier_predict_proba()
  float* distance;   ///< [m, k]  distances of the neighbours; kith_classifier_classify_within() ignores this
  int64_t* row;      ///< [m, k]  rows of the neighbours; likewise
  double* scores64;  ///< in double precision in place of `scores`
  double* distance64;  ///< in double precision in place of `distance`
} kith_classification;

/// Predict labels with votes and neighbours, by one search.
///   outputs  1: only the first; or the number of all outputs
///   answers  [outputs]
KITH_C_API kith_status kith_classifier_classify(const kith_classifier* classifier, const kith_rows* queries,
                                                int64_t k, const kith_vote_options* vote,
                                                const kith_search_options* options, int64_t outputs,
                                                kith_classification* const* answers);
/// Let every training row within a radius vote, for the first output.
///   radii      as for kith_index_within()
///   neighbors  out, free by kith_within_free(); NULL: not wanted
KITH_C_API kith_status kith_classifier_classify_within(const kith_classifier* classifier,
                                                       const kith_rows* queries, const float* radii,
                                                       int64_t radius_count, const kith_vote_options* vote,
                                                       const kith_search_options* options,
                                                       kith_classification* answer, kith_within** neighbors);
/// Do the same by rows in double precision.
KITH_C_API kith_status kith_classifier_classify_within_f64(
    const kith_classifier* classifier, const kith_rows* queries, const double* radii, int64_t radius_count,
    const kith_vote_options* vote, const kith_search_options* options, kith_classification* answer,
    kith_within** neighbors);
/// Predict the first label of each query for several k, by one search for the largest.
///   ks        [k_count]     at least one, in any order
///   label     [k_count, m]  out
///   distance  [m, largest k]  out; NULL: not wanted, as it must be for rows in double precision
///   row       [m, largest k]  out; NULL: not wanted
KITH_C_API kith_status kith_classifier_sweep(const kith_classifier* classifier, const kith_rows* queries,
                                             const int64_t* ks, int64_t k_count,
                                             const kith_vote_options* vote,
                                             const kith_search_options* options, int64_t* label,
                                             float* distance, int64_t* row);
/// Do the same by rows in double precision.
KITH_C_API kith_status kith_classifier_sweep_f64(const kith_classifier* classifier, const kith_rows* queries,
                                                 const int64_t* ks, int64_t k_count,
                                                 const kith_vote_options* vote,
                                                 const kith_search_options* options, int64_t* label,
                                                 double* distance, int64_t* row);

typedef struct kith_regressor kith_regressor;

/// Copy rows to a device, and values. Free by kith_regressor_free(). Values and weights are in the order of
/// the rows as given, whatever options.ids are.
///   train           [n, dims]     as for kith_index_new(), as are the options
///   values          [n, outputs]  finite; outputs is at least 1
///   sample_weights  [n]           as for kith_classifier_new()
KITH_C_API kith_status kith_regressor_new(const kith_device* device, const kith_rows* train,
                                          const double* values, int64_t outputs, const float* sample_weights,
                                          const kith_index_options* options, kith_regressor** out);
/// Make a regressor of the rows of an index, which shares their memory. Values and weights are in the order
/// of kith_index_numbers(). Free by kith_regressor_free().
KITH_C_API kith_status kith_regressor_of_index(const kith_index* index, const double* values, int64_t outputs,
                                               const float* sample_weights, kith_regressor** out);
/// A regressor of these rows and more; `regressor` stays as it is. Free by kith_regressor_free().
///   more            [rows, dims]
///   values          [rows, outputs]  finite
///   sample_weights  [rows]; NULL: all 1
///   ids             [rows]  as for kith_index_with(); NULL: numbers continue
KITH_C_API kith_status kith_regressor_with(const kith_regressor* regressor, const kith_rows* more,
                                           const double* values, const float* sample_weights,
                                           const int64_t* ids, kith_regressor** out);
/// Remove or compact rows as kith_index_without() and kith_index_compact() do. Free by kith_regressor_free().
KITH_C_API kith_status kith_regressor_without(const kith_regressor* regressor, const int64_t* rows,
                                              int64_t count, kith_regressor** out);
KITH_C_API kith_status kith_regressor_compact(const kith_regressor* regressor, kith_regressor** out);
KITH_C_API void kith_regressor_free(kith_regressor* regressor);

typedef struct kith_regressor_info {
  uint64_t size;
  int64_t outputs;              ///< values per row
  const double* values;         ///< [n, outputs]
  const float* sample_weights;  ///< [n]; NULL: all 1
} kith_regressor_info;
/// What `info` points to belongs to `regressor`.
KITH_C_API kith_status kith_regressor_describe(const kith_regressor* regressor, kith_regressor_info* info);
/// Get its rows as an index, which shares their memory. Free by kith_index_free().
KITH_C_API kith_status kith_regressor_index(const kith_regressor* regressor, kith_index** out);

/// Predict the weighted mean of the values of the k nearest rows. Only weights and rank_weights of
/// `vote` count.
///   value     [m, outputs]  out; NaN for a query whose neighbours all weigh 0
///   distance  [m, k]        out; NULL: not wanted, as it must be for rows in double precision
///   row       [m, k]        out; NULL: not wanted
KITH_C_API kith_status kith_regressor_predict(const kith_regressor* regressor, const kith_rows* queries,
                                              int64_t k, const kith_vote_options* vote,
                                              const kith_search_options* options, double* value,
                                              float* distance, int64_t* row);
/// Do the same by rows in double precision.
KITH_C_API kith_status kith_regressor_predict_f64(const kith_regressor* regressor, const kith_rows* queries,
                                                  int64_t k, const kith_vote_options* vote,
                                                  const kith_search_options* options, double* value,
                                                  double* distance, int64_t* row);
/// Predict the weighted mean of the values of all rows within a radius.
///   radii      as for kith_index_within()
///   value      [m, outputs]  out; NaN for a query whose rows within the radius, if any, all weigh 0
///   neighbors  out, free by kith_within_free(); NULL: not wanted
KITH_C_API kith_status kith_regressor_predict_within(const kith_regressor* regressor,
                                                     const kith_rows* queries, const float* radii,
                                                     int64_t radius_count, const kith_vote_options* vote,
                                                     const kith_search_options* options, double* value,
                                                     kith_within** neighbors);
/// Do the same by rows in double precision.
KITH_C_API kith_status kith_regressor_predict_within_f64(const kith_regressor* regressor,
                                                         const kith_rows* queries, const double* radii,
                                                         int64_t radius_count, const kith_vote_options* vote,
                                                         const kith_search_options* options, double* value,
                                                         kith_within** neighbors);

typedef struct kith_evaluation kith_evaluation;

/// Compare answers of the first output with the truth, for each k in 1 ... k_max, by one search. Contract,
/// section 12. Free by kith_evaluation_free().
///   queries  [m, dims], m at least 1
///   truth    [m]  any labels
KITH_C_API kith_status kith_evaluate(const kith_classifier* classifier, const kith_rows* queries,
                                     const int64_t* truth, int64_t k_max, const kith_vote_options* vote,
                                     const kith_search_options* options, kith_evaluation** out);
/// Evaluate every training row by all others. Free by kith_evaluation_free().
///   train  [n, dims]  the rows that the classifier was made of; if they have ids, in the order of these
KITH_C_API kith_status kith_leave_one_out(const kith_classifier* classifier, const kith_rows* train,
                                          int64_t k_max, const kith_vote_options* vote,
                                          const kith_search_options* options, kith_evaluation** out);
/// Evaluate every training row by the rows of all other folds. Free by kith_evaluation_free().
///   train  [n, dims]  as for kith_leave_one_out()
///   folds  [n]        numbers, 0 or more, at least two different
KITH_C_API kith_status kith_cross_validate(const kith_classifier* classifier, const kith_rows* train,
                                           const int64_t* folds, int64_t k_max, const kith_vote_options* vote,
                                           const kith_search_options* options, kith_evaluation** out);
/// Divide rows into folds. Rows of each class are shuffled by `seed`, in the same way on every machine, and
/// dealt out in turn.
///   labels  [n]    folds  2 ... n
///   fold    [n]    out, 0 ... folds - 1
KITH_C_API kith_status kith_stratified_folds(const int64_t* labels, int64_t n, int64_t folds, uint64_t seed,
                                             int64_t* fold);
KITH_C_API void kith_evaluation_free(kith_evaluation* evaluation);

typedef struct kith_evaluation_info {
  uint64_t size;
  int64_t rows;  ///< queries evaluated
  int64_t k_max;
  int64_t best_k;  ///< the k of the highest accuracy; the smallest if several
  int64_t class_count;
  const int64_t* classes;     ///< [classes]  labels of training rows and truth, ascending
  const int64_t* correct;     ///< [k_max]    right answers; accuracy is correct / rows
  const uint32_t* confusion;  ///< [k_max, classes, classes + 1]  truth, then answer; last: without an answer
} kith_evaluation_info;
/// What `info` points to belongs to `evaluation`.
KITH_C_API kith_status kith_evaluation_describe(const kith_evaluation* evaluation,
                                                kith_evaluation_info* info);
/// Compute the scores of each class, for one k. A quotient whose divisor is 0 is 0. Each array may be NULL.
///   precision, recall, f1, support  [classes]  out
KITH_C_API kith_status kith_evaluation_scores(const kith_evaluation* evaluation, int64_t k, double* precision,
                                              double* recall, double* f1, int64_t* support);

KITH_C_END

#endif
