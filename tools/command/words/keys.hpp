// Options that decide several things at once, as KEY=VALUE with commas between them: `--csv sep=;,header=no`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "command/shared/command.hpp"

namespace kith::command {

struct Key {
  std::string name;
  std::string value;  ///< the values in words: a name in capitals, or the words that are allowed, `yes|no`;
                      ///< FILE: a file that is read
  std::string text;   ///< what it does, and the default
  std::function<void(const std::string&)> take;  ///< throws Error, `where: what is wrong; what to do`
};

/// Parses `text`. A comma ends a value only if a key and = follow, so that a value may be
/// a comma: `decimal=,`.
///   where  the subcommand and the option, for messages
/// Throws invalid_argument: an unknown key, or a value that it does not take.
void take_keys(const std::string& where, const std::vector<Key>& keys, const std::string& text);

/// An option with keys, which `kith help` explains.
struct Topic {
  std::string option;  ///< `--csv`; `kith help csv`
  std::string text;    ///< what it decides, without a full stop
  std::vector<Key> keys;
  std::vector<std::string> examples;

  std::string word() const { return option.substr(2); }
};

/// Adds the option, which may be given several times. Its help names all keys.
CLI::Option* add_keys(CLI::App& app, const Topic& topic);

/// Returns whether the command line has an option, `--scale`, or a key of one, `--prepare centre`.
bool is_given(const CLI::App& app, std::string_view words);

/// Returns the topic of an option with keys, with only the keys of its subcommand; null if it has none.
const Topic* topic_of(const CLI::Option& option);

/// Returns all topics of this process, in order of adding, each with the keys of all subcommands.
const std::vector<Topic>& known_topics();

/// Returns what `kith help csv` prints.
std::string topic_text(const Topic& topic);

/// Returns the one of `names` that equals `text`, in any case, with - or _. Throws invalid_argument: none.
std::string named_one(const std::string& text, const std::vector<std::string>& names);

/// Parses a whole number. Throws invalid_argument: it is not one, or out of range.
std::int64_t whole_number(const std::string& text, std::int64_t smallest, std::int64_t largest);

}  // namespace kith::command
