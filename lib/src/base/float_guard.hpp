// Sets the floating-point environment that the contract needs, whatever the host program has set.
#pragma once

#include <utility>
#if defined(__SSE__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace kith {

/// The floating-point environment of a thread.
class FloatEnvironment {
 public:
#if defined(__SSE__)
  FloatEnvironment() : now_(_mm_getcsr()) {}
  void set() const {
    _mm_setcsr(now_);
  }
  /// Sets the default of x86 processors.
  static void set_default() {
    _mm_setcsr(0x1F80);
  }

 private:
  unsigned now_;
#else
  FloatEnvironment() {
    std::fegetenv(&now_);
  }
  void set() const {
    std::fesetenv(&now_);
  }
  static void set_default() {
    std::fesetenv(FE_DFL_ENV);
  }

 private:
  std::fenv_t now_;
#endif
};

/// During its lifetime, this thread rounds to nearest and keeps subnormals; its destructor restores the
/// former environment. Each thread needs its own guard. docs/contract.md, section 7.
class FloatGuard {
 public:
  FloatGuard() {
    FloatEnvironment::set_default();
    if (!outermost_) outermost_ = this;
  }
  FloatGuard(const FloatGuard&) = delete;
  FloatGuard& operator=(const FloatGuard&) = delete;
  ~FloatGuard() {
    if (outermost_ == this) outermost_ = nullptr;
    saved_.set();
  }

 private:
  friend class CallersFloats;
  static inline thread_local const FloatGuard* outermost_ = nullptr;

  const FloatEnvironment saved_;
};

/// During its lifetime, this thread has the environment that its outermost FloatGuard found: the caller's.
class CallersFloats {
 public:
  CallersFloats() : guard_(std::exchange(FloatGuard::outermost_, nullptr)) {
    if (guard_) guard_->saved_.set();
  }
  CallersFloats(const CallersFloats&) = delete;
  CallersFloats& operator=(const CallersFloats&) = delete;
  ~CallersFloats() {
    FloatGuard::outermost_ = guard_;
    saved_.set();
  }

 private:
  const FloatEnvironment saved_;
  const FloatGuard* const guard_;
};

/// Calls a function of the caller in the caller's environment. It is not inlined, because compilers do not
/// know what an environment is, and would compute the arguments behind its change.
template <class Function, class... Arguments>
[[gnu::noinline]] void call_back(const Function& function, const Arguments&... arguments) {
  const CallersFloats callers;
  function(arguments...);
}

}  // namespace kith
