// Reads RAPL, the processor's energy counters, which Linux shows below /sys/class/powercap. AMD's processors
// have them under the same name.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "kith/error.hpp"
#include "lab/energy/energy.hpp"

namespace kith::energy {
namespace {

namespace fs = std::filesystem;

constexpr double joules_a_microjoule = 1e-6;

/// Reads a file that holds one number.
std::optional<std::uint64_t> read_number(const fs::path& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  if (!(file >> value)) return std::nullopt;
  return value;
}

/// Holds the counter of one package.
struct Domain {
  fs::path file;
  std::uint64_t range;  ///< microjoules after which the counter starts again at 0
  std::uint64_t last;
};

class Rapl : public Counter {
 public:
  explicit Rapl(std::vector<Domain> domains) : domains_(std::move(domains)) {}

  double joules() override {
    for (Domain& domain : domains_) {
      const auto now = read_number(domain.file);
      if (!now)
        throw Error(Errc::device_failure,
                    "energy: " + domain.file.string() + " cannot be read any more; measure without joules");
      microjoules_ += *now >= domain.last ? *now - domain.last : *now + domain.range - domain.last;
      domain.last = *now;
    }
    return static_cast<double>(microjoules_) * joules_a_microjoule;
  }

 private:
  std::vector<Domain> domains_;
  std::uint64_t microjoules_ = 0;
};

/// Returns true for `intel-rapl:0`, but not for its parts (`intel-rapl:0:1`), nor for the
/// duplicate `intel-rapl-mmio:0`.
bool is_whole_domain(const std::string& name) {
  return name.starts_with("intel-rapl:") && std::count(name.begin(), name.end(), ':') == 1;
}

/// Returns the folders of the packages. `psys` counts all of them again, so it is left out.
std::vector<fs::path> packages(const fs::path& powercap) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(powercap, error), end; !error && it != end; it.increment(error)) {
    if (!is_whole_domain(it->path().filename().string())) continue;
    std::string name;
    std::ifstream(it->path() / "name") >> name;
    if (name.starts_with("package")) found.push_back(it->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

Opened open_rapl(const Sources& sources) {
  const fs::path powercap = sources.powercap;
  std::error_code ignored;
  if (!fs::is_directory(powercap, ignored))
    return {nullptr, sources.powercap +
                         " is not there: this kernel or virtual machine does not show the processor's "
                         "energy counters (RAPL)"};
  const std::vector<fs::path> folders = packages(powercap);
  if (folders.empty())
    return {nullptr, "no package is listed in " + sources.powercap +
                         ": this processor or virtual machine does not show its energy counters (RAPL)"};
  std::vector<Domain> domains;
  std::string names;
  for (const fs::path& folder : folders) {
    const fs::path file = folder / "energy_uj";
    const auto now = read_number(file), range = read_number(folder / "max_energy_range_uj");
    if (!now || !range)
      return {nullptr, (now ? folder / "max_energy_range_uj" : file).string() +
                           " is not readable for this user; run as root, or let an administrator allow it "
                           "(chmod a+r)"};
    domains.push_back({file, *range, *now});
    names += (names.empty() ? "" : ", ") + folder.filename().string();
  }
  return {std::make_unique<Rapl>(std::move(domains)),
          "RAPL (" + names + " in " + sources.powercap + "), " + (folders.size() == 1 ? "the" : "all") +
              " whole processor package" + (folders.size() == 1 ? "" : "s") +
              ", idle power and other programs included, memory modules and mainboard not; microjoules"};
}

}  // namespace kith::energy
