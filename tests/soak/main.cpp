// kith_soak [--seconds N] [--device SPECS] [--require SPECS] [--threads N] [--seed N] [--few] [--plant WHAT]
//
// Many threads of one process do random work on several devices. Every answer is compared with one known
// before. Memory must not grow, and no descriptor and no thread may be lost.
//
//   --seconds N      of work, default 20; the first quarter, at most five minutes, warms up, and longer on a
//                    slow machine
//   --device SPECS   separated by commas; default: those of cpu, opencl:pocl, cuda:0 and opencl:nvidia that
//                    this machine has
//   --require SPECS  fails if one of these is missing
//   --few            three small problems instead of six
//   --plant WHAT     memory, descriptor, thread or answer: plants a fault that must be found
//
// Exit code 0: all is well; 1: something is wrong; 2: usage.
#include <fcntl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <thread>

#include "operations.hpp"
#include "process.hpp"
#include "settings.hpp"

namespace {

using namespace kith;
using namespace kith::tests::soak;
using Clock = std::chrono::steady_clock;

constexpr double mib = 1 << 20;
/// Memory may grow so much after the warm-up, because each thread's allocator keeps some freed memory.
constexpr double most_rise = 32 * mib, most_resident_growth = 8 * mib, most_heap_growth = 4 * mib;
/// PoCL 3.1 never releases some memory of each opened device: 1.2 KB for each program that it builds, also
/// without kith. It is not counted as kith's.
constexpr double kept_by_pocl = 10240;
/// Drivers keep memory whenever a process does something for the first time, which can take minutes: PoCL 3.1
/// 8 MiB in 20 s; NVIDIA's OpenCL, CUDA and PoCL 5 together 15 MiB in 110 s.
constexpr double kept_by_first_uses = 20 * mib;
/// A thread whose operation takes longer is said to hang.
constexpr double patience_s = 300;
constexpr double longest_warm_up_s = 300;
/// Each thread does so many operations before memory is measured. Until then devices and allocators fill
/// their caches.
constexpr std::int64_t least_warm_up = 40;

class Soak {
 public:
  explicit Soak(const Settings& settings) : settings_(settings) {}
  int run();

 private:
  void open_devices();
  void start();
  void serve(Worker& worker);
  void plant(Worker& worker);
  void complain(const std::string& what);
  Facts at_rest();
  double kept_by_drivers() const;
  bool did_all() const;
  void watch();
  void look_for_hanging();
  void judge();
  void judge_work();
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
  std::int64_t operations() const;
  void print(const char* what, const Facts& now) const;

