#include "report/text.hpp"

#include <ctime>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>

#include "files/printed.hpp"
#include "files/shown.hpp"
#include "report/plain.hpp"

namespace kith::report {
namespace {

using files::printed;

constexpr std::string_view replacement = "\xEF\xBF\xBD";

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// Returns whether a code point is a control: C0 and C1, line separators, and those that embed, override or
/// isolate a direction.
bool is_control(std::uint32_t code) {
  return (code < 0x20 && code != '\t' && code != '\n') || (code >= 0x7F && code < 0xA0) ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

constexpr std::size_t longest_title = 400;  ///< characters of a name in a title

/// Writes line feeds and tabs as `\n` and `\t`.
std::string one_line(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '\n' ? "\\n" : c == '\t' ? "\\t" : std::string(1, c);
  return result;
}

/// Puts commas between the thousands of the digits that begin at `first`.
void set_commas(std::string& text, std::size_t first) {
  std::size_t end = first;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  while (end > first + 3) text.insert(end -= 3, ",");
}

}  // namespace

std::string escape(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = files::character_length(text);
    const char c = text[0];
    const std::uint32_t code = length > 0 ? files::code_point(text.substr(0, length)) : 0;
    if (length == 0)
      result += replacement;
    else if (is_control(code))
      result += printed(code < 0x80 ? "\\x%02x" : "\\u%04x", code);
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '&')
      result += "&amp;";
    else if (c == '"')
      result += "&quot;";
    else if (c == '\'')
      result += "&#39;";
    else
      result += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

std::string name_html(std::string_view text, std::size_t length) {
  const std::string whole = one_line(text);
  if (characters(whole) <= length) return "<bdi>" + escape(whole) + "</bdi>";
  return "<bdi title=\"" + escape(shortened(whole, longest_title)) + "\">" +
         escape(shortened(whole, length)) + "</bdi>";
}

std::string name_text(std::string_view text, std::size_t length) {
  const std::string name = escape(shortened(one_line(text), length));
  const bool ascii = std::all_of(name.begin(), name.end(), [](char c) { return (c & 0x80) == 0; });
  return ascii ? name : "\u2068" + name + "\u2069";
}

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  set_commas(digits, number < 0 ? 1 : 0);
  return digits;
}

std::string grouped_numbers(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (end == at) {
      result += text[at++];
      continue;
    }
    std::string digits(text.substr(at, end - at));
    const bool word = at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0 ||
                                 std::string_view("._,/").find(text[at - 1]) != std::string_view::npos);
    const bool value = at == 0 ? end == text.size() || text[end] == '.' : text.substr(0, at).ends_with("= ");
    if (digits[0] != '0' && !word && (digits.size() > 4 || value)) set_commas(digits, 0);
    result += digits;
    at = end;
  }
  return result;
}

std::string said(std::string_view text) {
  return escape(grouped_numbers(text));
}

std::string percent(double share, int decimals) {
  if (std::isnan(share)) return "–";
  // Moves the point in the digits of `share`, so that 0.9507 in the terminal is 95.07 % here.
  std::string digits = printed("%.*f", decimals + 2, share);
  const std::size_t point = digits.find('.');
  digits.erase(point, 1);
  if (decimals > 0) digits.insert(point + 2, ".");
  const std::size_t first = std::min(digits.find_first_not_of('0'), point + 1);
  return digits.substr(first) + " %";
}

std::string decimal(double value, int decimals) {
  return printed("%.*f", decimals, value);
}

std::string shortest(double value) {
  const double size = std::fabs(value);
  if (size < 1e15 && (value == std::round(value) || size >= 1e5)) return grouped(std::llround(value));
  std::string digits = printed("%.6g", value);
  if (digits.find('e') == std::string::npos) set_commas(digits, value < 0 ? 1 : 0);
  return digits;
}

std::string seconds_text(double seconds) {
  if (seconds >= 10) return printed("%.1f s", seconds);
  if (seconds >= 1) return printed("%.2f s", seconds);
  if (seconds >= 1e-3) return printed("%.1f ms", seconds * 1e3);
  return printed("%.1f µs", seconds * 1e6);
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

std::string shortened(std::string_view text, std::size_t length) {
  if (characters(text) <= length) return std::string(text);
  std::size_t end = 0;
  for (std::size_t count = 0; end < text.size(); ++end)
    if (!is_continuation(text[end]) && count++ == length - 1) break;
  return std::string(text.substr(0, end)) + "…";
}

std::string written_by() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> time{};
  std::strftime(time.data(), time.size(), "%Y-%m-%d %H:%M UTC", &parts);
  return "Written by kith " + version_number() + " on " + time.data() + ".";
}

}  // namespace kith::report
