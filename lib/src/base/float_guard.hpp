// Sets the floating-point environment that the contract needs, whatever the host program has set.
#pragma once

#if defined(__SSE__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace kith {

/// During its lifetime, this thread rounds to nearest and keeps subnormals; its destructor restores the
/// former environment. Each thread needs its own guard. docs/contract.md, section 7.
class FloatGuard {
 public:
#if defined(__SSE__)
  FloatGuard() : saved_(_mm_getcsr()) {
    _mm_setcsr(0x1F80);
  }  // the default of x86 processors
  ~FloatGuard() {
    _mm_setcsr(saved_);
  }
#else
  FloatGuard() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FloatGuard() {
    std::fesetenv(&saved_);
  }
#endif
  FloatGuard(const FloatGuard&) = delete;
  FloatGuard& operator=(const FloatGuard&) = delete;

 private:
#if defined(__SSE__)
  unsigned saved_;
#else
  std::fenv_t saved_;
#endif
};

}  // namespace kith
