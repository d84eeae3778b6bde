#include "files/text/decorated.hpp"

#include <algorithm>
#include <array>

#include "files/source.hpp"
#include "files/text/number.hpp"

namespace kith::files {
namespace {

void trim(std::string_view& text) {
  constexpr std::array<std::string_view, 3> blanks = {" ", "\xC2\xA0", "\xE2\x80\xAF"};  // also no-break ones
  for (bool again = true; again;) {
    again = false;
    for (std::string_view blank : blanks) {
      if (text.starts_with(blank)) text.remove_prefix(blank.size()), again = true;
      if (text.ends_with(blank)) text.remove_suffix(blank.size()), again = true;
    }
  }
}

constexpr std::array<std::string_view, 19> symbols = {"%",   "$",   "€",   "£",   "¥",   "₹",   "₽",
                                                      "₩",   "‰",   "°",   "US$", "USD", "EUR", "GBP",
                                                      "CHF", "JPY", "CNY", "INR", "Rs"};

/// Take one of the symbols off the front or the end; it becomes `what`.
bool take_symbol(std::string_view& text, bool front, std::string& what) {
  std::string_view longest;
  for (std::string_view symbol : symbols)
    if ((front ? text.starts_with(symbol) : text.ends_with(symbol)) && symbol.size() > longest.size())
      longest = symbol;
  if (longest.empty() || longest.size() == text.size()) return false;
  if (front)
    text.remove_prefix(longest.size());
  else
    text.remove_suffix(longest.size());
  trim(text);
  what = longest;
  return true;
}

bool take_sign(std::string_view& text) {
  if (text.empty() || (text[0] != '-' && text[0] != '+')) return false;
  text.remove_prefix(1);
  trim(text);
  return true;
}

/// U+2212, which looks like the sign of the keyboard.
bool take_typeset_minus(std::string_view& text) {
  constexpr std::string_view minus = "\xE2\x88\x92";
  if (!text.starts_with(minus)) return false;
  text.remove_prefix(minus.size());
  trim(text);
  return true;
}

/// Groups of three digits with `separator` between them, the first shorter perhaps; then a decimal part.
bool has_groups(std::string_view text, std::string_view separator, bool& fraction) {
  std::size_t first = text.find(separator);
  if (first == std::string_view::npos || first > 3 || !all_digits(text.substr(0, first))) return false;
  text.remove_prefix(first);
  while (text.starts_with(separator)) {
    text.remove_prefix(separator.size());
    if (text.size() < 3 || !all_digits(text.substr(0, 3))) return false;
    text.remove_prefix(3);
  }
  fraction = !text.empty();
  if (!fraction) return true;
  const char decimal = text[0];
  return (decimal == '.' || decimal == ',') && separator[0] != decimal &&
         (text.size() == 1 || all_digits(text.substr(1)));
}

/// As in India: two digits between commas, and three behind the last, 12,34,567; then a decimal part.
bool has_indian_groups(std::string_view text) {
  text = text.substr(0, text.find('.'));
  const std::size_t last = text.rfind(',');
  if (last == std::string_view::npos || text.size() - last != 4 || !all_digits(text.substr(last + 1)))
    return false;
  text = text.substr(0, last);
  while (text.size() > 2 && text[text.size() - 3] == ',' && all_digits(text.substr(text.size() - 2)))
    text.remove_suffix(3);
  return text.size() <= 2 && all_digits(text);
}

/// What separates the thousands of an unsigned number; none: it is not so written.
Decoration::Kind grouping_of(std::string_view text, char decimal) {
  constexpr std::array<std::string_view, 7> separators = {",", ".",        " ",           "'",
                                                          "_", "\xC2\xA0", "\xE2\x80\xAF"};
  for (std::string_view separator : separators) {
    bool fraction = false;
    if (!has_groups(text, separator, fraction)) continue;
    const bool once = text.find(separator) == text.rfind(separator);
    const bool may_be_decimal =
        once && !fraction && text[0] != '0' && separator == (decimal == '.' ? "," : ".");
    if (text[0] == '0' && once && separator.size() == 1 && (separator == "," || separator == ".")) continue;
    return may_be_decimal ? Decoration::either : Decoration::thousands;
  }
  return has_indian_groups(text) ? Decoration::thousands : Decoration::none;
}

/// 1.5D3, 1d-05.
bool has_fortran_exponent(std::string_view text) {
  std::string number(text);
  const std::size_t letter = number.find_first_of("dD");
  if (letter == std::string::npos) return false;
  number[letter] = 'e';
  return parse_number(number).kind == Number::finite;
}

/// The kind of an unsigned number without anything before or behind it; `plain` where it is none of these.
Decoration::Kind kind_of(std::string_view text, char decimal, bool& plain) {
  plain = false;
  if (text.empty() || !(is_digit(text[0]) || text[0] == '.' || text[0] == ',')) return Decoration::none;
  plain = parse_number(text, decimal).kind == Number::finite;
  if (plain) return Decoration::none;
  if (const Decoration::Kind grouped = grouping_of(text, decimal); grouped != Decoration::none)
    return grouped;
  if (parse_number(text, decimal == '.' ? ',' : '.').kind == Number::finite)
    return decimal == '.' ? Decoration::comma : Decoration::point;
  return has_fortran_exponent(text) ? Decoration::exponent : Decoration::none;
}

/// The sign of a base other than ten before digits of it; empty: there is none.
std::string_view base_of(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> bases = {
      {{"0x", "0123456789abcdefABCDEF"}, {"0o", "01234567"}, {"0b", "01"}}};
  for (const auto& [sign, digits] : bases)
    if (text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == sign[1] &&
        text.find_first_not_of(digits, 2) == std::string_view::npos)
      return sign;
  return {};
}

/// Take letters off the end, as many as units have; they become `what`.
bool take_unit(std::string_view& text, std::string& what) {
  std::size_t begin = text.size();
  while (begin > 0 && is_letter(text[begin - 1])) --begin;
  constexpr std::size_t longest = 6;
  if (begin == 0 || begin == text.size() || text.size() - begin > longest) return false;
  what = text.substr(begin);
  text = text.substr(0, begin);
  trim(text);
  return true;
}

}  // namespace

Decoration decoration_of(std::string_view text, char decimal) {
  trim(text);
  if (parse_number(text, decimal).kind != Number::not_a_number) return {};
  std::string what;
  bool symbol = false;
  if (text.size() > 2 && text.front() == '(' && text.back() == ')') {
    text = text.substr(1, text.size() - 2);
    trim(text);
    symbol = true, what = "()";
  }
  const bool typeset = take_typeset_minus(text);
  take_sign(text);
  symbol |= take_symbol(text, true, what);
  take_sign(text);
  symbol |= take_symbol(text, false, what);
  if (const std::string_view base = base_of(text); !base.empty())
    return {Decoration::base, std::string(base)};
  bool plain = false;
  Decoration::Kind kind = kind_of(text, decimal, plain);
  if (kind == Decoration::none && !plain) {
    std::string unit;
    if (symbol || !take_unit(text, unit)) return {};
    kind = kind_of(text, decimal, plain);
    if (kind == Decoration::none && !plain) return {};
    return {Decoration::unit, unit};
  }
  if (symbol) return {Decoration::symbol, what};
  if (typeset && (plain || kind == Decoration::none)) return {Decoration::minus, {}};
  if (kind == Decoration::either) what = decimal == '.' ? "comma" : "point";
  return {kind, what};
}

std::string undecorating_advice(const Decoration& decoration) {
  switch (decoration.kind) {
    case Decoration::comma:
      return "say --decimal comma if the comma is a decimal sign";
    case Decoration::point:
      return "say --decimal point if the point is a decimal sign";
    case Decoration::either:
      return "say --decimal " + decoration.what + " if the " + decoration.what +
             " is a decimal sign, or take the separators of thousands out";
    case Decoration::thousands:
      return "take the separators of thousands out";
    case Decoration::symbol:
      return "take the " + in_quotes(decoration.what) + " off";
    case Decoration::minus:
      return "its sign is U+2212: write the minus of the keyboard";
    case Decoration::exponent:
      return "write E in place of D";
    case Decoration::base:
      return "write it in decimal, as 31 in place of 0x1F";
    default:
      return {};
  }
}

bool is_magnitude(std::string_view unit) {
  constexpr std::string_view letters = "kKMGTB";
  return !unit.empty() && letters.find(unit[0]) != std::string_view::npos &&
         (unit.size() == 1 || (unit.size() == 2 && unit[1] == 'i'));
}

bool is_decimal_comma(std::string_view text) {
  return text.find(',') != std::string_view::npos && decoration_of(text).kind == Decoration::comma;
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
