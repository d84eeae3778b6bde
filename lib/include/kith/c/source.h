// Makes indexes of training rows that stay in a file, in memory or with the caller, and are read by ranges.
// Contract, section 15.
#ifndef KITH_C_SOURCE_H
#define KITH_C_SOURCE_H

#include "kith/c/search.h"

KITH_C_BEGIN

/// Make an index of the rows of a file, which stays open: .npy, .fbin, .f16bin, .u8bin, .i8bin, .kidx.
/// Answers are those of kith_index_new() with the same rows, bit for bit. Free by kith_index_free().
/// KITH_BAD_FILE: the file is missing, foreign or cut; a later search returns this if the file has changed.
/// KITH_UNSUPPORTED: the file is not read by ranges, or the device cannot keep rows in this way.
KITH_C_API kith_status kith_index_from_file(const kith_device* device, const char* path,
                                            const kith_index_options* options, kith_index** out);

/// Make an index of rows in memory, which the caller keeps and does not change until the index is freed
/// by kith_index_free().
///   rows  [n, dims]
KITH_C_API kith_status kith_index_from_rows(const kith_device* device, const kith_rows* rows,
                                            const kith_index_options* options, kith_index** out);

/// Reads rows first ... first + count - 1 without gaps, in the element of the index. Several threads call it
/// at once; the same rows must have the same bytes each time. If it returns a value other than 0, the call of
/// kith ends with KITH_BAD_FILE. It may not throw or jump out.
///   to  out
typedef int32_t (*kith_read_rows)(int64_t first, int64_t count, void* to, void* user);

/// Make an index of rows that the caller reads. `user` must outlive the index. Free by kith_index_free().
///   rows, cols  at least 1; for bits `cols` is the number of bits
///   element     NULL: `f32`
KITH_C_API kith_status kith_index_from_reader(const kith_device* device, int64_t rows, int64_t cols,
                                              const char* element, kith_read_rows read, void* user,
                                              const kith_index_options* options, kith_index** out);

/// Say where the rows of an index are kept: `resident`, `stream` or `quantized`. The text lives as long as
/// the library.
KITH_C_API kith_status kith_index_residence(const kith_index* index, const char** out);

KITH_C_END

#endif
