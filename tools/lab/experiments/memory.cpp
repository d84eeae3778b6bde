#include "lab/experiments/memory.hpp"

#include <algorithm>

namespace kith::experiments {

Memory::Memory(std::vector<Kept> before, std::function<void()> changed)
    : kept_(std::move(before)), changed_(std::move(changed)) {}

Measured Memory::measure(const std::string& what, const std::function<Measured()>& body) {
  return take(what, [&] { return Kept{{}, 0, body(), {}}; }).measured;
}

Memory::Kept Memory::take(const std::string& what, const std::function<Kept()>& body) {
  if (within_) return body();
  const std::size_t nth = asked_[what]++;
  const auto known = std::find_if(kept_.begin(), kept_.end(),
                                  [&](const Kept& kept) { return kept.nth == nth && kept.what == what; });
  if (known != kept_.end()) return *known;
  struct Within {
    bool& flag;
    explicit Within(bool& of) : flag(of) { flag = true; }
    ~Within() { flag = false; }
  };
  Kept kept = [&] {
    const Within within(within_);
    return body();
  }();
  kept.what = what;
  kept.nth = nth;
  if (!kept.measured.timed()) return kept;
  kept_.push_back(kept);
  if (changed_) changed_();
  return kept;
}

}  // namespace kith::experiments
