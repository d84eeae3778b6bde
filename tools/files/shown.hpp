// Text of somebody else's (labels, names of columns and files) for people to read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kith::files {

/// Bytes of the UTF-8 character at the front of `text`, which is not empty; 0 where there is none.
std::size_t character_length(std::string_view text);

/// The number of a UTF-8 character, which is whole: what character_length() has found.
std::uint32_t code_point(std::string_view character);

/// Whether the character at the front, of `length` bytes, is one that a terminal obeys instead of showing it:
/// control characters (C0, DEL, C1), and those that turn the direction of text.
bool is_obeyed(std::string_view text, std::size_t length);

/// `text` with what a terminal would obey written out: ESC as `\x1b`, U+202E as `\u202e`, and a byte that is
/// no UTF-8 as `\xe4`. Line feeds and tabs stay.
std::string shown(std::string_view text);

/// The same in one line: `\n` and `\t`, too.
std::string shown_in_line(std::string_view text);

}  // namespace kith::files
