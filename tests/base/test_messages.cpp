// Reads error texts from the sources and checks their form: where, what is wrong, what to do.
// docs/contract.md, section 8.
#include <filesystem>
#include <regex>

#include "common/sanitizers.hpp"
#include "common/test.hpp"
#include "common/text.hpp"
#include "paths.hpp"

namespace {

namespace fs = std::filesystem;
using std::string;
using test_support::text_of_file;

/// Returns all C++ sources below some folders of the project.
std::vector<fs::path> sources(std::initializer_list<const char*> folders) {
  std::vector<fs::path> paths;
  for (const char* folder : folders)
    for (const auto& entry : fs::recursive_directory_iterator(test_support::in_sources("/" + string(folder))))
      if (entry.path().extension() == ".cpp" || entry.path().extension() == ".hpp")
        paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// Returns the text between the parenthesis at `open` and the one that closes it.
string arguments_at(const string& text, std::size_t open) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (quoted && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && text[i] == '(') {
      ++depth;
    } else if (!quoted && text[i] == ')' && --depth == 0) {
      return text.substr(open + 1, i - open - 1);
    }
  }
  return {};
}

/// Returns the string literals of a piece of source, joined.
string literals_of(const string& code) {
  static const std::regex literal("\"((?:[^\"\\\\]|\\\\.)*)\"");
  string all;
  for (std::sregex_iterator found(code.begin(), code.end(), literal), end; found != end; ++found)
    all += (*found)[1].str() + "~";
  return all;
}

/// Returns whether a message says what to do, as far as its string literals show. A message that ends in ": "
/// continues with another message, and a last argument such as `advice` may add what to do.
bool says_what_to_do(const string& code) {
  const string said = literals_of(code);
  if (said.find("; ") != string::npos || said.find(' ') == string::npos || code.starts_with("truncated("))
    return true;
  return std::regex_search(
             code, std::regex("(errno|again|why\\w*|advice(_for)?|error|run_again|refusal\\w*)\\b[^\"]*$")) ||
         std::regex_search(said, std::regex(": ?~$"));
}

/// Returns `file:line` of each error that does not say what to do.
std::vector<string> without_action(const string& text, const string& name) {
  static const std::regex call("(throw Error|\\brefuse|\\bfail|\\brefuse_query)\\(");
  std::vector<string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), call), end; at != end; ++at) {
    const auto place = static_cast<std::size_t>(at->position());
    const string code = arguments_at(text, place + static_cast<std::size_t>(at->length()) - 1);
    if (code.find('"') == string::npos || says_what_to_do(code)) continue;
    const auto line = std::count(text.begin(), text.begin() + at->position(), '\n') + 1;
    found.push_back(name + ":" + std::to_string(line) + ": " + literals_of(code));
  }
  return found;
}

}  // namespace

TEST_CASE("messages: the search for errors without advice finds one") {
  CHECK(without_action("throw Error(Errc::bad_file, name + \": is too long\");", "f").size() == 1);
  CHECK(without_action("  refuse(where, \"k = \" + text(k) + \" is too large (\" + most + \")\");", "f")
            .size() == 1);
  CHECK(without_action("refuse(where, \"k = \" + text(k) + \" is too large; choose less\");", "f").empty());
  CHECK(without_action("throw Error(code, where + \": \" + why);", "f").empty());
}

TEST_CASE("messages: every error says what to do") {
  if (kith::tests::sanitized()) return;  // a sanitizer does not change the sources, and makes this slow
  // Callers of the first two files add what to do; the messages of radius_plan.cpp are parts of a sentence.
  const std::vector<string> completed_elsewhere = {"tuning_file.cpp", "tuning_text.cpp", "radius_plan.cpp"};
  std::size_t files = 0;
  for (const fs::path& path : sources({"lib/src", "tools/files", "tools/command", "tools/workloads",
                                       "tools/lab/reproduce", "tools/lab/bench", "tools/lab/placement"})) {
    const string name = path.filename().string();
    ++files;
    if (std::find(completed_elsewhere.begin(), completed_elsewhere.end(), name) != completed_elsewhere.end())
      continue;
    for (const string& found : without_action(text_of_file(path), name)) FAIL_CHECK(found);
  }
  CHECK(files > 150);
}

TEST_CASE("messages: all JSON of the command is written by json_text()") {
  for (const fs::path& path : sources({"tools/command", "tools/lab", "tools/report"})) {
    const string name = path.filename().string(), text = text_of_file(path);
    CAPTURE(name);
    if (name != "json.cpp") CHECK(!std::regex_search(text, std::regex("\\.dump\\([^)]")));
  }
}
