// Text in other encodings, as UTF-8; and whether a text is UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kith::files {

/// latin1: ISO 8859-1, a byte a character. utf16: either byte order, as its byte order mark says.
enum class Encoding { utf8, latin1, windows1252, utf16, utf16le, utf16be };

/// Pieces of a file in one of the encodings, one after the other, as UTF-8. A byte order mark stays one.
class Decoder {
 public:
  explicit Decoder(Encoding encoding) : encoding_(encoding) {}

  /// Append the characters of `bytes` to `to`; what is left of a character begins the next piece.
  /// last  no more pieces follow
  /// Returns what is wrong with them: `holds ...; ...`; empty: nothing.
  std::string decode(std::string_view bytes, bool last, std::string& to);

 private:
  std::string decode_utf16(std::string_view bytes, bool last, std::string& to);
  std::string take_unit(std::uint32_t unit, std::string& to);
  std::string place() const { return "at byte " + std::to_string(position_); }

  Encoding encoding_;
  std::uint64_t position_ = 0;  ///< in the file, of the character that comes next
  std::string left_;            ///< UTF-16: the first byte of a unit
  std::uint32_t high_ = 0;      ///< UTF-16: the first half of a surrogate pair, or 0
};

/// Whether it is plain ASCII without zero bytes. Fast.
bool is_plain_ascii(std::string_view text);

/// The first byte that belongs to no UTF-8 character; text.size(): there is none.
std::size_t first_not_utf8(std::string_view text);

}  // namespace kith::files
