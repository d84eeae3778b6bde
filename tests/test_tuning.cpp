// What `kith tune` measured: its file, whom it is believed from, and how a plan follows it. Sampling on
// the data at hand is in test_sampling.cpp.
#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "data_files.hpp"
#include "device.hpp"
#include "environment.hpp"
#include "kith/index.hpp"
#include "kith/plan.hpp"
#include "kith/spi.hpp"
#include "kith/tuning.hpp"
#include "kith/version.hpp"
#include "oracle.hpp"

namespace kith::tests {
namespace {

using data_files::Folder;

/// An environment variable set, or unset, while this lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = getenv(name)) before_ = before;
    set(value);
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) {
    if (value)
      setenv(name_, value, 1);
    else
      unsetenv(name_);
  }
  const char* name_;
  std::optional<std::string> before_;
};

DeviceInfo gpu() {
  DeviceInfo info;
  info.spec = "cuda:0";
  info.backend = "cuda";
  info.name = "GPU (R) No. 1";
  info.driver = "CUDA 13.0";
  info.kind = DeviceKind::gpu;
  info.compute_units = 8;
  info.memory_bytes = std::size_t{4} << 30;
  info.largest_allocation = std::size_t{1} << 30;
  info.train_block = info.query_block = 16;
  info.selectors = {Selector::threshold, Selector::radix, Selector::bubble};
  info.fused_max_k = 64;
  info.proposers = {Proposer::gemm};
  return info;
}

TuningEntry entry(const Problem& problem, Selector selector, std::int64_t groups = 1) {
  return {problem, false, selector, Proposer::none, groups, problem.m, problem.n, 0.0012, 0.0019};
}

const Problem usual{Metric::squared_l2, 65536, 256, 32, 100};

Tuning tuning_with(const DeviceInfo& device, std::vector<TuningEntry> entries) {
  Tuning tuning = empty_tuning(device);
  tuning.entries = std::move(entries);
  return tuning;
}

DeviceInfo tuned(DeviceInfo device, std::vector<TuningEntry> entries) {
  device.tuning = std::make_shared<const Tuning>(tuning_with(device, std::move(entries)));
  return device;
}

/// FNV-1a of 64 bits, spelled once more.
std::string sealed(const std::string& text) {
  std::uint64_t sum = 14695981039346656037u;
  for (const char c : text) {
    sum ^= static_cast<unsigned char>(c);
    sum *= 1099511628211u;
  }
  char line[32];
  std::snprintf(line, sizeof line, "checksum %016llx\n", static_cast<unsigned long long>(sum));
  return text + line;
}

const std::string library = std::to_string(KITH_VERSION_MAJOR) + "." + std::to_string(KITH_VERSION_MINOR) +
                            "." + std::to_string(KITH_VERSION_PATCH) + ", plug-in interface " +
                            std::to_string(spi::plugin_abi);
const std::string head = "kith tuning 1\nkith " + library +
                         "\nbackend cuda\ndevice GPU (R) No. 1\ndriver CUDA 13.0\ncompute units 8\n";
const std::string line =
    "metric=squared_l2 n=65536 m=256 dims=32 k=100 way=radix proposer=none groups=8 query_tile=256 "
    "train_tile=65536 seconds=0.0012 built_in_seconds=0.0019\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

TEST_SUITE_BEGIN("unit");

TEST_CASE("tuning: a file is lines of text, word for word") {
  CHECK(tuning_text(tuning_with(gpu(), {entry(usual, Selector::radix, 8)})) == sealed(head + line));
}

TEST_CASE("tuning: what is written is read back, whatever it is") {
  std::vector<TuningEntry> entries;
  for (const Metric metric : all_metrics)
    for (const Selector selector : all_selectors())
      entries.push_back(
          {{metric, 4294967294, 1, 3, 1000000}, false, selector, Proposer::gemm, 17, 1, 99, 1e-9, 1e9});
  entries.push_back({usual, true, Selector::threshold, Proposer::none, 1, 2, 3, 0.1, 1.0 / 3});
  const Tuning tuning = tuning_with(gpu(), entries);
  CHECK(parse_tuning(tuning_text(tuning)) == tuning);
  CHECK(parse_tuning(tuning_text(empty_tuning(gpu()))) == empty_tuning(gpu()));
  DeviceInfo odd = gpu();
  odd.name = "two\nlines\tand a tab";
  CHECK(parse_tuning(tuning_text(empty_tuning(odd))) == empty_tuning(odd));
}

