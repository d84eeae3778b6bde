#include "base/saved_file.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "base/float_guard.hpp"
#include "kith/error.hpp"

namespace kith {

SavedFile::Target SavedFile::target_of(const std::string& where, const std::string& path) {
  struct stat old {};
  if (::stat(path.c_str(), &old) != 0) old.st_mode = S_IFREG | 0666;
  if (!S_ISREG(old.st_mode))
    throw Error(Errc::bad_file, where + ": " + path + ": is " +
                                    (S_ISDIR(old.st_mode) ? "a folder" : "a device") +
                                    ", which cannot be written as a whole; name an ordinary file");
  const FloatGuard guard;  // libstdc++ rounds where it joins paths
  std::error_code failed;  // a symbolic link is kept; the file it points to is replaced
  const std::filesystem::path resolved = std::filesystem::weakly_canonical(path, failed);
  return {failed ? path : resolved.string(), old.st_mode & 07777};
}

SavedFile::SavedFile(const std::string& where, const std::string& path, std::uint64_t bytes,
                     const SaveOptions& options)
    : SavedFile(where, path, target_of(where, path), bytes, options) {}

SavedFile::SavedFile(const std::string& where, const std::string& path, const Target& target,
                     std::uint64_t bytes, const SaveOptions& options)
    : where_(where), path_(path), file_(where, target.path, target.mode), bytes_(bytes), options_(options) {}

void SavedFile::write(const void* bytes, std::size_t size) {
  stop_if_asked();
  file_.write(bytes, size);
  done_ += size;
  if (options_.progress) call_back(options_.progress, part());
}

void SavedFile::commit() {
  stop_if_asked();
  if (done_ != bytes_)
    throw Error(Errc::bad_file, where_ + ": " + path_ + ": " + std::to_string(done_) +
                                    " bytes were written, but the file is to have " + std::to_string(bytes_) +
                                    "; no " + where_ + " is written: report it");
  file_.flush();
  stop_if_asked();
  file_.commit();
}

void SavedFile::stop_if_asked() const {
  if (options_.stop.stop_requested())
    throw Error(Errc::interrupted, where_ + ": " + path_ + ": stopped while it was saved, as asked; no " +
                                       where_ + " is written: save it again");
}

double SavedFile::part() const {
  const FloatGuard guard;  // a callback runs in the caller's floating-point environment
  // The numbers are volatile, because compilers do not know what the guard does, and would move arithmetic
  // past it.
  const volatile std::uint64_t done = done_, bytes = bytes_;
  const volatile double result = static_cast<double>(done) / static_cast<double>(bytes);
  return result;
}

}  // namespace kith
