#include "base/writing.hpp"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

namespace kith {

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
  if (fd < 0) return 0;  // it may be written but not read
  int error = 0;
  do error = ::fsync(fd) == 0 ? 0 : errno;
  while (error == EINTR);
  ::close(fd);
  return error == EIO || error == ENOSPC || error == EDQUOT ? error : 0;
}

}  // namespace kith