TEST_CASE("tuning: damage is found, and said in which line") {
  const std::string good = sealed(head + line);
  const auto refused = [](const std::string& text) { return error_of([&] { parse_tuning(text); }); };
  CHECK(refused(good) == "nothing was thrown");
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes) {
    CAPTURE(bytes);
    CHECK(refused(good.substr(0, bytes)) != "nothing was thrown");
  }
  for (std::size_t at = 0; at < good.size(); ++at) {
    CAPTURE(at);
    std::string flipped = good;
    flipped[at] = static_cast<char>(flipped[at] ^ 4);
    CHECK(refused(flipped) != "nothing was thrown");
  }
  CHECK(refused("") == "bad_file: line 1: the file is empty");
  CHECK(refused("[section]\n") == "bad_file: line 1: it is no tuning file of kith");
  CHECK(refused("kith tuning 2\n") == "bad_file: line 1: its format is not one that this kith reads");
  CHECK(refused(good.substr(0, good.size() - 1)) == "bad_file: line 8: it has no end; the file is truncated");
  CHECK(refused(head + line) == "bad_file: line 7: there is no checksum; the file is truncated");
  CHECK(refused(replaced(good, "groups=8", "groups=9")) ==
        "bad_file: line 8: the checksum does not match; the file is damaged");
  CHECK(refused(good + good) == "bad_file: line 16: the checksum does not match; the file is damaged");
}

TEST_CASE("tuning: nonsense is found though its checksum is right") {
  const auto refused = [](const std::string& from, const std::string& to) {
    return error_of([&] { parse_tuning(sealed(replaced(head + line, from, to))); });
  };
  CHECK(refused("backend", "back end") == "bad_file: line 3: \"backend \" is missing");
  CHECK(refused("units 8", "units eight") == "bad_file: line 6: \"eight\" is no whole number");
  CHECK(refused("units 8", "units 99999999999") == "bad_file: line 6: \"99999999999\" is no whole number");
  CHECK(refused("units 8", "units 08") == "bad_file: line 1: its header is not written as kith writes it");
  CHECK(refused("squared_l2", "cubed_l2") == "bad_file: line 7: metric=cubed_l2 is unknown");
  CHECK(refused("radix", "bogo_sort") == "bad_file: line 7: way=bogo_sort is unknown");
  CHECK(refused("radix", "automatic") == "bad_file: line 7: way=automatic is no way");
  CHECK(refused("proposer=none", "proposer=automatic") ==
        "bad_file: line 7: proposer=automatic is no proposer");
  CHECK(refused("proposer=none", "proposer=oracle") == "bad_file: line 7: proposer=oracle is unknown");
  for (const std::string bad : {"0", "-8", "8x", "1.5", "99999999999999999999", "0x8"})
    CHECK(refused("groups=8", "groups=" + bad) ==
          "bad_file: line 7: groups=" + bad + " is no whole number of at least 1");
  for (const std::string bad : {"0", "-1", "nan", "inf", "1e999", "fast", "1,5"})
    CHECK(refused("seconds=0.0012", "seconds=" + bad) ==
          "bad_file: line 7: seconds=" + bad + " is no number above 0");
  CHECK(refused("k=100", "k=65537") == "bad_file: line 7: k=65537 is larger than n=65536");
  CHECK(refused("m=256 ", "") == "bad_file: line 7: m= is missing");
  CHECK(refused("m=256", "m=") == "bad_file: line 7: m= is no whole number of at least 1");
  CHECK(refused(" built_in", "  built_in") == "bad_file: line 7: built_in_seconds= is missing");
  CHECK(refused("0.0019\n", "0.0019 more=1\n") == "bad_file: line 7: it is not written as kith writes it");
  CHECK(refused("n=65536", "n=+65536") == "bad_file: line 7: n=+65536 is no whole number of at least 1");
  CHECK(refused("0.0019\n", "0.00190\n") == "bad_file: line 7: it is not written as kith writes it");
  std::string many = head;
  for (int i = 0; i <= 4096; ++i) many += line;
  CHECK(error_of([&] { parse_tuning(sealed(many)); }) ==
        "bad_file: line 4103: there are more than 4096 entries");
}

