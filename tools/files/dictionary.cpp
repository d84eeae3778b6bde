#include "dictionary.hpp"

#include <algorithm>

#include "source.hpp"

namespace kith::files {

std::int64_t Dictionary::add(std::string_view text) {
  const auto found = codes_.find(text);
  return found != codes_.end() ? found->second : codes_.emplace(text, size()).first->second;
}

std::int64_t Dictionary::find(std::string_view text) const {
  const auto found = codes_.find(text);
  return found != codes_.end() ? found->second : -1;
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

LabelReader::LabelReader(const Labels* known) : any_known_(known != nullptr) {
  if (!known) return;
  names_ = known->names;
  text_ = !names_.empty();
  if (text_) {
    dictionary_ = Dictionary(names_);
    return;
  }
  known_codes_ = known->code;
  std::sort(known_codes_.begin(), known_codes_.end());
  known_codes_.erase(std::unique(known_codes_.begin(), known_codes_.end()), known_codes_.end());
}

bool LabelReader::is_known(std::int64_t code) const {
  return !any_known_ || std::binary_search(known_codes_.begin(), known_codes_.end(), code);
}

std::string LabelReader::add_text(std::string_view text) {
  std::int64_t code = 0;
  if (any_known_) {
    code = dictionary_.find(text);
    if (code < 0)
      return "holds the label " + in_quotes(text) +
             ", which no training row has; correct it or leave the row out";
  } else {
    const bool number = parse_number(text).kind != Number::not_a_number;
    if (number)
      return "holds the label " + in_quotes(text) + ", a number, but the labels before are text such as " +
             in_quotes(first_) + "; labels are all text or all numbers";
    code = dictionary_.add(text);
  }
  code_.push_back(code);
  return {};
}

std::string LabelReader::add(std::string_view text) {
  if (text.empty()) return "holds no label; every row needs one: fill it in or leave the row out";
  const bool number = parse_number(text).kind != Number::not_a_number;
  if (code_.empty()) {
    first_ = text;
    if (!any_known_) text_ = !number;
  }
  if (text_) return add_text(text);
  if (!number)
    return "holds the label " + in_quotes(text) + ", but " +
           (any_known_ ? "those of the training rows are numbers"
                       : "those before are numbers such as " + in_quotes(first_)) +
           "; labels are all text or all numbers";
  std::int64_t code = 0;
  if (!parse_whole(text, code) || code < 0)
    return "holds the label " + in_quotes(text) + "; labels are whole numbers >= 0, or text";
  return add(code);
}

std::string LabelReader::add(std::int64_t code) {
  if (text_)
    return "holds the label " + std::to_string(code) + ", but those of the training rows are text such as " +
           in_quotes(names_.front()) + "; save the labels as text, .csv or .txt";
  if (!is_known(code))
    return "holds the label " + std::to_string(code) +
           ", which no training row has; correct it or leave the row out";
  code_.push_back(code);
  return {};
}

Labels LabelReader::finish() {
  Labels labels{std::move(code_), std::move(names_)};
  if (!text_ || any_known_) return labels;
  Dictionary::Sorted sorted = dictionary_.sorted();
  for (std::int64_t& code : labels.code) code = sorted.position[static_cast<std::size_t>(code)];
  labels.names = std::move(sorted.names);
  return labels;
}

}  // namespace kith::files