  const Settings settings_;
  std::string folder_;
  std::vector<KnownProblem> problems_;
  std::vector<std::unique_ptr<Place>> places_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
  Clock::time_point begin_;
  std::vector<Facts> samples_, rests_;  // after the warm-up
  std::atomic<bool> resting_ = false, enough_ = false;
  std::atomic<std::int64_t> at_rest_ = 0;
  std::mutex complaining_;
  std::int64_t faults_ = 0;
  // Holds, for each worker, its count of operations, and when it last changed.
  std::vector<std::pair<std::int64_t, Clock::time_point>> last_done_;
};

void Soak::complain(const std::string& what) {
  const std::lock_guard lock(complaining_);
  constexpr std::int64_t most = 20;
  if (++faults_ <= most) std::printf("WRONG: %s\n", what.c_str());
  std::fflush(stdout);
}

void Soak::open_devices() {
  problems_ = problems(settings_.seed, settings_.few);
  const std::vector<std::string> required = words(settings_.require);
  std::vector<std::string> specs = words(settings_.devices);
  for (const std::string& spec : required)
    if (std::find(specs.begin(), specs.end(), spec) == specs.end()) specs.push_back(spec);
  for (const std::string& spec : specs) {
    try {
      places_.push_back(make_place(spec, problems_));
    } catch (const Error& error) {
      const bool must = std::find(required.begin(), required.end(), spec) != required.end();
      if (error.code() != Errc::unavailable || must || !settings_.all_that_are_here) throw;
      std::printf("%s: left out: %s\n", spec.c_str(), error.what());
      continue;
    }
    const Place& place = *places_.back();
    std::printf("%s: %s%s%s\n", spec.c_str(), place.device.info().name.c_str(),
                place.without.empty() ? "" : "; without", place.without.c_str());
    std::fflush(stdout);
  }
}

/// Plants the fault that --plant names.
void Soak::plant(Worker& worker) {
  constexpr std::size_t block = std::size_t{1} << 19;
  static std::atomic<void*> lost;  // so that the compiler keeps it
  if (settings_.plant == "memory") lost = std::memset(std::malloc(block), 1, block);
  if (worker.number > 0) return;
  if (settings_.plant == "descriptor") open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (settings_.plant == "thread")
    std::thread([this] {
      while (!enough_) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }).detach();
}

void Soak::serve(Worker& worker) {
  while (!enough_) {
    if (resting_) {
      ++at_rest_;
      resting_.wait(true);
      --at_rest_;
      continue;
    }
    const std::string wrong = work(
        worker, *places_[kith::tests::size(worker.random.below(static_cast<std::int64_t>(places_.size())))],
        workers_);
    if (!wrong.empty())
      complain(wrong + " (thread " + std::to_string(worker.number) + ", operation " +
               std::to_string(worker.operations) + ", seed " + std::to_string(settings_.seed) + ")");
    plant(worker);
  }
}

void Soak::start() {
  begin_ = Clock::now();
  std::printf("seed %llu\n", static_cast<unsigned long long>(settings_.seed));
  for (std::size_t i = 0; i < kith::tests::size(settings_.threads); ++i) {
    workers_.push_back(std::make_unique<Worker>());
    workers_.back()->number = i;
    workers_.back()->random = Random(settings_.seed * 1000 + i);
    workers_.back()->file = folder_ + "/" + std::to_string(i) + ".kith";
    last_done_.emplace_back(-1, begin_);
  }
  for (const auto& worker : workers_) threads_.emplace_back([this, &worker] { serve(*worker); });
}

std::int64_t Soak::operations() const {
  std::int64_t sum = 0;
  for (const auto& worker : workers_) sum += worker->operations;
  return sum;
}

void Soak::look_for_hanging() {
  const Clock::time_point now = Clock::now();
  for (const auto& worker : workers_) {
    auto& [done, since] = last_done_[worker->number];
    if (worker->operations != done) {
      done = worker->operations;
      since = now;
    } else if (std::chrono::duration<double>(now - since).count() > patience_s) {
      std::printf("WRONG: thread %zu hangs in %s, operation %lld\n", worker->number, worker->doing.load(),
                  static_cast<long long>(done));
      std::fflush(stdout);
      std::_Exit(1);
    }
  }
}

/// Measures the process while no worker works, after everything that can change in size was reset.
Facts Soak::at_rest() {
  resting_ = true;
  while (at_rest_ < settings_.threads) {
    look_for_hanging();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (const auto& place : places_)
    for (const auto& bench : place->benches) bench->grown = bench->first_half();
  malloc_trim(0);
  Facts now = facts(seconds());
  now.of_drivers = kept_by_drivers();
  resting_ = false;
  resting_.notify_all();
  while (at_rest_ > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return now;
}

double Soak::kept_by_drivers() const {
  double bytes = 0;
  for (const auto& place : places_)
    if (place->device.info().platform == "Portable Computing Language")
      bytes += kept_by_pocl * static_cast<double>(place->opened);
  return bytes;
}

void Soak::print(const char* what, const Facts& now) const {
  std::printf(
      "%-12s %6.0f s  %9lld operations  %7.1f MiB resident  %7.2f MiB heap  %3lld descriptors  "
      "%3lld threads\n",
      what, now.seconds, static_cast<long long>(operations()), static_cast<double>(now.resident) / mib,
      static_cast<double>(now.heap) / mib, static_cast<long long>(now.descriptors),
      static_cast<long long>(now.threads));
  std::fflush(stdout);
}

bool Soak::did_all() const {
  return std::all_of(places_.begin(), places_.end(), [](const auto& place) {
    return place->stopped > 0 &&
           std::all_of(place->done.begin(), place->done.end(), [](const auto& times) { return times > 0; });
  });
}

/// Waits until the time is over; on a slow machine, until everything was done once.
void Soak::watch() {
  const double warm = std::min(settings_.seconds / 4, longest_warm_up_s);
  constexpr int rests = 8;
  const double pause = std::clamp(settings_.seconds / 400, 0.05, 5.0);
  double end = settings_.seconds;  // later after a long warm-up
  while (rests_.empty() || seconds() < end || (!did_all() && seconds() < end + patience_s)) {
    std::this_thread::sleep_for(std::chrono::duration<double>(pause));
    look_for_hanging();
    if (seconds() < warm || operations() < least_warm_up * settings_.threads) continue;
    const double next = warm + (settings_.seconds - warm) * static_cast<double>(rests_.size()) / rests;
    if (seconds() >= next) {
      rests_.push_back(at_rest());
      end = std::max(end, rests_.front().seconds + settings_.seconds - warm);
      print(rests_.size() == 1 ? "warm" : "at rest", rests_.back());
    }
    samples_.push_back(facts(seconds()));
  }
  rests_.push_back(at_rest());
  print("end", rests_.back());
  enough_ = true;
  for (std::thread& thread : threads_) thread.join();
}

void Soak::judge_work() {
  for (const auto& place : places_) {
    std::printf("%s:", place->device.info().spec.c_str());
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      std::printf(" %s %lld", kinds[i], static_cast<long long>(place->done[i]));
      if (place->done[i] == 0)
        complain(place->device.info().spec + ": " + kinds[i] + " never gave a right answer");
    }
    std::printf("; %lld stopped\n", static_cast<long long>(place->stopped));
    if (place->stopped == 0) complain(place->device.info().spec + ": no search was ever stopped");
  }
}

void Soak::judge() {
  judge_work();
  const Facts &warm = rests_.front(), &end = rests_.back();
  const auto most = std::max_element(samples_.begin(), samples_.end(),
                                     [](const Facts& a, const Facts& b) { return a.resident < b.resident; });
  const bool by_drivers = std::any_of(places_.begin(), places_.end(), [](const auto& place) {
    return place->device.info().backend != "cpu";
  });
  const double of_drivers = end.of_drivers - warm.of_drivers + (by_drivers ? kept_by_first_uses : 0),
               rise = slope(samples_) * (end.seconds - warm.seconds),
               resident = static_cast<double>(end.resident - warm.resident),
               heap = static_cast<double>(end.heap - warm.heap);
  std::printf(
      "at work: %zu samples of resident memory, largest %.1f MiB; their line rises by %+.3f MiB a minute, "
      "%+.2f in all (at most %.2f)\n",
      samples_.size(), static_cast<double>(most->resident) / mib, slope(samples_) * 60 / mib, rise / mib,
      (most_rise + of_drivers) / mib);
  std::printf(
      "at rest: resident %+.2f MiB (at most %.2f), heap %+.2f MiB (at most %.2f); of these %.2f are allowed "
      "to drivers\n",
      resident / mib, (most_resident_growth + of_drivers) / mib, heap / mib,
      (most_heap_growth + of_drivers) / mib, of_drivers / mib);
  if (rise > most_rise + of_drivers || resident > most_resident_growth + of_drivers)
    complain("resident memory grows");
  if (heap > most_heap_growth + of_drivers) complain("memory is not given back");
  if (end.descriptors != warm.descriptors)
    complain(std::to_string(end.descriptors - warm.descriptors) + " descriptors more than after the warm-up");
  if (end.threads != warm.threads)
    complain(std::to_string(end.threads - warm.threads) + " threads more than after the warm-up");
}

int Soak::run() {
  folder_ = (std::filesystem::temp_directory_path() / "kith-soak-XXXXXX").string();
  if (!mkdtemp(folder_.data())) throw std::runtime_error(folder_ + ": cannot be made");
  open_devices();
  if (settings_.plant == "answer") std::swap(problems_[0].ranked[0][0], problems_[0].ranked[0][1]);
  start();
  watch();
  judge();
  std::printf("%lld operations by %lld threads on %zu devices in %.0f s, seed %llu: %lld faults\n",
              static_cast<long long>(operations()), static_cast<long long>(settings_.threads), places_.size(),
              settings_.seconds, static_cast<unsigned long long>(settings_.seed),
              static_cast<long long>(faults_));
  std::filesystem::remove_all(folder_);
  return faults_ == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** text) {
  setenv("KITH_TUNING", "off", 1);  // a user's measurements must not change a check
  setenv("KITH_CL_CACHE", "off", 1);
  // Freed large blocks go back to the system at once, and threads share free memory. What still grows
  // is then kith's.
  mallopt(M_MMAP_THRESHOLD, 1 << 18);
  mallopt(M_ARENA_MAX, 4);
  Settings settings;
  if (const std::string wrong = read_settings(count, text, settings); !wrong.empty()) {
    std::fprintf(stderr, "kith_soak: %s; see the top of tests/soak/main.cpp\n", wrong.c_str());
    return 2;
  }
  try {
    return Soak(settings).run();
  } catch (const std::exception& error) {
    std::printf("WRONG: %s\n", error.what());
    return 1;
  }
}
