// Reads the command line of the soak, which the top of main.cpp explains.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace kith::tests::soak {

struct Settings {
  double seconds = 20;
  std::string devices = "cpu,opencl:pocl,cuda:0,opencl:nvidia", require, plant;
  bool all_that_are_here = true, few = false;
  std::int64_t threads = 16;
  std::uint64_t seed = 1;
};

/// Splits a list at its commas.
inline std::vector<std::string> words(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream text(list);
  for (std::string part; std::getline(text, part, ',');) parts.push_back(part);
  return parts;
}

/// Reads the command line into `settings`. Returns what is wrong with it, or an empty string.
inline std::string read_settings(int count, char** text, Settings& settings) {
  for (int i = 1; i < count; ++i) {
    const std::string option = text[i];
    if (option == "--few") {
      settings.few = true;
      continue;
    }
    if (i + 1 == count) return "\"" + option + "\" is no option, or lacks its value";
    const std::string value = text[++i];
    if (option == "--seconds") {
      settings.seconds = std::atof(value.c_str());
    } else if (option == "--device") {
      settings.devices = value;
      settings.all_that_are_here = false;
    } else if (option == "--require") {
      settings.require = value;
    } else if (option == "--threads") {
      settings.threads = std::atoll(value.c_str());
    } else if (option == "--seed") {
      settings.seed = std::strtoull(value.c_str(), nullptr, 10);
    } else if (option == "--plant") {
      settings.plant = value;
    } else {
      return "\"" + option + "\" is no option";
    }
  }
  return settings.seconds >= 1 && settings.threads >= 1 ? "" : "a number is too small";
}

}  // namespace kith::tests::soak
