// Reads ranges of rows of a file.
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "base/border.hpp"
#include "base/numbers.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "base/xxh64.hpp"
#include "index_file/index_blocks.hpp"
#include "kith/error.hpp"
#include "source/source_file.hpp"

namespace kith {
namespace {

/// Identifies a file and detects writes to it. A writer can set back the time of writing, but not the time of
/// the last change of anything (ctime).
struct FileState {
  std::uint64_t device = 0, inode = 0, bytes = 0;
  std::int64_t written[2] = {}, changed[2] = {};  ///< seconds, nanoseconds

  bool operator==(const FileState&) const = default;
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
  return {status.st_dev,
          status.st_ino,
          static_cast<std::uint64_t>(status.st_size),
          {status.st_mtim.tv_sec, status.st_mtim.tv_nsec},
          {status.st_ctim.tv_sec, status.st_ctim.tv_nsec}};
}

/// Runs body(), and puts `path` before its messages.
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
        layout_(source_layout(path, file_.get(), opened_.bytes)) {
    if (!layout_.index) return;
    if (layout_.index->info.periodic)
      throw Error(
          Errc::unsupported,
          "the rows are in a periodic box, which a source of rows does not have; open the index itself");
    if (layout_.index->info.prepared)
      throw Error(Errc::unsupported, "the rows are prepared for " +
                                         std::string(kith::name(layout_.index->info.metric)) +
                                         ", which a source of rows does not say; open the index itself");
    if (layout_.index->find(groups_section))
      throw Error(Errc::unsupported,
                  "the rows have groups, which a source of rows does not have; open the index itself");
    blocks_.emplace(file_.get(), *layout_.index);
    if (const IndexFileSection* const section = layout_.index->find(centre_section)) {
      std::vector<unsigned char> bytes(static_cast<std::size_t>(section->bytes));
      blocks_->check(section->offset, section->bytes);
      read_exactly(file_.get(), section->offset, bytes.data(), bytes.size());
      centre_ = centre_from(bytes, *layout_.index);
    }
  }

  /// Takes the bytes of u8 as bits.
  void take_as_bits() {
    if (layout_.rows.element != Element::u8)
      throw Error(Errc::invalid_argument, "it holds " + std::string(kith::name(layout_.rows.element)) +
                                              ", and bits are read from bytes (u8); leave the element out");
    layout_.rows.element = Element::bits;
    layout_.rows.cols = clamped_product(layout_.rows.cols, 8);
  }

  RowsInfo info() const override { return layout_.rows; }
  std::uint64_t state() const override { return Xxh64::of(&opened_, sizeof opened_) | 1; }
  std::string name() const override { return path_; }
  std::vector<double> centre() const override { return centre_; }

  void read(std::int64_t first, std::int64_t count, void* to) const override {
    about_source(path_, [&] {
      const auto bytes_a_row = static_cast<std::uint64_t>(row_bytes(layout_.rows.element, layout_.rows.cols));
      const std::uint64_t begin = layout_.offset + static_cast<std::uint64_t>(first) * bytes_a_row;
      const std::size_t bytes = size(count) * static_cast<std::size_t>(bytes_a_row);
      if (blocks_) blocks_->check(begin, bytes);
      const std::size_t got = read_at(file_.get(), static_cast<off_t>(begin), to, bytes);
      if (got == bytes && state_of(file_.get()) == opened_) return;
      const std::uint64_t row = static_cast<std::uint64_t>(first) + got / bytes_a_row;
      refuse_to_read(got < bytes
                         ? "row " + std::to_string(row) + ", byte " + std::to_string(begin + got) +
                               ": the file ends here, though it was longer when it was opened; let "
                               "nobody write to it, and search again"
                         : "rows " + std::to_string(first) + " to " + std::to_string(first + count - 1) +
                               ": the file has changed since it was opened, or was renamed or replaced; let "
                               "nobody write to it, open it again, and search again");
    });
  }

 private:
  const std::string path_;
  const Descriptor file_;
  const FileState opened_;
  SourceLayout layout_;
  std::optional<IndexBlocks> blocks_;  ///< blocks of a .kidx
  std::vector<double> centre_;         ///< centre of a .kidx
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
