// Compares names as people type them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/export.hpp"

namespace kith {

/// Returns `text` in the form in which names are compared: in lower case, with _ for - and blanks.
/// `Merge-Sort` and `merge_sort` are one name.
KITH_API std::string plain_name(std::string_view text);

/// Returns the name in `known` that `word` misspells or begins; empty if none. At most a third of its letters
/// may be wrong; two swapped letters count as one. Among equally similar names it is the first.
KITH_API std::string closest_name(std::string_view word, std::span<const std::string> known);

/// Says what to do about an unknown name: `did you mean NAME?` if `known` or `also` (other accepted names)
/// has a similar one, else `choose one of` and all of `known`.
KITH_API std::string advice_on_name(std::string_view word, const std::vector<std::string>& known,
                                    const std::vector<std::string>& also = {});

}  // namespace kith
