// Rows with labels or values: classification, regression and their evaluation.
#ifndef KITH_C_VOTE_H
#define KITH_C_VOTE_H

#include "kith/c/search.h"

KITH_C_BEGIN

/// How neighbours become a class or a value. Contract, section 5.
typedef struct kith_vote_options {
  uint64_t size;
  const char* weights;  ///< NULL: `uniform`; `distance` (1 / d), `rank`
  const char* tie;  ///< NULL: `smallest_label`; `nearest`, `smallest_distance`, `fewer_neighbors`, `abstain`
  const float* rank_weights;  ///< [at least k], finite, not negative, for `rank`
  int64_t rank_weight_count;
  const double* priors;  ///< [classes], 1e-100 ... 1e100, by class
  int64_t prior_count;   ///< 0: all 1
  const double* costs;   ///< [classes, classes], 0 or 1e-100 ... 1e100: of answering the column's class where
                         ///< that of the row is right
  int64_t cost_count;    ///< classes * classes; 0: 0 on the diagonal, else 1
  int64_t no_label;      ///< the answer where no class wins; INT64_MIN by default
} kith_vote_options;
KITH_C_API void kith_vote_options_init(kith_vote_options* options, uint64_t size);

typedef struct kith_train_options {
  uint64_t size;
  const char* metric;           ///< as kith_index_options
  const int64_t* features;      ///< as kith_index_options
  int64_t feature_count;        ///< 0: all columns
  const float* sample_weights;  ///< [n], finite, not negative: the vote of each row is multiplied by it
  int64_t sample_weight_count;  ///< n; 0: all 1
  const int64_t* ids;  ///< as kith_index_options; answers and weights are put in order with their rows
  int64_t id_count;    ///< n; 0: none
} kith_train_options;
KITH_C_API void kith_train_options_init(kith_train_options* options, uint64_t size);

typedef struct kith_classifier kith_classifier;

/// Copy rows to a device, and labels. Free by kith_classifier_free().
///   train   [n, dims]     as for kith_index_new()
///   labels  [n, outputs]  any numbers; outputs is at least 1
KITH_C_API kith_status kith_classifier_new(const kith_device* device, const kith_rows* train,
                                           const int64_t* labels, int64_t outputs,
                                           const kith_train_options* options, kith_classifier** out);
/// A classifier of these rows and more; `classifier` stays as it is. Free by kith_classifier_free().
///   more            [rows, dims]
///   labels          [rows, outputs]  also new ones
///   sample_weights  [rows]; NULL: all 1
KITH_C_API kith_status kith_classifier_with(const kith_classifier* classifier, const kith_rows* more,
                                            const int64_t* labels, const float* sample_weights,
                                            kith_classifier** out);
/// The same with ids of their own.
///   ids  [rows]  as for kith_index_with_ids()
KITH_C_API kith_status kith_classifier_with_ids(const kith_classifier* classifier, const kith_rows* more,
                                                const int64_t* labels, const float* sample_weights,
                                                const int64_t* ids, kith_classifier** out);
/// As kith_index_without() and kith_index_compact(); classes stay. Free by kith_classifier_free().
KITH_C_API kith_status kith_classifier_without(const kith_classifier* classifier, const int64_t* rows,
                                               int64_t count, kith_classifier** out);
KITH_C_API kith_status kith_classifier_compact(const kith_classifier* classifier, kith_classifier** out);
KITH_C_API void kith_classifier_free(kith_classifier* classifier);

typedef struct kith_classifier_info {
  uint64_t size;
  int64_t outputs;              ///< labels a row
  const float* sample_weights;  ///< [n]; NULL: all 1
} kith_classifier_info;
KITH_C_API void kith_classifier_info_init(kith_classifier_info* info, uint64_t size);
/// What `info` points to belongs to `classifier`.
KITH_C_API kith_status kith_classifier_describe(const kith_classifier* classifier,
                                                kith_classifier_info* info);
/// The distinct labels of an output, ascending, and for each training row in the order of numbers its place
/// among them, [n], those that are removed included until kith_classifier_compact(). Each pointer may be
/// NULL; what they are set to belongs to `classifier`.
KITH_C_API kith_status kith_classifier_classes(const kith_classifier* classifier, int64_t output,
                                               const int64_t** classes, int64_t* class_count,
                                               const uint32_t** codes);
/// Its rows as an index, which shares their memory. Free by kith_index_free().
KITH_C_API kith_status kith_classifier_index(const kith_classifier* classifier, kith_index** out);

