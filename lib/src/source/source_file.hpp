// Finds where rows lie in a file, from its head.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "index_file/index_layout.hpp"
#include "kith/source.hpp"

namespace kith {

inline constexpr const char* source_where = "source";  ///< begins messages

struct SourceLayout {
  RowsInfo rows;
  std::uint64_t offset = 0;               ///< place of row 0 in the file
  std::optional<IndexLayout> index = {};  ///< only for a .kidx
};

/// Reads the layout in the format that the ending of `path` names.
///   fd     open for reading
///   bytes  size of the file
/// Throws bad_file, unsupported: messages lack the name of the file.
SourceLayout source_layout(const std::string& path, int fd, std::uint64_t bytes);

}  // namespace kith
