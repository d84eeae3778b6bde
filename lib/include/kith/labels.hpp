// Labels and their codes, and back.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kith/export.hpp"

namespace kith {

/// The codes of texts: places in the sorted list (byte order) of all distinct ones.
class KITH_API TextLabels {
 public:
  TextLabels() = default;
  explicit TextLabels(std::span<const std::string> labels);

  const std::vector<std::string>& texts() const { return texts_; }  ///< distinct, ascending
  /// Throws invalid_argument: a text that was not among the first ones (names it).
  std::vector<std::int64_t> codes(std::span<const std::string> labels) const;
  /// The text of a code; `none` for any other number.
  const std::string& text(std::int64_t code, const std::string& none = empty()) const;

 private:
  static const std::string& empty();
  std::vector<std::string> texts_;
};

/// The classes of labels: distinct, ascending.
KITH_API std::vector<std::int64_t> classes_of(std::vector<std::int64_t> labels);

/// The class of each label, a place in `classes`; classes.size() where it is none of them.
///   classes  ascending, once each
KITH_API std::vector<std::uint32_t> class_codes(std::span<const std::int64_t> labels,
                                                std::span<const std::int64_t> classes);

}  // namespace kith
