#include "search/sets/set_members.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "base/float_guard.hpp"
#include "device/watcher.hpp"
#include "host/parallel.hpp"
#include "kith/error.hpp"

namespace kith {
namespace {

/// Returns whether `thrown` only says that a search was asked to stop.
bool is_interruption(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    return error.code() == Errc::interrupted;
  } catch (...) {
    return false;
  }
}

/// Throws `thrown`, with the name of its member if the device is to blame, and not the caller's arguments.
[[noreturn]] void rethrow_of(const std::string& device, const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const Errc code = error.code();
    const std::string what = error.what(), begin = device + ": ";
    if (code == Errc::invalid_argument || code == Errc::interrupted || what.starts_with(begin)) throw;
    throw Error(code, begin + what);
  }
}

/// Runs the members in one call.
class Together {
 public:
  Together(std::vector<MemberWork> work, const SearchOptions& options)
      : work_(std::move(work)), options_(options), fractions_(work_.size()), failures_(work_.size()) {
    const FloatGuard guard;
    for (const MemberWork& member : work_) all_shares_ += member.share;
  }

  /// Starts a thread for each member but the first. Returns the members that are left to the caller's thread.
  std::vector<std::size_t> start() {
    std::vector<std::size_t> left{0};
    threads_.reserve(work_.size());
    running_ = work_.size() - 1;
    for (std::size_t i = 1; i < work_.size(); ++i) {
      try {
        threads_.emplace_back([this, i] {
          const FloatGuard guard;
          run_member(i, [this, i](const Progress& progress) { publish(i, progress.fraction); });
          end_member();
        });
      } catch (const std::exception&) {  // the host has no thread left, so this thread does the work later
        left.push_back(i);
        end_member();
      }
    }
    return left;
  }

  void run_member(std::size_t i, std::function<void(const Progress&)> progress) {
    try {
      const StopAlong with_others(stop_.get_token());
      SearchOptions way = options_;
      if (options_.progress) way.progress = std::move(progress);
      if (!stop_.stop_requested()) work_[i].run(way);
    } catch (const abi::__forced_unwind&) {
      throw;
    } catch (...) {
      failures_[i] = std::current_exception();
      stop_.request_stop();
    }
  }

  void publish(std::size_t i, double fraction) {
    const std::lock_guard lock(mutex_);
    fractions_[i] = fraction;
    news_ = true;
    changed_.notify_one();
  }

  /// Calls the caller's function on the caller's thread. An exception from it ends the call unchanged, and so
  /// does the end of that thread.
  void tell() {
    const double done = fraction();
    if (!options_.progress || callers_failure_) return;
    try {
      call_back(options_.progress, Progress{done});
    } catch (const abi::__forced_unwind&) {
      stop_.request_stop();
      throw;
    } catch (...) {
      callers_failure_ = std::current_exception();
      stop_.request_stop();
    }
  }

  /// Waits for all members. Throws what the first of them threw.
  void end() {
    wait();
    threads_.clear();
    if (news_) tell();  // reports the members that ended last
    throw_failure();
  }

 private:
  void end_member() {
    const std::lock_guard lock(mutex_);
    --running_;
    changed_.notify_one();
  }

  /// Returns the fraction of the work of all members, weighted by their shares.
  double fraction() {
    const FloatGuard guard;
    const std::lock_guard lock(mutex_);
    news_ = false;
    double done = 0;
    for (std::size_t i = 0; i < work_.size(); ++i) done += fractions_[i] * work_[i].share;
    return all_shares_ > 0 ? std::min(done / all_shares_, 1.0) : 1.0;
  }

  void wait() {
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return running_ == 0 || news_; });
        if (running_ == 0) return;
      }
      tell();
    }
  }

  void throw_failure() {
    if (callers_failure_) std::rethrow_exception(callers_failure_);
    const std::exception_ptr* stopped = nullptr;
    for (std::size_t i = 0; i < work_.size(); ++i) {
      if (!failures_[i]) continue;
      if (!is_interruption(failures_[i])) rethrow_of(work_[i].device, failures_[i]);
      if (!stopped) stopped = &failures_[i];
    }
    if (stopped) std::rethrow_exception(*stopped);
  }

  const std::vector<MemberWork> work_;
  const SearchOptions& options_;
  double all_shares_ = 0;
  std::stop_source stop_;
  std::mutex mutex_;  // guards all members below
  std::condition_variable changed_;
  std::size_t running_ = 0;
  bool news_ = false;
  std::vector<double> fractions_;

  std::vector<std::exception_ptr> failures_;  ///< each written by its member's thread
  std::exception_ptr callers_failure_;
  std::vector<std::jthread> threads_;  ///< last: joined even if the caller's thread ends in its callback
};

}  // namespace

void run_members(std::vector<MemberWork> work, const SearchOptions& options) {
  if (work.empty()) return;
  const std::size_t count = work.size();
  Together all(std::move(work), options);
  if (!options.progress) {  // threads of the pool are there already, and have used their devices before
    run_each(count, [&all](std::size_t i) { all.run_member(i, {}); });
    return all.end();
  }
  for (const std::size_t i : all.start())
    all.run_member(i, [&all, i](const Progress& progress) {
      all.publish(i, progress.fraction);
      all.tell();
    });
  all.end();
}

}  // namespace kith
