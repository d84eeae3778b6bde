#include "c_api/c_border.hpp"

#include <array>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/border.hpp"
#include "base/names.hpp"
#include "kith/error.hpp"
#include "kith/unfinished.hpp"

namespace kith::c_api {
namespace {

/// Maps error codes to statuses: docs/contract.md, section 8.
constexpr std::pair<Errc, kith_status> statuses[] = {
    {Errc::invalid_argument, KITH_INVALID_ARGUMENT}, {Errc::bad_file, KITH_BAD_FILE},
    {Errc::unavailable, KITH_UNAVAILABLE},           {Errc::out_of_memory, KITH_OUT_OF_MEMORY},
    {Errc::unsupported, KITH_UNSUPPORTED},           {Errc::device_failure, KITH_DEVICE_FAILURE},
    {Errc::interrupted, KITH_INTERRUPTED},
};

/// It has a fixed size, since there may be no memory when it is written.
thread_local std::array<char, 2048> last_error{};

void remember(const char* before, const char* message, const char* behind) noexcept {
  std::snprintf(last_error.data(), last_error.size(), "%s%s%s", before, message, behind);
  // Removes a character that was cut in its middle.
  std::size_t end = std::char_traits<char>::length(last_error.data());
  if (end + 1 < last_error.size()) return;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) == 0x80u; };
  while (end > 0 && continues(last_error[end - 1])) --end;
  if (end > 0 && static_cast<unsigned char>(last_error[end - 1]) >= 0xC0u) --end;
  last_error[end] = '\0';
}

kith_status status_of(Errc code) {
  for (const auto& [errc, status] : statuses)
    if (errc == code) return status;
  return KITH_DEVICE_FAILURE;
}

}  // namespace

kith_status status_of_exception(const char* function) noexcept {
  try {
    rethrow_as_error();
  } catch (const Error& error) {
    remember("", error.what(), "");
    return status_of(error.code());
  } catch (const std::exception& error) {
    remember(function, ": unexpected: ", error.what());
  } catch (...) {
    remember(function, ": a function that kith called threw what is no std::exception",
             "; let callbacks return instead");
  }
  return KITH_DEVICE_FAILURE;
}

void check_given(const char* where, const char* what, const void* pointer) {
  if (!pointer) refuse(where, std::string(what) + " is NULL; give one");
}

void check_array(const char* where, const char* what, const void* data, std::int64_t count) {
  if (count < 0)
    refuse(where, std::string(what) + " has " + std::to_string(count) + " elements; give 0 or more");
  if (count > 0 && !data)
    refuse(where, std::string(what) + " is NULL but has " + std::to_string(count) +
                      (count == 1 ? " element" : " elements") +
                      "; give the address of the first, or a count of 0");
}

std::vector<std::string> texts_of(const char* where, const char* what, const char* const* texts,
                                  std::int64_t count) {
  std::vector<std::string> copies;
  for (const char* text : array_of(where, what, texts, count)) {
    if (!text)
      refuse(where, std::string(what) + " " + std::to_string(copies.size()) + " is NULL; give a text");
    copies.emplace_back(text);
  }
  return copies;
}

void check_number(const char* where, const char* what, std::int64_t number, std::size_t count) {
  if (number < 0 || static_cast<std::uint64_t>(number) >= count)
    refuse(where, "there is no " + std::string(what) + " " + std::to_string(number) + "; there are " +
                      std::to_string(count) + ", counted from 0");
}

}  // namespace kith::c_api

namespace {

using namespace kith;

#define KITH_TEXT_OF(number) #number
#define KITH_VERSION_TEXT(major, minor, patch) \
  KITH_TEXT_OF(major) "." KITH_TEXT_OF(minor) "." KITH_TEXT_OF(patch)

}  // namespace

const char* kith_status_name(kith_status status) {
  if (status == KITH_OK) return "ok";
  for (const auto& [errc, number] : c_api::statuses)
    if (number == status) return name(errc).data();
  return "unknown";
}

const char* kith_last_error(void) {
  return c_api::last_error.data();
}

const char* kith_version(void) {
  return KITH_VERSION_TEXT(KITH_VERSION_MAJOR, KITH_VERSION_MINOR, KITH_VERSION_PATCH);
}

std::uint32_t kith_abi_version(void) {
  return std::uint32_t{KITH_ABI_MAJOR} << 16u | std::uint32_t{KITH_ABI_MINOR};
}

void kith_remove_unfinished(void) {
  remove_unfinished();
}
