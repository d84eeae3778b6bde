// Where rows lie in a file, one behind the other, by what its head says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "index_file/index_layout.hpp"
#include "kith/source.hpp"

namespace kith {

inline constexpr const char* source_where = "source";  ///< what begins messages

struct SourceLayout {
  RowsInfo rows;
  std::uint64_t offset = 0;               ///< of row 0 in the file
  std::optional<IndexLayout> index = {};  ///< of a .kidx
};

/// By the ending of `path`.
///   fd     opened to be read
///   bytes  of the file
/// Throws bad_file, unsupported: why, without the name of the file.
SourceLayout source_layout(const std::string& path, int fd, std::uint64_t bytes);

}  // namespace kith
