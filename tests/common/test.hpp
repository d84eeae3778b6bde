// What a test begins with: doctest, and the headers of the standard library that most tests use.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Tells several values beside each check that fails behind it. The text is made at once: INFO reads what it
/// names in a lambda, and clang refuses names of a structured binding there.
#define CAPTURE_ALL(...) KITH_CAPTURE_AS(DOCTEST_ANONYMOUS(kith_captured_), __VA_ARGS__)
#define KITH_CAPTURE_AS(text, ...)                                                  \
  const std::string text = #__VA_ARGS__ " := " + test_support::listed(__VA_ARGS__); \
  INFO(text)

namespace test_support {

template <class... Values>
std::string listed(const Values&... values) {
  std::string text;
  const auto add = [&](const auto& value) {
    if constexpr (requires { std::string_view(value); })
      text += std::string_view(value);
    else
      text += doctest::toString(value).c_str();
    text += ' ';
  };
  (add(values), ...);
  return text;
}

}  // namespace test_support
