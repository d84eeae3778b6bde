// Memory that is kept for the next search: given back before a device is told to have none.
#include <doctest/doctest.h>

#include "kith/error.hpp"
#include "kith/index.hpp"
#include "oracle.hpp"
#include "proxy_device.hpp"

namespace kith::tests {
namespace {

/// What a Crowded is told, and tells.
struct Card {
  const Device::State* state = nullptr;
  bool is_full = false;  // others have all that kith does not keep
  int refused = 0;
};

/// A device with room for what is in use, but for nothing that is only kept.
class Crowded : public ProxyDevice {
 public:
  Crowded(std::unique_ptr<spi::Device> real, Card& card) : ProxyDevice(std::move(real)), card_(card) {}

  std::unique_ptr<spi::Allocation> allocate(std::size_t bytes) override {
    if (card_.is_full && !card_.state->spare.empty()) {
      ++card_.refused;
      throw Error(Errc::out_of_memory, "others have the rest; ask for less");
    }
    return ProxyDevice::allocate(bytes);
  }

 private:
  Card& card_;
};

TEST_CASE("spares: memory kept for the next search is given back where the device has no more") {
  constexpr std::int64_t n = 700, dims = 8;
  const Matrix train = hard_rows(DataKind::normal, Set::train, n, dims, Metric::l1);
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, 300, dims, Metric::l1);
  Card card;
  const Device device = cpu_behind<Crowded>(card);
  card.state = device.state().get();
  const Index index(device, train, Metric::l1);
  CHECK(difference(index.search(train, 3), neighbors(Metric::l1, train, train, 3)) == "");
  REQUIRE(!card.state->spare.empty());
  card.is_full = true;
  CHECK(difference(index.search(queries, 50), neighbors(Metric::l1, queries, train, 50)) == "");
  CHECK(card.refused > 0);
}

}  // namespace
}  // namespace kith::tests
