// kith compare --random-cases: many small searches, drawn at random, with the bits of the reference.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "compare.hpp"

namespace kith::command {
namespace {

constexpr std::uint64_t cases_a_batch = 100;  ///< between two writes of the resume file

/// How far one device has come.
struct Progress {
  std::uint64_t next = 0, compared = 0, different = 0, refused = 0;
};

/// The resume file: one line a device, seed and reference.
class ResumeFile {
 public:
  explicit ResumeFile(std::string path) : path_(std::move(path)) {
    if (path_.empty()) return;
    std::ifstream file(path_);
    std::string line;
    while (std::getline(file, line)) {
      std::istringstream words(line);
      std::string device, reference, seed;
      Progress p;
      if (!(words >> device >> reference >> seed >> p.next >> p.compared >> p.different >> p.refused))
        throw Error(Errc::bad_file, path_ + ": \"" + line + "\" is no line of a resume file; delete it");
      known_[device + " " + reference + " " + seed] = p;
    }
  }

  Progress& of(const std::string& name) { return known_[name]; }

  void save() const {
    if (path_.empty()) return;
    const std::string part = path_ + ".part";
    {
      std::ofstream file(part, std::ios::trunc);
      for (const auto& [name, p] : known_)
        file << name << ' ' << p.next << ' ' << p.compared << ' ' << p.different << ' ' << p.refused << '\n';
      if (!file.flush())
        throw Error(Errc::bad_file, part + ": cannot be written; choose another place for --resume");
    }
    if (std::rename(part.c_str(), path_.c_str()) != 0)
      throw Error(Errc::bad_file, path_ + ": cannot be replaced; choose another place for --resume");
  }

 private:
  std::string path_;
  std::map<std::string, Progress> known_;
};

/// One device, in batches. Returns whether all cases were compared and none differed, or, when the
/// time ran out, none so far.
bool run_device(const CompareFlags& flags, const Device& device, const Subject& reference, ResumeFile& file) {
  const auto start = std::chrono::steady_clock::now();
  const auto seconds_left = [&] {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    return static_cast<double>(flags.seconds) - spent.count();
  };
  const std::string spec = device.info().spec;
  const auto wanted = static_cast<std::uint64_t>(flags.random_cases);
  Progress& progress = file.of(spec + " " + subject_name(reference) + " " + std::to_string(flags.seed));
  ProgressBar bar("random cases on " + spec);
  std::string first_refusal;
  bool out_of_time = false, stuck = false;
  while (progress.compared < wanted && !out_of_time && !stuck) {
    workloads::RandomOptions options;
    options.seed = flags.seed_bits();
    options.first = progress.next;
    options.cases = std::min(cases_a_batch, wanted - progress.compared);
    options.seconds = flags.seconds > 0 ? std::max(seconds_left(), 1e-3) : 0;
    options.stop = interrupt_token();
    const auto result = workloads::run_random_cases(device, reference ? &*reference : nullptr, options);
    progress.next = result.next;
    progress.compared += result.compared;
    progress.different += result.different;
    progress.refused += result.refused;
    if (first_refusal.empty()) first_refusal = result.first_refusal;
    file.save();
    for (const std::string& failure : result.failures) print("DIFFERENT: " + failure + "\n");
    throw_if_interrupted("compare");
    bar.update(static_cast<double>(progress.compared) / static_cast<double>(wanted));
    out_of_time = flags.seconds > 0 && seconds_left() <= 0;
    stuck = !out_of_time && result.compared < options.cases;
  }
  workloads::RandomResult total;
  total.compared = progress.compared;
  total.different = progress.different;
  total.refused = progress.refused;
  total.first_refusal = first_refusal.empty() ? "see an earlier run" : first_refusal;
  std::string text = spec + " against " + subject_name(reference) + ": " + summary(total);
  if (stuck)
    text += "; it refuses nearly everything";
  else if (progress.compared < wanted)
    text += " so far, of " + std::to_string(wanted) + "; run it again to go on";
  print(text + "\n");
  return progress.different == 0 && !stuck;
}

}  // namespace

int compare_random_cases(const CompareFlags& flags, const std::vector<Device>& devices,
                         const Subject& reference) {
  ResumeFile file(flags.resume);
  bool same = true;
  for (const Device& device : devices) {
    // The CPU compared with itself would agree whatever it did.
    const bool itself = reference && flags.reference.empty() && device.info().backend == "cpu";
    same = run_device(flags, device, itself ? Subject() : reference, file) && same;
  }
  return same ? exit_ok : exit_failed_check;
}

}  // namespace kith::command
