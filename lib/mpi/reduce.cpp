#include "reduce.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kith/mpi.hpp"

namespace kith::mpi {
namespace {

/// A key in a message: value, then row, without alignment, as 12 or 16 bytes.
///   Code  ordered() of a raw value: 32 bits of floats, 64 bits of doubles
template <class Code>
struct PackedKey {
  Code value;
  std::int64_t row;

  static constexpr std::size_t bytes = sizeof(Code) + sizeof(std::int64_t);

  static PackedKey load(const unsigned char* from) {
    PackedKey key{};
    std::memcpy(&key.value, from, sizeof key.value);
    std::memcpy(&key.row, from + sizeof key.value, sizeof key.row);
    return key;
  }

  void store(unsigned char* to) const {
    std::memcpy(to, &value, sizeof value);
    std::memcpy(to + sizeof value, &row, sizeof row);
  }
};

/// Orders keys by the contract, section 2; (no_value or no_double, -1) comes after all others.
template <class Code>
bool is_nearer(const PackedKey<Code>& a, const PackedKey<Code>& b) {
  return a.value != b.value ? a.value < b.value : a.row < b.row;
}

/// So many bytes, or one query, are reduced at once: they stay in the cache of a core while they are packed,
/// sent, merged and unpacked.
constexpr std::size_t reduced_bytes = std::size_t{256} << 10;

/// Returns memory for one list, which is allocated before a reduction, since that may not throw.
std::vector<unsigned char>& spare_list() {
  thread_local std::vector<unsigned char> spare;
  return spare;
}

/// Merges the nearest keys of two lists into `b`; keys in both count once.
template <class Code>
void keep_nearest(const unsigned char* a, unsigned char* b, std::size_t bytes) {
  using Packed = PackedKey<Code>;
  unsigned char* const merged = spare_list().data();
  std::size_t from_a = 0, from_b = 0;  // neither exceeds `to`
  for (std::size_t to = 0; to < bytes; to += Packed::bytes) {
    const Packed one = Packed::load(a + from_a), other = Packed::load(b + from_b);
    (is_nearer(one, other) ? one : other).store(merged + to);
    from_a += is_nearer(other, one) ? 0 : Packed::bytes;
    from_b += is_nearer(one, other) ? 0 : Packed::bytes;
  }
  std::memcpy(b, merged, bytes);
}

/// Merges lists of one query each. It is associative and commutative, since lists of distinct keys are sorted
/// and the smallest are kept.
template <class Code>
void keep_nearest_of_all(void* in, void* inout, const int* count, MPI_Datatype list) {
  MPI_Aint begin = 0, bytes = 0;
  if (MPI_Type_get_extent(list, &begin, &bytes) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
  const auto step = static_cast<std::size_t>(bytes);
  for (std::size_t q = 0; q < static_cast<std::size_t>(*count); ++q)
    keep_nearest<Code>(static_cast<unsigned char*>(in) + q * step,
                       static_cast<unsigned char*>(inout) + q * step, step);
}

}  // namespace

extern "C" {
/// Are MPI_User_functions whose elements are lists of one query.
static void kith_mpi_keep_nearest(void* in, void* inout, int* count, MPI_Datatype* list) {
  keep_nearest_of_all<std::uint32_t>(in, inout, count, *list);
}
static void kith_mpi_keep_nearest_f64(void* in, void* inout, int* count, MPI_Datatype* list) {
  keep_nearest_of_all<std::uint64_t>(in, inout, count, *list);
}
}

namespace {

/// Holds MPI's type of lists of k keys, and the operation that merges two of them.
template <class Code>
class ListType {
 public:
  explicit ListType(std::int64_t k) {
    constexpr auto merge =
        sizeof(Code) == sizeof(std::uint32_t) ? kith_mpi_keep_nearest : kith_mpi_keep_nearest_f64;
    check(MPI_Type_contiguous(PackedKey<Code>::bytes, MPI_BYTE, &key_), "MPI_Type_contiguous");
    check(MPI_Type_contiguous(static_cast<int>(k), key_, &list_), "MPI_Type_contiguous");
    check(MPI_Type_commit(&list_), "MPI_Type_commit");
    check(MPI_Op_create(merge, 1, &nearest_), "MPI_Op_create");
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

/// Does what reduce() does for keys with such codes.
///   values  those of `keys`
template <class Code>
void reduce_codes(const Communicator& ranks, Keys& keys, std::vector<Code>& values) {
  using Packed = PackedKey<Code>;
  const std::size_t k = static_cast<std::size_t>(keys.k), list = k * Packed::bytes;
  const std::int64_t most = std::max<std::int64_t>(1, static_cast<std::int64_t>(reduced_bytes / list));
  const std::int64_t tile = std::min(keys.queries, most);
  std::vector<unsigned char> packed;
  ranks.together([&] {
    packed.resize(static_cast<std::size_t>(tile) * list);
    spare_list().resize(list);
  });
  const ListType<Code> lists(keys.k);
  for (std::int64_t first = 0; first < keys.queries; first += tile) {
    const std::int64_t count = std::min(tile, keys.queries - first);
    const std::size_t at = static_cast<std::size_t>(first) * k, cells = static_cast<std::size_t>(count) * k;
    for (std::size_t i = 0; i < cells; ++i)
      Packed{values[at + i], keys.row[at + i]}.store(packed.data() + i * Packed::bytes);
    lists.reduce(ranks.get(), packed.data(), count);
    for (std::size_t i = 0; i < cells; ++i) {
      const Packed key = Packed::load(packed.data() + i * Packed::bytes);
      values[at + i] = key.value;
      keys.row[at + i] = key.row;
    }
  }
}

}  // namespace

void reduce(const Communicator& ranks, Keys& keys) {
  if (ranks.size() == 1 || keys.queries == 0) return;
  if (keys.arithmetic == Arithmetic::f64)
    reduce_codes(ranks, keys, keys.value64);
  else
    reduce_codes(ranks, keys, keys.value);
}

RadiusKeys gather(const Communicator& ranks, RadiusKeys mine) {
  if (ranks.size() == 1) return mine;
  const auto here = static_cast<std::int64_t>(mine.row.size());
  const std::int64_t queries = mine.queries;
  const Arithmetic arithmetic = mine.arithmetic;
  const std::vector<std::int64_t> counts = ranks.all_of({&here, 1});
  std::vector<RadiusKeys> lists(counts.size());
  ranks.together([&] {
    for (std::size_t r = 0; r < lists.size(); ++r) {
      if (static_cast<int>(r) == ranks.rank()) continue;
      const auto count = static_cast<std::size_t>(counts[r]);
      lists[r].queries = queries;
      lists[r].arithmetic = arithmetic;
      lists[r].first.resize(static_cast<std::size_t>(queries) + 1);
      (arithmetic == Arithmetic::f64 ? lists[r].value64.resize(count) : lists[r].value.resize(count));
      lists[r].row.resize(count);
    }
  });
  lists[static_cast<std::size_t>(ranks.rank())] = std::move(mine);
  for (std::size_t r = 0; r < lists.size(); ++r) {
    const auto send = [&](auto& values) {
      ranks.broadcast(values.data(), values.size() * sizeof values[0], static_cast<int>(r));
    };
    send(lists[r].first);
    send(lists[r].value);
    send(lists[r].value64);
    send(lists[r].row);
  }
  RadiusKeys merged;
  ranks.together([&] { merged = merge(lists); });
  return merged;
}

}  // namespace kith::mpi
