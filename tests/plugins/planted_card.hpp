// Simulates the card behind a device of the back end `planted`. All handles of the device share its memory.
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

/// Returns the memory of a card; KITH_PLANTED_MEMORY can make it smaller.
inline std::size_t planted_memory_bytes() {
  const char* given = std::getenv("KITH_PLANTED_MEMORY");
  return given ? std::strtoull(given, nullptr, 10) : std::size_t{1} << 28;
}

class Card {
 public:
  explicit Card(std::size_t bytes) : free_(bytes) {}
  /// Returns the card of a device, shared by all its handles. The library opens one device at a time, so this
  /// needs no lock.
  static std::shared_ptr<Card> of(const kith::DeviceInfo& info) {
    static std::map<std::string, std::shared_ptr<Card>> cards;
    std::shared_ptr<Card>& card = cards[info.spec];
    if (!card) card = std::make_shared<Card>(info.memory_bytes);
    return card;
  }

  /// Throws out_of_memory if less is free.
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

/// Holds a piece of a card's memory until it is destroyed.
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

/// Takes the memory that a driver needs for a launch. If there is none, asks the library to release some and
/// tries again.
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
