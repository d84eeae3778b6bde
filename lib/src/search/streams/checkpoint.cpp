#include "search/streams/checkpoint.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "base/xxh64.hpp"
#include "kith/error.hpp"
#include "rows/row_filter.hpp"
#include "search/shard_lists.hpp"

namespace kith {
namespace {

constexpr std::string_view checkpoint_magic = "\x93kithchk";
constexpr std::uint64_t checkpoint_version = 1, own_order = 0x0102030405060708u;
constexpr std::int64_t most_samples = 256;
constexpr mode_t checkpoint_mode = 0666;  // less the umask

/// What stands before the keys: values [queries, k], then rows [queries, k], then a digest of all before it.
struct CheckpointHead {
  char magic[8];
  std::uint64_t version, order;
  SearchDigests of;
  std::int64_t all_rows, rows, queries, k;
};
static_assert(sizeof(CheckpointHead) == 80);

/// Numbers that are digested together.
class DigestOf {
 public:
  void add(std::uint64_t value) { values_.push_back(value); }
  void add(const void* bytes, std::size_t size) { add(Xxh64::of(bytes, size)); }
  std::uint64_t value() const { return Xxh64::of(values_.data(), values_.size() * sizeof(std::uint64_t)); }

 private:
  std::vector<std::uint64_t> values_;
};

std::uint64_t digest_of_rows(const StreamedSet& set) {
  DigestOf digest;
  digest.add(static_cast<std::uint64_t>(set.rows.rows));
  digest.add(static_cast<std::uint64_t>(set.rows.cols));
  digest.add(static_cast<std::uint64_t>(set.rows.element));
  std::vector<unsigned char> row(size(row_bytes(set.rows.element, set.rows.cols)));
  const std::int64_t samples = std::min(set.rows.rows, most_samples);
  for (std::int64_t i = 0; i < samples; ++i) {
    const std::int64_t last = std::max<std::int64_t>(samples - 1, 1);
    // Of quotient and rest apart, since rows times samples may leave 64 bits.
    const std::int64_t rows = set.rows.rows - 1, at = rows / last * i + rows % last * i / last;
    set.source->read(at, 1, row.data());
    digest.add(row.data(), row.size());
  }
  return digest.value();
}

std::uint64_t digest_of_queries(MatrixView<const float> queries) {
  DigestOf digest;
  digest.add(static_cast<std::uint64_t>(queries.rows()));
  for (std::int64_t q = 0; q < queries.rows(); ++q)
    digest.add(queries.row(q), size(queries.cols()) * sizeof(float));
  return digest.value();
}

std::uint64_t digest_of_options(const StreamedSet& set, std::int64_t k, const PlanOptions& options) {
  DigestOf digest;
  digest.add(static_cast<std::uint64_t>(set.metric));
  digest.add(static_cast<std::uint64_t>(k));
  digest.add(set.features.data(), set.features.size() * sizeof(std::int64_t));
  for (std::int64_t f = 0; f < options.filter.rows(); ++f)
    digest.add(options.filter.row(f), size(options.filter.cols()) * sizeof(std::uint32_t));
  return digest.value();
}

[[noreturn]] void refuse_checkpoint(Errc code, const std::string& path, const std::string& why) {
  throw Error(code, "search: checkpoint " + escaped(path) + ": " + why);
}

[[noreturn]] void refuse_damaged(const std::string& path) {
  refuse_checkpoint(Errc::bad_file, path,
                    "it is damaged, or no checkpoint of a search; remove it, or name another file");
}

/// All bytes of an ordinary file; nothing where there is none.
std::optional<std::vector<unsigned char>> bytes_of_file(const std::string& path) {
  const Descriptor file(open_file(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (file.get() < 0 && errno == ENOENT) return std::nullopt;
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0)
    refuse_checkpoint(Errc::bad_file, path,
                      std::string("it cannot be read: ") + std::strerror(errno) + "; name another file");
  if (!S_ISREG(status.st_mode)) refuse_damaged(path);
  std::vector<unsigned char> bytes(static_cast<std::size_t>(status.st_size));
  bytes.resize(read_at(file.get(), 0, bytes.data(), bytes.size()));
  return bytes;
}

}  // namespace

SearchDigests digests_of(const StreamedSet& set, MatrixView<const float> queries, std::int64_t k,
                         const PlanOptions& options) {
  return {digest_of_rows(set), digest_of_queries(queries), digest_of_options(set, k, options)};
}

std::optional<Checkpoint::Found> Checkpoint::read() const {
  const std::optional<std::vector<unsigned char>> bytes = bytes_of_file(path_);
  if (!bytes) return std::nullopt;
  CheckpointHead head{};
  if (bytes->size() < sizeof head + sizeof(std::uint64_t)) refuse_damaged(path_);
  std::memcpy(&head, bytes->data(), sizeof head);
  std::uint64_t sum = 0;
  const std::size_t summed = bytes->size() - sizeof sum;
  std::memcpy(&sum, bytes->data() + summed, sizeof sum);
  if (std::string_view(head.magic, sizeof head.magic) != checkpoint_magic || head.order != own_order ||
      sum != Xxh64::of(bytes->data(), summed))
    refuse_damaged(path_);
  if (head.version != checkpoint_version)
    refuse_checkpoint(Errc::bad_file, path_,
                      "it is of version " + std::to_string(head.version) + ", and this kith reads " +
                          std::to_string(checkpoint_version) +
                          "; remove it, or go on with the kith that wrote it");
  const char* const other = head.of.rows != of_.rows         ? "other training rows"
                            : head.of.queries != of_.queries ? "other queries"
                            : head.of.options != of_.options
                                ? "another metric, k, choice of columns or filter"
                                : nullptr;
  if (other)
    refuse_checkpoint(Errc::invalid_argument, path_,
                      std::string("it is that of a search with ") + other +
                          "; give the same again, name another file, or remove it");
  const std::size_t cells = cells_of(queries_, k_);
  constexpr std::size_t key_bytes = sizeof(std::uint32_t) + sizeof(std::int64_t);
  if (head.all_rows != all_rows_ || head.queries != queries_ || head.k != k_ || head.rows < 1 ||
      head.rows > all_rows_ || summed != sizeof head + cells * key_bytes)
    refuse_damaged(path_);
  Found found{head.rows, {queries_, k_, std::vector<std::uint32_t>(cells), std::vector<std::int64_t>(cells)}};
  const unsigned char* const values = bytes->data() + sizeof head;
  if (cells > 0) {
    std::memcpy(found.keys.value.data(), values, cells * sizeof(std::uint32_t));
    std::memcpy(found.keys.row.data(), values + cells * sizeof(std::uint32_t), cells * sizeof(std::int64_t));
  }
  check_keys("search: checkpoint", lists_of("search: checkpoint", found.keys));
  return found;
}

void Checkpoint::write(std::int64_t rows, const Keys& keys) const {
  CheckpointHead head{};
  std::memcpy(head.magic, checkpoint_magic.data(), sizeof head.magic);
  head.version = checkpoint_version;
  head.order = own_order;
  head.of = of_;
  head.rows = rows;
  head.all_rows = all_rows_;
  head.queries = keys.queries;
  head.k = keys.k;
  const auto* const first = reinterpret_cast<const unsigned char*>(&head);
  std::vector<unsigned char> bytes(first, first + sizeof head);
  const auto append = [&](const auto& values) {
    const auto* const from = reinterpret_cast<const unsigned char*>(values.data());
    bytes.insert(bytes.end(), from, from + values.size() * sizeof(values[0]));
  };
  append(keys.value);
  append(keys.row);
  const std::uint64_t sum = Xxh64::of(bytes.data(), bytes.size());
  WholeFile file("search: checkpoint", path_, checkpoint_mode);
  file.write(bytes.data(), bytes.size());
  file.write(&sum, sizeof sum);
  file.flush();
  file.commit();
}

}  // namespace kith
