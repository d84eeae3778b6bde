// Reads the energy counter of NVIDIA's boards (Volta and newer) by NVML, the driver's management library. The
// library is opened at run time, so kith is built and runs without it.
#include <dlfcn.h>

#include "kith/error.hpp"
#include "lab/energy/energy.hpp"

namespace kith::energy {
namespace {

constexpr double joules_a_millijoule = 1e-3;
constexpr unsigned name_size = 96;  // NVML_DEVICE_NAME_V2_BUFFER_SIZE

/// Keeps NVML initialised while it exists.
class Library {
 public:
  explicit Library(Nvml functions, std::shared_ptr<void> file)
      : file_(std::move(file)), functions_(std::move(functions)) {}
  ~Library() {
    if (started_) functions_.shutdown();
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  int start() {
    const int status = functions_.init();
    started_ = status == 0;
    return status;
  }
  const Nvml& nvml() const { return functions_; }
  std::string error(int status) const {
    const char* const text = functions_.error_text(status);
    return text ? text : "status " + std::to_string(status);
  }

 private:
  std::shared_ptr<void> file_;  // destroyed last, since the functions are in it
  Nvml functions_;
  bool started_ = false;
};

template <class Result, class... Arguments>
bool find(void* file, const char* symbol, std::function<Result(Arguments...)>& function) {
  using Pointer = Result (*)(Arguments...);
  const auto pointer = reinterpret_cast<Pointer>(dlsym(file, symbol));
  if (pointer) function = pointer;
  return pointer != nullptr;
}

/// Returns the library, or null, and the reason in `why`.
std::shared_ptr<Library> load(const Sources& sources, std::string& why) {
  if (sources.nvml) return std::make_shared<Library>(*sources.nvml, nullptr);
  void* const file = dlopen(sources.nvml_library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!file) {
    const char* const text = dlerror();
    why = "NVIDIA's management library cannot be opened (" +
          std::string(text ? text : sources.nvml_library.c_str()) +
          "); install the one that belongs to the driver";
    return nullptr;
  }
  std::shared_ptr<void> owner(file, dlclose);
  Nvml nvml;
  const bool complete = find(file, "nvmlInit_v2", nvml.init) && find(file, "nvmlShutdown", nvml.shutdown) &&
                        find(file, "nvmlErrorString", nvml.error_text) &&
                        find(file, "nvmlDeviceGetCount_v2", nvml.count) &&
                        find(file, "nvmlDeviceGetHandleByIndex_v2", nvml.board_at) &&
                        find(file, "nvmlDeviceGetHandleByPciBusId_v2", nvml.board_by_pci) &&
                        find(file, "nvmlDeviceGetName", nvml.name) &&
                        find(file, "nvmlDeviceGetTotalEnergyConsumption", nvml.energy);
  if (!complete) {
    why = sources.nvml_library + " lacks functions that kith needs; install a newer driver";
    return nullptr;
  }
  return std::make_shared<Library>(std::move(nvml), std::move(owner));
}

/// Returns the board at the device's PCI address; else the only board with its name.
Nvml::Board find_board(const Library& library, const DeviceInfo& device, std::string& why) {
  const Nvml& nvml = library.nvml();
  Nvml::Board found = nullptr;
  if (!device.pci.empty() && nvml.board_by_pci(device.pci.c_str(), &found) == 0) return found;
  unsigned count = 0;
  if (const int status = nvml.count(&count)) {
    why = "NVML counts no boards (" + library.error(status) + ")";
    return nullptr;
  }
  unsigned same_name = 0;
  for (unsigned ordinal = 0; ordinal < count; ++ordinal) {
    Nvml::Board board = nullptr;
    char name[name_size] = {};
    if (nvml.board_at(ordinal, &board) != 0 || nvml.name(board, name, name_size) != 0) continue;
    if (device.name != name) continue;
    ++same_name;
    found = board;
  }
  if (same_name == 1) return found;
  why = "NVML knows " + std::to_string(same_name) + " boards called " + device.name +
        (device.pci.empty() ? "" : " and none at " + device.pci) + ", so it is not clear which is " +
        device.spec;
  return nullptr;
}

class BoardCounter : public Counter {
 public:
  BoardCounter(std::shared_ptr<Library> library, Nvml::Board board, unsigned long long now)
      : library_(std::move(library)), board_(board), first_(now) {}

  double joules() override {
    unsigned long long now = 0;
    if (const int status = library_->nvml().energy(board_, &now))
      throw Error(Errc::device_failure, "energy: NVML cannot read the energy counter any more: " +
                                            library_->error(status) + "; measure without joules");
    return static_cast<double>(now - first_) * joules_a_millijoule;
  }

 private:
  std::shared_ptr<Library> library_;
  Nvml::Board board_;
  unsigned long long first_;
};

}  // namespace

Opened open_nvml(const DeviceInfo& device, const Sources& sources) {
  std::string why;
  std::shared_ptr<Library> library = load(sources, why);
  if (!library) return {nullptr, why};
  if (const int status = library->start()) return {nullptr, "NVML does not start: " + library->error(status)};
  Nvml::Board const board = find_board(*library, device, why);
  if (!board) return {nullptr, why};
  unsigned long long now = 0;
  if (const int status = library->nvml().energy(board, &now))
    return {nullptr, "NVML does not tell the energy of " + device.name + ": " + library->error(status)};
  return {std::make_unique<BoardCounter>(std::move(library), board, now),
          "NVML's counter of " + device.name + (device.pci.empty() ? "" : " at " + device.pci) +
              ", the whole board, idle power included, the host not; millijoules"};
}

}  // namespace kith::energy
