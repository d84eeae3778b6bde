// Runs kith_probe, which reports what a fresh process sees of plug-ins and drivers.
#pragma once

#include "common/pipe.hpp"
#include "paths.hpp"

namespace kith::tests {

inline const std::string planted = test_support::in_plugins();

/// Returns the output of kith_probe, run in `folder` with KITH_BACKEND_PATH = `path`, opening `specs`.
///   settings  more environment variables
inline std::string probe(const std::string& path, const std::string& specs = "",
                         const std::string& folder = "/", const std::string& settings = "") {
  const std::string command = "cd '" + folder + "' && KITH_BACKEND_PATH='" + path + "' " + settings + " '" +
                              test_support::probe_path() + "' " + specs + " 2>&1";
  const test_support::Printed printed = test_support::printed_by(command);
  CHECK(printed.code == 0);
  return printed.out;
}

/// Returns the lines of `text` that begin with `prefix`, without the prefix.
inline std::string lines(const std::string& text, const std::string& prefix) {
  std::string found;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    if (line.starts_with(prefix)) found += line.substr(prefix.size()) + "\n";
    at = end == std::string::npos ? text.size() : end + 1;
  }
  return found;
}

}  // namespace kith::tests
