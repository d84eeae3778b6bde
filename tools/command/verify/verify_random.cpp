// kith verify --random-cases: many small searches, drawn at random, with the bits of the reference.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "command/verify/verify.hpp"
#include "kith/index.hpp"
#include "workloads/proposed_cases.hpp"

namespace kith::command {
namespace {

constexpr std::uint64_t cases_a_batch = 100;           ///< between two writes of the resume file
constexpr std::uint64_t proposed_cases_a_batch = 800;  ///< for each worker

/// How far one device has come.
using SeriesProgress = workloads::ProposedResult;

/// A line has four numbers. With --proposed one more follows, then for each kind its name and five counts.
bool read(std::istream& line, SeriesProgress& p) {
  if (!(line >> p.next >> p.compared >> p.different >> p.refused)) return false;
  if (!(line >> p.vouched)) return line.eof();
  for (std::string name; line >> name;) {
    workloads::CaseCounts& t = p.case_counts[name];
    if (!(line >> t.cases >> t.queries >> t.repeats >> t.fallbacks >> t.out_of_range)) return false;
  }
  return true;
}

void write_line(std::ostream& line, const SeriesProgress& p) {
  line << p.next << ' ' << p.compared << ' ' << p.different << ' ' << p.refused;
  if (!p.case_counts.empty()) line << ' ' << p.vouched;
  for (const auto& [name, t] : p.case_counts)
    line << ' ' << name << ' ' << t.cases << ' ' << t.queries << ' ' << t.repeats << ' ' << t.fallbacks << ' '
         << t.out_of_range;
  line << '\n';
}

/// Writes the resume file: one line per device, with reference, seed and first case.
class ResumeFile {
 public:
  explicit ResumeFile(std::string path) : path_(std::move(path)) {
    if (path_.empty()) return;
    std::ifstream file(path_);
    std::string line;
    while (std::getline(file, line)) {
      std::istringstream words(line);
      std::string device, reference, seed;
      SeriesProgress p;
      if (!(words >> device >> reference >> seed) || !read(words, p))
        throw Error(Errc::bad_file, path_ + ": \"" + line + "\" is no line of a resume file; delete it");
      known_[device + " " + reference + " " + seed] = p;
    }
  }

  SeriesProgress& of(const std::string& name) { return known_[name]; }

  void save() const {
    if (path_.empty()) return;
    const std::string part = path_ + ".part";
    {
      std::ofstream file(part, std::ios::trunc);
      for (const auto& [name, p] : known_) {
        file << name << ' ';
        write_line(file, p);
      }
      if (!file.flush())
        throw Error(Errc::bad_file, part + ": cannot be written; choose another place for --resume");
    }
    if (std::rename(part.c_str(), path_.c_str()) != 0)
      throw Error(Errc::bad_file, path_ + ": cannot be replaced; choose another place for --resume");
  }

