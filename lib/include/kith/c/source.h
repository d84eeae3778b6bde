// Training rows that stay in a file, in memory or with the caller, and are read by ranges. Contract,
// section 15.
#ifndef KITH_C_SOURCE_H
#define KITH_C_SOURCE_H

#include "kith/c/search.h"

KITH_C_BEGIN

/// Where the rows of an index stay, beside what kith_index_options says.
typedef struct kith_source_options {
  uint64_t size;
  const kith_index_options* index;  ///< NULL: the defaults
  const char* residence;  ///< `resident`, `stream`, `quantized`; NULL: `automatic`: resident if they fit
  uint64_t memory_limit;  ///< device bytes that one search and the index take together; 0: chunks of 512 MiB
                          ///< at most on a GPU, elsewhere 128
  int64_t chunk_rows;     ///< with `stream`: rows of a chunk; 0: chosen
  const char* element;    ///< of a file of u8: `bits`, 8 columns a byte; NULL: what the file has
} kith_source_options;
KITH_C_API void kith_source_options_init(kith_source_options* options, uint64_t size);

/// An index of the rows of a file, which stays open: .npy, .fbin, .f16bin, .u8bin, .i8bin, .kidx. Answers are
/// those of kith_index_new() with the same rows, to the bit. Free by kith_index_free(). KITH_BAD_FILE:
/// missing, foreign or cut; so says a search later whose file has changed. KITH_UNSUPPORTED: a file that is
/// not read by ranges; a device that cannot keep rows so.
KITH_C_API kith_status kith_index_from_file(const kith_device* device, const char* path,
                                            const kith_source_options* options, kith_index** out);

/// Make an index of rows in memory, which the caller keeps, and does not change, until kith_index_free()
/// frees the index.
///   rows  [n, dims]
KITH_C_API kith_status kith_index_from_rows(const kith_device* device, const kith_rows* rows,
                                            const kith_source_options* options, kith_index** out);

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
                                              const kith_source_options* options, kith_index** out);

/// Where the rows of an index stay: `resident`, `stream` or `quantized`. The text lives as long as the
/// library.
KITH_C_API kith_status kith_index_residence(const kith_index* index, const char** out);

/// kith_index_search() that keeps what it has found after each chunk of a stream, so that the same call goes
/// on from there after a stop or a kill, on any device. The file stays when all is done: remove it then.
///   path  of the file
/// KITH_INVALID_ARGUMENT: it is that of another search. KITH_BAD_FILE: it is damaged, or cannot be written.
/// KITH_UNSUPPORTED: the rows are resident.
KITH_C_API kith_status kith_index_search_kept(const kith_index* index, const kith_rows* queries, int64_t k,
                                              const kith_search_options* options, const char* path,
                                              float* distance, int64_t* row);

KITH_C_END

#endif