TEST_CASE("tuning: files are where the environment says") {
  const std::string file = "cuda-GPU-R-No.-1-CUDA-13.0-8.txt";
  const Variable unset("KITH_TUNING", nullptr), cache("XDG_CACHE_HOME", nullptr), home("HOME", "/home/me");
  CHECK(tuning_path(gpu()) == "/home/me/.cache/kith/tuning/" + file);
  {
    const Variable there("XDG_CACHE_HOME", "/var/cache/me");
    CHECK(tuning_path(gpu()) == "/var/cache/me/kith/tuning/" + file);
    const Variable off("KITH_TUNING", "off");
    CHECK(tuning_path(gpu()) == "");
    const Variable folder("KITH_TUNING", "/etc/kith");
    CHECK(tuning_path(gpu()) == "/etc/kith/" + file);
    const Variable relative("KITH_TUNING", "etc/kith");
    CHECK(tuning_path(gpu()) == "");
  }
  const Variable relative("XDG_CACHE_HOME", "cache");
  CHECK(tuning_path(gpu()) == "/home/me/.cache/kith/tuning/" + file);
  const Variable homeless("HOME", nullptr);
  CHECK(tuning_path(gpu()) == "");
  const Variable folder("KITH_TUNING", "/etc/kith");
  DeviceInfo odd = gpu();
  odd.name = "../../" + std::string(1000, 'x') + "\n/";
  const std::string path = tuning_path(odd);
  CHECK(path.starts_with("/etc/kith/cuda-..-..-xxx"));
  CHECK(path.size() < 200);
  CHECK(std::count(path.begin(), path.end(), '/') == 3);
}

TEST_CASE("tuning: a file is written for its owner alone, whole, in folders for its owner alone") {
  const Folder folder;
  const std::string path = folder / "a/b/file.txt";
  const Tuning tuning = tuning_with(gpu(), {entry(usual, Selector::radix, 8)});
  save_tuning(empty_tuning(gpu()), path, true);
  save_tuning(tuning, path, true);
  CHECK(folder.read("a/b/file.txt") == tuning_text(tuning));
  const auto mode = [](const std::string& of) {
    struct stat status {};
    REQUIRE(stat(of.c_str(), &status) == 0);
    return status.st_mode & 07777;
  };
  CHECK(mode(path) == 0600);
  CHECK(mode(folder / "a") == 0700);
  CHECK(mode(folder / "a/b") == 0700);
  CHECK(std::distance(data_files::fs::directory_iterator(folder / "a/b"), {}) == 1);
  std::string warning;
  const auto found = load_tuning(gpu(), path, warning);
  REQUIRE(found);
  CHECK(*found == tuning);
  CHECK(warning == "");
  CHECK(error_of([&] { save_tuning(tuning, folder / "no/such/file.txt", false); }) ==
        "bad_file: tuning: " + (folder / "no/such/file.txt") +
            ": cannot be written: No such file or directory; choose a folder that you may write to");
}

/// A folder with one good file, and what is said of it after it was changed.
struct Kept {
  Folder folder;
  std::string path = folder / "kept/file.txt";

  Kept() { save_tuning(tuning_with(gpu(), {entry(usual, Selector::radix, 8)}), path, true); }

  std::string warning_of(const DeviceInfo& device = gpu(), std::uint32_t user = geteuid()) const {
    std::string warning;
    const auto found = load_tuning(device, path, warning, user);
    CHECK(!found);
    return warning;
  }
  std::string ignored(const std::string& why) const {
    return "tuning: " + path + " is ignored: " + why + "; run `kith tune`, or remove it";
  }
  void write(const std::string& text) const {
    folder.write("kept/file.txt", text);
    chmod(path.c_str(), 0600);
  }
};

TEST_CASE("tuning: a file that is not there is no reason for a word") {
  const Kept kept;
  std::string warning = "before";
  CHECK(!load_tuning(gpu(), kept.path + ".not", warning));
  CHECK(warning == "");
  CHECK(!load_tuning(gpu(), kept.folder / "no/such/folder", warning));
  CHECK(warning == "");
}

TEST_CASE("tuning: stale and foreign files are ignored, with the reason") {
  const Kept kept;
  DeviceInfo other = gpu();
  other.driver = "CUDA 13.1";
  CHECK(kept.warning_of(other) ==
        kept.ignored("it was measured under the driver CUDA 13.0, and this is CUDA 13.1"));
  other = gpu();
  other.name = "GPU (R) No. 2";
  CHECK(kept.warning_of(other) ==
        kept.ignored("it was measured on the device GPU (R) No. 1, and this is GPU (R) No. 2"));
  other = gpu();
  other.backend = "opencl";
  CHECK(kept.warning_of(other) ==
        kept.ignored("it was measured through the back end cuda, and this is opencl"));
  other = gpu();
  other.compute_units = 4;
  CHECK(kept.warning_of(other) == kept.ignored("it was measured with compute units: 8, and this is 4"));
  kept.write(sealed(replaced(head + line, library, "0.0.9, plug-in interface 1")));
  CHECK(kept.warning_of() ==
        kept.ignored("it was measured by kith 0.0.9, plug-in interface 1, and this is " + library));
}

