// Functions on texts. The namespace is not kith, because shell.hpp, whose kith() runs the command, includes
// this file, folder.hpp and pipe.hpp.
#pragma once

#include <fstream>
#include <string>

namespace test_support {

/// Returns the contents of a file; empty if there is no such file.
inline std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text, piece(1 << 16, '\0');
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0)
    text.append(piece, 0, static_cast<std::size_t>(file.gcount()));
  return text;
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
  return found;
}

}  // namespace test_support
