// Files with the measurements of `kith tune`: their text, their path, and whose files are trusted.
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/data_files.hpp"
#include "common/environment.hpp"
#include "common/oracle.hpp"
#include "common/tuning.hpp"
#include "kith/index.hpp"

namespace kith::tests {
namespace {

using data_files::Folder;

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
  CHECK(refused(replaced(good, "lists=8", "lists=9")) ==
        "bad_file: line 8: the checksum does not match; the file is damaged");
  CHECK(refused(good + good) == "bad_file: line 16: the checksum does not match; the file is damaged");
}

TEST_CASE("tuning: nonsense is found though its checksum is right") {
  const auto refused = [](const std::string& from, const std::string& to) {
    return error_of([&] { parse_tuning(sealed(replaced(head + line, from, to))); });
  };
  CHECK(refused("backend", "back end") == "bad_file: line 3: \"backend \" is missing");
  CHECK(refused("units 8", "units eight") == "bad_file: line 6: \"eight\" is no whole number");
  CHECK(refused("units 8",
                "units \x9b"
                "2J") == "bad_file: line 6: \"\\x9b2J\" is no whole number");
  CHECK(refused("radix",
                "\x9b"
                "2J") == "bad_file: line 7: way=\\x9b2J is unknown");
  CHECK(refused("units 8", "units 99999999999") == "bad_file: line 6: \"99999999999\" is no whole number");
  CHECK(refused("units 8", "units 08") == "bad_file: line 1: its header is not written as kith writes it");
  CHECK(refused("squared_l2", "cubed_l2") == "bad_file: line 7: metric=cubed_l2 is unknown");
  CHECK(refused("radix", "bogo_sort") == "bad_file: line 7: way=bogo_sort is unknown");
  CHECK(refused("radix", "automatic") == "bad_file: line 7: way=automatic is no way");
  CHECK(refused("proposer=none", "proposer=automatic") ==
        "bad_file: line 7: proposer=automatic is no proposer");
  CHECK(refused("proposer=none", "proposer=\x1b[31m") == "bad_file: line 7: proposer=\\x1b[31m is unknown");
  CHECK(refused("proposer=none", "proposer=oracle") == "bad_file: line 7: proposer=oracle is unknown");
  for (const std::string bad : {"0", "-8", "8x", "1.5", "99999999999999999999", "0x8"})
    CHECK(refused("lists=8", "lists=" + bad) ==
          "bad_file: line 7: lists=" + bad + " is no whole number of at least 1");
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

TEST_CASE("tuning: files are where the environment says, whatever the host program has set") {
  std::string above = "/f";
  for (int depth = 1; depth < 12; ++depth, above += "/f") {
    const Variable folder("KITH_TUNING", nullptr), cache("XDG_CACHE_HOME", above.c_str());
    const std::string expected = tuning_path(gpu());
    for (const HostileSetting setting : hostile_settings) {
      CAPTURE_ALL(depth, name(setting));
      std::string path;
      bool kept = false;
      {
        const HostileEnvironment hostile(setting);
        path = tuning_path(gpu());
        kept = hostile.still_set();
      }
      CHECK(path == expected);
      CHECK(kept);
    }
  }
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
            ": cannot be written: No such file or directory; make the folder first");
}

/// A folder with one good file, and the warning that loading it gives after a change.
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
  CHECK(load_tuning(gpu(), kept.path, warning));  // others may read the file
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
  CHECK(kept.warning_of() == kept.ignored("it is no ordinary file"));  // does not wait for a writer
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

}  // namespace
}  // namespace kith::tests
