#include "kith/labels.hpp"

#include <algorithm>

#include "base/border.hpp"
#include "kith/error.hpp"
#include "rows/labels/distinct.hpp"

namespace kith {

TextLabels::TextLabels(std::span<const std::string> labels) try : texts_(labels.begin(), labels.end()) {
  std::sort(texts_.begin(), texts_.end());
  texts_.erase(std::unique(texts_.begin(), texts_.end()), texts_.end());
} catch (...) {
  rethrow_as_error();
}

std::vector<std::int64_t> TextLabels::codes(std::span<const std::string> labels) const try {
  std::vector<std::int64_t> codes;
  codes.reserve(labels.size());
  for (const std::string& label : labels) {
    const auto place = std::lower_bound(texts_.begin(), texts_.end(), label);
    if (place == texts_.end() || *place != label)
      throw Error(Errc::invalid_argument, "labels: text " + std::to_string(codes.size()) + " is \"" + label +
                                              "\", which is none of the " + std::to_string(texts_.size()) +
                                              " known ones; give only those");
    codes.push_back(place - texts_.begin());
  }
  return codes;
} catch (...) {
  rethrow_as_error();
}

const std::string& TextLabels::text(std::int64_t code, const std::string& none) const {
  const bool known = code >= 0 && code < static_cast<std::int64_t>(texts_.size());
  return known ? texts_[static_cast<std::size_t>(code)] : none;
}

const std::string& TextLabels::empty() {
  static const std::string nothing;
  return nothing;
}

std::vector<std::int64_t> classes_of(std::vector<std::int64_t> labels) {
  return distinct(labels);
}

std::vector<std::uint32_t> class_codes(std::span<const std::int64_t> labels,
                                       std::span<const std::int64_t> classes) try {
  std::vector<std::uint32_t> codes;
  codes.reserve(labels.size());
  for (const std::int64_t label : labels) {
    const auto at = std::lower_bound(classes.begin(), classes.end(), label);
    const bool known = at != classes.end() && *at == label;
    codes.push_back(static_cast<std::uint32_t>((known ? at : classes.end()) - classes.begin()));
  }
  return codes;
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
