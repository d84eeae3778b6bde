// Finds tuning files, and decides which of them to trust.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>  // secure_getenv
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/border.hpp"
#include "base/float_guard.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "base/writing.hpp"
#include "device/tuning_file.hpp"
#include "kith/error.hpp"

namespace kith {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_bytes = std::size_t{1} << 20;
constexpr std::size_t longest_name = 160;
constexpr const char* variable = "KITH_TUNING";

/// Returns an absolute folder from the environment; empty if there is none.
fs::path folder_of(const char* name) {
  const char* value = secure_getenv(name);
  return value && fs::path(value).is_absolute() ? fs::path(value) : fs::path();
}

/// Returns the folder of tuning files; empty if they are off. `warning` says that the variable has no
/// valid value.
fs::path tuning_folder(std::string& warning) {
  if (const char* value = secure_getenv(variable); value && *value) {
    if (std::strcmp(value, "off") == 0) return {};
    if (fs::path(value).is_absolute()) return value;
    warning = std::string(variable) + "=" + value +
              " is neither `off` nor an absolute folder, so nothing that was measured is used; set it to one";
    return {};
  }
  if (const fs::path cache = folder_of("XDG_CACHE_HOME"); !cache.empty()) return cache / "kith" / "tuning";
  if (const fs::path home = folder_of("HOME"); !home.empty()) return home / ".cache" / "kith" / "tuning";
  return {};
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

std::string mode_text(mode_t mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode & 07777));
  return text.data();
}

/// Says why others may have written the file or folder called `what`; empty if they cannot have.
std::string distrust(const struct stat& status, const std::string& what, std::uint32_t user) {
  if (status.st_uid != user)
    return what + " belongs to user " + std::to_string(status.st_uid) + ", not to user " +
           std::to_string(user);
  if ((status.st_mode & 022) != 0)
    return what + " can be written by others (mode " + mode_text(status.st_mode) + ")";
  return {};
}

std::string read_all(int fd, std::size_t bytes) {
  std::string text(bytes, '\0');
  text.resize(read_at(fd, 0, text.data(), bytes));
  return text;
}

/// Returns the text of a trusted file; empty if there is no file. Throws bad_file, which says why it is
/// not trusted.
std::string trusted_text(const fs::path& path, std::uint32_t user) {
  const auto refuse = [](const std::string& why) { throw Error(Errc::bad_file, why); };
  const fs::path above = path.has_parent_path() ? path.parent_path() : ".";
  const Descriptor folder(open_file(above.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (folder.get() < 0) {
    if (errno == ENOENT) return {};
    refuse(errno == ELOOP || errno == ENOTDIR
               ? "its folder is a link, or no folder"
               : std::string("its folder cannot be read: ") + std::strerror(errno));
  }
  const Descriptor file(
      open_file(path.filename().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, folder.get()));
  if (file.get() < 0) {
    if (errno == ENOENT) return {};
    refuse(errno == ELOOP ? "it is a symbolic link"
                          : std::string("it cannot be read: ") + std::strerror(errno));
  }
  struct stat of_folder {
  }, of_file{};
  if (::fstat(folder.get(), &of_folder) != 0 || ::fstat(file.get(), &of_file) != 0)
    refuse(std::string("it cannot be read: ") + std::strerror(errno));
  if (!S_ISREG(of_file.st_mode)) refuse("it is no ordinary file");
  if (const std::string why = distrust(of_folder, "its folder", user); !why.empty()) refuse(why);
  if (const std::string why = distrust(of_file, "it", user); !why.empty()) refuse(why);
  const auto bytes = static_cast<std::size_t>(of_file.st_size);
  if (bytes > most_bytes)
    refuse("it holds " + std::to_string(bytes) + " bytes, more than any such file (" +
           std::to_string(most_bytes) + ")");
  std::string text = read_all(file.get(), bytes);
  if (text.empty()) refuse("it is empty");
  return text;
}

/// Throws bad_file if it was measured on another device, driver or version.
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

[[noreturn]] void cannot_write(const fs::path& path, int error) {
  throw Error(Errc::bad_file, "tuning: " + path.string() + ": cannot be written: " + std::strerror(error) +
                                  "; " + writing_advice(error));
}

void make_private_folders(const fs::path& folder) {
  if (folder.empty() || fs::exists(folder)) return;
  make_private_folders(folder.parent_path());
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) cannot_write(folder, errno);
}

}  // namespace

std::string tuning_path(const DeviceInfo& device) try {
  std::string ignored;
  const fs::path folder = tuning_folder(ignored);
  if (folder.empty()) return {};
  // The number of compute units is part of the name, since a CPU may be used in part.
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
  const FloatGuard guard;  // numbers read the same in any floating-point environment of the host program
  warning.clear();
  try {
    const std::string text = trusted_text(path, user);
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
  const std::string text = tuning_text(tuning);
  if (make_folders) make_private_folders(fs::path(path).parent_path());
  WholeFile file("tuning", path, 0600);  // only its owner may read and write it
  file.write(text.data(), text.size());
  file.flush();
  file.commit();
} catch (...) {
  rethrow_as_error();
}

TuningWarnings& TuningWarnings::instance() {
  static TuningWarnings& warnings = *new TuningWarnings;  // never destroyed: statics may outlive it
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
