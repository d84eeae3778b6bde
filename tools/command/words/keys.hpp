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
  std::string value;  ///< what stands behind the =, in capitals, or the words that may stand there: `yes|no`;
                      ///< FILE: a file that is read
  std::string text;   ///< what it does, and what holds without it
  std::function<void(const std::string&)> take;  ///< throws Error, `where: what is wrong; what to do`
};

/// Take what `text` says. A comma ends a value where a key and = follow, so that a value may be
/// a comma: `decimal=,`.
///   where  the subcommand and the option, for messages
/// Throws invalid_argument: a key that is not there, or a value that it does not take.
void take_keys(const std::string& where, const std::vector<Key>& keys, const std::string& text);

/// An option with keys, which `kith help` explains.
struct Topic {
  std::string option;  ///< `--csv`; `kith help csv`
  std::string text;    ///< what it decides, without a full stop
  std::vector<Key> keys;
  std::vector<std::string> examples;

  std::string word() const { return option.substr(2); }
};

/// The option, which may be given several times. Its help names all keys.
CLI::Option* add_keys(CLI::App& app, const Topic& topic);

/// Whether the command line has an option, `--scale`, or a key of one, `--prepare centre`.
bool is_given(const CLI::App& app, std::string_view words);

/// The topic of an option that has keys, with those alone that its subcommand takes; null: it has none.
const Topic* topic_of(const CLI::Option& option);

/// All that were added in this process, in their order, each with the keys of all subcommands.
const std::vector<Topic>& known_topics();

/// What `kith help csv` prints.
std::string topic_text(const Topic& topic);

/// The one of `names` that `text` is, in any case, with - or _. Throws invalid_argument: it is none.
std::string named_one(const std::string& text, const std::vector<std::string>& names);

/// A whole number. Throws invalid_argument: it is none, or out of range.
std::int64_t whole_number(const std::string& text, std::int64_t smallest, std::int64_t largest);

}  // namespace kith::command
