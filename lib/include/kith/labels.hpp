// Converts labels to codes, and back.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kith/export.hpp"

namespace kith {

/// Gives texts codes: indices into the sorted list (byte order) of all distinct texts.
class KITH_API TextLabels {
 public:
  TextLabels() = default;
  explicit TextLabels(std::span<const std::string> labels);

  const std::vector<std::string>& texts() const { return texts_; }  ///< distinct, ascending
  /// Throws invalid_argument: a text that the constructor did not get (names it).
  std::vector<std::int64_t> codes(std::span<const std::string> labels) const;
  /// Returns the text of a code; `none` for any other number.
  const std::string& text(std::int64_t code, const std::string& none = empty()) const;

 private:
  static const std::string& empty();
  std::vector<std::string> texts_;
};

/// Returns the distinct labels, ascending.
KITH_API std::vector<std::int64_t> classes_of(std::vector<std::int64_t> labels);

/// Returns the class of each label, as an index into `classes`; classes.size() if it is not among them.
///   classes  ascending, distinct
KITH_API std::vector<std::uint32_t> class_codes(std::span<const std::int64_t> labels,
                                                std::span<const std::int64_t> classes);

}  // namespace kith
