// The card behind a device of the back end `planted`: as much memory as it has, for all its handles together.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "kith/error.hpp"
#include "kith/spi.hpp"

namespace {

/// Bytes of a card; the environment variable KITH_PLANTED_MEMORY makes them fewer.
inline std::size_t planted_memory_bytes() {
  const char* given = std::getenv("KITH_PLANTED_MEMORY");
  return given ? std::strtoull(given, nullptr, 10) : std::size_t{1} << 28;
}

class Card {
 public:
  explicit Card(std::size_t bytes) : free_(bytes) {}
  /// The card of a device, the same for all handles. The library opens one device at a time.
  static std::shared_ptr<Card> of(const kith::DeviceInfo& info) {
    static std::map<std::string, std::shared_ptr<Card>> cards;
    std::shared_ptr<Card>& card = cards[info.spec];
    if (!card) card = std::make_shared<Card>(info.memory_bytes);
    return card;
  }

  /// Throws out_of_memory.
  void take(std::size_t bytes) {
    std::size_t free = free_;
    do {
      if (bytes > free)
        throw kith::Error(kith::Errc::out_of_memory, "planted: " + std::to_string(bytes) + " bytes of " +
                                                         std::to_string(free) +
                                                         " that are free; ask for less");
    } while (!free_.compare_exchange_weak(free, free - bytes));
  }
  void give(std::size_t bytes) { free_ += bytes; }

 private:
  std::atomic<std::size_t> free_;
};

/// A piece of a card's memory, as long as it lives.
class CardShare {
 public:
  CardShare(std::shared_ptr<Card> card, std::size_t bytes) : card_(std::move(card)), bytes_(bytes) {
    card_->take(bytes);
  }
  ~CardShare() { card_->give(bytes_); }
  CardShare(const CardShare&) = delete;
  CardShare& operator=(const CardShare&) = delete;

 private:
  const std::shared_ptr<Card> card_;
  const std::size_t bytes_;
};

/// What a driver takes for itself to launch a kernel. Asked once more where the library gave some back.
inline void take_to_launch(const std::shared_ptr<Card>& card, const kith::DeviceInfo& info) {
  constexpr std::size_t bytes = 512;
  try {
    const CardShare share(card, bytes);
    return;
  } catch (const kith::Error&) {
    if (!kith::spi::give_back(info)) throw;
  }
  const CardShare share(card, bytes);
}

}  // namespace
