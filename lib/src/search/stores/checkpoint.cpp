#include "search/stores/checkpoint.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "base/xxh64.hpp"
#include "kith/error.hpp"
#include "rows/row_filter.hpp"
#include "search/lists/search_pieces.hpp"
#include "search/lists/shard_lists.hpp"

namespace kith {
namespace {

constexpr std::string_view checkpoint_magic = "\x93kithchk";
constexpr std::uint64_t checkpoint_version = 1, own_order = 0x0102030405060708u;
constexpr std::int64_t most_digested = 256;
constexpr mode_t checkpoint_mode = 0600;  // only the caller may read the answers

/// Holds the head of the file. The pieces that were searched follow, then values [queries, k], rows [queries,
/// k], and a digest of everything before it.
struct CheckpointHead {
  char magic[8];
  std::uint64_t version, order;
  Checkpoint::Digests of;
  std::int64_t all_rows, queries, k, pieces;
};
static_assert(sizeof(CheckpointHead) == 80 && sizeof(SearchPiece) == 32);

constexpr std::size_t key_bytes = sizeof(std::uint32_t) + sizeof(std::int64_t);

/// Collects numbers, and digests them together.
class DigestOf {
 public:
  void add(std::uint64_t value) { values_.push_back(value); }
  void add(const void* bytes, std::size_t size) { add(Xxh64::of(bytes, size)); }
  std::uint64_t value() const { return Xxh64::of(values_.data(), values_.size() * sizeof(std::uint64_t)); }

