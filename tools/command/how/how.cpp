// --how KEY=VALUE,...: the tuning options of a search, kith/options.def.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "command/how/choices.hpp"
#include "command/shared/command.hpp"
#include "kith/names.hpp"
#include "kith/parse.hpp"
#include "kith/selector.hpp"

namespace kith::command {
namespace {

const std::vector<std::string>& keys() {
  static const std::vector<std::string> all = {
#define KITH_TUNING_OPTION(kind, type, name, ...) #name,
#include "kith/options.def"
  };
  return all;
}

[[noreturn]] void refuse_value(const std::string& key, const std::string& text, const std::string& advice) {
  throw Error(Errc::invalid_argument, key + "=" + text + ": " + advice);
}

template <class Choice>
void take(const std::string&, const std::string& text, Choice& to) {
  to = parse<Choice>(text);
}
/// Joins several names by +.
void take(const std::string& key, const std::string& text, std::vector<Selector>& to) {
  to.clear();
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('+', begin), text.size());
    const std::string one = text.substr(begin, end - begin);
    if (plain_name(one) == name(Selector::automatic)) refuse_value(key, text, "name methods, not automatic");
    to.push_back(parse<Selector>(one));
    begin = end + 1;
  }
}
void take(const std::string& key, const std::string& text, std::optional<bool>& to) {
  const std::string plain = plain_name(text);
  if (plain != "automatic" && plain != "yes" && plain != "no")
    refuse_value(key, text, "choose one of automatic, yes, no");
  to = plain == "automatic" ? std::nullopt : std::optional(plain == "yes");
}
void take(const std::string& key, const std::string& text, std::int64_t& to) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  if (error != std::errc() || end != text.data() + text.size() || to < 0 || to > UINT32_MAX)
    refuse_value(key, text, "give a whole number from 0 to " + std::to_string(UINT32_MAX));
}

/// Breaks a paragraph into lines of at most 96 characters, and indents them by four blanks.
std::string paragraph(const std::string& words) {
  std::string text, line = "   ";
  for (std::size_t begin = 0; begin < words.size();) {
    const std::size_t end = std::min(words.find(' ', begin), words.size());
    if (line.size() + 1 + end - begin > 96) {
      text += line + "\n";
      line = "   ";
    }
    line += " " + words.substr(begin, end - begin);
    begin = end + 1;
  }
  return text + line + "\n";
}

/// Describes how a value of an option is written.
std::string form(const std::string& kind, const std::vector<std::string>& names) {
  if (kind == "whether") return "automatic, yes, no";
  if (kind == "number") return "a whole number";
  std::string text;
  for (const std::string& name : names)
    if (kind == "choice" || name != "automatic") text += (text.empty() ? "" : ", ") + name;
  return kind == "choices" ? "several with + between them: " + text : text;
}

}  // namespace

void take_how(const std::string& text, PlanFlags& flags) try {
  for (const std::string& part : split_commas(text)) {
    const std::size_t equals = part.find('=');
    const std::string given = part.substr(0, equals), key = plain_name(given);
    if (std::find(keys().begin(), keys().end(), key) == keys().end())
      throw Error(Errc::invalid_argument,
                  "there is no key \"" + given + "\"; " + advice_on_name(given, keys()));
    if (equals == std::string::npos)
      throw Error(Errc::invalid_argument, key + " has no value; write " + key + "=VALUE");
    const std::string value = part.substr(equals + 1);
#define KITH_TUNING_OPTION(kind, type, name, ...) \
  if (key == #name) take(key, value, flags.how.name);
#include "kith/options.def"
    flags.keys.push_back(key);
  }
} catch (const Error& error) {
  throw Error(error.code(), std::string("how: ") + error.what());
}

std::string how_help() {
  std::string text =
      "--how KEY=VALUE,...: how a search is done. These options change its time, never its result;\n"
      "what is left out is chosen. --how may be given several times.\n";
#define KITH_TUNING_OPTION(kind, type, name, fallback, what) \
  text += "\n  " #name "\n" + paragraph(what) + paragraph(form(#kind, names_of<type>()));
#include "kith/options.def"
  return text;
}

}  // namespace kith::command
