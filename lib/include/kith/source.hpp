// Training rows that are read by ranges, so that they need not all be in memory:
// docs/howto/beyond-one-card.md.
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

/// The shape of rows, and what they are made of.
struct RowsInfo {
  std::int64_t rows = 0;
  std::int64_t cols = 0;  ///< of bits their number
  Element element = Element::f32;

  bool operator==(const RowsInfo&) const = default;
};

/// Rows of a file, a database or whatever a program has. What kith makes of one keeps it.
class KITH_API Source {
 public:
  Source() = default;
  virtual ~Source();
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /// The same each time.
  virtual RowsInfo info() const = 0;

  /// Read rows first, first + 1, ..., first + count - 1, one right behind the other. Several threads call it
  /// at once. The same rows have the same bytes each time. What it throws ends the search and reaches the
  /// caller of that.
  ///   to  [count, row_bytes(element, cols)]  out
  virtual void read(std::int64_t first, std::int64_t count, void* to) const = 0;

  /// Where all rows lie in the host's memory, so that they need not be copied; nothing where they do not.
  virtual std::optional<RowsView> in_memory() const;

  /// A number that is another one where any byte of the rows may be another: a checkpoint of other rows is
  /// refused by it. 0, as where a class of the caller does not say: some hundred rows are looked at instead.
  virtual std::uint64_t state() const;

  /// How messages call it: the name of a file. `the source` where a class of the caller says nothing else.
  virtual std::string name() const;

  /// What was subtracted from its rows already, of each column: an Index of them has this centre
  /// (IndexOptions::centre). Empty, as where a class of the caller does not say: nothing.
  virtual std::vector<double> centre() const;
};

/// Rows in memory, which the caller keeps and does not change as long as there is the Source or what was made
/// of it. Memory that maps a file is copied by the kernel, part by part: where somebody cuts the file a read
/// is bad_file, and no signal ends the process. Throws invalid_argument: no address, rows that overlap;
/// unsupported: rows of a device.
KITH_API std::shared_ptr<const Source> memory_source(const RowsView& rows);

/// Rows of a file, which stays open. What is read is taken from the disk by ranges; no memory is mapped.
///
///   .npy                          C order, 1 axis or more (all behind the first are columns): f4, f2, u1
///                                 or i1, of this machine's byte order
///   .fbin .f16bin .u8bin .i8bin   rows and columns as two little-endian u32, then the rows
///   .kidx                         an index file, of rows as they were given: not of cosine, whose rows are
///                                 divided by their norm, nor with features, with removed rows, with ids or
///                                 with first_row; each block is compared with its checksum when it is first
///                                 read. A centre is kept
///
///   element  bits: each byte of a file of u8 is 8 columns; else it is what the file has
/// Throws bad_file:    missing, foreign, cut or longer than its head says. Later, from read(): the file has
///                     changed since (its size, or one of its times of change), or cannot be read; the
///                     message has the name of the file and the row.
///        unsupported: a kind of file or of elements that is not among these (says what to do).
KITH_API std::shared_ptr<const Source> file_source(const std::string& path,
                                                   std::optional<Element> element = {});

/// Whether file_source() reads files of this name.
KITH_API bool is_source_file(std::string_view path);

/// `automatic`, `resident`, `stream`, `quantized`.
KITH_API std::string_view name(Residence residence);

/// The residence called `text`, in any case.
///
/// Throws invalid_argument: there is none; the message names the nearest, or lists those there are.
KITH_API Residence parse_residence(std::string_view text);

}  // namespace kith
