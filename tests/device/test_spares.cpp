// Memory kept for the next search is released before memory runs out: docs/contract.md, section 7. The device
// `planted` has little memory with KITH_PLANTED_MEMORY, which all its handles share.
#include "common/environment.hpp"
#include "common/oracle.hpp"
#include "common/proxy_device.hpp"
#include "common/tuning.hpp"
#include "kith/index.hpp"

namespace kith::tests {
namespace {

using Blocks = std::vector<std::unique_ptr<spi::Allocation>>;

bool has_little_memory() {
  return device().info().memory_bytes <= std::size_t{1} << 26;
}

/// Allocates all memory that is left on the card, to the last byte.
Blocks all_that_is_left() {
  Blocks blocks;
  spi::with_device(device(), [&](spi::Device& opened) {
    for (std::size_t bytes = opened.info.largest_allocation; bytes > 0;) try {
        blocks.push_back(opened.allocate(bytes));
      } catch (const Error& error) {
        REQUIRE(error.code() == Errc::out_of_memory);
        bytes /= 2;
      }
  });
  return blocks;
}

/// Lets this handle keep spare blocks of the largest size, together 1/16 of the memory.
void leave_spares(const Device& handle) {
  const auto cells = static_cast<std::int64_t>(handle.info().memory_bytes / 16 / sizeof(float));
  const Index index(handle, hard_rows(DataKind::grid, Set::train, cells / 16, 16, Metric::l1), Metric::l1);
}

std::string refusal_of_index(const Matrix& rows) {
  return error_of([&] { static_cast<void>(Index(device(), rows, Metric::l1)); });
}

TEST_SUITE_BEGIN("device");

TEST_CASE("spares: those of another handle of the card are given back, and what needs them works") {
  if (!has_little_memory()) return;
  const Matrix train = hard_rows(DataKind::normal, Set::train, 2000, 4, Metric::l1);
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, 9, 4, Metric::l1);
  const Device other = open_device(device_spec());
  spi::give_back(device().info());
  {
    const Blocks all = all_that_is_left();
    CHECK(refusal_of_index(train).starts_with("out_of_memory: "));
  }
  leave_spares(other);
  const Blocks all = all_that_is_left();
  const Index index(device(), train, Metric::l1);
  CHECK(difference(index.search(queries, 5), neighbors(Metric::l1, queries, train, 5)) == "");
}

TEST_CASE("spares: those of the handle itself are given back where they do not fit") {
  if (!has_little_memory()) return;
  const Matrix few = matrix(1, {3, 1, 2});  // so small that it would waste most of a spare block
  leave_spares(device());
  const Blocks all = all_that_is_left();
  CHECK(Index(device(), few, Metric::l1).rows() == 3);
  CHECK(!all_that_is_left().empty());
}

TEST_CASE("spares: they are given back for a launch, which else is refused and works afterwards") {
  if (!has_little_memory()) return;
  const Device other = open_device(device_spec());
  std::vector<Key> keys = {4, 6, 8, 1, 5, 9};
  const auto merge = [&](spi::Device& opened, const Blocks& memory) {
    opened.write(*memory[0], 0, keys.data(), keys.size() * sizeof(Key));
    opened.enqueue({spi::MergeStep{2, 3, {memory[0].get(), 0, 1, 6, 6}, {memory[1].get(), 0, 1, 3, 3}, {}}});
    std::vector<Key> found(3);
    opened.read(*memory[1], 0, found.data(), found.size() * sizeof(Key));
    return found;
  };
  const auto merged = [&](const Blocks& memory) {
    std::vector<Key> found;
    spi::with_device(device(), [&](spi::Device& opened) { found = merge(opened, memory); });
    return found;
  };
  const std::vector<Key> right = {1, 4, 5};
  Blocks memory;
  spi::with_device(device(), [&](spi::Device& opened) {
    for (int i = 0; i < 2; ++i) memory.push_back(opened.allocate(6 * sizeof(Key)));
  });
  leave_spares(other);
  Blocks all = all_that_is_left();
  CHECK(merged(memory) == right);
  const Blocks rest = all_that_is_left();  // takes what `other` released
  CHECK(!rest.empty());
  CHECK(error_of([&] { merged(memory); }).starts_with("out_of_memory: "));
  all.clear();
  CHECK(merged(memory) == right);
}

TEST_CASE(
    "spares: they are given back to open a device; without them that is out_of_memory, and no verdict") {
  if (!has_little_memory()) return;
  const Device first = open_device(device_spec()), second = open_device(device_spec());
  spi::give_back(device().info());
  {
    const Blocks all = all_that_is_left();
    CHECK(error_of([] { open_device(device_spec()); }).starts_with("out_of_memory: "));
  }
  leave_spares(first);
  leave_spares(second);
  const Blocks all = all_that_is_left();
  CHECK(open_device(device_spec()).info().spec == device().info().spec);
}

TEST_CASE("spares: drivers free memory in kith's own floating-point environment, kept before or not") {
  if (!has_little_memory()) return;
  const Variable computes("KITH_PLANTED_COMPUTES", "1");
  const auto cells = static_cast<std::int64_t>(device().info().memory_bytes / 8 / sizeof(float));
  const Matrix rows =
      hard_rows(DataKind::grid, Set::train, cells / 16, 16, Metric::l1);  // twice as much as is kept
  bool kept_some = false, is_set = false;
  {
    const HostileEnvironment hostile(HostileSetting::trap_inexact);
    { const Index index(device(), rows, Metric::l1); }
    kept_some = spi::give_back(device().info());
    is_set = hostile.still_set();
  }
  CHECK(kept_some);
  CHECK(is_set);
}

class CountingDevice : public ProxyDevice {
 public:
  CountingDevice(std::unique_ptr<spi::Device> real, int& allocations)
      : ProxyDevice(std::move(real)), allocations_(allocations) {}
  std::unique_ptr<spi::Allocation> allocate(std::size_t bytes) override {
    ++allocations_;
    return ProxyDevice::allocate(bytes);
  }

 private:
  int& allocations_;
};

TEST_CASE("spares: a search like the last one allocates nothing, whatever was kept before") {
  int allocations = 0;
  const Device cpu = cpu_behind<CountingDevice>(allocations);
  {
    std::vector<Index> many;
    for (std::int64_t n = 1; n <= 100; ++n)
      many.emplace_back(cpu, hard_rows(DataKind::grid, Set::train, n, 3, Metric::l2), Metric::l2);
  }
  const Matrix train = hard_rows(DataKind::normal, Set::train, 2000, 24, Metric::l2);
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, 90, 24, Metric::l2);
  const Index index(cpu, train, Metric::l2);
  index.search(queries, 5);
  const int before = allocations;
  index.search(queries, 5);
  CHECK(allocations == before);
}

TEST_CASE("spares: a large block is not used for much less") {
  const Device cpu = open_device("cpu");
  const auto rows = [](std::int64_t n) { return hard_rows(DataKind::grid, Set::train, n, 64, Metric::l2); };
  constexpr std::int64_t n = 80000, bytes = n * 64 * std::int64_t{sizeof(float)};
  { const Index larger(cpu, rows(n + n / 2), Metric::l2); }
  const Index index(cpu, rows(n), Metric::l2);
  CHECK(index.memory_bytes() >= static_cast<std::size_t>(bytes));
  CHECK(index.memory_bytes() <= static_cast<std::size_t>(bytes + bytes / 8));
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
