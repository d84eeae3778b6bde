// Describes the layout of an index file: docs/contract.md, section 9.
//
//   0     the head, 4096 bytes: what the file is, a table of its sections, a checksum of the head
//   4096  the body: sections, each from a page of 4096 bytes on, zeros between them
//   4096 + body  a checksum of every block of 64 MiB of the body, then one of these checksums
//
// Numbers have the byte order of the machine that wrote the file; a mark tells which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/index_file.hpp"
#include "rows/prepared/prepared_metric.hpp"

namespace kith {

inline constexpr std::string_view index_where = "index file";  ///< begins messages
inline constexpr std::string_view index_magic = "\x93kithidx";
inline constexpr std::uint64_t index_version = 1;
inline constexpr std::uint64_t index_head_bytes = 4096, index_page_bytes = 4096;
/// Bytes that one checksum covers: it is XXH64 over the XXH64 of each MiB, so that several threads can
/// compute it.
inline constexpr std::uint64_t index_block_bytes = std::uint64_t{1} << 26,
                               index_piece_bytes = std::uint64_t{1} << 20;

inline constexpr std::string_view rows_section = "rows", unit_rows_section = "unit_rows",
                                  features_section = "features", positions_section = "positions",
                                  ids_section = "ids", removed_section = "removed", centre_section = "centre",
                                  box_section = "box", groups_section = "groups", degrees_section = "degrees";
inline constexpr std::int64_t removed_bits_a_word = 32;
inline constexpr std::int64_t index_bytes = sizeof(std::int64_t);  ///< bytes of a number in the file
inline constexpr std::uint64_t index_table_at = 120;               ///< where the table of sections begins

/// Describes a file by its head.
struct IndexLayout {
  IndexFileInfo info;
  std::uint64_t body_bytes = 0;

  /// Returns null if there is no such section.
  const IndexFileSection* find(std::string_view section) const;
  /// Returns the section of the rows; the layout must have been checked.
  const IndexFileSection& rows() const;
  std::uint64_t blocks() const { return (body_bytes + index_block_bytes - 1) / index_block_bytes; }
  std::uint64_t body_end() const { return index_head_bytes + body_bytes; }
};

/// Holds a range of rows of a file.
struct IndexPart {
  std::int64_t first = 0, rows = 0;
};

/// Returns the bytes of `section` that belong to a part: its rows, positions and ids; for `removed` the words
/// that hold its bits; all bytes of any other section.
IndexFileSection section_of(const IndexLayout& layout, const IndexFileSection& section,
                            const IndexPart& part);

/// Lays out a file for `info`, in which everything except version, bytes and sections is set.
///   positions, ids  whether there are such sections
///   borders         of groups of rows; 0: there is no such section
///   parameters      of the metric, of the columns that count
IndexLayout layout_of(IndexFileInfo info, bool positions, bool ids, std::size_t borders,
                      const MetricParameters& parameters);

/// Returns the bytes of the head, [index_head_bytes].
std::vector<unsigned char> head_of(const IndexLayout& layout);

/// Reads a head, if this kith can.
///   head   [index_head_bytes], or fewer if the file is shorter
///   bytes  size of the file
/// Throws bad_file: "byte N: ...".
IndexLayout read_head(std::span<const unsigned char> head, std::uint64_t bytes);

/// Returns the columns that count, from the bytes of their section. Throws bad_file if they do not ascend, or
/// are no columns.
std::vector<std::int64_t> features_from(const std::vector<unsigned char>& bytes, const IndexLayout& layout);

/// Returns the centre of the columns that count, from the bytes of its section. Throws bad_file if a value is
/// not finite.
std::vector<double> centre_from(const std::vector<unsigned char>& bytes, const IndexLayout& layout);
/// Returns the doubles of a section, such as the periodic box. They are not checked.
std::vector<double> doubles_from(const std::vector<unsigned char>& bytes);

/// Throws bad_file: "byte N: WHY".
[[noreturn]] void refuse_index_file(std::uint64_t byte, const std::string& why);

}  // namespace kith
