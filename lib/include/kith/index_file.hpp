// Saves an Index as a file, `.kidx`, and opens it: docs/contract.md, section 9; docs/howto/index-files.md.
//
// The file holds the rows as the caller gave them, in their own element, and everything else that makes an
// Index. Opened on any device, it gives the same bits as the Index that was saved.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "kith/cxx20.hpp"
#include "kith/export.hpp"
#include "kith/index.hpp"
#include "kith/metric.hpp"
#include "kith/rows_view.hpp"
#include "kith/save_options.hpp"

namespace kith {

/// Writes an index. The file appears complete or not at all. This takes about 100 MiB of host memory, however
/// many rows there are.
///
/// Rows are written in the element in which they were given, but as f32, which holds all values, if with()
/// added rows of another element, and as f64 if the index computes in double precision. For cosine the unit
/// rows that are searched are written, as f32 or f64. With
/// features only the columns that count are written, with a centre the rows minus the centre, with a box the
/// rows as they are in it, and for a prepared metric the prepared rows.
/// Throws bad_file:    the file cannot be written (says why).
///        interrupted: options.stop asked for it before the file was in its place.
KITH_API void save(const Index& index, const std::string& path, const SaveOptions& options = {});

/// Reads an index to a device, block by block, so that the rows are never all in host memory. Every byte is
/// compared with the checksums of the file; for a part of the rows, only the blocks of 64 MiB that it needs.
/// Throws bad_file:         the file is missing, foreign, of another version, of another byte order, cut or
///                          longer than it should be, damaged, or has rows that no Index has (says where).
///        out_of_memory:    the rows do not fit on the device.
///        invalid_argument: the file has no such rows, or `largest` is below an element, as for IndexOptions.
///        interrupted:      options.stop asked for it.
KITH_API Index open_index(const std::string& path, Device device, const OpenOptions& options = {});

/// Describes a part of an index file.
struct IndexFileSection {
  /// `rows`, `unit_rows` (of cosine), `features`, `centre`, `box`, `column_weights`, `variances`,
  /// `covariance`, `inverse_cov`, `degrees`, `groups`, `positions`, `ids`, `removed`.
  std::string name;
  std::string element;       ///< an Element by name, `i64`, `u32`
  std::uint64_t offset = 0;  ///< place of its first byte in the file
  std::uint64_t bytes = 0;
  bool needed = true;  ///< a version of kith that does not know it must refuse the file
};

/// Holds the content of the head of an index file.
struct IndexFileInfo {
  std::uint64_t version = 0, bytes = 0;
  Metric metric = default_metric;
  Element element = Element::f32;  ///< element of the rows in the file
  std::int64_t rows = 0;           ///< in the file, removed ones included
  std::int64_t removed = 0;        ///< removed by Index::without()
  std::int64_t positions = 0;      ///< Index::positions()
  std::int64_t next_row = 0;       ///< Index::next_row() minus first_row
  std::int64_t dims = 0;           ///< columns of rows and queries as given
  std::int64_t features = 0;       ///< columns that count, which a row in the file has
  std::int64_t first_row = 0;
  float largest = 0;              ///< IndexOptions::largest
  bool centred = false;           ///< a centre was subtracted from the rows in the file
  bool periodic = false;          ///< the rows in the file are in a periodic box: IndexOptions::box
  bool prepared = false;          ///< the rows in the file are prepared for the metric, or weighted
  std::int64_t groups = 0;        ///< groups of rows, empty ones included; 0: the rows have none
  std::uint64_t rows_offset = 0;  ///< bytes from the beginning of the file to the first row
  std::vector<IndexFileSection> sections;
};

/// Reads only the head of a file, which is its first 4096 bytes: what follows may be damaged. Throws bad_file
/// as open_index() does for these bytes and for the size of the file.
KITH_API IndexFileInfo index_file_info(const std::string& path);

/// Holds rows of an index file in host memory.
struct IndexFileRows {
  Element element = Element::f32;
  std::int64_t rows = 0;
  std::int64_t cols = 0;  ///< for bits, the number of bits
  /// [cols]  the columns of the rows as given that are here; empty: all.
  std::vector<std::int64_t> features = {};
  std::vector<unsigned char> data = {};  ///< [rows, row_bytes(element, cols)]
  std::vector<double> centre = {};       ///< [cols] subtracted from the rows; empty: nothing
  std::vector<double> box = {};          ///< [cols] in which the rows are; empty: there is none
};

/// Reads rows, removed ones included, and compares each byte with the checksums. For cosine they are unit
/// rows; with a centre, the rows minus the centre; for a prepared metric, the prepared rows. Throws as
/// open_index() does, but checks no values.
KITH_API IndexFileRows read_index_rows(const std::string& path, const OpenOptions& options = {});

/// Compares every byte with the checksums. Throws bad_file as open_index() does, but checks no rows.
KITH_API void verify_index_file(const std::string& path, const OpenOptions& options = {});

}  // namespace kith
