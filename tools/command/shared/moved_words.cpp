// What was `kith compare` in an earlier release, and is a subcommand of its own.
#include <algorithm>

#include "command/shared/command.hpp"
#include "command/shared/command_line.hpp"

namespace kith::command {
namespace {

/// Removes `option` and, where it has one, its value, which becomes `value`. Returns whether it was there.
bool take(std::vector<std::string>& words, const std::string& option, std::string* value) {
  const auto found = std::find_if(words.begin(), words.end(), [&](const std::string& word) {
    return word == option || (value && word.starts_with(option + "="));
  });
  if (found == words.end()) return false;
  const auto next = found + 1;
  if (*found != option)
    *value = found->substr(option.size() + 1);
  else if (value && next != words.end())
    *value = *words.erase(next, next), words.erase(next);
  words.erase(found);
  return true;
}

}  // namespace

std::vector<std::string> moved_words(std::vector<std::string> words) {
  if (words.empty() || words[0] != "compare") return words;
  std::string names, moved;
  const bool random = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "--random-cases" || word.starts_with("--random-cases=");
  });
  if (take(words, "--experiment", &names)) {
    words[0] = "reproduce";
    if (!names.empty()) words.insert(words.begin() + 1, names);
    moved = "--experiment NAMES is `kith reproduce NAMES`";
  } else if (take(words, "--whole", nullptr)) {
    words[0] = "verify";
    moved = "--whole --train FILE is `kith verify --train FILE`";
  } else if (random) {
    words[0] = "verify";
    moved = "--random-cases COUNT is `kith verify --random-cases COUNT`";
  }
  const bool quiet = std::find(words.begin(), words.end(), "--quiet") != words.end();
  if (!moved.empty() && !quiet)
    note("compare: " + moved + ", and only that from the next release on; write it so");
  return words;
}

}  // namespace kith::command
