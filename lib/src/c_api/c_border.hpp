// Lets calls from C enter and leave the library: turns exceptions into statuses, and checks pointers.
#pragma once

#include <cxxabi.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/refuse.hpp"
#include "kith/kith.h"

namespace kith::c_api {

/// Returns the status of the exception that is being handled. Its message becomes kith_last_error() of
/// this thread.
kith_status status_of_exception(const char* function) noexcept;

/// Calls body(function), and turns its exception into a status. It is not noexcept: a thread may end in
/// a callback, by pthread_exit() as Python's threads do when the interpreter ends, and that unwinds
/// these frames.
///   function  a function of kith.h, which begins the messages of bad pointers
template <class Body>
kith_status guarded(const char* function, const Body& body) {
  try {
    body(function);
    return KITH_OK;
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (...) {
    return status_of_exception(function);
  }
}

/// Throws invalid_argument: `what` is NULL.
void check_given(const char* where, const char* what, const void* pointer);

/// Returns what `pointer` points to. Throws invalid_argument: it is NULL.
template <class T>
T& given(const char* where, const char* what, T* pointer) {
  check_given(where, what, pointer);
  return *pointer;
}

/// Throws invalid_argument: a count below 0, or NULL where there are elements.
void check_array(const char* where, const char* what, const void* data, std::int64_t count);

template <class T>
std::span<const T> array_of(const char* where, const char* what, const T* data, std::int64_t count) {
  check_array(where, what, data, count);
  return {data, static_cast<std::size_t>(count)};
}

template <class T>
std::vector<T> copy_of(const char* where, const char* what, const T* data, std::int64_t count) {
  const std::span<const T> all = array_of(where, what, data, count);
  return {all.begin(), all.end()};
}

/// Copies texts. Throws invalid_argument as check_array() does, or if a text is NULL.
std::vector<std::string> texts_of(const char* where, const char* what, const char* const* texts,
                                  std::int64_t count);

/// Throws invalid_argument: there is no element `number` of `count`.
void check_number(const char* where, const char* what, std::int64_t number, std::size_t count);

/// Makes a handle: sets `*out` to the std::unique_ptr that make(function) returns; NULL if it fails.
template <class Handle, class Make>
kith_status make_handle(const char* function, Handle** out, const Make& make) {
  return guarded(function, [&](const char* where) {
    given(where, "out", out) = nullptr;
    *out = make(where).release();
  });
}

/// Copies to an array of the caller, unless it is NULL.
template <class To, class From>
void give(To* to, const From& from) {
  if (!to) return;
  for (const auto& value : from) *to++ = static_cast<To>(value);
}

}  // namespace kith::c_api
