// Names as people type them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/export.hpp"

namespace kith {

/// `text` as names are compared: small letters, and _ for - and blanks. `Merge-Sort` and `merge_sort` are one
/// name.
KITH_API std::string plain_name(std::string_view text);

/// The one of `known` that `word` is a slip of, or the beginning of; empty if none. At most a third of its
/// letters may be wrong; two that are swapped count as one. Of several as near the first.
KITH_API std::string closest_name(std::string_view word, std::span<const std::string> known);

/// What to do about a name that nothing has: `did you mean NAME?` where `known` or `also` (other names that
/// are understood) holds a near one, else `choose one of` all that are known.
KITH_API std::string advice_on_name(std::string_view word, const std::vector<std::string>& known,
                                    const std::vector<std::string>& also = {});

}  // namespace kith
