#include "faults.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <set>
#include <thread>

#include "file_calls.hpp"
#include "hooks.hpp"
#include "last_words.hpp"

namespace kith::tests::faults {

thread_local Fault fault;
std::array<std::atomic<long>, static_cast<std::size_t>(Kept::count)> kept;

thread_local int driver_depth = 0;

namespace {

const std::thread::id asking = std::this_thread::get_id();

}  // namespace

bool is_watched() {
  return driver_depth == 0 && std::this_thread::get_id() == asking;
}

bool is_due(Site site) {
  if (fault.site != site || driver_depth > 0) return false;
  ++fault.calls;
  return fault.due > 0 && (fault.all_after ? fault.calls >= fault.due : fault.calls == fault.due);
}

namespace {

int complained = 0;

constexpr std::array kept_names = {"blocks of host memory", "blocks of device memory",
                                   "objects of the driver", "time stamps",
                                   "descriptors",           "files put in place unsynchronised"};

using Counts = std::array<long, kept_names.size()>;

Counts counted() {
  Counts now{};
  for (std::size_t i = 0; i < kept.size(); ++i) now[i] = kept[i];
  now[kept.size()] = open_descriptors();
  now[kept.size() + 1] = renamed_unsynchronised();
  return now;
}

/// Returns what there is more of than before, such as `2 blocks of host memory`; empty if nothing.
std::string lost_since(const Counts& before) {
  const Counts now = counted();
  std::string text;
  for (std::size_t i = 0; i < now.size(); ++i)
    if (now[i] > before[i])
      text += (text.empty() ? "" : ", ") + std::to_string(now[i] - before[i]) + " " + kept_names[i];
  return text;
}

/// Describes one fault in one operation.
struct Attempt {
  const Operation& operation;
  const Kind& kind;
  long number;

