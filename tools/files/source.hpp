// Bytes of a file, a pipe or stdin, plain or gzip, with what all readers need to complain about them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "files/text/encoding.hpp"
#include "kith/error.hpp"
#include "limits.hpp"
#include "table.hpp"

struct z_stream_s;

namespace kith::files {

/// `-`, and the other names of stdin: /dev/stdin, /dev/fd/0, /proc/self/fd/0.
bool is_stdin(std::string_view path);

/// How messages name a file: `stdin` for `-`.
std::string shown_name(const std::filesystem::path& path);

/// A file within a .zip, as its directory says.
struct Member {
  std::string name;
  std::uint64_t offset = 0;  ///< of its header
  std::uint64_t packed = 0;  ///< bytes in the .zip
  std::uint64_t bytes = 0;   ///< bytes of itself
  bool deflated = false;
  std::uint32_t checksum = 0;  ///< CRC-32
};

/// Whatever can be read, from its beginning to its end, without going back: a file, a pipe, stdin. What is
/// named *.gz, or begins as gzip does, is decompressed on the way.
class Source {
 public:
  /// Open, and read the first bytes. Of `options` encoding, limits, stop and progress count.
  /// Throws bad_file: missing, unreadable, a folder, empty.
  explicit Source(const std::filesystem::path& path, const FileOptions& options = {});
  ~Source();
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  const std::string& name() const { return name_; }

  /// Bytes of an ordinary file, as it lies on the disk. 0: a pipe, or gzip.
  std::uint64_t disk_bytes() const { return sized_ && !gzip_ ? file_bytes_ : 0; }

  /// `size` bytes from `offset` on, of an ordinary file. Where the next read() begins is undefined then.
  void read_at(std::uint64_t offset, void* to, std::size_t size);

  /// Leave `bytes` bytes of an ordinary file out.
  void skip(std::uint64_t bytes);

  /// From now on read() gives the bytes of this member, which begin at `data`, and messages name it.
  void enter(const Member& member, std::uint64_t data);

  /// From now on read() gives what `program` writes, which has the file as its stdin, and messages name
  /// `part` once name_part() has said it. Where the program ends otherwise than by 0, the file is damaged.
  void pass_through(const std::string& program, const std::vector<std::string>& words);
  void name_part(const std::string& part);

  /// What its characters are, where it is text: for LineReader. read() gives bytes as they are.
  Encoding encoding() const { return encoding_; }
  const Limits& limits() const { return limits_; }

  /// Up to `size` bytes; fewer only at the end of the file.
  /// Throws bad_file: damaged or truncated gzip, or one that unpacks to more than limits() allow;
  ///        interrupted: stop was asked for.
  std::size_t read(void* to, std::size_t size);

  /// Exactly `size` bytes; `what` they are goes into the message when the file ends before.
  void read_exactly(void* to, std::size_t size, std::string_view what);

  /// Refuse a header that promises `bytes` more than there are, as far as that can be known before they
  /// are read: exactly for plain files; gzip never shrinks anything below 1/1032; not at all for pipes.
  void require_bytes(std::uint64_t bytes, std::string_view what) const;

  /// The same where a header says how long a file is: what is sized must have so many bytes more, not fewer.
  void require_length(std::uint64_t bytes, std::string_view what) const;

  /// Refuse bytes after the last one expected; of a member, other bytes than its checksum is of.
  void require_end();

  /// Throw out_of_memory where `bytes` are more than this process may have: what the machine has, its control
  /// group and `ulimit -v` allow.
  void require_memory(std::uint64_t bytes) const;

  /// Refuse to make values of `bytes` bytes of what was read, where limits() do not let so small a file grow
  /// so much; and what require_memory() refuses.
  void require_room(std::uint64_t bytes) const;

  /// Room worth reserving before data has come: no more than a sane file of this size decompresses to. For a
  /// pipe there is no such bound.
  std::uint64_t plausible_bytes() const;

  /// Throw bad_file: `NAME: text`.
  [[noreturn]] void fail(const std::string& text) const;

 private:
  void open(const std::filesystem::path& path);
  void begin_inflating(int window);
  void check_member(const char* from, std::size_t size);
  void require_member_end() const;
  std::size_t read_file(void* to, std::size_t size);
  std::uint64_t on_disk() const { return sized_ || was_passed_ ? file_bytes_ : file_read_; }
  void end_program();
  std::size_t inflate_some(void* to, std::size_t size);
  void next_member();
  [[noreturn]] void fail_unpacking(const std::string& why, std::uint64_t at) const;
  std::string truncated(std::string_view what) const;
  bool grows_beyond_limit(std::uint64_t bytes) const;
  std::string growth_advice(std::uint64_t bytes) const;

  std::string name_;
  Encoding encoding_;
  Limits limits_;
  std::stop_token stop_;
  std::function<void(double)> progress_;
  int fd_ = -1;
  std::uint64_t begin_ = 0;       ///< from where an ordinary file is read
  bool sized_ = false;            ///< an ordinary file, whose size is known
  std::uint64_t file_bytes_ = 0;  ///< size of the file as it lies on the disk, from where it is read
  std::uint64_t file_read_ = 0;   ///< of these, read
  std::uint64_t bytes_read_ = 0;  ///< handed out
  std::unique_ptr<z_stream_s> gzip_;
  std::array<char, 3> head_{};  ///< the first bytes, which say whether it is gzip
  std::size_t head_size_ = 0, head_used_ = 0;
  std::vector<unsigned char> packed_;  ///< compressed bytes not yet used; gzip_ points into them
  bool ended_ = false;
  int program_ = 0;  ///< its process; 0: none, or it has ended
  bool was_passed_ = false;
  std::optional<Member> member_;
  std::uint32_t checksum_ = 0;  ///< of what was read of the member
};

/// a * b, or the largest number there is when that is more.
std::uint64_t multiply(std::uint64_t a, std::uint64_t b);

/// A piece of a file as part of a message: at most 40 bytes of it, as shown_in_line() has them.
std::string printable(std::string_view text);
std::string in_quotes(std::string_view text);

/// `1 row`, `2 rows`.
std::string count_of(std::uint64_t count, std::string_view what);

}  // namespace kith::files
