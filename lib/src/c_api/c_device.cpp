// Implements devices and inventories for C.
#include <memory>
#include <string>

#include "c_api/c_handles.hpp"
#include "c_api/c_structs.hpp"
#include "kith/metric.hpp"
#include "kith/parse.hpp"
#include "kith/spi/landing.hpp"
#include "kith/unstable/tuning.hpp"

namespace {

using namespace kith;
using namespace kith::c_api;

/// Joins names by commas.
template <class Choice>
std::string joined(const std::vector<Choice>& choices) {
  std::string text;
  for (const Choice choice : choices) {
    if (!text.empty()) text += ',';
    text += name(choice);
  }
  return text;
}

/// Returns how many elements one list of an inventory has.
template <class List>
kith_status count_of(const char* function, const kith_inventory* inventory, List kith_inventory::*list,
                     int64_t* count) {
  return guarded(function, [&](const char* where) {
    given(where, "count", count) = static_cast<int64_t>((given(where, "inventory", inventory).*list).size());
  });
}

/// Returns one element of such a list. Throws invalid_argument: there is no such element.
template <class List>
const auto& one_of(const char* where, const char* what, const kith_inventory* inventory,
                   List kith_inventory::*list, int64_t number) {
  const List& all = given(where, "inventory", inventory).*list;
  check_number(where, what, number, all.size());
  return all[static_cast<std::size_t>(number)];
}

}  // namespace

DescribedDevice::DescribedDevice(const DeviceInfo& of)
    : info(of), selectors(joined(of.selectors)), proposers(joined(of.proposers)) {}

kith_device_info DescribedDevice::described() const {
  auto to = KITH_INIT(kith_device_info);
  to.spec = info.spec.c_str();
  to.backend = info.backend.c_str();
  to.name = info.name.c_str();
  to.platform = info.platform.c_str();
  to.driver = info.driver.c_str();
  to.kind = name(info.kind).data();
  to.pci = info.pci.c_str();
  to.selectors = selectors.c_str();
  to.proposers = proposers.c_str();
  to.memory_bytes = info.memory_bytes;
  to.largest_allocation_bytes = info.largest_allocation;
  to.compute_units = info.compute_units;
  to.fused_max_k = info.fused_max_k;
  return to;
}

int64_t kith_metric_count(void) {
  return static_cast<int64_t>(all_metrics.size() + prepared_metrics.size() + sum_metrics.size());
}

const char* kith_metric_name(int64_t number) {
  if (number < 0 || number >= kith_metric_count()) return nullptr;
  auto at = static_cast<std::size_t>(number);
  if (at < all_metrics.size()) return name(all_metrics[at]).data();
  at -= all_metrics.size();
  if (at < prepared_metrics.size()) return name(prepared_metrics[at]).data();
  return name(sum_metrics[at - prepared_metrics.size()]).data();
}

kith_status kith_metric_find(const char* text, const char** found) {
  return guarded(__func__, [&](const char* where) {
    given(where, "name", found) = nullptr;
    check_given(where, "text", text);
    *found = name(parse<Metric>(text)).data();
  });
}

kith_status kith_inventory_new(kith_inventory** out) {
  return make_handle(__func__, out, [](const char*) {
    auto inventory = std::make_unique<kith_inventory>();
    inventory->backends = backends();
    for (const BackendInfo& backend : inventory->backends)
      for (const DeviceInfo& device : backend.devices) inventory->devices.emplace_back(device);
    inventory->warnings = load_failures();
    for (std::string& warning : tuning_warnings()) inventory->warnings.push_back(std::move(warning));
    return inventory;
  });
}

void kith_inventory_free(kith_inventory* inventory) {
  delete inventory;
}

kith_status kith_inventory_device_count(const kith_inventory* inventory, int64_t* count) {
  return count_of(__func__, inventory, &kith_inventory::devices, count);
}

kith_status kith_inventory_device(const kith_inventory* inventory, int64_t number, kith_device_info* info) {
  return guarded(__func__, [&](const char* where) {
    write_struct(where, info,
                 one_of(where, "device", inventory, &kith_inventory::devices, number).described());
  });
}

kith_status kith_inventory_backend_count(const kith_inventory* inventory, int64_t* count) {
  return count_of(__func__, inventory, &kith_inventory::backends, count);
}

kith_status kith_inventory_backend(const kith_inventory* inventory, int64_t number, const char** backend_name,
                                   const char** reason) {
  return guarded(__func__, [&](const char* where) {
    const BackendInfo& backend = one_of(where, "back end", inventory, &kith_inventory::backends, number);
    check_given(where, "reason", reason);
    given(where, "name", backend_name) = backend.name.c_str();
    *reason = backend.reason.c_str();
  });
}

kith_status kith_inventory_warning_count(const kith_inventory* inventory, int64_t* count) {
  return count_of(__func__, inventory, &kith_inventory::warnings, count);
}

kith_status kith_inventory_warning(const kith_inventory* inventory, int64_t number, const char** sentence) {
  return guarded(__func__, [&](const char* where) {
    given(where, "sentence", sentence) =
        one_of(where, "warning", inventory, &kith_inventory::warnings, number).c_str();
  });
}

kith_status kith_device_open(const char* spec, kith_device** out) {
  return make_handle(__func__, out, [&](const char*) {
    return std::make_unique<kith_device>(open_device(spec ? spec : "auto"));
  });
}

kith_status kith_device_adopt_opencl(void* context, void* device, void* queue, kith_device** out) {
  return make_handle(__func__, out, [&](const char*) {
    return std::make_unique<kith_device>(adopt_device("opencl", {context, device, queue}));
  });
}

void kith_device_free(kith_device* device) {
  delete device;
}

kith_status kith_device_describe(const kith_device* device, kith_device_info* info) {
  return guarded(__func__, [&](const char* where) {
    write_struct(where, info, given(where, "device", device).described.described());
  });
}
