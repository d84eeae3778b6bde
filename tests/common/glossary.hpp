// Reads docs/glossary.md, for tests that look up printed words.
#pragma once

#include "common/test.hpp"

namespace command_tests {

using std::string;

using Words = std::set<string>;

/// Adds to `words` every text between backticks in `line`.
inline void add_quoted(const string& line, Words& words) {
  for (std::size_t from = line.find('`'); from != string::npos; from = line.find('`', from)) {
    const std::size_t to = line.find('`', from + 1);
    if (to == string::npos) return;
    words.insert(line.substr(from + 1, to - from - 1));
    from = to + 1;
  }
}

/// Holds the words that the glossary's tables explain: the first columns, and all quoted words.
struct Glossary {
  Words entries, quoted;
  ///   path  file name of the page
  explicit Glossary(const string& path) {
    std::ifstream file(path);
    for (string line; std::getline(file, line);) {
      add_quoted(line, quoted);
      if (!line.starts_with("| ")) continue;
      const string cell = line.substr(2, line.find(" | ", 2) - 2);
      entries.insert(cell);
      add_quoted(cell, entries);
    }
  }
};

inline std::vector<string> lines_of(const string& text) {
  std::vector<string> lines;
  std::istringstream stream(text);
  for (string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

inline void check_explained(const Glossary& glossary, const Words& words) {
  for (const string& word : words)
    CHECK_MESSAGE(glossary.entries.count(word) + glossary.quoted.count(word) > 0, "the glossary has no `",
                  word, "`");
}

}  // namespace command_tests
