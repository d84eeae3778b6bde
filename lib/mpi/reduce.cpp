#include "reduce.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kith/mpi.hpp"

namespace kith::mpi {
namespace {

struct PackedKey {
  std::uint32_t value;
  std::int64_t row;
};

/// Orders keys by the contract, section 2; (no_value, -1) comes after all others.
bool is_nearer(const PackedKey& a, const PackedKey& b) {
  return a.value != b.value ? a.value < b.value : a.row < b.row;
}

/// A key in a message has so many bytes: value, then row, without alignment.
constexpr std::size_t packed_bytes = 12;
/// So many bytes, or one query, are reduced at once: they stay in the cache of a core while they are packed,
/// sent, merged and unpacked.
constexpr std::size_t reduced_bytes = std::size_t{256} << 10;

PackedKey load(const unsigned char* from) {
  PackedKey key{};
  std::memcpy(&key.value, from, sizeof key.value);
  std::memcpy(&key.row, from + sizeof key.value, sizeof key.row);
  return key;
}

void store(const PackedKey& key, unsigned char* to) {
  std::memcpy(to, &key.value, sizeof key.value);
  std::memcpy(to + sizeof key.value, &key.row, sizeof key.row);
}

/// Returns memory for one list, which is allocated before a reduction, since that may not throw.
std::vector<unsigned char>& spare_list() {
  thread_local std::vector<unsigned char> spare;
  return spare;
}

/// Merges the nearest keys of two lists into `b`; keys in both count once.
void keep_nearest(const unsigned char* a, unsigned char* b, std::size_t bytes) {
  unsigned char* const merged = spare_list().data();
  std::size_t from_a = 0, from_b = 0;  // neither exceeds `to`
  for (std::size_t to = 0; to < bytes; to += packed_bytes) {
    const PackedKey one = load(a + from_a), other = load(b + from_b);
    store(is_nearer(one, other) ? one : other, merged + to);
    from_a += is_nearer(other, one) ? 0 : packed_bytes;
    from_b += is_nearer(one, other) ? 0 : packed_bytes;
  }
  std::memcpy(b, merged, bytes);
}

}  // namespace

extern "C" {
/// Is an MPI_User_function whose elements are lists of one query. It is associative and commutative, since
/// lists of distinct keys are sorted and the smallest are kept.
static void kith_mpi_keep_nearest(void* in, void* inout, int* count, MPI_Datatype* list) {
  MPI_Aint begin = 0, bytes = 0;
  if (MPI_Type_get_extent(*list, &begin, &bytes) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
  const auto step = static_cast<std::size_t>(bytes);
  for (std::size_t q = 0; q < static_cast<std::size_t>(*count); ++q)
    keep_nearest(static_cast<unsigned char*>(in) + q * step, static_cast<unsigned char*>(inout) + q * step,
                 step);
}
}

namespace {

/// Holds MPI's type of lists of k keys, and the operation that merges two of them.
class ListType {
 public:
  explicit ListType(std::int64_t k) {
    check(MPI_Type_contiguous(packed_bytes, MPI_BYTE, &key_), "MPI_Type_contiguous");
    check(MPI_Type_contiguous(static_cast<int>(k), key_, &list_), "MPI_Type_contiguous");
    check(MPI_Type_commit(&list_), "MPI_Type_commit");
    check(MPI_Op_create(kith_mpi_keep_nearest, 1, &nearest_), "MPI_Op_create");
  }
  ~ListType() {
    if (nearest_ != MPI_OP_NULL) MPI_Op_free(&nearest_);
    for (MPI_Datatype* type : {&list_, &key_})
      if (*type != MPI_DATATYPE_NULL) MPI_Type_free(type);
  }
  ListType(const ListType&) = delete;
  ListType& operator=(const ListType&) = delete;

  void reduce(MPI_Comm comm, unsigned char* lists, std::int64_t count) const {
    check(comm, MPI_Allreduce(MPI_IN_PLACE, lists, static_cast<int>(count), list_, nearest_, comm),
          "MPI_Allreduce");
  }

 private:
  MPI_Datatype key_ = MPI_DATATYPE_NULL, list_ = MPI_DATATYPE_NULL;
  MPI_Op nearest_ = MPI_OP_NULL;
};

}  // namespace

void reduce(const Communicator& ranks, Keys& keys) {
  if (ranks.size() == 1 || keys.queries == 0) return;
  const std::size_t k = static_cast<std::size_t>(keys.k), list = k * packed_bytes;
  const std::int64_t most = std::max<std::int64_t>(1, static_cast<std::int64_t>(reduced_bytes / list));
  const std::int64_t tile = std::min(keys.queries, most);
  std::vector<unsigned char> packed;
  ranks.together([&] {
    packed.resize(static_cast<std::size_t>(tile) * list);
    spare_list().resize(list);
  });
  const ListType lists(keys.k);
  for (std::int64_t first = 0; first < keys.queries; first += tile) {
    const std::int64_t count = std::min(tile, keys.queries - first);
    const std::size_t at = static_cast<std::size_t>(first) * k, cells = static_cast<std::size_t>(count) * k;
    for (std::size_t i = 0; i < cells; ++i)
      store({keys.value[at + i], keys.row[at + i]}, packed.data() + i * packed_bytes);
    lists.reduce(ranks.get(), packed.data(), count);
    for (std::size_t i = 0; i < cells; ++i) {
      const PackedKey key = load(packed.data() + i * packed_bytes);
      keys.value[at + i] = key.value;
      keys.row[at + i] = key.row;
    }
  }
}

RadiusKeys gather(const Communicator& ranks, RadiusKeys mine) {
  if (ranks.size() == 1) return mine;
  const auto here = static_cast<std::int64_t>(mine.value.size());
  const std::int64_t queries = mine.queries;
  const std::vector<std::int64_t> counts = ranks.all_of({&here, 1});
  std::vector<RadiusKeys> lists(counts.size());
  ranks.together([&] {
    for (std::size_t r = 0; r < lists.size(); ++r) {
      if (static_cast<int>(r) == ranks.rank()) continue;
      lists[r].queries = queries;
      lists[r].first.resize(static_cast<std::size_t>(queries) + 1);
      lists[r].value.resize(static_cast<std::size_t>(counts[r]));
      lists[r].row.resize(lists[r].value.size());
    }
  });
  lists[static_cast<std::size_t>(ranks.rank())] = std::move(mine);
  for (std::size_t r = 0; r < lists.size(); ++r) {
    const auto send = [&](auto& values) {
      ranks.broadcast(values.data(), values.size() * sizeof values[0], static_cast<int>(r));
    };
    send(lists[r].first);
    send(lists[r].value);
    send(lists[r].row);
  }
  RadiusKeys merged;
  ranks.together([&] { merged = merge(lists); });
  return merged;
}

}  // namespace kith::mpi
