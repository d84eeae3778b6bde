// An Index as a file, `.kidx`: docs/contract.md, section 9; docs/howto/index-files.md.
//
// A file holds the rows as the caller gave them, in their own element, and all else that makes an Index:
// opened on any device it gives the same bits as the Index that was saved.
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

/// Write an index. The file appears whole or not at all. Host memory for about 100 MiB is needed, however
/// many rows there are.
///
/// Rows stand in the element they were given in; where `with` added rows of another, as f32, which holds all
/// of them. For cosine the rows that are searched stand there, which are unit rows and f32. Of rows with
/// features only the columns that count are there, of an Index with a centre the rows less that. Throws
/// bad_file: it cannot be written (says why).
///        interrupted: options.stop asked for it before the file was in its place.
KITH_API void save(const Index& index, const std::string& path, const SaveOptions& options = {});

/// Read an index to a device: block by block, so that the rows are never all in host memory. Every byte is
/// compared with the checksums of the file; of a part, the blocks of 64 MiB that it needs.
/// Throws bad_file: missing, foreign, of another version, of another byte order, cut or longer than it
///                  should be, damaged, or with rows that no Index has (says where).
///        out_of_memory: the rows do not fit on the device.
///        invalid_argument: the file has no such rows; a `largest` below an element, as for IndexOptions.
///        interrupted:   options.stop asked for it.
KITH_API Index open_index(const std::string& path, Device device, const OpenOptions& options = {});

/// A part of an index file.
struct IndexFileSection {
  std::string name;          ///< `rows`, `unit_rows` (of cosine), `features`, `centre`, `positions`, `ids`,
                             ///< `removed`
  std::string element;       ///< an Element by name, `i64`, `u32`
  std::uint64_t offset = 0;  ///< of its first byte in the file
  std::uint64_t bytes = 0;
  bool needed = true;  ///< a kith that does not know it refuses the file
};

/// What the head of an index file says.
struct IndexFileInfo {
  std::uint64_t version = 0, bytes = 0;
  Metric metric = default_metric;
  Element element = Element::f32;  ///< of the rows in the file
  std::int64_t rows = 0;           ///< in the file, those that are removed included
  std::int64_t removed = 0;        ///< by Index::without()
  std::int64_t positions = 0;      ///< Index::positions()
  std::int64_t next_row = 0;       ///< Index::next_row(), less first_row
  std::int64_t dims = 0;           ///< columns of rows and queries, as given
  std::int64_t features = 0;       ///< columns that count, as many as a row in the file has
  std::int64_t first_row = 0;
  float largest = 0;              ///< IndexOptions::largest
  bool centred = false;           ///< it has a centre, which was subtracted from the rows in the file
  std::uint64_t rows_offset = 0;  ///< of the first row, in bytes
  std::vector<IndexFileSection> sections;
};

/// Reads the first 4096 bytes alone: what follows may be damaged.
/// Throws bad_file: as open_index() does for these bytes and for the size of the file.
KITH_API IndexFileInfo index_file_info(const std::string& path);

/// The rows of an index file in host memory.
struct IndexFileRows {
  Element element = Element::f32;
  std::int64_t rows = 0;
  std::int64_t cols = 0;  ///< of bits their number
  std::vector<std::int64_t> features =
      {};  ///< [cols] the columns that these are of the rows as given; empty: all
  std::vector<unsigned char> data = {};  ///< [rows, row_bytes(element, cols)]
  std::vector<double> centre = {};       ///< [cols] what was subtracted from them; empty: nothing
};

/// Read rows, those that are removed included, each byte compared with the checksums. Of cosine they are
/// unit rows, of an Index with a centre the rows less that. Throws as open_index() does, but looks at no
/// value.
KITH_API IndexFileRows read_index_rows(const std::string& path, const OpenOptions& options = {});

/// Compare every byte with the checksums.
/// Throws bad_file: as open_index() does, but looks at no row.
KITH_API void verify_index_file(const std::string& path, const OpenOptions& options = {});

}  // namespace kith
