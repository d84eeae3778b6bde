// Writes to stdout and stderr.
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "command/shared/command.hpp"
#include "command/shared/ranks.hpp"
#include "files/printed.hpp"
#include "files/shown.hpp"
#include "kith/spi.hpp"

namespace kith::command {
namespace {

constexpr auto quiet_time = std::chrono::milliseconds(1000);
constexpr auto redraw_time = std::chrono::milliseconds(100);
constexpr int bar_width = 30;

bool is_quiet = false;
int results = STDOUT_FILENO;          ///< where print() writes
std::FILE* progress_stream = stderr;  ///< where progress is drawn

bool draws_on_stderr() {
  if (is_quiet || !speaks()) return false;
  const char* term = std::getenv("TERM");
  return isatty(fileno(progress_stream)) != 0 && !(term && std::strcmp(term, "dumb") == 0);
}

/// Replaces the line that the cursor is in.
void draw(const std::string& line) {
  winsize size{};
  const bool known = ioctl(fileno(progress_stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  const std::size_t width = known ? size.ws_col - 1u : 79u;
  const std::string shown = files::shown_in_line(line);
  std::size_t end = 0;
  for (std::size_t count = 0; end < shown.size() && count < width; ++count)
    end += std::max<std::size_t>(1, files::character_length(std::string_view(shown).substr(end)));
  std::fprintf(progress_stream, "\r%s\033[K", shown.substr(0, end).c_str());
  std::fflush(progress_stream);
}

void erase_line() {
  std::fputs("\r\033[K", progress_stream);
  std::fflush(progress_stream);
}

}  // namespace

void print(std::string_view text) {
  if (!speaks() || (is_quiet && results == STDERR_FILENO)) return;
  const bool terminal = isatty(results) != 0;
  const std::string safe = terminal ? files::shown(text) : std::string();
  if (terminal) text = safe;
  while (!text.empty()) {
    const ssize_t written = write(results, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) throw ClosedPipe{};
    if (written < 0)
      throw Error(Errc::bad_file, std::string("stdout: cannot be written: ") + std::strerror(errno) +
                                      "; free space or send it elsewhere");
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void print_to_stderr() {
  results = STDERR_FILENO;
}

void add_quiet_option(CLI::App& app) {
  app.add_flag("--quiet", is_quiet, "Show no notes and no progress on stderr; errors and results stay");
}

bool quiet() {
  return is_quiet;
}

void complain(std::string_view text) {
  const std::string line = "kith: " + files::shown_in_line(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void note(std::string_view text) {
  if (!is_quiet && speaks()) complain("note: " + std::string(text));
}

void refuse(std::string_view where, const std::string& what) {
  throw Error(Errc::invalid_argument, std::string(where) + ": " + what);
}

void draw_on_stderr_of(int process) {
  const std::string path = "/proc/" + std::to_string(process) + "/fd/2";
  const int terminal = ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0) return;  // of another user, or gone: then nothing is drawn, as stderr is a pipe
  std::FILE* const file = isatty(terminal) != 0 ? fdopen(terminal, "w") : nullptr;
  if (file)
    progress_stream = file;
  else
    ::close(terminal);
}

ProgressBar::ProgressBar(std::string what)
    : what_(std::move(what)),
      start_(std::chrono::steady_clock::now()),
      drawn_(start_),
      terminal_(draws_on_stderr()) {}

ProgressBar::~ProgressBar() {
  if (shown_) erase_line();
}

void ProgressBar::update(double fraction) {
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || now - start_ < quiet_time || (shown_ && now - drawn_ < redraw_time)) return;
  drawn_ = now;
  shown_ = true;
  fraction = std::clamp(fraction, 0.0, 1.0);
  const int filled = static_cast<int>(fraction * bar_width);
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double left = fraction > 0 ? elapsed * (1 - fraction) / fraction : 0;
  std::string line = what_ + "  [" + std::string(static_cast<std::size_t>(filled), '#') +
                     std::string(static_cast<std::size_t>(bar_width - filled), '.') + "] " +
                     files::printed("%3.0f %%", std::floor(100 * fraction));
  if (fraction > 0) line += files::printed("  %.0f s left", std::ceil(left));
  draw(line);
}

ActivityLine::ActivityLine(std::string what) {
  if (!draws_on_stderr()) return;
  const auto draw_until = [this, what = std::move(what)](std::stop_token done) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    const auto start = std::chrono::steady_clock::now();
    bool drawn = false;
    const auto stopped = [&] { return done.stop_requested(); };
    while (!wake.wait_for(lock, done, drawn ? redraw_time : quiet_time, stopped)) {
      const int percent = percent_;
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      draw(what + (percent < 0 ? files::printed("  %.0f s", std::floor(seconds))
                               : files::printed("  %d %%", percent)));
      drawn = true;
    }
    if (drawn) erase_line();
  };
  try {
    thread_ = std::jthread(draw_until);
  } catch (const std::system_error&) {  // no thread can be made: nothing is drawn
  }
}

ActivityLine::~ActivityLine() = default;

std::vector<std::string_view> steps_in_order(const Plan& plan) {
  const std::vector<std::string_view> chain = {spi::NearestStep::name, spi::DistanceStep::name,
                                               spi::MaskStep::name, spi::SelectStep::name,
                                               spi::MergeStep::name},
                                      candidates = {spi::PrepareStep::name, spi::CollectStep::name,
                                                    spi::TightenStep::name, spi::PruneStep::name,
                                                    spi::RerankStep::name};
  const bool proposes = plan.proposer != Proposer::none;
  std::vector<std::string_view> steps = {"round", "upload"};
  for (const auto* part : {proposes ? &candidates : &chain, proposes ? &chain : &candidates})
    steps.insert(steps.end(), part->begin(), part->end());
  steps.insert(steps.end(),
               {spi::AccumulateStep::name, spi::ScoreStep::name, spi::VoteStep::name, "download", "join",
                spi::DoubleChainsStep::name, "doubles", "sum", "finish", "decide", "average"});
  return steps;
}

namespace {

/// Describes the work of each member of a set of devices; empty for a single device.
std::string member_table(const Trace& trace) {
  if (trace.members.empty()) return "";
  TextTable table({"member", "share", "rows", "queries", "seconds", "on device", "memory"});
  for (const MemberTrace& member : trace.members) {
    char share[16];
    std::snprintf(share, sizeof share, "%.1f %%", 100 * member.share);
    table.add({member.device, share, std::to_string(member.rows), std::to_string(member.queries),
               format_seconds(member.seconds), format_seconds(member.device_seconds),
               format_bytes(member.bytes)});
  }
  return "\n" + table.text();
}

}  // namespace

std::string stage_times(const Trace& trace) {
  std::vector<std::pair<std::string, double>> seconds(trace.seconds.begin(), trace.seconds.end());
  const std::vector<std::string_view> order = steps_in_order(trace.plan);
  std::stable_sort(seconds.begin(), seconds.end(), [&](const auto& a, const auto& b) {
    return std::find(order.begin(), order.end(), a.first) < std::find(order.begin(), order.end(), b.first);
  });
  TextTable table({"step", "seconds"});
  for (const auto& [step, taken] : seconds) table.add({step, format_seconds(taken)});
  table.add({"device, in all", format_seconds(trace.device_seconds)});
  table.add({"whole call", format_seconds(trace.total_seconds)});
  std::string text = table.text();
  if (trace.plan.proposer != Proposer::none)
    text += "candidates ranked by " + std::string(trace.plan.exact_products ? "products: " : "the chain: ") +
            std::to_string(trace.collected) +
            "; queries left to the chain alone: " + std::to_string(trace.fallbacks) + "\n";
  return text + member_table(trace);
}

}  // namespace kith::command
