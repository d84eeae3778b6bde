#include "files/text/number.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "files/source.hpp"

namespace kith::files {
namespace {

/// A number that from_chars() found outside the range of float32: beyond it, or so small that it is 0
/// or the smallest subnormal? Its decimal exponent tells: floats end at 1e39 and 1e-46.
Number out_of_range(std::string_view text) {
  double wide = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), wide).ec == std::errc()) {
    if (std::fabs(wide) > 1) return {Number::too_large, 0};
    return {Number::finite, static_cast<float>(wide)};
  }
  const bool negative = text[0] == '-';
  const std::size_t exponent_at = std::min(text.find_first_of("eE"), text.size());
  const std::string_view digits = text.substr(0, exponent_at);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) return {Number::finite, negative ? -0.0f : 0.0f};
  const bool small_exponent = exponent_at + 1 < text.size() && text[exponent_at + 1] == '-';
  // Even double cannot hold it, so either the exponent or the run of digits decides, and by far.
  const bool small = exponent_at < text.size() ? small_exponent : first > point;
  if (small) return {Number::finite, negative ? -0.0f : 0.0f};
  return {Number::too_large, 0};
}

/// Returns `text` with its decimal comma replaced by a point. If `text` has a point, or ends in the comma, it
/// returns "?", which is no number, so that the text is refused.
std::string with_point(std::string_view text) {
  std::string result(text);
  if (result.find('.') != std::string::npos || result.ends_with(',')) return "?";
  if (const std::size_t comma = result.find(','); comma != std::string::npos) result[comma] = '.';
  return result;
}

constexpr std::size_t short_digits = 7;  // a whole number of so many is below 2^24

bool is_short_whole(std::string_view text) {
  return text.size() <= short_digits && all_digits(text);
}

}  // namespace

bool is_like_number(std::string_view text) {
  for (const char c : text) {
    if (is_digit(c)) return true;
    // Signs beyond ASCII begin with these bytes of UTF-8 (euro, pound, no-break spaces, minus); letters do
    // not.
    const auto byte = static_cast<unsigned char>(c);
    if (is_letter(c) || (byte >= 0xC3 && byte != 0xE2)) return false;
  }
  return false;
}

std::string number_advice(std::string_view text, char decimal) {
  const char other = decimal == '.' ? ',' : '.';
  if (parse_number(text, other).kind == Number::finite)
    return std::string("say --csv decimal=") + other + " if the " + (other == ',' ? "comma" : "point") +
           " is the decimal sign";
  const std::size_t between = text.find_first_of(" \t;|,");
  if (between != std::string_view::npos && parse_number(text.substr(0, between)).kind == Number::finite)
    return "say --csv sep= if it is several cells, or write it as a plain number, such as -1234.5";
  return "write it as a plain number, such as -1234.5";
}

Number parse_number(std::string_view text) {
  if (is_short_whole(text)) {
    std::int32_t whole = 0;
    for (char c : text) whole = whole * 10 + (c - '0');
    return {Number::finite, static_cast<float>(whole)};
  }
  if (text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+') text.remove_prefix(1);
  Number number;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number.value);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) return {};
  if (error == std::errc::result_out_of_range) return out_of_range(text);
  if (std::isnan(number.value)) return {Number::nan, 0};
  if (std::isinf(number.value)) {
    const bool word = text.find_first_of("iI") != std::string_view::npos;
    return {word ? Number::infinite : Number::too_large, 0};
  }
  number.kind = Number::finite;
  return number;
}

Number parse_number(std::string_view text, char decimal, bool wide) {
  const bool as_it_is = decimal == '.' || text.find_first_of(".,") == std::string_view::npos;
  const Number number = as_it_is ? parse_number(text) : parse_number(with_point(text));
  if (!wide || number.kind != Number::too_large) return number;
  const WideNumber exact = parse_wide(text, decimal);
  return {exact.kind, exact.kind == Number::finite ? static_cast<float>(exact.value) : 0};
}

WideNumber parse_wide(std::string_view text, char decimal) {
  if (decimal == '.' || text.find_first_of(".,") == std::string_view::npos) return parse_wide(text);
  return parse_wide(with_point(text));
}

WideNumber parse_wide(std::string_view text) {
  const Number narrow = parse_number(text);
  if (narrow.kind != Number::finite && narrow.kind != Number::too_large) return {narrow.kind, 0};
  if (text[0] == '+') text.remove_prefix(1);
  double value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc())
    return {Number::finite, value};
  return {narrow.kind, narrow.value};  // beyond float64, hence beyond float32; or too small for both
}

double wide_of(std::string_view text, float value, char decimal) {
  if (std::isnan(value) || is_short_whole(text)) return static_cast<double>(value);
  return parse_wide(text, decimal).value;
}

bool parse_whole(std::string_view text, std::int64_t& value) {
  if (text.size() > 1 && text[0] == '+' && is_digit(text[1])) text.remove_prefix(1);
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error == std::errc() && end == last) return true;
  double wide = 0;
  const auto [wide_end, wide_error] = std::from_chars(text.data(), last, wide);
  if (wide_error != std::errc() || wide_end != last) return false;
  if (!(std::fabs(wide) <= 0x1p53) || wide != std::trunc(wide)) return false;  // also NaN
  value = static_cast<std::int64_t>(wide);
  return true;
}

std::string why_not(Number::Kind kind, std::string_view text, char decimal, std::string_view advice) {
  switch (kind) {
    case Number::nan:
      return "holds NaN; make every value finite, or leave the row out";
    case Number::infinite:
      return "holds an infinity; make every value finite, or leave the row out";
    case Number::too_large:
      return "holds " + in_quotes(text) + ", beyond the largest float32, 3.4e38; " + std::string(advice);
    default:
      break;
  }
  if (text.empty()) return "is empty; every cell needs a value: fill it in or leave the row out";
  return "holds " + in_quotes(text) + " where a number belongs; " +
         (is_like_number(text) ? number_advice(text, decimal) : "correct it or leave the row out");
}

std::string why_not_wide(Number::Kind kind, std::string_view text, char decimal) {
  if (kind != Number::too_large) return why_not(kind, text, decimal);
  return "holds " + in_quotes(text) + ", beyond the largest float64, 1.7e308; " + std::string(scale_down);
}

bool is_plain_mark(std::string_view text) {
  return std::find(plain_marks.begin(), plain_marks.end(), text) != plain_marks.end();
}

bool is_missing_marker(std::string_view text) {
  constexpr std::size_t longest = 4;
  if (text.size() > longest) return false;
  return text.empty() || text == "-" || text == "." || text == "*" || is_plain_mark(text);
}

bool is_missing(Number::Kind kind, std::string_view text) {
  return kind == Number::nan || (kind == Number::not_a_number && is_missing_marker(text));
}

bool is_missing(std::string_view text) {
  return is_missing(parse_number(text).kind, text);
}

}  // namespace kith::files