TEST_CASE("tuning: damaged and truncated files are ignored, with the reason") {
  const Kept kept;
  kept.write(sealed(head + line).substr(0, 200));
  CHECK(kept.warning_of() == kept.ignored("line 7: it has no end; the file is truncated"));
  kept.write(replaced(sealed(head + line), "radix", "bubble"));
  CHECK(kept.warning_of() == kept.ignored("line 8: the checksum does not match; the file is damaged"));
  kept.write(sealed(replaced(head + line, "radix", "bogo_sort")));
  CHECK(kept.warning_of() == kept.ignored("line 7: way=bogo_sort is unknown"));
  kept.write("");
  CHECK(kept.warning_of() == kept.ignored("it is empty"));
  kept.write(std::string((1 << 20) + 1, 'x'));
  CHECK(kept.warning_of() == kept.ignored("it holds 1048577 bytes, more than any such file (1048576)"));
}

TEST_CASE("tuning: files that others may have written are ignored, with the reason") {
  const Kept kept;
  const std::string me = std::to_string(geteuid()), other = std::to_string(geteuid() + 1);
  CHECK(kept.warning_of(gpu(), geteuid() + 1) ==
        kept.ignored("its folder belongs to user " + me + ", not to user " + other));
  chmod(kept.path.c_str(), 0660);
  CHECK(kept.warning_of() == kept.ignored("it can be written by others (mode 0660)"));
  chmod(kept.path.c_str(), 0602);
  CHECK(kept.warning_of() == kept.ignored("it can be written by others (mode 0602)"));
  chmod(kept.path.c_str(), 0644);
  std::string warning;
  CHECK(load_tuning(gpu(), kept.path, warning));  // others may read it
  chmod((kept.folder / "kept").c_str(), 0770);
  CHECK(kept.warning_of() == kept.ignored("its folder can be written by others (mode 0770)"));
  chmod((kept.folder / "kept").c_str(), 0700);
  if (geteuid() == 0) {
    REQUIRE(chown(kept.path.c_str(), 1, 1) == 0);
    CHECK(kept.warning_of() == kept.ignored("it belongs to user 1, not to user 0"));
  }
}

TEST_CASE("tuning: links, folders and pipes in the place of a file are ignored, with the reason") {
  const Kept kept;
  const std::string moved = kept.folder / "kept/moved.txt", folder = kept.folder / "kept";
  data_files::fs::rename(kept.path, moved);
  data_files::fs::create_symlink(moved, kept.path);
  CHECK(kept.warning_of() == kept.ignored("it is a symbolic link"));
  data_files::fs::remove(kept.path);
  REQUIRE(mkfifo(kept.path.c_str(), 0600) == 0);
  CHECK(kept.warning_of() == kept.ignored("it is no ordinary file"));  // and nobody waits for a writer
  data_files::fs::remove(kept.path);
  data_files::fs::create_directory(kept.path);
  CHECK(kept.warning_of() == kept.ignored("it is no ordinary file"));
  data_files::fs::remove(kept.path);
  data_files::fs::rename(moved, kept.path);
  data_files::fs::rename(folder, kept.folder / "elsewhere");
  data_files::fs::create_directory_symlink(kept.folder / "elsewhere", folder);
  CHECK(kept.warning_of() == kept.ignored("its folder is a link, or no folder"));
}

TEST_CASE("tuning: a file reads the same under every floating-point setting") {
  const Kept kept;
  for (const HostileSetting setting : hostile_settings) {
    std::string warning;
    std::shared_ptr<const Tuning> found;
    {
      const HostileEnvironment hostile(setting);
      found = load_tuning(gpu(), kept.path, warning);
    }
    CHECK(warning == "");
    CHECK(found);
  }
}

// How a plan follows what was measured.

TEST_CASE("tuning: a plan takes the way of the problem that was measured, and says so") {
  const DeviceInfo device = tuned(gpu(), {entry(usual, Selector::bubble, 4)});
  const Plan plan = make_plan(device, usual);
  CHECK(plan.selector == Selector::bubble);
  CHECK(!plan.fused);
  CHECK(plan.groups == 4);
  CHECK(plan.reason ==
        "tuned: nearest measured problem n = 65536, m = 256, dims = 32, k = 100: bubble with 4 groups and "
        "query "
        "tiles of 256 took 1.2 ms, the built-in choice 1.9 ms");
  CHECK(make_plan(device, usual) == plan);
  CHECK(make_plan(without_tuning(device), usual) == make_plan(gpu(), usual));
  CHECK(make_plan(gpu(), usual).reason == "built-in rule: k is small enough for a buffer in local memory");
}