 private:
  std::vector<std::uint64_t> values_;
};

std::uint64_t digest_of_rows(const RowSchema& schema, const RowStore& store) {
  DigestOf digest;
  digest.add(static_cast<std::uint64_t>(store.rows()));
  digest.add(static_cast<std::uint64_t>(schema.columns));
  digest.add(store.info().state);
  std::vector<float> row(size(schema.dims));
  const std::int64_t samples = std::min(store.rows(), most_digested);
  for (std::int64_t i = 0; i < samples; ++i) {
    const std::int64_t last = std::max<std::int64_t>(samples - 1, 1);
    // Quotient and remainder are multiplied separately, since rows times samples may exceed 64 bits.
    const std::int64_t rows = store.rows() - 1, at = rows / last * i + rows % last * i / last;
    store.read(at, 1, row.data(), 1);
    digest.add(row.data(), row.size() * sizeof(float));
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

std::uint64_t digest_of_options(const RowSchema& schema, std::int64_t k, const SearchOptions& options) {
  DigestOf digest;
  digest.add(static_cast<std::uint64_t>(schema.metric));
  digest.add(static_cast<std::uint64_t>(schema.shown.metric));
  digest.add(&schema.shown.parameter, sizeof schema.shown.parameter);
  if (schema.terms)
    digest.add(schema.terms->doubles().data(), schema.terms->doubles().size() * sizeof(double));
  digest.add(static_cast<std::uint64_t>(k));
  digest.add(schema.features.data(), schema.features.size() * sizeof(std::int64_t));
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

/// Returns all bytes of an ordinary file; nothing if there is no file.
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

bool lies_in(const RowRange& some, std::int64_t count) {
  return some.first >= 0 && some.count >= 1 && some.first < count && some.count <= count - some.first;
}

/// Returns whether pieces do not overlap, and each key's row is in a piece of its query.
bool fit_together(std::span<const SearchPiece> pieces, const Keys& keys) {
  PassedPieces passed(pieces, {0, keys.queries});
  for (std::int64_t q = 0; q < keys.queries; ++q) {
    if (!passed.pass(q)) return false;
    for (std::int64_t j = q * keys.k; j < (q + 1) * keys.k; ++j)
      if (keys.row[size(j)] >= 0 && !passed.asked_of(keys.row[size(j)])) return false;
  }
  return true;
}

template <class T>
void append(std::vector<unsigned char>& bytes, const T* values, std::size_t count) {
  const auto* const from = reinterpret_cast<const unsigned char*>(values);
  bytes.insert(bytes.end(), from, from + count * sizeof(T));
}

}  // namespace

Checkpoint::Checkpoint(const RowSchema& schema, const RowStore& store, MatrixView<const float> queries,
                       std::int64_t k, const SearchOptions& options)
    : path_(options.checkpoint),
      of_{digest_of_rows(schema, store), digest_of_queries(queries), digest_of_options(schema, k, options)},
      all_rows_(store.rows()),
      keys_(lists_of_none(queries.rows(), k)) {
  if (const auto bytes = bytes_of_file(path_)) read(*bytes);
}

void Checkpoint::read(const std::vector<unsigned char>& bytes) {
  CheckpointHead head{};
  if (bytes.size() < sizeof head + sizeof(std::uint64_t)) refuse_damaged(path_);
  std::memcpy(&head, bytes.data(), sizeof head);
  std::uint64_t sum = 0;
  const std::size_t summed = bytes.size() - sizeof sum;
  std::memcpy(&sum, bytes.data() + summed, sizeof sum);
  if (std::string_view(head.magic, sizeof head.magic) != checkpoint_magic || head.order != own_order ||
      sum != Xxh64::of(bytes.data(), summed))
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
  const std::size_t keys = cells_of(keys_.queries, keys_.k) * key_bytes;
  if (head.all_rows != all_rows_ || head.queries != keys_.queries || head.k != keys_.k ||
      summed < sizeof head + keys || (summed - sizeof head - keys) % sizeof(SearchPiece) != 0)
    refuse_damaged(path_);
  const std::size_t pieces = (summed - sizeof head - keys) / sizeof(SearchPiece);
  if (head.pieces < 1 || pieces != size(head.pieces)) refuse_damaged(path_);
  const unsigned char* const behind = bytes.data() + sizeof head;
  read_pieces(behind, pieces);
  read_keys(behind + pieces * sizeof(SearchPiece));
  if (!fit_together(done_, keys_)) refuse_damaged(path_);
}

void Checkpoint::read_pieces(const unsigned char* bytes, std::size_t count) {
  done_.resize(count);
  std::memcpy(done_.data(), bytes, count * sizeof(SearchPiece));
  for (const SearchPiece& piece : done_)
    if (!lies_in(piece.queries, keys_.queries) || !lies_in(piece.rows, all_rows_)) refuse_damaged(path_);
}

void Checkpoint::read_keys(const unsigned char* bytes) {
  const std::size_t cells = keys_.value.size();
  if (cells > 0) {
    std::memcpy(keys_.value.data(), bytes, cells * sizeof(std::uint32_t));
    std::memcpy(keys_.row.data(), bytes + cells * sizeof(std::uint32_t), cells * sizeof(std::int64_t));
  }
  try {
    check_keys("search: checkpoint", lists_of("search: checkpoint", keys_));
  } catch (const Error& error) {
    if (error.code() != Errc::invalid_argument) throw;
    refuse_damaged(path_);
  }
}

void Checkpoint::write() const {
  CheckpointHead head{};
  std::memcpy(head.magic, checkpoint_magic.data(), sizeof head.magic);
  head.version = checkpoint_version;
  head.order = own_order;
  head.of = of_;
  head.all_rows = all_rows_;
  head.queries = keys_.queries;
  head.k = keys_.k;
  head.pieces = static_cast<std::int64_t>(done_.size());
  std::vector<unsigned char> bytes;
  append(bytes, &head, 1);
  append(bytes, done_.data(), done_.size());
  append(bytes, keys_.value.data(), keys_.value.size());
  append(bytes, keys_.row.data(), keys_.row.size());
  const std::uint64_t sum = Xxh64::of(bytes.data(), bytes.size());
  WholeFile file("search: checkpoint", path_, checkpoint_mode);
  file.write(bytes.data(), bytes.size());
  file.write(&sum, sizeof sum);
  file.flush();
  file.commit();
}

std::vector<SearchPiece> Checkpoint::left(const SearchPiece& asked) const {
  const std::lock_guard lock(mutex_);
  return pieces_left(done_, asked);
}

FoundBefore Checkpoint::known(const SearchRequest& part, std::vector<std::uint32_t>& room) const {
  const std::lock_guard lock(mutex_);
  const auto from = keys_.value.begin() + static_cast<std::ptrdiff_t>(part.first_query * keys_.k);
  room.assign(from, from + static_cast<std::ptrdiff_t>(part.m() * keys_.k));
  return {room, keys_.k};
}

void Checkpoint::take(const SearchRequest& part, std::int64_t rows, Keys keys) {
  for (std::int64_t& row : keys.row) row += row < 0 ? 0 : part.first_row;
  const std::lock_guard lock(mutex_);
  const std::size_t begin = size(part.first_query * keys_.k);
  const ShardLists lists[] = {
      {part.m(), keys_.k, nullptr, keys_.value.data() + begin, keys_.row.data() + begin},
      lists_of("search", keys)};
  Keys both = lists_of_none(part.m(), keys_.k);
  unite_keys<std::uint32_t>(lists, both.value.data(), both.row.data());
  std::copy(both.value.begin(), both.value.end(), keys_.value.data() + begin);
  std::copy(both.row.begin(), both.row.end(), keys_.row.data() + begin);
  done_.push_back({{part.first_query, part.m()}, {part.first_row, rows}});
  join_pieces(done_);
  write();
}

Keys Checkpoint::keys() {
  const std::lock_guard lock(mutex_);
  return std::move(keys_);
}

}  // namespace kith
