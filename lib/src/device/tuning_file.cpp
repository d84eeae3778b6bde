// Finds tuning files, and decides whether to trust them.
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/border.hpp"
#include "base/float_guard.hpp"
#include "base/text.hpp"
#include "base/user_files.hpp"
#include "base/whole_file.hpp"
#include "device/tuning_file.hpp"
#include "kith/error.hpp"

namespace kith {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_bytes = std::size_t{1} << 20;
constexpr std::size_t longest_name = 160;

/// Returns the folder of tuning files; empty if they are switched off. `warning` says if the variable has no
/// valid value.
fs::path tuning_folder(std::string& warning) {
  return user_folder("KITH_TUNING", "tuning", "nothing that was measured is used", warning);
}

/// Keeps letters, digits and . _ + of `text`, and replaces each run of other characters by a dash.
std::string sanitised(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '+';
    if (plain)
      name += c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  return name.substr(0, longest_name);
}

/// Throws bad_file if it was measured with another device, driver or version of kith.
void check_origin(const Tuning& tuning, const DeviceInfo& device) {
  const Tuning wanted = empty_tuning(device);
  const auto check = [](const char* what, const std::string& had, const std::string& now) {
    if (had != now)
      throw Error(Errc::bad_file,
                  std::string("it was measured ") + what + " " + escaped(had) + ", and this is " + now);
  };
  check("by kith", tuning.kith, wanted.kith);
  check("through the back end", tuning.backend, wanted.backend);
  check("on the device", tuning.name, wanted.name);
  check("under the driver", tuning.driver, wanted.driver);
  check("with compute units:", std::to_string(tuning.compute_units), std::to_string(wanted.compute_units));
}

}  // namespace

std::string tuning_path(const DeviceInfo& device) try {
  const FloatGuard guard;  // libstdc++ rounds where it joins paths
  std::string ignored;
  const fs::path folder = tuning_folder(ignored);
  if (folder.empty()) return {};
  // The number of compute units is part of the name, because a program may use only a part of a CPU.
  const std::string name =
      device.backend + " " + device.name + " " + device.driver + " " + std::to_string(device.compute_units);
  return (folder / (sanitised(name) + ".txt")).string();
} catch (...) {
  rethrow_as_error();
}

std::shared_ptr<const Tuning> load_tuning(const DeviceInfo& device, const std::string& path,
                                          std::string& warning) {
  return load_tuning(device, path, warning, static_cast<std::uint32_t>(::geteuid()));
}

std::shared_ptr<const Tuning> load_tuning(const DeviceInfo& device, const std::string& path,
                                          std::string& warning, std::uint32_t user) try {
  const FloatGuard guard;  // the caller's environment must not change numbers
  warning.clear();
  try {
    const std::string text = trusted_text(path, most_bytes, user);
    if (text.empty()) return nullptr;
    Tuning tuning = parse_tuning(text);
    check_origin(tuning, device);
    return std::make_shared<const Tuning>(std::move(tuning));
  } catch (const Error& error) {
    warning = "tuning: " + path + " is ignored: " + error.what() + "; run `kith tune`, or remove it";
    return nullptr;
  }
} catch (...) {
  rethrow_as_error();
}

void save_tuning(const Tuning& tuning, const std::string& path, bool make_folders) try {
  const FloatGuard guard;
  const std::string text = tuning_text(tuning);
  if (make_folders) make_private_folders("tuning", fs::path(path).parent_path());
  WholeFile file("tuning", path, 0600);  // only its owner may read and write it
  file.write(text.data(), text.size());
  file.flush();
  file.commit();
} catch (...) {
  rethrow_as_error();
}

TuningWarnings& TuningWarnings::instance() {
  static TuningWarnings& warnings = *new TuningWarnings;  // never destroyed: other statics may use it later
  return warnings;
}

void TuningWarnings::add(const std::string& warning) {
  const std::lock_guard lock(mutex_);
  if (std::find(all_.begin(), all_.end(), warning) == all_.end()) all_.push_back(warning);
}

std::vector<std::string> TuningWarnings::all() const {
  const std::lock_guard lock(mutex_);
  return all_;
}

std::vector<std::string> tuning_warnings() try { return TuningWarnings::instance().all(); } catch (...) {
  rethrow_as_error();
}

std::shared_ptr<const Tuning> tuning_of(const DeviceInfo& device) {
  std::string warning;
  std::shared_ptr<const Tuning> found;
  if (!tuning_folder(warning).empty()) found = load_tuning(device, tuning_path(device), warning);
  if (!warning.empty()) TuningWarnings::instance().add(warning);
  return found;
}

}  // namespace kith
