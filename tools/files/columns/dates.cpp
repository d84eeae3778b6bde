#include "files/columns/dates.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "files/text/number.hpp"

namespace kith::files {
namespace {

/// The pieces of a text that are digits or letters, and what stands between them.
struct Pieces {
  std::vector<std::string_view> words;
  std::string between;  ///< one sign for each place between words
};

Pieces pieces_of(std::string_view text) {
  Pieces pieces;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    const auto kind = is_digit(text[at]) ? is_digit : is_letter;
    while (end < text.size() && kind(text[end])) ++end;
    if (end == at) {
      pieces.between += text[end++];
    } else {
      pieces.words.push_back(text.substr(at, end - at));
    }
    at = end;
  }
  return pieces;
}

bool is_month_name(std::string_view word) {
  constexpr std::array<std::string_view, 12> months = {"january",   "february", "march",    "april",
                                                       "may",       "june",     "july",     "august",
                                                       "september", "october",  "november", "december"};
  std::string lower(word);
  for (char& c : lower) c = static_cast<char>(c | 0x20);
  return lower.size() >= 3 && std::any_of(months.begin(), months.end(),
                                          [&](std::string_view month) { return month.starts_with(lower); });
}

bool is_short(std::string_view digits) {
  return all_digits(digits) && digits.size() <= 2;
}

bool is_year(std::string_view digits) {
  return all_digits(digits) && digits.size() == 4;
}

bool is_month(std::string_view digits) {
  return is_short(digits) && digits != "0" && digits != "00" && (digits.size() == 1 || digits <= "12");
}

/// 31-Jan-24, Jan 31, 2024, January 2024
bool is_date_in_words(const Pieces& pieces) {
  const std::vector<std::string_view>& words = pieces.words;
  if (words.size() < 2 || words.size() > 3) return false;
  if (std::count_if(words.begin(), words.end(), is_month_name) != 1) return false;
  return std::all_of(words.begin(), words.end(), [](std::string_view word) {
    return is_month_name(word) || is_short(word) || is_year(word);
  });
}

}  // namespace

bool looks_like_date(std::string_view text) {
  if (is_date_in_words(pieces_of(text))) return true;
  text = text.substr(0, text.find_first_of(" T"));
  const auto [words, between] = pieces_of(text);
  if (between.empty() || between.find_first_not_of(between[0]) != std::string::npos ||
      between.size() + 1 != words.size())
    return false;
  const bool slash = between[0] == '/';
  if (words.size() == 2 && (slash || between[0] == '-'))
    return (is_year(words[0]) && is_month(words[1])) || (is_month(words[0]) && is_year(words[1]));
  if (words.size() != 3 || !(slash || between[0] == '-' || between[0] == '.') || !is_short(words[1]))
    return false;
  return (is_year(words[0]) && is_short(words[2])) ||
         (is_short(words[0]) && (is_year(words[2]) || (is_short(words[2]) && words[2].size() == 2)));
}

bool looks_like_time(std::string_view text) {
  const auto [words, between] = pieces_of(text);
  if (words.size() < 2 || words.size() > 4 || words.size() != between.size() + 1) return false;
  const std::size_t colons =
      between.find_first_not_of(':') == std::string::npos ? between.size() : between.find_first_not_of(':');
  if (colons == 0 || colons > 2 ||
      (colons < between.size() && (between[colons] != '.' || colons + 1 != between.size())))
    return false;
  for (std::size_t i = 1; i <= colons; ++i)
    if (!is_short(words[i]) || words[i].size() != 2) return false;
  return std::all_of(words.begin(), words.end(), all_digits) && words[0].size() <= 3;
}

}  // namespace kith::files
