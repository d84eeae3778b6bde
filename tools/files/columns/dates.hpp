// Days and times in text, which kith does not read as numbers.
#pragma once

#include <string_view>

namespace kith::files {

/// A day, with a time of day behind it or not, or a month: 2024-01-31, 31.1.2024, 1/31/24, 31-Jan-24,
/// 2024-01.
bool looks_like_date(std::string_view text);

/// A time of day, or how long something took: 9:05, 12:30:15.5.
bool looks_like_time(std::string_view text);

}  // namespace kith::files
