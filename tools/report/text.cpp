#include "report/text.hpp"

#include <ctime>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "kith/version.hpp"

namespace kith::report {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// Bytes of the UTF-8 character at the front of `text`; 0 when there is none.
std::size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  std::size_t length = 0;
  if (lead < 0x80) return lead < 0x20 && lead != '\t' && lead != '\n' ? 0 : 1;
  if (lead >= 0xC2 && lead < 0xE0)
    length = 2;
  else if (lead >= 0xE0 && lead < 0xF0)
    length = 3;
  else if (lead >= 0xF0 && lead < 0xF5)
    length = 4;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if (!is_continuation(text[i])) return 0;
  // Too long a form, half of a UTF-16 pair, beyond the last character: no UTF-8. U+FFFE, U+FFFF: no
  // character.
  const auto second = static_cast<unsigned char>(text[1]);
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second >= 0xA0) ||
      (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second >= 0x90) ||
      text.starts_with("\xEF\xBF\xBE") || text.starts_with("\xEF\xBF\xBF"))
    return 0;
  return length;
}

std::string formatted(const char* format, auto... values) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

}  // namespace

std::string escape(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const char c = text[0];
    if (length == 0)
      result += replacement;
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

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3;) digits.insert(i -= 3, ",");
  return digits;
}

std::string percent(double share, int decimals) {
  if (std::isnan(share)) return "–";
  // The digits of `share` with the point moved, so that 0.9507 in the terminal is 95.07 % here.
  std::string digits = formatted("%.*f", decimals + 2, share);
  const std::size_t point = digits.find('.');
  digits.erase(point, 1);
  if (decimals > 0) digits.insert(point + 2, ".");
  const std::size_t first = std::min(digits.find_first_not_of('0'), point + 1);
  return digits.substr(first) + " %";
}

std::string decimal(double value, int decimals) {
  return formatted("%.*f", decimals, value);
}

std::string shortest(float value) {
  if (std::isfinite(value) && value == std::round(value) && std::fabs(value) < 1e7f)
    return grouped(static_cast<std::int64_t>(value));
  return formatted("%.6g", static_cast<double>(value));
}

std::string seconds_text(double seconds) {
  if (seconds >= 10) return formatted("%.1f s", seconds);
  if (seconds >= 1) return formatted("%.2f s", seconds);
  if (seconds >= 1e-3) return formatted("%.1f ms", seconds * 1e3);
  return formatted("%.1f µs", seconds * 1e6);
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
  const std::string version = std::to_string(KITH_VERSION_MAJOR) + "." + std::to_string(KITH_VERSION_MINOR) +
                              "." + std::to_string(KITH_VERSION_PATCH);
  return "Written by kith " + version + " on " + time.data() + ".";
}

}  // namespace kith::report