/// The label of each query.
///   label  [m, outputs]  out
/// KITH_UNSUPPORTED: weights `distance` with `negative_dot`.
KITH_C_API kith_status kith_classifier_predict(const kith_classifier* classifier, const kith_rows* queries,
                                               int64_t k, const kith_vote_options* vote,
                                               const kith_search_options* options, int64_t* label);
/// The share of each class in the score, priors included, costs not; zeros for a query without a vote.
///   share  [m, classes of the output]  out
KITH_C_API kith_status kith_classifier_predict_proba(const kith_classifier* classifier,
                                                     const kith_rows* queries, int64_t k,
                                                     const kith_vote_options* vote,
                                                     const kith_search_options* options, int64_t output,
                                                     double* share);

/// Where a classification writes; NULL: not wanted.
typedef struct kith_classification {
  uint64_t size;
  int64_t* label;   ///< [m]
  uint32_t* votes;  ///< [m, classes]  neighbours of each class
  float* scores;    ///< [m, classes]  sums of weights; where every vote weighs 1, the votes
  double* share;    ///< [m, classes]  as kith_classifier_predict_proba()
  float* distance;  ///< [m, k]  of the neighbours; not looked at by kith_classifier_classify_within()
  int64_t* row;     ///< [m, k]  likewise
} kith_classification;
KITH_C_API void kith_classification_init(kith_classification* answer, uint64_t size);

/// Labels with votes and neighbours, of the first output.
KITH_C_API kith_status kith_classifier_classify(const kith_classifier* classifier, const kith_rows* queries,
                                                int64_t k, const kith_vote_options* vote,
                                                const kith_search_options* options,
                                                kith_classification* answer);
/// The same for every output, from one search.
///   answers  [outputs]  each set up by kith_classification_init()
KITH_C_API kith_status kith_classifier_classify_outputs(const kith_classifier* classifier,
                                                        const kith_rows* queries, int64_t k,
                                                        const kith_vote_options* vote,
                                                        const kith_search_options* options,
                                                        kith_classification* const* answers);
/// Every training row within a radius votes, for the first output.
///   radii      as for kith_index_within()
///   neighbors  out, free by kith_within_free(); NULL: not wanted
KITH_C_API kith_status kith_classifier_classify_within(const kith_classifier* classifier,
                                                       const kith_rows* queries, const float* radii,
                                                       int64_t radius_count, const kith_vote_options* vote,
                                                       const kith_search_options* options,
                                                       kith_classification* answer, kith_within** neighbors);
/// The label of each query for several k, from one search for the largest, of the first output.
///   ks        [k_count]     at least one, in any order
///   label     [k_count, m]  out
///   distance  [m, largest k]  out; NULL: not wanted
///   row       [m, largest k]  out; NULL: not wanted
KITH_C_API kith_status kith_classifier_sweep(const kith_classifier* classifier, const kith_rows* queries,
                                             const int64_t* ks, int64_t k_count,
                                             const kith_vote_options* vote,
                                             const kith_search_options* options, int64_t* label,
                                             float* distance, int64_t* row);

typedef struct kith_regressor kith_regressor;

/// Copy rows to a device, and values. Free by kith_regressor_free().
///   train   [n, dims]     as for kith_index_new()
///   values  [n, outputs]  finite; outputs is at least 1
KITH_C_API kith_status kith_regressor_new(const kith_device* device, const kith_rows* train,
                                          const double* values, int64_t outputs,
                                          const kith_train_options* options, kith_regressor** out);
/// A regressor of these rows and more; `regressor` stays as it is. Free by kith_regressor_free().
///   more            [rows, dims]
///   values          [rows, outputs]  finite
///   sample_weights  [rows]; NULL: all 1
KITH_C_API kith_status kith_regressor_with(const kith_regressor* regressor, const kith_rows* more,
                                           const double* values, const float* sample_weights,
                                           kith_regressor** out);
/// The same with ids of their own.
///   ids  [rows]  as for kith_index_with_ids()
KITH_C_API kith_status kith_regressor_with_ids(const kith_regressor* regressor, const kith_rows* more,
                                               const double* values, const float* sample_weights,
                                               const int64_t* ids, kith_regressor** out);
/// As kith_index_without() and kith_index_compact(). Free by kith_regressor_free().
KITH_C_API kith_status kith_regressor_without(const kith_regressor* regressor, const int64_t* rows,
                                              int64_t count, kith_regressor** out);
KITH_C_API kith_status kith_regressor_compact(const kith_regressor* regressor, kith_regressor** out);
KITH_C_API void kith_regressor_free(kith_regressor* regressor);

