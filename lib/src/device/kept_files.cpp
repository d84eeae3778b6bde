#include "kith/spi/kept_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "base/user_files.hpp"
#include "base/whole_file.hpp"
#include "base/xxh64.hpp"
#include "device/tuning_file.hpp"
#include "kith/error.hpp"

namespace kith::spi {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view ending = ".kept";
constexpr std::size_t digits = 16;  // digits of a 64-bit number

std::string hexadecimal(std::uint64_t number) {
  std::array<char, digits + 1> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(number));
  return text.data();
}

std::uint64_t sum_of(std::string_view bytes) {
  return Xxh64::of(bytes.data(), bytes.size());
}

/// Returns what a file contains before its content: numbers of a fixed width, then the key. A file is
/// valid if it begins with exactly this text. The whole key is compared, so that two keys never get the
/// same content.
std::string head_of(std::string_view key, std::string_view content) {
  return "kith kept 1 " + hexadecimal(key.size()) + " " + hexadecimal(content.size()) + " " +
         hexadecimal(sum_of(content)) + "\n" + std::string(key);
}

/// Adds a warning about a folder that is not trusted, because nothing is ever kept there.
void tell(const KeptFolder& how, const std::string& folder, const std::string& why) {
  TuningWarnings::instance().add(std::string(how.kind) + ": " + folder + " is not used: " + why +
                                 "; make it private, or set " + how.variable + " to another one, or to off");
}

/// Returns whether a file with this name is a kept file, or the beginning of one.
bool is_kept(std::string_view name) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return name.size() > digits && std::all_of(name.begin(), name.begin() + digits, is_digit) &&
         name.substr(digits).starts_with(ending);
}

struct Used {
  timespec last;
  std::size_t bytes;
  fs::path path;
};

/// Removes the files that have not been used for the longest time.
void shrink(const fs::path& folder, std::size_t most_bytes) {
  std::vector<Used> files;
  std::size_t bytes = 0;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    struct stat status {};
    if (!is_kept(it->path().filename().native()) || ::lstat(it->path().c_str(), &status) != 0 ||
        !S_ISREG(status.st_mode))
      continue;
    files.push_back({status.st_mtim, static_cast<std::size_t>(status.st_size), it->path()});
    bytes += files.back().bytes;
  }
  if (bytes <= most_bytes) return;
  std::sort(files.begin(), files.end(), [](const Used& a, const Used& b) {
    return a.last.tv_sec != b.last.tv_sec ? a.last.tv_sec < b.last.tv_sec : a.last.tv_nsec < b.last.tv_nsec;
  });
  for (const Used& file : files) {
    if (bytes <= most_bytes) return;
    if (::unlink(file.path.c_str()) == 0) bytes -= file.bytes;
  }
}

}  // namespace

KeptFiles::KeptFiles(const KeptFolder& folder) : how_(folder) {
  std::string warning;
  folder_ = user_folder(how_.variable, how_.kind, "nothing is kept", warning).string();
  if (!warning.empty()) TuningWarnings::instance().add(warning);
}

std::string KeptFiles::path_of(std::string_view key) const {
  if (folder_.empty()) return {};
  return folder_ + "/" + hexadecimal(sum_of(key)) + std::string(ending);
}

std::optional<std::string> KeptFiles::find(std::string_view key) const {
  const std::string path = path_of(key);
  if (path.empty()) return std::nullopt;
  try {
    std::string text = trusted_text(path, how_.most_bytes, static_cast<std::uint32_t>(::geteuid()));
    const std::size_t before = head_of(key, {}).size();
    if (text.size() < before) return std::nullopt;
    const std::string_view content = std::string_view(text).substr(before);
    if (!text.starts_with(head_of(key, content))) return std::nullopt;
    ::utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);  // marks it as used now
    text.erase(0, before);
    return text;
  } catch (const Error&) {
    return std::nullopt;  // keep() replaces it, and warns about its folder
  }
}

void KeptFiles::keep(std::string_view key, std::string_view content) const noexcept try {
  const std::string path = path_of(key), head = head_of(key, content);
  if (path.empty() || head.size() + content.size() > how_.most_bytes) return;
  make_private_folders(how_.kind, folder_);
  try {
    if (trusted_folder(folder_, static_cast<std::uint32_t>(::geteuid()), "it").get() < 0) return;
  } catch (const Error& error) {
    tell(how_, folder_, error.what());
    return;
  }
  std::remove(path.c_str());  // what is there may not even be a file
  WholeFile file(how_.kind, path, 0600);
  file.write(head.data(), head.size());
  file.write(content.data(), content.size());
  file.flush();
  file.commit();
  shrink(folder_, how_.most_bytes);
} catch (...) {
  // There was no folder, space or memory; this process still has what it wanted to keep.
}

}  // namespace kith::spi
