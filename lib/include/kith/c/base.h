// Declares what all parts of kith.h share: the version of the interface, status codes, names.
#ifndef KITH_C_BASE_H
#define KITH_C_BASE_H

#include <stdint.h>

#include "kith/version.hpp"  // macros only: KITH_VERSION_MAJOR, _MINOR, _PATCH

#define KITH_C_API __attribute__((visibility("default")))
#ifdef __cplusplus
#define KITH_C_BEGIN extern "C" {
#define KITH_C_END }
#else
#define KITH_C_BEGIN
#define KITH_C_END
#endif

/// Give the version of this interface. A program runs with every library of the same major and at least its
/// minor number.
#define KITH_ABI_MAJOR 1
#define KITH_ABI_MINOR 0

/// Returns a struct of this interface with its size, and 0, the default, in all other fields.
#ifdef __cplusplus
template <class Struct>
Struct kith_sized() {
  Struct value{};
  value.size = sizeof value;
  return value;
}
#define KITH_INIT(type) (kith_sized<type>())
#else
#define KITH_INIT(type) ((type){.size = sizeof(type)})
#endif

KITH_C_BEGIN

typedef int32_t kith_status;
enum {
  KITH_OK = 0,
  KITH_INVALID_ARGUMENT = 2,  ///< the caller: an argument is outside its documented range
  KITH_BAD_FILE = 3,          ///< the owner of a file: missing, truncated, or not what it claims to be
  KITH_UNAVAILABLE = 4,       ///< the administrator: no such device, driver or plug-in here
  KITH_OUT_OF_MEMORY = 5,     ///< the caller: ask for less, or give more
  KITH_UNSUPPORTED = 6,       ///< the caller: this device or version cannot do this; another can
  KITH_DEVICE_FAILURE = 7,    ///< the vendor: a driver or device failed while it worked
  KITH_INTERRUPTED = 130      ///< the caller asked for it, by a kith_stop or by what `progress` returned
};

/// Return `ok`, `invalid_argument`, ...; `unknown` for any other number.
KITH_C_API const char* kith_status_name(kith_status status);

/// Say why the last call of this thread that failed did so: *where: what is wrong, with the values; what to
/// do*. The text is empty if none has failed, and has at most 2,047 bytes. It belongs to the thread, and
/// stays until its next failure.
KITH_C_API const char* kith_last_error(void);

/// Return the version of the library: `0.1.0`.
KITH_C_API const char* kith_version(void);
/// Return the library's KITH_ABI_MAJOR * 65536 + KITH_ABI_MINOR.
KITH_C_API uint32_t kith_abi_version(void);

/// Return the number of metrics, whose order is fixed. A smaller distance is always nearer: a similarity is
/// negated. Contract, section 1.
KITH_C_API int64_t kith_metric_count(void);
/// Return `squared_l2`, `l2`, ...; NULL if there is no such number. The text lives as long as the library.
KITH_C_API const char* kith_metric_name(int64_t number);
/// Find the metric called `text`, also by names of other libraries: `l2` for `Euclidean`. `*name` lives as
/// long as the library.
KITH_C_API kith_status kith_metric_find(const char* text, const char** name);

/// Remove the temporary files that this process is writing. A handler of a signal that ends it may call this.
KITH_C_API void kith_remove_unfinished(void);

KITH_C_END

#endif
