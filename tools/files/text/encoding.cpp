#include "files/text/encoding.hpp"

#include <array>
#include <cstring>
#include <utility>

#include "files/shown.hpp"
#include "files/source.hpp"

namespace kith::files {
namespace {

/// Windows-1252 from 0x80 to 0x9F; 0: no character. Source: Unicode Consortium, CP1252.TXT.
constexpr std::array<std::uint16_t, 32> windows_1252 = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

void append_utf8(std::uint32_t character, std::string& to) {
  const auto put = [&](std::uint32_t byte) { to += static_cast<char>(byte); };
  if (character < 0x80) return put(character);
  if (character < 0x800) {
    put(0xC0 | character >> 6);
  } else {
    if (character < 0x10000) {
      put(0xE0 | character >> 12);
    } else {
      put(0xF0 | character >> 18);
      put(0x80 | (character >> 12 & 0x3F));
    }
    put(0x80 | (character >> 6 & 0x3F));
  }
  put(0x80 | (character & 0x3F));
}

}  // namespace

std::string Decoder::decode(std::string_view bytes, bool last, std::string& to) {
  if (encoding_ == Encoding::utf8) return to += bytes, std::string();
  if (encoding_ != Encoding::latin1 && encoding_ != Encoding::windows1252)
    return decode_utf16(bytes, last, to);
  for (char c : bytes) {
    std::uint32_t character = static_cast<unsigned char>(c);
    if (encoding_ == Encoding::windows1252 && character >= 0x80 && character < 0xA0) {
      character = windows_1252[character - 0x80];
      if (character == 0)
        return "holds no character of windows-1252 " + place() + "; say another --csv encoding=";
    }
    append_utf8(character, to);
    ++position_;
  }
  return {};
}

/// The unit of 16 bits as a character, alone or with the one before it.
std::string Decoder::take_unit(std::uint32_t unit, std::string& to) {
  const bool low = unit >= 0xDC00 && unit < 0xE000;
  if ((high_ != 0) != low)
    return "holds half a character of UTF-16 " + place() + "; correct it, or say another --csv encoding=";
  if (low) {
    append_utf8(0x10000 + ((high_ - 0xD800) << 10) + (unit - 0xDC00), to);
    high_ = 0;
  } else if (unit >= 0xD800 && unit < 0xDC00) {
    high_ = unit;
  } else {
    append_utf8(unit, to);
  }
  return {};
}

std::string Decoder::decode_utf16(std::string_view bytes, bool last, std::string& to) {
  std::string joined;
  if (!left_.empty()) {
    joined = std::exchange(left_, {}) + std::string(bytes);
    bytes = joined;
  }
  if (encoding_ == Encoding::utf16 && bytes.size() >= 2) {
    const bool little = bytes.starts_with("\xFF\xFE");
    if (!little && !bytes.starts_with("\xFE\xFF"))
      return "begins with no byte order mark; say --csv encoding=utf-16le or encoding=utf-16be";
    encoding_ = little ? Encoding::utf16le : Encoding::utf16be;
  }
  const std::size_t first = encoding_ == Encoding::utf16be ? 0 : 1;
  for (; bytes.size() >= 2; bytes.remove_prefix(2), position_ += 2) {
    const std::uint32_t upper = static_cast<unsigned char>(bytes[first]);
    const std::uint32_t lower = static_cast<unsigned char>(bytes[1 - first]);
    if (std::string why = take_unit(upper << 8 | lower, to); !why.empty()) return why;
  }
  left_ = bytes;
  if (last && (!left_.empty() || high_ != 0))
    return "ends within a character of UTF-16; it is truncated: copy or download it again, or say another "
           "--csv encoding=";
  return {};
}

bool is_plain_ascii(std::string_view text) {
  constexpr std::uint64_t ones = 0x0101010101010101, tops = 0x8080808080808080;
  std::size_t i = 0;
  std::uint64_t found = 0;  // the top bit of a byte: it is beyond ASCII, or 0
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + i, 8);
    found |= word | (word - ones);
  }
  for (; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == 0 || byte >= 0x80) return false;
  }
  return (found & tops) == 0;
}

std::size_t first_not_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const bool is_none = rest.starts_with("\xEF\xBF\xBE") || rest.starts_with("\xEF\xBF\xBF");  // yet UTF-8
    const std::size_t size = is_none ? 3 : character_length(rest);
    if (size == 0) return at;
    at += size;
  }
  return text.size();
}

}  // namespace kith::files
