#include "device/device_set.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "device/device_state.hpp"
#include "kith/error.hpp"

namespace kith {
namespace {

/// The driver of a set. It refuses all calls, because no step runs on several devices at once.
class NoSingleDevice : public spi::Device {
 public:
  using spi::Device::Device;

  std::unique_ptr<spi::Allocation> allocate(std::size_t) override { refuse(); }
  void write(spi::Allocation&, std::size_t, const void*, std::size_t) override { refuse(); }
  void read(const spi::Allocation&, std::size_t, void*, std::size_t) override { refuse(); }
  void finish() override { refuse(); }
  std::uint64_t mark() override { refuse(); }
  double elapsed(std::uint64_t, std::uint64_t) override { refuse(); }
  spi::Support check(const spi::Step&) const override { refuse(); }
  void enqueue(const spi::Step&) override { refuse(); }

 private:
  [[noreturn]] void refuse() const {
    throw Error(Errc::unsupported, info.spec +
                                       ": a single step runs on one device, and this is a set of them; "
                                       "name one of its members instead");
  }
};

/// Joins the distinct texts of the members with " + ".
template <class TextOf>
std::string joined(const std::vector<kith::Device>& members, const TextOf& text_of) {
  std::vector<std::string> texts;
  for (const kith::Device& member : members)
    if (const std::string text = text_of(member.info());
        std::find(texts.begin(), texts.end(), text) == texts.end())
      texts.push_back(text);
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : " + ") + text;
  return all;
}

/// Names a set by its members: `2 x NVIDIA H200 + 1 x cpu`.
std::string name_of_set(const std::vector<kith::Device>& members) {
  return joined(members, [&](const DeviceInfo& info) {
    const auto alike = std::count_if(members.begin(), members.end(), [&](const kith::Device& member) {
      return member.info().name == info.name;
    });
    return std::to_string(alike) + " x " + info.name;
  });
}

/// Removes from `kept` what `other` does not have.
template <class Value>
void keep_common(std::vector<Value>& kept, const std::vector<Value>& other) {
  std::erase_if(kept,
                [&](Value value) { return std::find(other.begin(), other.end(), value) == other.end(); });
}

/// Adds up the sizes and counts of all members, and keeps the features that all have. The kind is that of the
/// first GPU, if there is one.
DeviceInfo info_of_set(const std::vector<kith::Device>& members) {
  DeviceInfo set = members.front().info();
  set.backend = "set";
  set.name = name_of_set(members);
  set.platform = joined(members, [](const DeviceInfo& info) { return info.platform; });
  set.driver = joined(members, [](const DeviceInfo& info) { return info.driver; });
  set.train_block = set.query_block = 1;
  set.tuning = nullptr;
  set.pci.clear();
  for (std::size_t i = 1; i < members.size(); ++i) {
    const DeviceInfo& info = members[i].info();
    set.spec += "+" + info.spec;
    if (set.kind == DeviceKind::cpu) set.kind = info.kind;
    set.compute_units += info.compute_units;
    set.memory_bytes += info.memory_bytes;
    set.largest_allocation = std::min(set.largest_allocation, info.largest_allocation);
    set.local_memory_bytes = std::min(set.local_memory_bytes, info.local_memory_bytes);
    set.fused_max_k = std::min(set.fused_max_k, info.fused_max_k);
    set.boxes_max_k = std::min(set.boxes_max_k, info.boxes_max_k);
    set.profile.host_threads = set.profile.host_threads && info.profile.host_threads;
    keep_common(set.selectors, info.selectors);
    keep_common(set.proposers, info.proposers);
  }
  return set;
}

}  // namespace

void check_members(const std::vector<Device>& members) {
  for (std::size_t i = 0; i < members.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const DeviceInfo &first = members[j].info(), &again = members[i].info();
      if (first.spec == again.spec)
        throw Error(Errc::invalid_argument, "open_device: " + again.spec + " (" + again.name +
                                                ") is there twice in a set; name each device once");
      if (!first.pci.empty() && first.pci == again.pci)
        throw Error(Errc::invalid_argument,
                    "open_device: " + first.spec + " and " + again.spec + " are one card (" + again.pci +
                        "), whose rows would take its memory twice; name one of them");
    }
}

Device set_of_devices(std::vector<Device> members) {
  auto state = std::make_shared<Device::State>(std::make_unique<NoSingleDevice>(info_of_set(members)));
  state->members = std::move(members);
  return Device(std::move(state));
}

const std::vector<Device>& members_of(const Device& device) {
  return device.state()->members;
}

const Device& first_of(const Device& device) {
  return is_set(device) ? members_of(device).front() : device;
}

}  // namespace kith
