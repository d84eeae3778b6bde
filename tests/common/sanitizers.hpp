// Lets a test skip what does not work under sanitizers.
#pragma once

namespace kith::tests {

/// Returns whether this program runs under AddressSanitizer or ThreadSanitizer. They take much memory
/// themselves, and their locks do not survive fork() beside other threads.
constexpr bool sanitized() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
  return __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
  return false;
#endif
}

}  // namespace kith::tests
