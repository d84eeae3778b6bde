// Searches use locked host memory if there is any and keep it for the next search; none fails for lack of it.
#include <new>

#include "common/oracle.hpp"
#include "common/proxy_device.hpp"
#include "common/test.hpp"
#include "kith/error.hpp"
#include "kith/index.hpp"

namespace kith::tests {
namespace {

/// Records what a Lender has lent.
struct Lent {
  std::map<const void*, std::size_t> bytes_of;  // sizes of the blocks in use, by address
  std::vector<std::size_t> asked;               // all sizes requested so far
  bool none = false;                            // there is no more locked memory
  bool fills_device = false;                    // while a block is in use, the device has no memory left
  std::size_t out() const {
    return std::accumulate(bytes_of.begin(), bytes_of.end(), std::size_t{0},
                           [](std::size_t sum, const auto& one) { return sum + one.second; });
  }
};

class Loan : public spi::HostMemory {
 public:
  Loan(std::size_t bytes, Lent& lent) : HostMemory(::operator new(bytes), bytes), lent_(lent) {
    std::memset(data, 0xC3, bytes);
    lent_.bytes_of[data] = bytes;
  }
  ~Loan() override {
    lent_.bytes_of.erase(data);
    ::operator delete(data);
  }

 private:
  Lent& lent_;
};

/// A device that has locked memory and records the requests for it.
class Lender : public ProxyDevice {
 public:
  Lender(std::unique_ptr<spi::Device> real, Lent& lent) : ProxyDevice(std::move(real)), lent_(lent) {}

  std::unique_ptr<spi::HostMemory> allocate_host(std::size_t bytes) override {
    lent_.asked.push_back(bytes);
    if (lent_.none) throw Error(Errc::out_of_memory, "there is no more");
    return std::make_unique<Loan>(bytes, lent_);
  }
  std::unique_ptr<spi::Allocation> allocate(std::size_t bytes) override {
    if (lent_.fills_device && !lent_.bytes_of.empty()) throw Error(Errc::out_of_memory, "it is full");
    return ProxyDevice::allocate(bytes);
  }

 private:
  Lent& lent_;
};

constexpr std::int64_t n = 3000, m = 700, dims = 8, k = 100;  // keys take 560 KB

TEST_CASE("host buffer: locked memory is asked for once, and used by every search") {
  const Matrix train = hard_rows(DataKind::normal, Set::train, n, dims, Metric::l1);
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, m, dims, Metric::l1);
  const Neighbors right = neighbors(Metric::l1, queries, train, k);
  Lent lent;
  {
    const Index index(cpu_behind<Lender>(lent), train, Metric::l1);
    CHECK(difference(index.search(queries, k), right) == "");
    const std::vector<std::size_t> first = lent.asked;
    REQUIRE(!first.empty());
    // Smaller blocks are faster to copy directly.
    CHECK(*std::min_element(first.begin(), first.end()) >= 256 * 1024);
    CHECK(difference(index.search(queries, k), right) == "");
    CHECK(index.search(queries.view().slice(3, 650), k).row.size() == std::size_t{650 * k});
    CHECK(lent.asked == first);
    CHECK(lent.bytes_of.size() == first.size());
  }
  CHECK(lent.bytes_of.empty());
}

TEST_CASE("host buffer: nothing is asked for what is small, or too large to be locked") {
  const Matrix train = hard_rows(DataKind::normal, Set::train, 70000, 1, Metric::l1);
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, 70, 1, Metric::l1);
  Lent lent;
  const Index index(cpu_behind<Lender>(lent), train, Metric::l1);
  lent.asked.clear();
  CHECK(index.search(queries, 5) == Index(open_device("cpu"), train, Metric::l1).search(queries, 5));
  CHECK(lent.asked.empty());
  SearchOptions whole{.query_tile = 70};
  CHECK(index.search(queries, 65000, whole) ==
        Index(open_device("cpu"), train, Metric::l1).search(queries, 65000));
  CHECK(lent.asked.empty());
}

TEST_CASE("host buffer: what is kept has an end, and the small goes first") {
  const Matrix train = hard_rows(DataKind::normal, Set::train, 40000, 1, Metric::l1);
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, 100, 1, Metric::l1);
  Lent lent;
  const Index index(cpu_behind<Lender>(lent), train, Metric::l1);
  // Each search needs more than is kept, up to 30 MB, and together they need far more than 64 MiB.
  for (const std::int64_t more : {5000, 10000, 20000, 30000, 36000, 38000}) (void)index.search(queries, more);
  CHECK(lent.out() <= std::size_t{64} << 20);
  const std::size_t asked = lent.asked.size();
  (void)index.search(queries, 38000);
  CHECK(lent.asked.size() == asked);  // the largest block was kept
}

TEST_CASE("host buffer: without locked memory searches do without") {
  const Matrix train = hard_rows(DataKind::normal, Set::train, n, dims, Metric::l1);
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, m, dims, Metric::l1);
  Lent lent;
  lent.none = true;
  const Index index(cpu_behind<Lender>(lent), train, Metric::l1);
  CHECK(difference(index.search(queries, k), neighbors(Metric::l1, queries, train, k)) == "");
  CHECK(!lent.asked.empty());
}

TEST_CASE("host buffer: locked memory that another handle keeps is given back where there is no more") {
  const Matrix train = hard_rows(DataKind::normal, Set::train, n, dims, Metric::l1);
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, m, dims, Metric::l1);
  Lent first, second;
  const Index keeper(cpu_behind<Lender>(first), train, Metric::l1);
  const Index index(cpu_behind<Lender>(second), train, Metric::l1);
  const Neighbors right = keeper.search(queries, k);
  REQUIRE(!first.bytes_of.empty());
  second.asked.clear();
  second.none = true;
  CHECK(index.search(queries, k) == right);
  CHECK(first.bytes_of.empty());
  REQUIRE(second.asked.size() >= 2);
  CHECK(second.asked[0] == second.asked[1]);  // asked again after memory was given back
}

TEST_CASE("host buffer: locked memory is given back, too, where the device has no more of its own") {
  const Matrix train = hard_rows(DataKind::normal, Set::train, n, dims, Metric::l1);
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, m, dims, Metric::l1);
  Lent lent;
  const Index index(cpu_behind<Lender>(lent), train, Metric::l1);
  const Neighbors right = index.search(queries, k);
  REQUIRE(!lent.bytes_of.empty());
  lent.fills_device = true;
  CHECK(Index(index.device(), train.view().slice(0, 10), Metric::l1).rows() == 10);
  CHECK(lent.bytes_of.empty());
}

}  // namespace
}  // namespace kith::tests