  std::string text() const {
    return operation.name + ": call " + std::to_string(number) + " fails with " + kind.name +
           (kind.all_after ? ", and all after it" : "") + ": ";
  }
  void complain(const std::string& what) const { faults::complain(text() + what); }
};

std::string judge(const Kind& kind, const Error& error) {
  const std::string said = std::string(name(error.code())) + ": " + error.what();
  if (kind.expected.empty()) return "must not matter, but it throws " + said;
  if (std::find(kind.expected.begin(), kind.expected.end(), error.code()) == kind.expected.end())
    return "throws " + said;
  return is_sentence(error.what()) ? "" : "says not what to do: " + said;
}

/// Runs an operation without a fault. Returns what is wrong, or an empty string.
std::string wrong_with(const Operation& operation, bool may_be_lost) {
  try {
    return operation.is_right() ? "" : "a wrong answer";
  } catch (const Error& error) {
    if (may_be_lost && error.code() == Errc::device_failure && is_sentence(error.what())) return "";
    return std::string(name(error.code())) + ": " + error.what();
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an unknown exception";
  }
}

void meet(const Attempt& attempt, Site site, const std::function<void()>& renew) {
  doing(attempt.text() + "then");
  std::string wrong;
  bool is_lost = attempt.kind.loses_device;  // it may be lost from now on
  fault = {site, attempt.number, attempt.kind.all_after, attempt.kind.number, 0};
  try {
    const bool right = attempt.operation.is_right();
    fault = {};
    is_lost = false;
    if (!right) wrong = "gives a wrong answer";
  } catch (const Error& error) {
    fault = {};
    wrong = judge(attempt.kind, error);
    is_lost = is_lost && error.code() != Errc::out_of_memory;
  } catch (const std::exception& error) {
    fault = {};
    wrong = std::string("throws what is no Error: ") + error.what();
  } catch (...) {
    fault = {};
    wrong = "throws an unknown exception";
  }
  if (!wrong.empty()) attempt.complain(wrong);
  doing(attempt.text() + "afterwards, without a fault");
  wrong = wrong_with(attempt.operation, is_lost);
  if (!wrong.empty()) attempt.complain("then, without a fault: " + wrong);
  if (!is_lost) return;
  doing(attempt.text() + "while the device is opened anew");
  renew();
  doing(attempt.text() + "on a device that was opened anew");
  wrong = wrong_with(attempt.operation, false);
  if (!wrong.empty()) attempt.complain("then, on a device that was opened anew: " + wrong);
}

long calls_of(const Operation& operation, Site site) {
  fault = {site, 0, false, 0, 0};
  if (!operation.is_right()) complain(operation.name + ": is wrong without a fault");
  const long calls = fault.calls;
  fault = {};
  return calls;
}

}  // namespace

std::vector<long> numbers_of(const Asked& asked, const std::string& operation, long count) {
  std::set<long> numbers;
  if (asked.sample > 0 && asked.sample < count) {
    std::seed_seq seed(operation.begin(), operation.end());
    std::mt19937_64 draw(asked.seed ^ std::mt19937_64(seed)());
    while (static_cast<long>(numbers.size()) < asked.sample)
      numbers.insert(1 + static_cast<long>(draw() % static_cast<std::uint64_t>(count)));
  } else {
    for (long number = 1; number <= count; ++number) numbers.insert(number);
  }
  std::vector<long> mine;
  long place = 0;
  for (const long number : numbers)
    if (place++ % asked.shares == asked.share - 1) mine.push_back(number);
  return mine;
}

void complain(const std::string& what) {
  std::printf("WRONG: %s\n", what.c_str());
  std::fflush(stdout);
  ++complained;
}

int complaints() {
  return complained;
}

bool is_sentence(const std::string& message) {
  const std::size_t where = message.find(": "), advice = message.rfind("; ");
  return where != std::string::npos && where > 0 && advice != std::string::npos && advice > where &&
         advice + 2 < message.size();
}

namespace {

/// Makes the faults of an operation of `calls` calls. Returns how many.
long meet_all(const Asked& asked, Site site, const Operation& operation, long calls,
              const std::vector<Kind>& kinds, const std::function<void()>& renew) {
  long made = 0;
  for (const long which : numbers_of(asked, operation.name, calls * static_cast<long>(kinds.size()))) {
    const Kind& kind = kinds[static_cast<std::size_t>((which - 1) / calls)];
    meet({operation, kind, (which - 1) % calls + 1}, site, renew);
    ++made;
  }
  doing(operation.name + ", without a fault, at the end");
  // A device keeps time stamps until the second finish().
  for (int again = 0; again < 2; ++again) static_cast<void>(calls_of(operation, Site::none));
  return made;
}

}  // namespace

void fail_each(const Asked& asked, Site site, const std::vector<Operation>& operations,
               const std::vector<Kind>& kinds, const std::function<void()>& renew) {
  constexpr int most_rounds = 4;
  constexpr auto time_stamps = static_cast<std::size_t>(Kept::time_stamps);
  for (const Operation& operation : operations) {
    const auto begin = std::chrono::steady_clock::now();
    doing(operation.name + ", without a fault, at the beginning");
    for (int again = 0; again < 3; ++again) static_cast<void>(calls_of(operation, Site::none));
    const long calls = calls_of(operation, site);
    long made = 0, kept_more = 0;
    std::string lost;
    for (int round = 1; round <= most_rounds; ++round) {
      const Counts before = counted();
      made += meet_all(asked, site, operation, calls, kinds, renew);
      lost = lost_since(before);
      const long stamps = counted()[time_stamps] - before[time_stamps];
      if (stamps <= 0) break;
      kept_more += stamps;
    }
    if (!lost.empty()) complain(operation.name + ": loses " + lost);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf("  %-28s %6ld calls, %6ld faults, lost: %s%s, %.1f s\n", operation.name.c_str(), calls, made,
                lost.empty() ? "nothing" : lost.c_str(),
                kept_more > 0 ? (", kept: " + std::to_string(kept_more) + " time stamps").c_str() : "",
                seconds.count());
    std::fflush(stdout);
  }
}

}  // namespace kith::tests::faults

extern "C" [[gnu::visibility("default")]] int kith_fault(int site) {
  using namespace kith::tests::faults;
  return is_due(static_cast<Site>(site)) ? fault.kind : 0;
}

extern "C" [[gnu::visibility("default")]] int kith_is_watched() {
  return kith::tests::faults::is_watched() ? 1 : 0;
}

extern "C" [[gnu::visibility("default")]] void kith_in_driver(int change) {
  kith::tests::faults::driver_depth += change;
}

extern "C" [[gnu::visibility("default")]] void kith_fault_keep(int what, long change) {
  using namespace kith::tests::faults;
  keep(static_cast<Kept>(what), change);
}
