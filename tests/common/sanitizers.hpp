// What tests leave to the builds without sanitizers.
#pragma once

namespace kith::tests {

/// Whether AddressSanitizer or ThreadSanitizer is in this program. They take much memory of their own, and
/// their locks are not made for fork() beside other threads.
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
