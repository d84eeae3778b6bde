#include "base/user_files.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>  // secure_getenv
#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <cstring>

#include "base/writing.hpp"
#include "kith/error.hpp"

namespace kith {
namespace {

namespace fs = std::filesystem;

/// Returns an absolute folder from the environment; empty if there is none.
fs::path folder_of(const char* name) {
  const char* value = secure_getenv(name);
  return value && fs::path(value).is_absolute() ? fs::path(value) : fs::path();
}

std::string mode_text(mode_t mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode & 07777));
  return text.data();
}

[[noreturn]] void refuse_file(const std::string& why) {
  throw Error(Errc::bad_file, why);
}

[[noreturn]] void refuse_unread(const char* what) {
  refuse_file(std::string(what) + " cannot be read: " + std::strerror(errno));
}

/// Returns the status of the open file or folder called `what`. Throws bad_file if others than `user` may
/// have written it.
struct stat check_owner(int fd, const char* what, std::uint32_t user) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) refuse_unread(what);
  if (status.st_uid != user)
    refuse_file(std::string(what) + " belongs to user " + std::to_string(status.st_uid) + ", not to user " +
                std::to_string(user));
  if ((status.st_mode & 022) != 0)
    refuse_file(std::string(what) + " can be written by others (mode " + mode_text(status.st_mode) + ")");
  return status;
}

}  // namespace

fs::path user_folder(const char* variable, const char* kind, const char* lost, std::string& warning) {
  if (const char* value = secure_getenv(variable); value && *value) {
    if (std::strcmp(value, "off") == 0) return {};
    if (fs::path(value).is_absolute()) return value;
    warning = std::string(variable) + "=" + value + " is neither `off` nor an absolute folder, so " + lost +
              "; set it to one";
    return {};
  }
  if (const fs::path cache = folder_of("XDG_CACHE_HOME"); !cache.empty()) return cache / "kith" / kind;
  if (const fs::path home = folder_of("HOME"); !home.empty()) return home / ".cache" / "kith" / kind;
  return {};
}

void make_private_folders(const char* where, const fs::path& folder) {
  std::error_code ignored;
  if (folder.empty() || fs::exists(folder, ignored)) return;
  make_private_folders(where, folder.parent_path());
  if (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return;
  throw Error(Errc::bad_file, std::string(where) + ": " + folder.string() + ": cannot be written: " +
                                  std::strerror(errno) + "; " + writing_advice(errno));
}

Descriptor trusted_folder(const fs::path& folder, std::uint32_t user, const char* what) {
  const int fd = open_file(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
    refuse_file(std::string(what) + " is a link, or no folder");
  Descriptor opened(fd);
  if (fd >= 0) check_owner(fd, what, user);
  return opened;
}

std::string trusted_text(const fs::path& path, std::size_t most_bytes, std::uint32_t user) {
  const Descriptor folder =
      trusted_folder(path.has_parent_path() ? path.parent_path() : ".", user, "its folder");
  if (folder.get() < 0) {
    if (errno == ENOENT) return {};
    refuse_unread("its folder");
  }
  const Descriptor file(
      open_file(path.filename().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, folder.get()));
  if (file.get() < 0) {
    if (errno == ENOENT) return {};
    if (errno == ELOOP) refuse_file("it is a symbolic link");
    refuse_unread("it");
  }
  const struct stat status = check_owner(file.get(), "it", user);
  if (!S_ISREG(status.st_mode)) refuse_file("it is no ordinary file");
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (bytes > most_bytes)
    refuse_file("it holds " + std::to_string(bytes) + " bytes, more than any such file (" +
                std::to_string(most_bytes) + ")");
  std::string text(bytes, '\0');
  text.resize(read_at(file.get(), 0, text.data(), bytes));
  if (text.empty()) refuse_file("it is empty");
  return text;
}

}  // namespace kith
