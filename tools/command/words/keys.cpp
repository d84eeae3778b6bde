#include "command/words/keys.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <map>

#include "command/shared/named_files.hpp"
#include "command/words/usage.hpp"
#include "files/named.hpp"
#include "files/source.hpp"
#include "kith/names.hpp"

namespace kith::command {
namespace {

/// Returns whether `text` begins with a key: letters and dashes, then =.
bool begins_with_key(std::string_view text) {
  const std::size_t sign = text.find('=');
  return sign != std::string_view::npos && sign > 0 &&
         std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(sign),
                     [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
}

/// Splits a text into settings KEY=VALUE. If nothing but a comma follows the =, this comma is the value.
std::vector<std::string> settings_in(std::string_view text) {
  std::vector<std::string> settings;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = text.find(',', begin);
    while (end != std::string_view::npos && !begins_with_key(text.substr(end + 1)))
      end = text.find(',', end + 1);
    const bool more = end != std::string_view::npos;
    settings.emplace_back(text.substr(begin, more ? end - begin : end));
    if (more && settings.back().ends_with('=')) settings.back() += ',';
    begin = more ? end + 1 : text.size();
  }
  return settings;
}

std::vector<std::string> names_of(const std::vector<Key>& keys) {
  std::vector<std::string> names;
  for (const Key& key : keys) names.push_back(key.name);
  return names;
}

/// Returns those settings of an option whose value is a file, each behind the option and the key.
std::vector<std::pair<std::string, std::string>> files_in(const Topic& topic,
                                                          const std::vector<std::string>& given) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::string& text : given)
    for (const std::string& setting : settings_in(text))
      for (const Key& key : topic.keys)
        if (key.value == "FILE" && setting.starts_with(key.name + "="))
          files.emplace_back(topic.option + " " + key.name, setting.substr(key.name.size() + 1));
  return files;
}

std::vector<Topic>& topics() {
  static std::vector<Topic> all;
  return all;
}

/// The topics of all options that were added. CLI::Option has no field for them.
std::map<const CLI::Option*, Topic>& topics_of_options() {
  static std::map<const CLI::Option*, Topic> all;
  return all;
}

/// Remembers a topic, or adds those of its keys that are new to a topic of another subcommand.
void remember_topic(const Topic& topic) {
  const auto known = std::find_if(topics().begin(), topics().end(),
                                  [&](const Topic& one) { return one.option == topic.option; });
  Topic& kept = known == topics().end() ? topics().emplace_back(topic) : *known;
  for (const Key& key : topic.keys)
    if (std::none_of(kept.keys.begin(), kept.keys.end(),
                     [&](const Key& one) { return one.name == key.name; }))
      kept.keys.push_back(key);
  for (Key& key : kept.keys) key.take = {};  // take() refers to the flags of one subcommand
}

}  // namespace

void take_keys(const std::string& where, const std::vector<Key>& keys, const std::string& text) {
  for (const std::string& setting : settings_in(text)) {
    const std::size_t sign = std::min(setting.find('='), setting.size());
    const std::string name = setting.substr(0, sign);
    const auto key = std::find_if(keys.begin(), keys.end(), [&](const Key& one) { return one.name == name; });
    if (key == keys.end())
      refuse(where,
             "there is no key " + files::in_quotes(name) + "; " + advice_on_name(name, names_of(keys)));
    if (sign + 1 >= setting.size())
      refuse(where, name + " has no value; give one, as in " + name + "=" + key->value);
    try {
      key->take(setting.substr(sign + 1));
    } catch (const Error& error) {
      const std::string message = error.what();
      const std::size_t colon = message.find(": ");
      throw Error(error.code(), where + " " + name + ": " +
                                    (colon == std::string::npos ? message : message.substr(colon + 2)));
    }
  }
}

CLI::Option* add_keys(CLI::App& app, const Topic& topic) {
  remember_topic(topic);
  CLI::Option* option = app.add_option(
      topic.option,
      [&app, topic](const CLI::results_t& given) {
        for (const std::string& text : given)
          take_keys(app.get_name() + ": " + topic.option, topic.keys, text);
        return true;
      },
      topic.text + ", as KEY=VALUE,...: " + files::joined(names_of(topic.keys)) + " (see `kith help " +
          topic.word() + "`)");
  topics_of_options()[option] = topic;
  if (std::any_of(topic.keys.begin(), topic.keys.end(), [](const Key& key) { return key.value == "FILE"; }))
    reads_files_in(option, [topic](const std::vector<std::string>& given) { return files_in(topic, given); });
  return option->type_name("KEYS")->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

bool is_given(const CLI::App& app, std::string_view words) {
  const std::size_t blank = words.find(' ');
  const CLI::Option* option = app.get_option_no_throw(std::string(words.substr(0, blank)));
  if (!option || option->count() == 0) return false;
  if (blank == std::string_view::npos) return true;
  const std::string key = std::string(words.substr(blank + 1)) + "=";
  for (const std::string& text : option->results())
    for (const std::string& setting : settings_in(text))
      if (setting.starts_with(key)) return true;
  return false;
}

const Topic* topic_of(const CLI::Option& option) {
  const auto found = topics_of_options().find(&option);
  return found != topics_of_options().end() && option.check_name(found->second.option) ? &found->second
                                                                                       : nullptr;
}

const std::vector<Topic>& known_topics() {
  return topics();
}

std::string named_one(const std::string& text, const std::vector<std::string>& names) {
  std::string plain = plain_name(text);
  if (std::find(names.begin(), names.end(), plain) != names.end()) return plain;
  std::vector<std::string> spelled = names;
  for (std::string& one : spelled) std::replace(one.begin(), one.end(), '_', '-');
  throw Error(Errc::invalid_argument,
              "name: there is no " + files::in_quotes(text) + "; " + advice_on_name(text, spelled));
}

std::int64_t whole_number(const std::string& text, std::int64_t smallest, std::int64_t largest) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < smallest || number > largest)
    throw Error(Errc::invalid_argument, "number: " + files::in_quotes(text) + " is no whole number from " +
                                            std::to_string(smallest) + " to " + std::to_string(largest) +
                                            "; give one");
  return number;
}

std::string topic_text(const Topic& topic) {
  std::string text = topic.text + ": " + topic.option + " KEY=VALUE,...\n\nKeys:\n";
  for (const Key& key : topic.keys) {
    std::string line = "  " + key.name + "=" + key.value;
    line += line.size() + 2 > help_column ? "\n" + std::string(help_column, ' ')
                                          : std::string(help_column - line.size(), ' ');
    text += line + key.text + "\n";
  }
  text += "\nExamples:\n";
  for (const std::string& line : topic.examples) text += "  " + line + "\n";
  return text;
}

}  // namespace kith::command
