#include "files/columns/dictionary.hpp"

#include <algorithm>
#include <map>

#include "files/source.hpp"

namespace kith::files {

std::int64_t Dictionary::add(std::string_view text) {
  const auto found = codes_.find(text);
  return found != codes_.end() ? found->second : codes_.emplace(text, size()).first->second;
}

std::int64_t Dictionary::find(std::string_view text) const {
  const auto found = codes_.find(text);
  return found != codes_.end() ? found->second : -1;
}

std::vector<std::string> Dictionary::names(std::int64_t first) const {
  std::vector<std::string> names(codes_.size() - static_cast<std::size_t>(first));
  for (const auto& [name, code] : codes_)
    if (code >= first) names[static_cast<std::size_t>(code - first)] = name;
  return names;
}

Dictionary::Sorted Dictionary::sorted() const {
  Sorted result;
  for (const auto& [name, code] : codes_) result.names.push_back(name);
  std::sort(result.names.begin(), result.names.end());
  result.position.resize(codes_.size());
  for (std::size_t i = 0; i < result.names.size(); ++i)
    result.position[static_cast<std::size_t>(find(result.names[i]))] = static_cast<std::int64_t>(i);
  return result;
}

namespace {

std::int64_t number_of(const std::string& name) {
  std::int64_t number = 0;
  parse_whole(name, number);
  return number;
}

}  // namespace

bool are_numbers(const std::vector<std::string>& names) {
  return !names.empty() && std::all_of(names.begin(), names.end(), [](const std::string& name) {
    std::int64_t number = 0;
    return parse_whole(name, number) && std::to_string(number) == name;
  });
}

std::vector<std::string> sorted_names(std::vector<std::string> names) {
  if (are_numbers(names))
    std::sort(names.begin(), names.end(),
              [](const std::string& a, const std::string& b) { return number_of(a) < number_of(b); });
  else
    std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

LabelReader::LabelReader(const Labels* known, bool as_text)
    : any_known_(known != nullptr), text_(as_text && !known), as_text_(as_text) {
  if (!known) return;
  names_ = known->names;
  text_ = !names_.empty() && !are_numbers(names_);
  if (text_) dictionary_ = Dictionary(names_);
}

std::string LabelReader::add_text(std::string_view text) {
  if (!any_known_ && !as_text_ && parse_number(text).kind != Number::not_a_number)
    return "holds the label " + in_quotes(text) + ", a number, but the labels " + std::string(others_) +
           " are text such as " + in_quotes(first_) + "; labels are all text or all numbers";
  code_.push_back(dictionary_.add(text));
  return {};
}

std::string LabelReader::add(std::string_view text) {
  if (text.empty()) return "holds no label; every row needs one: fill it in or leave the row out";
  const bool is_number = parse_number(text).kind != Number::not_a_number;
  if (code_.empty()) {
    first_ = text;
    if (!any_known_) text_ = as_text_ || !is_number;
  }
  if (text_) return add_text(text);
  if (!is_number)
    return "holds the label " + in_quotes(text) + ", but " +
           (any_known_ ? "those of the training rows are numbers"
                       : "those " + std::string(others_) + " are numbers such as " + in_quotes(first_)) +
           "; labels are all text or all numbers";
  std::int64_t number = 0;
  if (!parse_whole(text, number))
    return "holds the label " + in_quotes(text) + "; " + std::string(labels_are_whole);
  if (as_text_ && std::to_string(number) != text)
    return "holds the label " + in_quotes(text) +
           ", but those of the training rows are whole numbers, written as " + std::to_string(number) +
           "; write it so";
  return add(number);
}

std::string LabelReader::add(std::int64_t number) {
  if (text_)
    return "holds the label " + std::to_string(number) +
           ", but those of the training rows are text such as " + in_quotes(names_.front()) +
           "; save the labels as text, .csv or .txt";
  code_.push_back(number);
  return {};
}

std::string LabelReader::add_first(std::string_view text) {
  others_ = "below";
  const std::string why = add(text);
  if (why.empty()) std::rotate(code_.rbegin(), code_.rbegin() + 1, code_.rend());
  return why;
}

Labels LabelReader::named_numbers() {
  std::map<std::int64_t, std::int64_t> places;
  for (const std::string& name : names_) places.emplace(number_of(name), places.size());
  std::vector<std::int64_t> fresh;
  for (const std::int64_t number : code_)
    if (places.find(number) == places.end()) fresh.push_back(number);
  std::sort(fresh.begin(), fresh.end());
  Labels labels{std::move(code_), std::move(names_)};
  for (const std::int64_t number : fresh)
    if (places.emplace(number, places.size()).second) labels.names.push_back(std::to_string(number));
  for (std::int64_t& code : labels.code) code = places.find(code)->second;
  return labels;
}

Labels LabelReader::finish() {
  const std::vector<std::size_t> none = std::move(none_);
  Labels labels = known_labels();
  if (none.empty()) return labels;
  const std::int64_t any = labels.code.empty() ? 0 : labels.code[0];
  std::vector<std::int64_t> all;
  auto next = labels.code.begin();
  for (std::size_t row = 0, left = 0; row < labels.code.size() + none.size(); ++row) {
    const bool is_none = left < none.size() && none[left] == row;
    left += is_none;
    all.push_back(is_none ? any : *next++);
  }
  labels.code = std::move(all);
  return labels;
}

/// Texts that are numbers in kith's notation are the same labels as these numbers.
void LabelReader::take_texts_as_numbers() {
  const std::vector<std::string> names = dictionary_.names(0);
  if (!as_text_ || any_known_ || !are_numbers(names)) return;
  text_ = false;
  for (std::int64_t& code : code_) code = number_of(names[static_cast<std::size_t>(code)]);
}

Labels LabelReader::known_labels() {
  if (text_) take_texts_as_numbers();
  if (!text_) {
    const bool negative =
        std::any_of(code_.begin(), code_.end(), [](std::int64_t number) { return number < 0; });
    if (any_known_ ? !names_.empty() : negative) return named_numbers();
    return {std::move(code_), {}};
  }
  // New texts were numbered as they came; this renumbers them in the order of their names.
  const std::size_t known = names_.size();
  Labels labels{std::move(code_), std::move(names_)};
  Dictionary fresh;
  for (const std::string& name : dictionary_.names(static_cast<std::int64_t>(known))) fresh.add(name);
  Dictionary::Sorted sorted = fresh.sorted();
  for (std::int64_t& code : labels.code)
    if (static_cast<std::size_t>(code) >= known)
      code = static_cast<std::int64_t>(known) + sorted.position[static_cast<std::size_t>(code) - known];
  labels.names.insert(labels.names.end(), sorted.names.begin(), sorted.names.end());
  return labels;
}

}  // namespace kith::files
