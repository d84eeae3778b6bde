// Numbers texts: categories and labels.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "files/table.hpp"
#include "files/text/number.hpp"

namespace kith::files {

/// Distinct texts, numbered as they come, and sorted at the end.
class Dictionary {
 public:
  Dictionary() = default;
  explicit Dictionary(const std::vector<std::string>& names) {
    for (const std::string& name : names) add(name);
  }

  std::int64_t size() const { return static_cast<std::int64_t>(codes_.size()); }
  std::int64_t add(std::string_view text);                   ///< its number, a new one if need be
  std::int64_t find(std::string_view text) const;            ///< its number, or -1
  std::vector<std::string> names(std::int64_t first) const;  ///< of the numbers from `first` on

  /// Names ascending by bytes, and for each number given out the position of its name among them.
  struct Sorted {
    std::vector<std::string> names;
    std::vector<std::int64_t> position;
  };
  Sorted sorted() const;

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>> codes_;
};

/// Whether labels with these names are numbers: -2, 1 and the like.
bool are_numbers(const std::vector<std::string>& names);

/// `names` ascending: numbers as numbers, others by bytes; each once.
std::vector<std::string> sorted_names(std::vector<std::string> names);

/// Labels as they are read. The first decides whether they are numbers or text. Where a number is negative
/// all of them get names, "-1" and "1", in the order of the numbers.
class LabelReader {
 public:
  /// known  labels of the training rows, whose codes the same labels get; one that does not occur there gets
  ///        the codes after theirs, in the order of their names. Null: anything goes
  ///   as_text  numbers are texts like any other
  explicit LabelReader(const Labels* known, bool as_text = false);

  /// Take the label of the next row. Returns what is wrong with it: `holds ...; ...`; empty: nothing.
  std::string add(std::string_view text);
  /// The same for a number that is no text, from a binary file.
  std::string add(std::int64_t number);
  /// Adds the next row, which has no label; its code has no meaning.
  void add_none() { none_.push_back(size()); }
  /// Sets the label of the row before all others.
  std::string add_first(std::string_view text);

  std::size_t size() const { return code_.size() + none_.size(); }
  bool holds_numbers() const { return !text_; }
  Labels finish();

 private:
  std::string add_text(std::string_view text);
  void take_texts_as_numbers();
  Labels known_labels();
  Labels named_numbers();

  bool any_known_ = false, text_ = false, as_text_ = false;
  std::string first_;
  std::string_view others_ = "before";  ///< where the other labels are
  Dictionary dictionary_;               ///< of text
  std::vector<std::string> names_;      ///< of known
  std::vector<std::int64_t> code_;      ///< numbers themselves; of text the place in the dictionary
  std::vector<std::size_t> none_;       ///< rows without a label, which are not in code_
};

}  // namespace kith::files
