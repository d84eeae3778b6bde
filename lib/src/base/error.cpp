#include "kith/error.hpp"

namespace kith {

std::string_view name(Errc code) {
  switch (code) {
    case Errc::invalid_argument:
      return "invalid_argument";
    case Errc::bad_file:
      return "bad_file";
    case Errc::unsupported:
      return "unsupported";
    case Errc::unavailable:
      return "unavailable";
    case Errc::out_of_memory:
      return "out_of_memory";
    case Errc::device_failure:
      return "device_failure";
    case Errc::interrupted:
      return "interrupted";
  }
  return "unknown";
}

}  // namespace kith