typedef struct kith_regressor_info {
  uint64_t size;
  int64_t outputs;              ///< values a row
  const double* values;         ///< [n, outputs]
  const float* sample_weights;  ///< [n]; NULL: all 1
} kith_regressor_info;
KITH_C_API void kith_regressor_info_init(kith_regressor_info* info, uint64_t size);
/// What `info` points to belongs to `regressor`.
KITH_C_API kith_status kith_regressor_describe(const kith_regressor* regressor, kith_regressor_info* info);
/// Its rows as an index, which shares their memory. Free by kith_index_free().
KITH_C_API kith_status kith_regressor_index(const kith_regressor* regressor, kith_index** out);

/// The weighted mean of the values of the k nearest rows. Of `vote` weights and rank_weights count.
///   value     [m, outputs]  out; NaN for a query whose neighbours all weigh 0
///   distance  [m, k]        out; NULL: not wanted
///   row       [m, k]        out; NULL: not wanted
KITH_C_API kith_status kith_regressor_predict(const kith_regressor* regressor, const kith_rows* queries,
                                              int64_t k, const kith_vote_options* vote,
                                              const kith_search_options* options, double* value,
                                              float* distance, int64_t* row);
/// Of all rows within a radius.
///   radii      as for kith_index_within()
///   value      [m, outputs]  out; NaN for a query whose rows within the radius, if any, all weigh 0
///   neighbors  out, free by kith_within_free(); NULL: not wanted
KITH_C_API kith_status kith_regressor_predict_within(const kith_regressor* regressor,
                                                     const kith_rows* queries, const float* radii,
                                                     int64_t radius_count, const kith_vote_options* vote,
                                                     const kith_search_options* options, double* value,
                                                     kith_within** neighbors);

typedef struct kith_evaluation kith_evaluation;

/// Answers of the first output compared with the truth, for each k in 1 ... k_max, from one search. Contract,
/// section 12. Free by kith_evaluation_free().
///   queries  [m, dims], m at least 1
///   truth    [m]  any labels
KITH_C_API kith_status kith_evaluate(const kith_classifier* classifier, const kith_rows* queries,
                                     const int64_t* truth, int64_t k_max, const kith_vote_options* vote,
                                     const kith_search_options* options, kith_evaluation** out);
/// Every training row by all others. Free by kith_evaluation_free().
///   train  [n, dims]  the rows that the classifier was made of, where they have ids in the order of these
KITH_C_API kith_status kith_leave_one_out(const kith_classifier* classifier, const kith_rows* train,
                                          int64_t k_max, const kith_vote_options* vote,
                                          const kith_search_options* options, kith_evaluation** out);
/// Every training row by the rows of all other folds. Free by kith_evaluation_free().
///   train  [n, dims]  as for kith_leave_one_out()
///   folds  [n]        numbers, 0 or more, at least two different
KITH_C_API kith_status kith_cross_validate(const kith_classifier* classifier, const kith_rows* train,
                                           const int64_t* folds, int64_t k_max, const kith_vote_options* vote,
                                           const kith_search_options* options, kith_evaluation** out);
/// Deal rows out to folds, those of each class in turn, shuffled by `seed` alike on every machine.
///   labels  [n]    folds  2 ... n
///   fold    [n]    out, 0 ... folds - 1
KITH_C_API kith_status kith_stratified_folds(const int64_t* labels, int64_t n, int64_t folds, uint64_t seed,
                                             int64_t* fold);
KITH_C_API void kith_evaluation_free(kith_evaluation* evaluation);

typedef struct kith_evaluation_info {
  uint64_t size;
  int64_t rows;  ///< that were asked
  int64_t k_max;
  int64_t best_k;  ///< of the highest accuracy; of several the smallest
  int64_t class_count;
  const int64_t* classes;     ///< [classes]  of training rows and truth, ascending
  const int64_t* correct;     ///< [k_max]    right answers; accuracy is correct / rows
  const uint32_t* confusion;  ///< [k_max, classes, classes + 1]  truth, then answer; last: without an answer
} kith_evaluation_info;
KITH_C_API void kith_evaluation_info_init(kith_evaluation_info* info, uint64_t size);
/// What `info` points to belongs to `evaluation`.
KITH_C_API kith_status kith_evaluation_describe(const kith_evaluation* evaluation,
                                                kith_evaluation_info* info);
/// Of each class, for one k. A quotient whose divisor is 0 is 0. Each array may be NULL: not wanted.
///   precision, recall, f1, support  [classes]  out
KITH_C_API kith_status kith_evaluation_scores(const kith_evaluation* evaluation, int64_t k, double* precision,
                                              double* recall, double* f1, int64_t* support);

KITH_C_END

#endif