TEST_CASE("tuning: where the rule was the fastest, the plan is the rule's") {
  const Plan rule = make_plan(gpu(), usual);
  TuningEntry same{usual,           rule.fused,      rule.selector, rule.proposer, rule.groups,
                   rule.query_tile, rule.train_tile, 0.0019,        0.0019};
  Plan plan = make_plan(tuned(gpu(), {same}), usual);
  CHECK(plan.reason.starts_with(
      "tuned: nearest measured problem n = 65536, m = 256, dims = 32, k = 100: nothing was "
      "faster than the built-in choice, threshold with "));
  plan.reason = rule.reason;
  CHECK(plan == rule);
}

TEST_CASE("tuning: near is within four times n, m and k and twice dims, of one class of k") {
  const DeviceInfo device = tuned(gpu(), {entry(usual, Selector::bubble)});
  const auto is_tuned = [&](std::int64_t n, std::int64_t m, std::int64_t dims, std::int64_t k) {
    const std::string reason = make_plan(device, {Metric::squared_l2, n, m, dims, k}).reason;
    const bool tuned_one = reason.starts_with("tuned: ");
    CHECK((tuned_one || reason.starts_with("built-in rule, as nothing like it was measured: ")));
    return tuned_one;
  };
  CHECK(is_tuned(65536, 256, 32, 100));
  CHECK(is_tuned(4 * 65536, 256, 32, 100));
  CHECK(!is_tuned(4 * 65536 + 9, 256, 32, 100));
  CHECK(is_tuned(65536 / 4, 256, 32, 100));
  CHECK(!is_tuned(65536 / 4 - 1, 256, 32, 100));
  CHECK(is_tuned(65536, 64, 32, 100));
  CHECK(!is_tuned(65536, 63, 32, 100));
  CHECK(is_tuned(65536, 1024, 32, 100));
  CHECK(!is_tuned(65536, 1025, 32, 100));
  CHECK(!is_tuned(65536, 0, 32, 100));
  CHECK(is_tuned(65536, 256, 64, 100));
  CHECK(!is_tuned(65536, 256, 65, 100));
  CHECK(is_tuned(65536, 256, 16, 100));
  CHECK(!is_tuned(65536, 256, 15, 100));
  CHECK(is_tuned(65536, 256, 32, 400));
  CHECK(!is_tuned(65536, 256, 32, 401));
  CHECK(is_tuned(65536, 256, 32, 65));
  CHECK(!is_tuned(65536, 256, 32, 64));  // the fused step takes 64, and not 65
  const DeviceInfo large = tuned(gpu(), {entry({Metric::squared_l2, 1000, 10, 4, 125}, Selector::bubble)});
  CHECK(make_plan(large, {Metric::squared_l2, 1000, 10, 4, 125}).reason.starts_with("tuned"));
  CHECK(make_plan(large, {Metric::squared_l2, 1000, 10, 4, 126})
            .reason.starts_with("built-in"));  // above n / 8
}

TEST_CASE("tuning: the nearest problem counts, then the metric, then the time") {
  Problem twice = usual, dot = usual;
  twice.n *= 2;
  dot.metric = Metric::negative_dot;
  TuningEntry fast = entry(usual, Selector::radix);
  fast.seconds = 0.0011;
  const DeviceInfo device = tuned(gpu(), {entry(twice, Selector::threshold), entry(usual, Selector::bubble),
                                          fast, entry(dot, Selector::threshold)});
  CHECK(make_plan(device, usual).selector == Selector::radix);
  CHECK(make_plan(device, twice).selector == Selector::threshold);
  CHECK(make_plan(device, dot).selector == Selector::threshold);
  Problem l1 = usual;
  l1.metric = Metric::l1;  // nobody measured it: the fastest of those as near
  CHECK(make_plan(device, l1).selector == Selector::radix);
  l1.n = usual.n * 3 / 2;
  CHECK(make_plan(device, l1).reason.starts_with("tuned: nearest measured problem n = 131072, "));
}

TEST_CASE("tuning: what was better than the rule is as much better elsewhere") {
  const Plan rule = make_plan(gpu(), usual);
  TuningEntry more = entry(usual, Selector::threshold, 3 * rule.groups);
  more.query_tile = rule.query_tile / 2;
  const DeviceInfo device = tuned(gpu(), {more});
  Problem near = usual;
  near.n = 4 * usual.n;
  near.m = 512;
  const Plan there = make_plan(gpu(), near), plan = make_plan(device, near);
  CHECK(plan.groups == 3 * there.groups);
  CHECK(plan.query_tile == there.query_tile / 2);
  CHECK(plan.train_tile == there.train_tile);
}

