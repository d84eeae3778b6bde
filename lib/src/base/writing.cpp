#include "base/writing.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <memory>
#include <string_view>

namespace kith {
namespace {

constexpr std::string_view partial = ".partial-";

/// Returns the process that wrote `file`, called `NAME.partial-PROCESS-N`; 0 if it does not have such a name.
pid_t writer_of(std::string_view file, std::string_view name) {
  if (!file.starts_with(name) || !file.substr(name.size()).starts_with(partial)) return 0;
  file.remove_prefix(name.size() + partial.size());
  pid_t process = 0;
  unsigned number = 0;
  const char* const end = file.data() + file.size();
  const auto [dash, error] = std::from_chars(file.data(), end, process);
  if (error != std::errc() || process <= 0 || dash == end || *dash != '-') return 0;
  const auto [last, other] = std::from_chars(dash + 1, end, number);
  return other == std::errc() && last == end ? process : 0;
}

/// Removes `file` unless another process has locked it: processes on another machine or in another container
/// cannot be found by their number.
void remove_unlocked(int folder, const char* file) {
  const int fd = ::openat(folder, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return;
  struct stat status {};
  if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && ::flock(fd, LOCK_EX | LOCK_NB) == 0)
    ::unlinkat(folder, file, 0);
  ::close(fd);
}

void remove_left_behind(const std::string& target) {
  const std::size_t slash = target.find_last_of('/');
  const std::string folder = slash == std::string::npos ? "." : target.substr(0, slash + 1);
  const std::string name = slash == std::string::npos ? target : target.substr(slash + 1);
  const auto close = [](DIR* open) { ::closedir(open); };
  const std::unique_ptr<DIR, decltype(close)> entries(::opendir(folder.c_str()), close);
  if (!entries) return;  // a folder may be writable but not readable
  while (const dirent* const entry = ::readdir(entries.get()))
    if (const pid_t process = writer_of(entry->d_name, name);
        process > 0 && ::kill(process, 0) != 0 && errno == ESRCH)
      remove_unlocked(::dirfd(entries.get()), entry->d_name);
}

/// Returns whether `name` still names the open file.
bool is_there(int fd, const std::string& name) {
  struct stat open {
  }, there{};
  return ::fstat(fd, &open) == 0 && ::lstat(name.c_str(), &there) == 0 && open.st_ino == there.st_ino &&
         open.st_dev == there.st_dev;
}

}  // namespace

int open_beside(const std::string& target, mode_t mode, std::string& name) {
  remove_left_behind(target);
  constexpr int most_attempts = 100;
  for (int attempt = 0; attempt <= most_attempts; ++attempt) {
    name = target + std::string(partial) + std::to_string(::getpid()) + "-" + std::to_string(attempt);
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0 && errno != EEXIST && errno != EINTR) return -1;
    if (fd < 0) continue;
    (void)::flock(fd, LOCK_EX | LOCK_NB);  // some file systems have no locks; then it goes on without
    if (is_there(fd, name)) return fd;
    ::close(fd);  // another process took it for a leftover and removed it before it was locked
  }
  errno = EEXIST;
  return -1;
}

const char* writing_advice(int error) {
  switch (error) {
    case ENOENT:
      return "make the folder first";
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose a folder that you may write to";
    case ENOSPC:
    case EDQUOT:
      return "free some space";
    case EFBIG:
      return "raise the limit of a file's size (ulimit -f), or write less";
    default:
      return "choose another place";
  }
}

int sync_folder_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  int fd = -1;
  do fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  while (fd < 0 && errno == EINTR);
  if (fd < 0) return 0;  // a folder may be writable but not readable
  int error = 0;
  do error = ::fsync(fd) == 0 ? 0 : errno;
  while (error == EINTR);
  ::close(fd);
  return error == EIO || error == ENOSPC || error == EDQUOT ? error : 0;
}

}  // namespace kith
