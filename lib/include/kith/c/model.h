// Prepares rows before they are searched, and saves classifiers and regressors as files.
#ifndef KITH_C_MODEL_H
#define KITH_C_MODEL_H

#include "kith/c/vote.h"

KITH_C_BEGIN

typedef struct kith_preparation kith_preparation;

/// Learn fills, categories and scalings from training rows. Free by kith_preparation_free().
///   train  [n, dims]  of any numbers, KITH_F64 too; NaN only if `missing` fills it, or leaves it
KITH_C_API kith_status kith_preparation_new(const kith_rows* train, const kith_preparation_options* options,
                                            kith_preparation** out);
KITH_C_API void kith_preparation_free(kith_preparation* preparation);
/// Get the number of columns that it takes, and that it makes. Each pointer may be NULL.
KITH_C_API kith_status kith_preparation_shape(const kith_preparation* preparation, int64_t* dims,
                                              int64_t* width);
/// Get, for each column that it makes, the column it comes from.
///   source  [width]  out
KITH_C_API kith_status kith_preparation_sources(const kith_preparation* preparation, int64_t* source);
/// Prepare rows for a search; each value is rounded once to float.
///   rows  [m, dims]  of any numbers, KITH_F64 too
///   to    [m, width]  out
KITH_C_API kith_status kith_preparation_apply(const kith_preparation* preparation, const kith_rows* rows,
                                              float* to);

typedef struct kith_model kith_model;

/// Holds all parts of a model. Contract, section 10. Either labels or values are given.
typedef struct kith_model_parts {
  uint64_t size;
  const char* metric;                   ///< NULL: `l2`
  int64_t k;                            ///< neighbours to ask; 0: the user of the model decides
  const kith_vote_options* vote;        ///< NULL: the defaults
  const kith_preparation* preparation;  ///< how queries are prepared; NULL: they are not
  const kith_rows* rows;                ///< [n, dims]  prepared already; KITH_F64: in double precision
  const int64_t* features;              ///< columns of prepared rows that count
  int64_t features_count;               ///< 0: all
  int64_t outputs;                      ///< 0: 1
  const int64_t* labels;                ///< [n, outputs]  of a classifier, else NULL
  const double* values;                 ///< [n, outputs]  of a regressor, else NULL
  const float* sample_weights;          ///< [n]; NULL: all 1
  const char* const* columns;           ///< names of the columns before preparation
  int64_t column_count;                 ///< 0: they have none
  const char* const* label_texts;       ///< if labels are texts: those of the labels 0, 1, ...
  int64_t label_text_count;
  const char* const* answer_names;  ///< [outputs]; NULL: they have none
  const int64_t* row_numbers;  ///< [n]  ascending: the numbers of the rows in their file; NULL: 0, 1, ...
  const char* const* category_texts;  ///< texts of the categories of all columns, one column after another
  const int64_t* category_counts;     ///< [columns before preparation]  the number of texts of each; NULL: no
                                      ///< column has any
  int64_t category_column_count;
  int32_t has_first_index;  ///< 1: the rows come from a file of index:value pairs; else 0
  int32_t first_index;      ///< the first column there, 0 or 1
  const int64_t* unread;  ///< [unread_count]  the file's columns that are not used: their places, ascending,
                          ///< among the columns that are no answers
  const char* const* unread_names;  ///< [unread_count]; NULL if columns have none
  int64_t unread_count;             ///< 0: every column is read
  /// What the metric takes: column_weights, variances, covariance, inverse_covariance, ranges, p, categorical
  /// and degrees. Nothing else of it is read. NULL: nothing.
  const kith_index_options* metric_options;
} kith_model_parts;

/// Make a model of copies of these parts. Free by kith_model_free().
KITH_C_API kith_status kith_model_new(const kith_model_parts* parts, kith_model** out);
/// Read a file. Free by kith_model_free().
/// KITH_BAD_FILE: it is missing, foreign, of another version, damaged, or has parts that do not fit together.
KITH_C_API kith_status kith_model_load(const char* path, kith_model** out);
/// Write a file, which appears complete or not at all.
///   stop      NULL: none
///   progress  as in kith_search_options; NULL: none
/// KITH_BAD_FILE: the file cannot be written.
KITH_C_API kith_status kith_model_save(const kith_model* model, const char* path, const kith_stop* stop,
                                       kith_progress progress, void* user);
KITH_C_API void kith_model_free(kith_model* model);
/// Point `parts` at all parts of the model, which belong to `model`; a preparation that changes nothing
/// is NULL.
KITH_C_API kith_status kith_model_describe(const kith_model* model, kith_model_parts* parts);
/// Copy its rows to a device. Free by kith_classifier_free().
/// KITH_INVALID_ARGUMENT: it is a model of a regressor.
KITH_C_API kith_status kith_model_classifier(const kith_model* model, const kith_device* device,
                                             kith_classifier** out);
/// Copy its rows to a device. Free by kith_regressor_free().
/// KITH_INVALID_ARGUMENT: it is a model of a classifier.
KITH_C_API kith_status kith_model_regressor(const kith_model* model, const kith_device* device,
                                            kith_regressor** out);

KITH_C_END

#endif
