// Saves an index as a file, `.kidx`, and opens it. Contract, section 9.
#ifndef KITH_C_INDEX_FILE_H
#define KITH_C_INDEX_FILE_H

#include "kith/c/search.h"

KITH_C_BEGIN

/// Write a file, which appears complete or not at all. It holds the rows in the element that they were given
/// in; for cosine the unit rows that are searched.
///   stop      NULL: none
///   progress  NULL: none
/// KITH_BAD_FILE: the file cannot be written.
KITH_C_API kith_status kith_index_save(const kith_index* index, const char* path, const kith_stop* stop,
                                       kith_progress progress, void* user);
/// Read a file, or a part of it, to a device or a set of them. The index gives the same bits as the one that
/// was saved. Free by kith_index_free().
/// KITH_BAD_FILE: the file is missing, foreign, of a newer version, cut, damaged, or has rows that no
/// index has.
/// KITH_INVALID_ARGUMENT: the file has no such rows.
KITH_C_API kith_status kith_index_open(const kith_device* device, const char* path,
                                       const kith_open_options* options, kith_index** out);

/// Holds what the head of a file says.
typedef struct kith_index_file_info {
  uint64_t size;
  uint64_t version;  ///< version of the format
  uint64_t bytes;    ///< size of the file
  const char* metric;
  const char* element;   ///< element of the rows in the file: `f32`, `f16`, `bf16`, `u8`, `i8`, `bits`
  int64_t rows;          ///< rows in the file, removed ones included
  int64_t removed;       ///< rows that are removed
  int64_t dims;          ///< columns of rows and queries, as given
  int64_t features;      ///< columns that count: a row in the file has only these
  int64_t first_row;     ///< as in kith_index_options
  uint64_t rows_offset;  ///< bytes from the beginning of the file to the first row
  float largest;         ///< as in kith_index_options
  int32_t reserved;      ///< 0
  int64_t centred;       ///< 1: the index has a centre, which was subtracted from the rows in the file;
                         ///< else 0
  int64_t periodic;      ///< 1: the rows in the file are in a periodic box; else 0
  int64_t prepared;      ///< 1: the rows in the file are prepared for the metric, or weighted; else 0
  int64_t groups;        ///< groups of rows, empty ones included; 0: the rows have none
} kith_index_file_info;
/// Read only the head of a file: what follows may be damaged. The texts live as long as the library.
/// KITH_BAD_FILE: as for kith_index_open(), but only for the head and the size of the file.
KITH_C_API kith_status kith_index_file_describe(const char* path, kith_index_file_info* info);

KITH_C_END

#endif
