// What an index file holds, and where: docs/contract.md, section 9.
//
//   0            the head, 4096 bytes: what the file is, a table of its sections, a checksum of the head
//   4096         the body: sections, each from a page of 4096 bytes on, zeros between them
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

namespace kith {

inline constexpr std::string_view index_where = "index file";  ///< what begins messages
inline constexpr std::string_view index_magic = "\x93kithidx";
inline constexpr std::uint64_t index_version = 1;
inline constexpr std::uint64_t index_head_bytes = 4096, index_page_bytes = 4096;
/// Bytes that one checksum is of: XXH64 over the XXH64 of each MiB of them, so that several threads make it.
inline constexpr std::uint64_t index_block_bytes = std::uint64_t{1} << 26,
                               index_piece_bytes = std::uint64_t{1} << 20;

inline constexpr std::string_view rows_section = "rows", unit_rows_section = "unit_rows",
                                  features_section = "features", positions_section = "positions",
                                  ids_section = "ids", removed_section = "removed", centre_section = "centre";
inline constexpr std::int64_t removed_bits_a_word = 32;
inline constexpr std::int64_t index_bytes = sizeof(std::int64_t);  ///< of a number in the file
inline constexpr std::uint64_t index_table_at = 120;               ///< where the table of sections begins

/// A file as its head says.
struct IndexLayout {
  IndexFileInfo info;
  std::uint64_t body_bytes = 0;

  /// Null where there is none.
  const IndexFileSection* find(std::string_view section) const;
  /// Those of a layout that was checked.
  const IndexFileSection& rows() const;
  std::uint64_t blocks() const { return (body_bytes + index_block_bytes - 1) / index_block_bytes; }
  std::uint64_t body_end() const { return index_head_bytes + body_bytes; }
};

/// Rows first, first + 1, ... of a file.
struct IndexPart {
  std::int64_t first = 0, rows = 0;
};

/// What of `section` is about rows of a part: rows, positions and ids themselves, of `removed` the words with
/// their bits; of any other section all.
IndexFileSection section_of(const IndexLayout& layout, const IndexFileSection& section,
                            const IndexPart& part);

/// Lay out what is told of `info` beside version, bytes and sections.
///   positions, ids  whether there are such sections
IndexLayout layout_of(IndexFileInfo info, bool positions, bool ids);

/// [index_head_bytes]
std::vector<unsigned char> head_of(const IndexLayout& layout);

/// What a head says, if this kith can read it.
///   head   [index_head_bytes], or fewer: the file is shorter
///   bytes  of the file
/// Throws bad_file: "byte N: ...".
IndexLayout read_head(std::span<const unsigned char> head, std::uint64_t bytes);

/// The columns that count, as they stand in the bytes of their section.
/// Throws bad_file: they do not ascend, or are none.
std::vector<std::int64_t> features_from(const std::vector<unsigned char>& bytes, const IndexLayout& layout);

/// The centre of the columns that count, as it stands in the bytes of its section.
/// Throws bad_file: a value is not finite.
std::vector<double> centre_from(const std::vector<unsigned char>& bytes, const IndexLayout& layout);

/// Throw bad_file, "byte N: WHY".
[[noreturn]] void refuse_index_file(std::uint64_t byte, const std::string& why);

}  // namespace kith
