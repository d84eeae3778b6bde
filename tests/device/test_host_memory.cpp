// Tests that the same bytes arrive from locked host memory as from ordinary memory.
#include <span>
#include <utility>

#include "common/device.hpp"

namespace kith::tests {
namespace {

/// Returns bytes in which a shift by any amount is visible.
std::vector<unsigned char> pattern(std::size_t bytes) {
  std::vector<unsigned char> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<unsigned char>(i * 7 + i / 251);
  return made;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("host memory: what is written from it is read back into it, small or large, from any place") {
  spi::with_device(device(), [](spi::Device& device) {
    for (const std::size_t bytes : {1u, 100u, 5000u, 300000u, 3000001u}) {
      CAPTURE(bytes);
      const auto host = device.allocate_host(bytes + 16);
      if (!host) return;  // the device does not profit from locked memory
      CHECK(host->bytes == bytes + 16);
      auto* const data = static_cast<unsigned char*>(host->data);
      const std::vector<unsigned char> right = pattern(bytes);
      std::memset(data, 0xC3, bytes + 16);
      std::memcpy(data + 5, right.data(), bytes);
      const auto memory = device.allocate(bytes + 3);
      device.write(*memory, 3, data + 5, bytes);
      std::memset(data, 0xC3, bytes + 16);  // write() has returned, so the bytes may be reused

      std::vector<unsigned char> pageable(bytes);
      device.read(*memory, 3, pageable.data(), bytes);
      CHECK(pageable == right);
      device.read(*memory, 3, data + 5, bytes);
      CHECK(std::memcmp(data + 5, right.data(), bytes) == 0);
      for (const std::size_t i : {std::size_t{0}, std::size_t{4}, bytes + 5, bytes + 15})
        CHECK(data[i] == 0xC3);
    }
  });
}

TEST_CASE("host memory: many small writes, one after another, without waiting for any") {
  // Together the writes exceed the memory that back ends keep for writes they do not wait for.
  spi::with_device(device(), [](spi::Device& device) {
    for (const auto& sizes : {std::pair<std::size_t, std::size_t>{200001, 24}, {30000, 64}, {64, 40}}) {
      const std::size_t bytes = sizes.first, count = sizes.second;
      CAPTURE(bytes);
      std::vector<std::unique_ptr<spi::Allocation>> memory;
      for (std::size_t i = 0; i < count; ++i) memory.push_back(device.allocate(bytes + i));
      const std::vector<unsigned char> right = pattern(bytes + count);
      for (std::size_t i = 0; i < count; ++i) {
        std::vector<unsigned char> passing(right.begin() + static_cast<std::ptrdiff_t>(i), right.end());
        device.write(*memory[i], i, passing.data(), bytes);
        std::fill(passing.begin(), passing.end(), static_cast<unsigned char>(0xC3));
      }
      for (std::size_t i = 0; i < count; ++i) {
        CAPTURE(i);
        std::vector<unsigned char> back(bytes);
        device.read(*memory[i], i, back.data(), bytes);
        CHECK(std::memcmp(back.data(), right.data() + i, bytes) == 0);
      }
    }
  });
}

TEST_CASE("host memory: pieces that are read together are those that are read one by one") {
  spi::with_device(device(), [](spi::Device& device) {
    const std::vector<unsigned char> right = pattern(400000);
    const auto first = device.allocate(right.size()), second = device.allocate(right.size());
    device.write(*first, 0, right.data(), right.size());
    for (const std::size_t bytes : {0u, 1u, 4u, 16u, 999u, 4096u, 20000u, 120000u, 300001u}) {
      // What one step wrote is read after it: the second memory is written only now.
      device.write(*second, 0, right.data() + 1, right.size() - 1);
      const auto locked = device.allocate_host(bytes + 1);
      std::vector<unsigned char> plain(bytes + 2, 0xC3), words(132, 0xC3), other(bytes + 2, 0xC3);
      std::vector<spi::Piece> pieces = {{first.get(), 3, words.data() + 1, 130},
                                        {second.get(), 16, plain.data() + 1, bytes},
                                        {second.get(), 5, words.data(), 1}};
      if (locked) pieces.push_back({first.get(), 7, locked->data, bytes});
      for (std::size_t count = 1; count <= pieces.size(); ++count) {
        CAPTURE_ALL(bytes, count);
        device.read_pieces(std::span(pieces).first(count));
        CHECK(std::memcmp(words.data() + 1, right.data() + 3, 130) == 0);
        if (count > 1) CHECK(std::memcmp(plain.data() + 1, right.data() + 17, bytes) == 0);
        if (count > 2) CHECK(words.front() == right[6]);
        if (count > 3) CHECK(std::memcmp(locked->data, right.data() + 7, bytes) == 0);
      }
      const std::vector<spi::Piece> many(9, {first.get(), 32, other.data() + 1, bytes});
      device.read_pieces(many);
      CHECK(std::memcmp(other.data() + 1, right.data() + 32, bytes) == 0);
      CHECK(words.back() == 0xC3);
      for (const auto* side : {&plain, &other}) CHECK((side->front() == 0xC3 && side->back() == 0xC3));
    }
  });
}

TEST_CASE("host memory: what is written later is there for the steps that come after it") {
  spi::with_device(device(), [](spi::Device& device) {
    for (const std::size_t bytes : {1u, 5000u, 70000u, 3000001u}) {
      CAPTURE(bytes);
      const auto host = device.allocate_host(bytes + 5);
      if (!host) return;
      const std::vector<unsigned char> right = pattern(bytes);
      std::memcpy(static_cast<unsigned char*>(host->data) + 5, right.data(), bytes);
      const auto memory = device.allocate(bytes + 3);
      device.write_later(*memory, 3, static_cast<unsigned char*>(host->data) + 5, bytes);
      std::vector<unsigned char> back(bytes);
      device.read(*memory, 3, back.data(), bytes);
      CHECK(back == right);
    }
  });
}

TEST_CASE("host memory: two pieces are two pieces") {
  spi::with_device(device(), [](spi::Device& device) {
    const auto first = device.allocate_host(1000), second = device.allocate_host(1000);
    if (!first) return;
    REQUIRE(second);
    CHECK(first->data != second->data);
    const std::vector<unsigned char> right = pattern(2000);
    std::memcpy(first->data, right.data(), 1000);
    std::memcpy(second->data, right.data() + 1000, 1000);
    const auto memory = device.allocate(2000);
    device.write(*memory, 0, first->data, 1000);
    device.write(*memory, 1000, second->data, 1000);
    std::vector<unsigned char> back(2000);
    device.read(*memory, 0, back.data(), 2000);
    CHECK(back == right);
  });
}

TEST_CASE("host memory: nothing at all, and memory that outlives what was copied to") {
  spi::with_device(device(), [](spi::Device& device) {
    const auto host = device.allocate_host(64);
    if (!host) return;
    CHECK(device.allocate_host(0) != nullptr);
    std::memset(host->data, 1, 64);
    device.write(*device.allocate(64), 0, host->data, 64);
    device.write(*device.allocate(64), 0, host->data, 0);
    device.finish();
    std::memset(host->data, 2, 64);
    CHECK(static_cast<const unsigned char*>(host->data)[63] == 2);
  });
}

TEST_CASE("copy queues: a device has one, and steps find what it wrote") {
  if (device().info().backend == "planted") return;  // the back end `planted` of these tests needs no queue
  spi::with_device(device(), [](spi::Device& device) {
    const auto queue = device.copy_queue();
    REQUIRE(queue);
    for (const std::size_t bytes : {0u, 1u, 300000u, 3000001u}) {
      CAPTURE(bytes);
      const std::vector<unsigned char> right = pattern(bytes);
      const auto memory = device.allocate(bytes + 5);
      device.finish();  // no step uses it any more
      queue->write(*memory, 5, right.data(), bytes);
      std::vector<unsigned char> there(bytes);
      device.read(*memory, 5, there.data(), bytes);
      CHECK(there == right);
    }
  });
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