TEST_CASE("tuning: what the caller fixes is not overruled") {
  const DeviceInfo device = tuned(gpu(), {entry(usual, Selector::bubble, 4)});
  std::vector<PlanOptions> fixed(7);
  fixed[0].selector = Selector::radix;
  fixed[1].fused = false;
  fixed[2].groups = 2;
  fixed[3].query_tile = 5;
  fixed[4].train_tile = 1000;
  fixed[5].proposer = Proposer::gemm;
  fixed[6].sample = {Selector::radix};
  for (const PlanOptions& options : fixed)
    CHECK(make_plan(device, usual, options) == make_plan(gpu(), usual, options));
  PlanOptions open;
  open.memory_limit = 100 << 20;
  open.threads = 3;
  CHECK(make_plan(device, usual, open).selector == Selector::bubble);
  DeviceInfo cpu = gpu();
  cpu.backend = "cpu";
  cpu.kind = DeviceKind::cpu;
  cpu = tuned(cpu, {entry(usual, Selector::bubble)});
  CHECK(make_plan(cpu, usual, open).reason.starts_with("built-in rule: "));  // measured with all threads
  open.threads = 8;
  CHECK(make_plan(cpu, usual, open).selector == Selector::bubble);
}

TEST_CASE("tuning: what the device does not have is not taken") {
  const auto plan_of = [](const TuningEntry& one, const Problem& problem, const PlanOptions& options = {}) {
    return make_plan(tuned(gpu(), {one}), problem, options);
  };
  CHECK(plan_of(entry(usual, Selector::quick_sort), usual).reason ==
        "built-in rule, as nothing like it was measured: k is small enough for a buffer in local memory");
  TuningEntry fused = entry(usual, Selector::threshold);
  fused.fused = true;
  CHECK(plan_of(fused, usual).reason.starts_with("built-in rule, as nothing"));  // k = 100 is too much for it
  TuningEntry proposed = entry(usual, Selector::threshold);
  proposed.proposer = Proposer::gemm;
  CHECK(plan_of(proposed, usual).proposer == Proposer::gemm);
  CHECK(plan_of(proposed, usual)
            .reason.starts_with("tuned: nearest measured problem n = 65536, m = 256, dims = 32, k = 100: "
                                "proposer gemm, threshold with "));
  Problem other = usual;
  other.metric = Metric::l1;
  CHECK(plan_of(proposed, other).proposer == Proposer::none);
  PlanOptions none;
  none.proposer = Proposer::none;
  CHECK(plan_of(proposed, usual, none).proposer == Proposer::none);
  proposed.proposer = Proposer::fp16;
  CHECK(plan_of(proposed, usual).proposer == Proposer::none);
  PlanOptions little;
  little.memory_limit = make_plan(gpu(), usual).workspace_bytes / 64;
  CHECK(plan_of(entry(usual, Selector::bubble, 64), usual, little).workspace_bytes <= little.memory_limit);
}

