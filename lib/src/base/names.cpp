#include "kith/names.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace kith {
namespace {

/// Levenshtein distance, with a swap of two neighbours counted as one step.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  std::iota(d[0].begin(), d[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

char plain_letter(char c) {
  if (c == '-' || c == ' ') return '_';
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

std::string plain_name(std::string_view text) {
  std::string plain(text);
  std::transform(plain.begin(), plain.end(), plain.begin(), plain_letter);
  return plain;
}

std::string closest_name(std::string_view word, std::span<const std::string> known) {
  constexpr std::size_t longest_name = 100;  // longer words are no misspellings, and slow to compare
  if (word.size() > longest_name) return {};
  const std::string plain = plain_name(word);
  std::string best;
  // A word of two letters with one wrong is not taken for a misspelling.
  std::size_t best_distance = plain.size() < 3 ? 1 : std::max<std::size_t>(1, plain.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const std::string other = plain_name(candidate);
    if (other.size() > 2 * longest_name) continue;
    const bool shortened = plain.size() > 3 && other.starts_with(plain);
    const std::size_t distance = plain == other ? 0 : shortened ? 1 : edit_distance(plain, other);
    if (distance < best_distance) best = candidate, best_distance = distance;
  }
  return best;
}

std::string advice_on_name(std::string_view word, const std::vector<std::string>& known,
                           const std::vector<std::string>& also) {
  std::vector<std::string> all = known;
  all.insert(all.end(), also.begin(), also.end());
  if (const std::string one = closest_name(word, all); !one.empty()) return "did you mean " + one + "?";
  std::string list;
  for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
  return "choose one of " + list;
}

}  // namespace kith
