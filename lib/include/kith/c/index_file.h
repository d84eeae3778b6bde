// An index as a file, `.kidx`. Contract, section 9.
#ifndef KITH_C_INDEX_FILE_H
#define KITH_C_INDEX_FILE_H

#include "kith/c/search.h"

KITH_C_BEGIN

/// Hears how far a call has come, 0 ... 1, as `progress` of kith_search_options does: a value other than 0
/// ends the call with KITH_INTERRUPTED.
typedef int32_t (*kith_progress)(double fraction, void* user);

/// Write a file, which appears whole or not at all. Rows stand in it in the element that they were given in;
/// those of cosine as the unit rows that are searched.
///   stop      NULL: none
///   progress  NULL: none
/// KITH_BAD_FILE: it cannot be written.
KITH_C_API kith_status kith_index_save(const kith_index* index, const char* path, const kith_stop* stop,
                                       kith_progress progress, void* user);
/// Read a file to a device: an index with the bits of the one that was saved. Free by kith_index_free().
///   threads   of the host; 0: as many as there are cores
///   stop      NULL: none
///   progress  NULL: none
/// KITH_BAD_FILE: missing, foreign, of another version, cut, damaged, or with rows that no index has.
KITH_C_API kith_status kith_index_open(const kith_device* device, const char* path, uint32_t threads,
                                       const kith_stop* stop, kith_progress progress, void* user,
                                       kith_index** out);
/// What kith_index_open_with() is told; since 1.2.
typedef struct kith_open_options {
  uint64_t size;
  int64_t first;  ///< these rows of the file alone, those that are removed counted, under the same numbers:
  int64_t rows;   ///< what all of it answers after kith_index_without() of the other rows and
                  ///< kith_index_compact(). Several devices or machines so open one file together, and merge
                  ///< what kith_index_search_keys() gives. rows below 0: all from first on
  float largest;  ///< of a part: max |element| of the rows of all parts, by which negative_dot refuses
                  ///< queries; 0: what the file says
  uint32_t threads;        ///< of the host; 0: as many as there are cores
  const char* placement;   ///< on a set of devices, as in kith_index_options
  const double* shares;    ///< [share_count] as in kith_index_options
  int64_t share_count;     ///< 0: chosen
  const kith_stop* stop;   ///< NULL: none
  kith_progress progress;  ///< NULL: none
  void* user;              ///< for progress
} kith_open_options;
KITH_C_API void kith_open_options_init(kith_open_options* options, uint64_t size);
/// Read a file, or a part of it, to a device or a set of them.
///   options  NULL: as kith_index_open()
/// KITH_INVALID_ARGUMENT: the file has no such rows; else as kith_index_open().
KITH_C_API kith_status kith_index_open_with(const kith_device* device, const char* path,
                                            const kith_open_options* options, kith_index** out);

/// What the head of a file says.
typedef struct kith_index_file_info {
  uint64_t size;
  uint64_t version;  ///< of the format
  uint64_t bytes;    ///< of the file
  const char* metric;
  const char* element;   ///< of the rows in the file: `f32`, `f16`, `bf16`, `u8`, `i8`, `bits`
  int64_t rows;          ///< in the file, those that are removed included
  int64_t removed;       ///< rows that are removed
  int64_t dims;          ///< columns of rows and queries, as given
  int64_t features;      ///< columns that count, as many as a row in the file has
  int64_t first_row;     ///< as in kith_index_options
  uint64_t rows_offset;  ///< of the first row, in bytes
  float largest;         ///< as in kith_index_options
  int32_t reserved;      ///< 0
  int64_t centred;       ///< since 1.3. 1: the index has a centre, and rows in the file are less that; else 0
} kith_index_file_info;
KITH_C_API void kith_index_file_info_init(kith_index_file_info* info, uint64_t size);
/// Read the head of a file; what follows it may be damaged. The texts live as long as the library.
/// KITH_BAD_FILE: as kith_index_open() for the head and the size of the file.
KITH_C_API kith_status kith_index_file_describe(const char* path, kith_index_file_info* info);

KITH_C_END

#endif
