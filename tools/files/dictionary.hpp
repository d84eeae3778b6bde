// Text that stands for numbers: categories and labels.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "number.hpp"
#include "table.hpp"

namespace kith::files {

/// Distinct texts, numbered as they come; sorted in the end.
class Dictionary {
 public:
  Dictionary() = default;
  explicit Dictionary(const std::vector<std::string>& names) {
    for (const std::string& name : names) add(name);
  }

  std::int64_t size() const { return static_cast<std::int64_t>(codes_.size()); }
  std::int64_t add(std::string_view text);         ///< its number, a new one if need be
  std::int64_t find(std::string_view text) const;  ///< its number, or -1

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

/// Labels as they are read. The first decides whether they are numbers or text.
class LabelReader {
 public:
  /// known  labels of the training rows, which the others must be among; null: anything goes
  explicit LabelReader(const Labels* known);

  /// Take the label of the next row. Returns what is wrong with it: `holds ...; ...`; empty: nothing.
  std::string add(std::string_view text);
  /// The same for a number that is no text, from a binary file.
  std::string add(std::int64_t code);

  Labels finish();

 private:
  std::string add_text(std::string_view text);
  bool is_known(std::int64_t code) const;

  bool any_known_ = false, text_ = false;
  std::string first_;
  Dictionary dictionary_;
  std::vector<std::string> names_;         ///< of known
  std::vector<std::int64_t> known_codes_;  ///< of known, ascending, each once
  std::vector<std::int64_t> code_;
};

}  // namespace kith::files
