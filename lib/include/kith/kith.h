// kith for C, and for every language that calls C: exact k-nearest-neighbour search, classification and
// regression. Every device returns the same bits. C99; C++ has kith.hpp.
//
//   kith_device* device = NULL;
//   kith_index* index = NULL;
//   kith_rows rows = KITH_INIT(kith_rows);
//   rows.data = train, rows.rows = n, rows.cols = dims;
//   if (kith_device_open("auto", &device) || kith_index_new(device, &rows, NULL, &index))
//     fprintf(stderr, "%s\n", kith_last_error());
//   ...
//   kith_index_search(index, &queries, k, NULL, distance, row);   // float [m, k], int64_t [m, k]
//   kith_index_free(index);
//   kith_device_free(device);
//
// The following holds for every function.
//
// Status. A function that can fail returns a kith_status: KITH_OK, or the exit code that the kith command has
// for the same error. kith_last_error() then returns the sentence. After a failure *out is NULL, and the
// content of the caller's arrays is undefined. No C++ exception leaves a function.
//
// Handles. Each kith_..._new, _open, _load, _with returns a handle. The caller frees it by the function named
// in its description; freeing NULL does nothing. Related handles may be freed in any order.
//
// Structs. The caller sets one up by KITH_INIT(its type), which writes `size` and 0 into all else, and then
// changes fields. 0 is the default of every field, and a NULL pointer to options stands for all defaults.
// Fields are only ever added at the end, with 0 as the value that changes nothing: a program goes on working
// with a newer library, and with an older one as long as it leaves the newer fields at 0 (else
// KITH_UNSUPPORTED). A list has a pointer and a NAME_count; a number whose 0 means something has a has_NAME,
// which is 1 if it is given.
//
// Arrays are row-major, in host memory, without gaps unless a stride is a parameter; their shapes are in
// brackets. m: queries, n: training rows, k: neighbours. The caller keeps what it passes until the function
// returns. No output may overlap an input. Texts from kith are UTF-8 and end in a zero byte; a `const char*`
// from a handle is valid as long as the handle.
//
// Names. Metrics, selectors, weights and all other choices are texts, spelled as on the command line, in any
// case; NULL is the default. An unknown one is KITH_INVALID_ARGUMENT, and the message names the nearest.
//
// Threads. Any number of threads may pass one handle at the same time to functions that take it as const, and
// to kith_stop_request(). Freeing a handle that another thread is using is an error of the program.
//
// Precision. An index computes in single precision, or in double: kith_index_info.arithmetic. Its distances,
// radii and keys are then float and uint32_t, or double and uint64_t, and functions for these end in _f64.
//
// Order. Neighbours are sorted by distance, and among equally near ones by row, ascending.
//
// The contract is docs/contract.md; sections are named below.
#ifndef KITH_KITH_H
#define KITH_KITH_H

#include "kith/c/base.h"        // status, last error, version, metrics
#include "kith/c/device.h"      // kith_rows, kith_device, kith_inventory
#include "kith/c/index_file.h"  // kith_index_save, kith_index_open
#include "kith/c/keys.h"        // kith_radius_keys, kith_merge
#include "kith/c/model.h"       // kith_preparation, kith_model
#include "kith/c/options.h"     // kith_search_options, kith_index_options, kith_vote_options, ...
#include "kith/c/search.h"      // kith_index, kith_stop, kith_trace
#include "kith/c/source.h"      // kith_index_from_file, kith_index_from_reader
#include "kith/c/vote.h"        // kith_classifier, kith_regressor, kith_evaluation

#endif