 private:
  std::string path_;
  std::map<std::string, SeriesProgress> known_;
};

/// Random cases of one device: what is compared with what, and a batch of it.
struct RandomSeries {
  std::string about;      ///< as it is printed: `cuda:0 against cpu`
  std::string reference;  ///< in the resume file
  std::uint64_t a_batch;
  std::function<workloads::ProposedResult(const workloads::RandomOptions&)> run;
};

///   boxes  whether every case searches by boxes
RandomSeries random_series(const Device& device, const Subject& reference, bool boxes) {
  const std::string spec = device.info().spec, name = subject_name(reference);
  return {spec + (boxes ? " by boxes" : "") + " against " + name, (boxes ? "boxes+" : "") + name,
          cases_a_batch, [&device, &reference, boxes](workloads::RandomOptions options) {
            options.boxes = boxes;
            return workloads::ProposedResult{
                workloads::run_random_cases(device, reference ? &*reference : nullptr, options), {}, 0};
          }};
}

/// Returns why the proposer cannot run here, such as a library that is missing; empty if it can.
std::string refusal(const Device& device, Proposer proposer) {
  const float one = 1;
  SearchOptions options{.proposer = proposer};
  try {
    Index(device, {&one, 1, 1}).search({&one, 1, 1}, 1, options);
  } catch (const Error& error) {
    if (error.code() != Errc::unsupported) throw;
    return error.what();
  }
  return "";
}

/// Returns the proposer of --how, or all that the device can use.
std::vector<Proposer> usable_proposers(const VerifyFlags& flags, const Device& device) {
  const Proposer asked = flags.plan.how.proposer;
  const bool all = asked == Proposer::automatic;
  std::vector<Proposer> usable;
  std::string refusals;
  for (const Proposer proposer : all ? device.info().proposers : std::vector<Proposer>{asked}) {
    const std::string why = refusal(device, proposer);
    if (why.empty())
      usable.push_back(proposer);
    else
      refusals += (refusals.empty() ? "" : "; ") + why;
  }
  if (usable.empty())
    throw Error(
        Errc::unsupported,
        "verify: --proposed: " +
            (refusals.empty() ? device.info().spec + " has no proposer; choose another device" : refusals));
  if (!refusals.empty()) note("verify: " + device.info().spec + ": left out: " + refusals);
  return usable;
}

/// Opens a device for each worker: one may wait while another computes.
RandomSeries proposed_series(const VerifyFlags& flags, const Device& device, const Subject& reference) {
  workloads::ProposedOptions mine;
  mine.proposers = usable_proposers(flags, device);
  std::vector<Device> workers = {device};
  while (workers.size() < static_cast<std::size_t>(flags.workers))
    workers.push_back(open_device(device.info().spec));
  const std::string vouching = subject_name(reference), only(name(flags.plan.how.proposer));
  const std::uint64_t a_batch = proposed_cases_a_batch * workers.size();
  return {device.info().spec + " by its proposers against its chain alone, that against " + vouching,
          only + "+chain+" + vouching, a_batch, [workers, mine, &reference](const auto& options) mutable {
            static_cast<workloads::RandomOptions&>(mine) = options;
            return workloads::run_proposed_cases(workers, reference ? &*reference : nullptr, mine);
          }};
}

/// Writes a table of how the queries were answered: a line per proposer, then a line per kind of data.
std::string table_of(const Device& device, const workloads::AllCaseCounts& case_counts) {
  TextTable table({"", "cases", "queries", "once more", "by the chain alone", "out of range"});
  const auto add = [&](const std::string& name) {
    const auto found = case_counts.find(name);
    if (found == case_counts.end()) return;
    const workloads::CaseCounts& t = found->second;
    table.add({name, std::to_string(t.cases), std::to_string(t.queries), std::to_string(t.repeats),
               std::to_string(t.fallbacks), std::to_string(t.out_of_range)});
  };
  for (const Proposer proposer : device.info().proposers) add(std::string(name(proposer)));
  for (const auto kind : workloads::all_data_kinds) add(std::string(workloads::name(kind)));
  for (const auto kind : workloads::adversarial_data_kinds) add(std::string(workloads::name(kind)));
  return table.text();
}

/// Formats `; of 1000 queries 990 certified at once, ...`
std::string tiers(const Device& device, const SeriesProgress& progress) {
  if (progress.case_counts.empty()) return "";
  workloads::CaseCounts all;
  std::string shares;
  for (const Proposer proposer : device.info().proposers) {
    const auto found = progress.case_counts.find(std::string(name(proposer)));
    if (found == progress.case_counts.end()) continue;
    all += found->second;
    shares += (shares.empty() ? "" : ", ") + found->first + " " + std::to_string(found->second.cases);
  }
  return " (" + shares + "; " + std::to_string(progress.vouched) + " times the reference was asked); of " +
         std::to_string(all.queries) + " queries " +
         std::to_string(all.queries - all.repeats - all.fallbacks - all.out_of_range) +
         " certified at once, " + std::to_string(all.repeats) + " once more, " +
         std::to_string(all.fallbacks) + " by the chain alone, " + std::to_string(all.out_of_range) +
         " out of range";
}

/// Verifies one device in batches. Returns whether no case differed, and all were compared unless the time
/// ran out.
bool run_device(const VerifyFlags& flags, const Device& device, const RandomSeries& series,
                ResumeFile& file) {
  const workloads::Clock clock;
  const auto seconds_left = [&] { return static_cast<double>(flags.seconds) - clock.seconds(); };
  const std::string spec = device.info().spec;
  const auto wanted = static_cast<std::uint64_t>(flags.random_cases),
             first = static_cast<std::uint64_t>(flags.first);
  SeriesProgress& progress = file.of(spec + " " + series.reference + " " + std::to_string(flags.seed) +
                                     (first ? "+" + std::to_string(first) : ""));
  progress.next = std::max(progress.next, first);
  ProgressBar bar("random cases on " + spec);
  bool out_of_time = false, stuck = false;
  while (progress.compared < wanted && !out_of_time && !stuck) {
    workloads::RandomOptions options;
    options.seed = static_cast<std::uint64_t>(flags.seed);
    options.first = progress.next;
    options.cases = std::min(series.a_batch, wanted - progress.compared);
    options.seconds = flags.seconds > 0 ? std::max(seconds_left(), 1e-3) : 0;
    options.stop = interrupt_token();
    const auto result = series.run(options);
    progress += result;
    file.save();
    for (const std::string& failure : result.failures) print("DIFFERENT: " + failure + "\n");
    throw_if_interrupted("verify");
    bar.update(static_cast<double>(progress.compared) / static_cast<double>(wanted));
    out_of_time = flags.seconds > 0 && seconds_left() <= 0;
    stuck = !out_of_time && result.compared < options.cases;
  }
  if (progress.first_refusal.empty()) progress.first_refusal = "see an earlier run";
  if (!progress.case_counts.empty()) print(table_of(device, progress.case_counts));
  std::string text = series.about + ": " + summary(progress) + tiers(device, progress);
  if (stuck)
    text += "; it refuses nearly everything";
  else if (progress.compared < wanted)
    text += " so far, of " + std::to_string(wanted) + "; run it again to go on";
  print(text + "\n");
  return progress.different == 0 && !stuck;
}

}  // namespace

int verify_random_cases(const VerifyFlags& flags) {
  const Proposer proposer = flags.plan.how.proposer;
  for (const std::string& key : flags.plan.keys)
    if (key != "proposer" && key != "boxes")
      refuse("verify", "--how " + key + " goes with --train; give --train, too");
  if (!flags.proposed && proposer != Proposer::automatic)
    refuse("verify", "--how proposer is for --proposed; give --proposed, too");
  if (flags.proposed && proposer == Proposer::none)
    refuse("verify",
           "--proposed is about proposers, and proposer=none is none; name another one, or leave it out");
  const std::vector<Device> devices = open_devices("verify", flags.device);
  const Subject reference = open_reference(flags.reference, devices);
  ResumeFile file(flags.resume);
  bool same = true;
  for (const Device& device : devices) {
    // If the CPU were compared with itself, the bits would always agree.
    const bool itself = reference && flags.reference.empty() && device.info().backend == "cpu";
    const Subject other = itself ? Subject() : reference;
    const RandomSeries series = flags.proposed
                                    ? proposed_series(flags, device, other)
                                    : random_series(device, other, plan_options(flags.plan).boxes == true);
    same = run_device(flags, device, series, file) && same;
  }
  return same ? exit_ok : exit_failed_check;
}

}  // namespace kith::command
