// Gives training rows by ranges, so that they need not all be in memory: docs/howto/beyond-one-card.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kith/choices.hpp"
#include "kith/export.hpp"
#include "kith/rows_view.hpp"

namespace kith {

/// Holds the shape of rows, and their element.
struct RowsInfo {
  std::int64_t rows = 0;
  std::int64_t cols = 0;  ///< for bits, the number of bits
  Element element = Element::f32;

  bool operator==(const RowsInfo&) const = default;
};

/// Gives the rows of a file, a database or any other store. Everything that kith makes of a Source keeps
/// it alive.
class KITH_API Source {
 public:
  Source() = default;
  virtual ~Source();
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /// Returns the shape, which must be the same each time.
  virtual RowsInfo info() const = 0;

  /// Reads rows first, first + 1, ..., first + count - 1 without gaps. Several threads call it at once. The
  /// same rows must have the same bytes each time. An exception ends the search and reaches its caller.
  ///   to  [count, row_bytes(element, cols)]  out
  virtual void read(std::int64_t first, std::int64_t count, void* to) const = 0;

  /// Returns all rows if they are in the host's memory, so that they need not be copied; else nothing.
  virtual std::optional<RowsView> in_memory() const;

  /// Returns a number that changes when any byte of the rows changes: by it a checkpoint of other rows is
  /// refused. The default, 0, means unknown; then some hundred rows are compared instead.
  virtual std::uint64_t state() const;

  /// Returns its name for messages, such as the name of a file. Default: `the source`.
  virtual std::string name() const;

  /// Returns what was already subtracted from each column of its rows: an Index of them has this centre
  /// (IndexOptions::centre). Empty, which is the default: nothing.
  virtual std::vector<double> centre() const;
};

/// Makes a Source of rows in memory, which the caller keeps and does not change while the Source, or anything
/// made of it, exists. Memory that maps a file is copied by the kernel, part by part: if the file is
/// truncated, a read throws bad_file instead of ending the process by a signal.
/// Throws invalid_argument: no address, rows that overlap.
///        unsupported:      rows on a device.
KITH_API std::shared_ptr<const Source> memory_source(const RowsView& rows);

/// Makes a Source of the rows of a file, which stays open. It reads ranges from the disk and maps no memory.
///
///   .npy                          C order, 1 axis or more (all behind the first are columns): f4, f8, f2,
///                                 u1, i1, i4, u4 or i8, of this machine's byte order
///   .fbin .f16bin .u8bin .i8bin   rows and columns as two little-endian u32, then the rows
///   .kidx                         an index file that holds the rows as given: not of cosine, whose rows are
///                                 divided by their norm, and without features, removed rows, ids or
///                                 first_row; each block is compared with its checksum when it is first
///                                 read. A centre is kept
///
///   element  bits: each byte of a file of u8 is 8 columns; else the element of the file
/// Throws bad_file:    the file is missing, foreign, or shorter or longer than its head says. Later, from
///                     read(): the file has changed (its size, or one of its times of change), or cannot be
///                     read; the message names the file and the row.
///        unsupported: another kind of file or of elements (says what to do).
KITH_API std::shared_ptr<const Source> file_source(const std::string& path,
                                                   std::optional<Element> element = {});

/// Returns whether file_source() reads files with this name.
KITH_API bool is_source_file(std::string_view path);

/// Returns `automatic`, `resident`, `stream` or `quantized`.
KITH_API std::string_view name(Residence residence);

}  // namespace kith
