// Floating-point settings that a careless host program may leave behind.
#pragma once

#include <array>
#include <cfenv>
#include <string_view>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace kith::tests {

enum class HostileSetting { upward, downward, to_zero, flush, trap, trap_inexact };

inline constexpr std::array hostile_settings = {
    HostileSetting::upward, HostileSetting::downward, HostileSetting::to_zero,
#if defined(__SSE__)
    HostileSetting::flush,  HostileSetting::trap,     HostileSetting::trap_inexact,
#endif
};

inline std::string_view name(HostileSetting setting) {
  switch (setting) {
    case HostileSetting::upward:
      return "rounds upward";
    case HostileSetting::downward:
      return "rounds downward";
    case HostileSetting::to_zero:
      return "rounds to zero";
    case HostileSetting::flush:
      return "flushes subnormals, in and out";
    case HostileSetting::trap:
      return "raises a signal for every exception but inexact";
    case HostileSetting::trap_inexact:
      return "raises a signal for every inexact operation";
  }
  return "?";
}

/// While it exists, this thread and the threads that it starts compute under `setting`.
class HostileEnvironment {
 public:
  explicit HostileEnvironment(HostileSetting setting) {
    std::fegetenv(&saved_);
    switch (setting) {
      case HostileSetting::upward:
        std::fesetround(FE_UPWARD);
        break;
      case HostileSetting::downward:
        std::fesetround(FE_DOWNWARD);
        break;
      case HostileSetting::to_zero:
        std::fesetround(FE_TOWARDZERO);
        break;
      case HostileSetting::flush:
#if defined(__SSE__)
        _mm_setcsr(_mm_getcsr() | 0x8040u);  // sets flush-to-zero and denormals-are-zero
#endif
        break;
      case HostileSetting::trap_inexact:
#if defined(__SSE__)
        _mm_setcsr(_mm_getcsr() & ~0x103Fu);  // clears all flags, unmasks inexact
#endif
        break;
      case HostileSetting::trap:
#if defined(__SSE__)
        _mm_setcsr(_mm_getcsr() & ~0x0FBFu);  // clears all flags, unmasks every exception but inexact
#endif
        break;
    }
    set_ = state();
  }
  ~HostileEnvironment() {
    std::fesetenv(&saved_);
  }
  HostileEnvironment(const HostileEnvironment&) = delete;
  HostileEnvironment& operator=(const HostileEnvironment&) = delete;

  bool still_set() const {
    return state() == set_;
  }

 private:
  /// Returns the current settings, without the flags that arithmetic raises.
  static unsigned state() {
    const auto rounding = static_cast<unsigned>(std::fegetround());
#if defined(__SSE__)
    return rounding << 16 | (_mm_getcsr() & ~0x3Fu);
#else
    return rounding;
#endif
  }

  std::fenv_t saved_;
  unsigned set_ = 0;
};

}  // namespace kith::tests