TEST_CASE("tuning: a tuned plan is as whole and bounded as any") {
  for (const Selector selector : gpu().selectors)
    for (const std::int64_t groups : {1, 7, 100000})
      for (const std::int64_t tile : {1, 1000}) {
        TuningEntry odd = entry(usual, selector, groups);
        odd.query_tile = odd.train_tile = tile;
        const DeviceInfo device = tuned(gpu(), {odd});
        for (const std::int64_t n : {20000, 65536, 250000})
          for (const std::int64_t m : {64, 300, 1024})
            for (const std::int64_t k : {65, 399}) {
              CAPTURE(n);
              CAPTURE(m);
              CAPTURE(k);
              const Plan plan = make_plan(device, {Metric::l1, n, m, 32, k});
              CHECK(plan.reason.starts_with("tuned: "));
              CHECK(plan.selector == selector);
              CHECK(plan.query_tile >= 1);
              CHECK(plan.query_tile <= m);
              CHECK(plan.train_tile >= 1);
              CHECK(plan.train_tile <= n);
              CHECK(plan.groups >= 1);
              CHECK(plan.groups <= plan.train_tile);
              CHECK(plan.workspace_bytes <= device.memory_bytes);
            }
      }
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("device");

TEST_CASE("tuning: a device brings what was measured on it, and its searches have the same bits") {
  const Folder folder;
  const Variable there("KITH_TUNING", (folder / "tuning").c_str());
  const Matrix queries = hard_rows(DataKind::grid, Set::queries, 20, 7, Metric::l2);
  const Matrix train = hard_rows(DataKind::grid, Set::train, 3000, 7, Metric::l2);
  // A problem for each way, told apart by k.
  std::vector<TuningEntry> entries;
  std::int64_t k = 1;
  const DeviceInfo& here = device().info();
  for (const Selector selector : here.selectors) {
    entries.push_back(entry({Metric::l2, 3000, 20, 7, k}, selector, 3));
    entries.back().query_tile = 9;
    k = k < 300 ? k + 23 : k + 300;
  }
  entries.push_back(entry({Metric::l2, 3000, 20, 7, k}, Selector::threshold, 2));
  entries.back().proposer = Proposer::gemm;
  save_tuning(tuning_with(here, entries), tuning_path(here), true);
  const Device opened = open_device(device_spec());
  REQUIRE(opened.info().tuning);
  CHECK(opened.info().tuning->entries == entries);
  CHECK(!device().info().tuning);  // it was opened while nothing was looked for
  const Index index(opened, train, Metric::l2);
  int followed = 0;
  for (const TuningEntry& one : entries) {
    CAPTURE(std::string(name(one.selector)));
    CAPTURE(one.problem.k);
    Trace trace;
    const Neighbors found = index.search(queries, one.problem.k, {}, &trace);
    CHECK(difference(found, neighbors(Metric::l2, queries, train, one.problem.k)) == "");
    CAPTURE(trace.plan.reason);
    if (trace.plan.reason.find(", k = " + std::to_string(one.problem.k) + ": ") == std::string::npos) {
      // Refused by the device: another problem near to this one, or the built-in rule.
      CHECK((trace.plan.reason.starts_with("tuned: ") || trace.plan.reason.starts_with("built-in rule")));
      continue;
    }
    ++followed;
    CHECK(trace.plan.selector == one.selector);
    CHECK(trace.plan.proposer == one.proposer);
    CHECK(trace.plan.groups <= one.groups);  // fewer where a device has only tiny blocks of memory
    if (device().info().largest_allocation > (std::size_t{1} << 20)) CHECK(trace.plan.groups == one.groups);
  }
  CHECK(followed >= 2);
}

TEST_CASE("tuning: a file that is not believed changes nothing, and is named once") {
  const Folder folder;
  const Variable there("KITH_TUNING", (folder / "tuning").c_str());
  const std::string path = tuning_path(device().info());
  save_tuning(empty_tuning(device().info()), path, true);
  chmod(path.c_str(), 0666);
  for (int i = 0; i < 2; ++i) {
    CHECK(!open_device(device_spec()).info().tuning);
    for (const DeviceInfo& info : devices()) CHECK(!info.tuning);
  }
  const std::vector<std::string> warnings = tuning_warnings();
  CHECK(std::count(
            warnings.begin(), warnings.end(),
            "tuning: " + path +
                " is ignored: it can be written by others (mode 0666); run `kith tune`, or remove it") == 1);
  const Variable nonsense("KITH_TUNING", "here");
  CHECK(!open_device(device_spec()).info().tuning);
  CHECK(tuning_warnings().back() ==
        "KITH_TUNING=here is neither `off` nor an absolute folder, so nothing that was measured is used; set "
        "it to "
        "one");
}

TEST_SUITE_END();

#ifdef KITH_COMMAND_PATH

TEST_SUITE_BEGIN("command");

struct Result {
  int code = -1;
  std::string out;  ///< of both streams
};

Result shell(const std::string& line) {
  FILE* pipe = popen(("kith='" KITH_COMMAND_PATH "'; ( " + line + " ) 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  Result result;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) result.out.append(buffer, n);
  const int status = pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string small = " --device cpu -n 600,700 -m 5 --dims 4 -k 3,9999 --seconds 2 ";

TEST_CASE("kith tune measures, writes a file, and searches follow it") {
  const Folder folder;
  folder.write("rows.csv", [] {
    std::string text;
    for (int r = 0; r < 650; ++r)
      text += std::to_string(r * 37 % 101) + ",1,2," + std::to_string(r % 7) + "\n";
    return text;
  }());
  const std::string set = "KITH_TUNING=" + (folder / "tuning") + " \"$kith\" ";
  const Result tuned_now = shell(set + "tune --quick" + small);
  CAPTURE(tuned_now.out);
  CHECK(tuned_now.code == 0);
  CHECK(contains(tuned_now.out, "built-in choice"));
  CHECK(contains(tuned_now.out, " (2 entries)"));
  const Result search = shell(set + "search --device cpu --explain -k 3 --train " + (folder / "rows.csv") +
                              " --queries " + (folder / "rows.csv") + " | grep ^why");
  CHECK(contains(search.out, "built-in rule, as nothing like it was measured: "));  // m = 650
  const Result near = shell("head -n 5 " + (folder / "rows.csv") + " > " + (folder / "five.csv") + "; " +
                            set + "search --device cpu --explain -k 3 --header no --train " +
                            (folder / "rows.csv") + " --queries " + (folder / "five.csv") + " | grep ^why");
  CHECK(contains(near.out, "why            tuned: nearest measured problem n = "));
  CHECK(contains(near.out, ", m = 5, dims = 4, k = 3: "));
  // What is known of other problems stays.
  const Result more = shell(set + "tune --device cpu -n 600 -m 5 --dims 4 -k 4 --seconds 1 --json");
  CHECK(more.code == 0);
  CHECK(contains(more.out, "\"ways_timed\": "));
  CHECK(contains(more.out, "\"unsure\": "));
  const Result shown = shell(set + "tune --show --device cpu");
  CHECK(shown.code == 0);
  CHECK(contains(shown.out, "cpu: " + (folder / "tuning/cpu-")));
  CHECK(std::count(shown.out.begin(), shown.out.end(), '\n') == 2 + 3 + 1);  // name, titles, entries, a gap
  const Result spoilt = shell("chmod 666 " + (folder / "tuning/*") + "; " + set + "devices");
  CHECK(spoilt.code == 0);
  CHECK(contains(spoilt.out, "kith: note: tuning: " + (folder / "tuning/cpu-")));
  CHECK(contains(spoilt.out, "can be written by others (mode 0666); run `kith tune`, or remove it\n"));
}

TEST_CASE("kith tune --out writes there; without a place it measures nothing") {
  const Folder folder;
  const std::string file = folder / "cpu.txt";
  const Result result = shell("\"$kith\" tune --quick --out " + file + small);
  CHECK(result.code == 0);
  CHECK(contains(result.out, "written: " + file + " (2 entries)"));
  CHECK(parse_tuning(folder.read("cpu.txt")).entries.size() == 2);
  CHECK(parse_tuning(folder.read("cpu.txt")).backend == "cpu");
  CHECK(folder.files() == 1);
  const Result nowhere = shell("\"$kith\" tune" + small);
  CHECK(nowhere.code == 2);
  CHECK(nowhere.out ==
        "kith: invalid_argument: tune: there is no place for what is measured: KITH_TUNING is off or no "
        "absolute "
        "folder, or neither XDG_CACHE_HOME nor HOME is one; set them, or give --out FILE\n");
  const Result two = shell("\"$kith\" tune --device cpu,cpu --out " + file);
  CHECK(two.code == 2);
  CHECK(two.out ==
        "kith: invalid_argument: tune: --out is one file, but there are 2 devices; give one device, or leave "
        "--out "
        "out\n");
  CHECK(shell("\"$kith\" tune --show --device cpu").out ==
        "cpu: nothing is looked for: KITH_TUNING is off, or no folder is known\n\n");
}

TEST_CASE("kith tune that is interrupted ends within two seconds, with 130, and writes nothing") {
  const Folder folder;
  // SIGTERM, which is answered as Ctrl-C is: a shell lets its background jobs ignore that.
  const Result result =
      shell("\"$kith\" tune --device cpu --out " + (folder / "file.txt") +
            " & sleep 0.6; kill -TERM $!; start=$(date +%s); wait $!; echo $? $(($(date +%s) - start <= 2))");
  CHECK(contains(result.out, "kith: interrupted: "));
  CHECK(contains(result.out, "130 1\n"));
  CHECK(folder.files() == 0);
}

TEST_CASE("--sample names selectors, and --explain tells their times") {
  const Folder folder;
  const std::string rows = folder.write("rows.csv", "1,2\n3,4\n5,6\n");
  const std::string search =
      "\"$kith\" search --device cpu -k 2 --explain --train " + rows + " --queries " + rows + " --sample ";
  const Result result = shell(search + "merge_sort,threshold,bubble");
  CHECK(result.code == 0);
  CHECK(contains(result.out, "why            sampled query "));
  CHECK(contains(result.out, "; bubble is left out: cpu has no selector bubble; it has "));
  const Result unknown = shell(search + "threshold,fast");
  CHECK(unknown.code == 2);
  CHECK(unknown.out.starts_with(
      "kith: invalid_argument: search: --sample: there is none called \"fast\"; choose among "
      "threshold, "));
  const Result automatic = shell(search + "threshold,automatic");
  CHECK(automatic.code == 2);
  CHECK(automatic.out.starts_with(
      "kith: invalid_argument: search: --sample: there is none called \"automatic\"; choose among "
      "threshold, "));
}

TEST_SUITE_END();

#endif

}  // namespace
}  // namespace kith::tests
