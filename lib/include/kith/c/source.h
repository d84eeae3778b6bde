// Training rows that stay in a file, in memory or with the caller, and are read by ranges. Contract,
// section 15.
#ifndef KITH_C_SOURCE_H
#define KITH_C_SOURCE_H

#include "kith/c/search.h"

KITH_C_BEGIN

/// An index of the rows of a file, which stays open: .npy, .fbin, .f16bin, .u8bin, .i8bin, .kidx. Answers are
/// those of kith_index_new() with the same rows, to the bit. Free by kith_index_free(). KITH_BAD_FILE:
/// missing, foreign or cut; so says a search later whose file has changed. KITH_UNSUPPORTED: a file that is
/// not read by ranges; a device that cannot keep rows so.
KITH_C_API kith_status kith_index_from_file(const kith_device* device, const char* path,
                                            const kith_index_options* options, kith_index** out);

/// Make an index of rows in memory, which the caller keeps, and does not change, until kith_index_free()
/// frees the index.
///   rows  [n, dims]
KITH_C_API kith_status kith_index_from_rows(const kith_device* device, const kith_rows* rows,
                                            const kith_index_options* options, kith_index** out);

/// Rows first ... first + count - 1, one right behind the other, in the element of the index. Called by
/// several threads at once; the same rows have the same bytes each time. A value other than 0 ends the call
/// of kith with KITH_BAD_FILE. It may not throw or jump out.
///   to  out
typedef int32_t (*kith_read_rows)(int64_t first, int64_t count, void* to, void* user);

/// An index of rows that the caller reads. `user` lives until the index is freed. Free by kith_index_free().
///   rows, cols  at least 1; of bits `cols` is their number
///   element     NULL: `f32`
KITH_C_API kith_status kith_index_from_reader(const kith_device* device, int64_t rows, int64_t cols,
                                              const char* element, kith_read_rows read, void* user,
                                              const kith_index_options* options, kith_index** out);

/// Where the rows of an index stay: `resident`, `stream` or `quantized`. The text lives as long as the
/// library.
KITH_C_API kith_status kith_index_residence(const kith_index* index, const char** out);

KITH_C_END

#endif
