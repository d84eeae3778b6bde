// Rows of a file, read by ranges.
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <string>

#include "base/border.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "kith/error.hpp"
#include "source/source_file.hpp"

namespace kith {
namespace {

/// What of a file changes where somebody writes to it.
struct FileState {
  std::uint64_t bytes = 0;
  timespec changed{};

  bool operator==(const FileState& other) const {
    return bytes == other.bytes && changed.tv_sec == other.changed.tv_sec &&
           changed.tv_nsec == other.changed.tv_nsec;
  }
};

[[noreturn]] void refuse_to_read(const std::string& why) {
  throw Error(Errc::bad_file, why);
}

FileState state_of(int fd) {
  struct stat status {};
  if (fd < 0 || ::fstat(fd, &status) != 0)
    refuse_to_read(std::string("it cannot be read: ") + std::strerror(errno) + "; name a file of rows");
  if (!S_ISREG(status.st_mode))
    refuse_to_read("it is no ordinary file, of which ranges can be read; copy it to one");
  return {static_cast<std::uint64_t>(status.st_size), status.st_mtim};
}

/// body(), whose errors are then about `path`.
template <class Body>
auto about_source(const std::string& path, const Body& body) {
  try {
    return body();
  } catch (const Error& error) {
    throw Error(error.code(), std::string(source_where) + ": " + escaped(path) + ": " + error.what());
  }
}

class FileSource final : public Source {
 public:
  explicit FileSource(const std::string& path)
      : path_(path),
        file_(open_file(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)),
        opened_(state_of(file_.get())),
        layout_(source_layout(path, file_.get(), opened_.bytes)) {}

  /// The bytes of u8 are bits.
  void take_as_bits() {
    if (layout_.rows.element != Element::u8)
      throw Error(Errc::invalid_argument, "it holds " + std::string(kith::name(layout_.rows.element)) +
                                              ", and bits are read from bytes (u8); leave the element out");
    layout_.rows.element = Element::bits;
    layout_.rows.cols = clamped_product(layout_.rows.cols, 8);
  }

  RowsInfo info() const override { return layout_.rows; }
  std::string name() const override { return path_; }

  void read(std::int64_t first, std::int64_t count, void* to) const override {
    about_source(path_, [&] {
      const auto bytes_a_row = static_cast<std::uint64_t>(row_bytes(layout_.rows.element, layout_.rows.cols));
      const std::uint64_t begin = layout_.offset + static_cast<std::uint64_t>(first) * bytes_a_row;
      const std::size_t bytes = size(count) * static_cast<std::size_t>(bytes_a_row);
      const std::size_t got = read_at(file_.get(), static_cast<off_t>(begin), to, bytes);
      if (got == bytes && state_of(file_.get()) == opened_) return;
      const std::uint64_t row = static_cast<std::uint64_t>(first) + got / bytes_a_row;
      refuse_to_read(got < bytes
                         ? "row " + std::to_string(row) + ", byte " + std::to_string(begin + got) +
                               ": the file ends here, though it was longer when it was opened; let "
                               "nobody write to it, and search again"
                         : "rows " + std::to_string(first) + " to " + std::to_string(first + count - 1) +
                               ": the file has changed since it was opened; let nobody write to it, "
                               "and search again");
    });
  }

 private:
  const std::string path_;
  const Descriptor file_;
  const FileState opened_;
  SourceLayout layout_;
};

}  // namespace

std::shared_ptr<const Source> file_source(const std::string& path, std::optional<Element> element) try {
  return about_source(path, [&]() -> std::shared_ptr<const Source> {
    const auto source = std::make_shared<FileSource>(path);
    const Element has = source->info().element;
    if (element == Element::bits && has != Element::bits) source->take_as_bits();
    if (element && *element != source->info().element)
      throw Error(Errc::invalid_argument, "it holds " + std::string(name(has)) + ", not " +
                                              std::string(name(*element)) + "; leave the element out");
    return source;
  });
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
