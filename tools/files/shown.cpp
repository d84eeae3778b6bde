#include "files/shown.hpp"

#include <algorithm>
#include <cstdint>

#include "files/printed.hpp"

namespace kith::files {
namespace {

std::uint8_t byte_at(std::string_view text, std::size_t at) {
  return static_cast<std::uint8_t>(text[at]);
}

/// U+061C, U+200E, U+200F, U+202A ... U+202E and U+2066 ... U+2069; and U+2028, U+2029, which break lines.
bool turns_text(std::uint32_t code) {
  return code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

std::string written_out(std::string_view text, std::size_t length) {
  if (length > 0 && text[0] == '\n') return "\\n";
  if (length > 0 && text[0] == '\t') return "\\t";
  const std::uint32_t code = length == 0 ? byte_at(text, 0) : code_point(text.substr(0, length));
  return printed(length > 1 ? "\\u%04x" : "\\x%02x", static_cast<unsigned>(code));
}

std::string shown_but(std::string_view text, std::string_view stays) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = character_length(text), bytes = std::max<std::size_t>(length, 1);
    const bool as_it_is =
        stays.find(text[0]) != std::string_view::npos || (length > 0 && !is_obeyed(text, length));
    result += as_it_is ? std::string(text.substr(0, bytes)) : written_out(text, length);
    text.remove_prefix(bytes);
  }
  return result;
}

}  // namespace

std::uint32_t code_point(std::string_view character) {
  const std::size_t length = character.size();
  if (length == 1) return byte_at(character, 0);
  std::uint32_t code = byte_at(character, 0) & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) code = code << 6 | (byte_at(character, i) & 0x3Fu);
  return code;
}

std::size_t character_length(std::string_view text) {
  const std::uint8_t lead = byte_at(text, 0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte_at(text, i) & 0xC0) != 0x80) return 0;
  // Forms that are too long, halves of UTF-16 pairs, numbers beyond the last character; and two that are
  // none.
  const std::uint32_t code = code_point(text.substr(0, length));
  const bool wrong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000) || code > 0x10FFFF ||
                     (code >= 0xD800 && code <= 0xDFFF) || code == 0xFFFE || code == 0xFFFF;
  return wrong ? 0 : length;
}

bool is_obeyed(std::string_view text, std::size_t length) {
  const std::uint32_t code = code_point(text.substr(0, length));
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || turns_text(code);
}

std::string shown(std::string_view text) {
  return shown_but(text, "\n\t");
}

std::string shown_in_line(std::string_view text) {
  return shown_but(text, "");
}

}  // namespace kith::files
