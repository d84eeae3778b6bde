// Files are written whole or not at all: what remains after a signal, what is synced, what a stop does.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <stop_token>
#include <thread>

#include "base/saved_file.hpp"
#include "base/writing.hpp"
#include "common/data_files.hpp"
#include "common/environment.hpp"
#include "common/sanitizers.hpp"
#include "files/output.hpp"
#include "kith/index_file.hpp"
#include "kith/model.hpp"
#include "kith/unfinished.hpp"
#include "kith/unstable/tuning.hpp"

namespace {

std::atomic<int> synced_files{0}, synced_folders{0}, failing_folders{0};

}  // namespace

// Replaces the C library's fsync, also for libkith.
extern "C" __attribute__((visibility("default"))) int fsync(int fd) {
  struct stat status {};
  fstat(fd, &status);
  ++(S_ISDIR(status.st_mode) ? synced_folders : synced_files);
  if (S_ISDIR(status.st_mode) && failing_folders > 0) {
    errno = failing_folders;
    return -1;
  }
  return static_cast<int>(syscall(SYS_fsync, fd));
}

namespace kith::tests::test_unfinished {
namespace {

using data_files::Folder;
using files::AtomicFile;
namespace fs = std::filesystem;

/// Returns a model of 16 MB, which takes several pieces to write.
Model large_model() {
  Model model;
  model.n = 40000;
  model.dims = 100;
  model.rows.assign(4000000, 1.5f);
  model.labels.assign(40000, 3);
  return model;
}

struct Synced {
  int files = synced_files, folders = synced_folders;
  bool both_since() const { return synced_files > files && synced_folders > folders; }
};

TEST_CASE("unfinished: what is written is on the disk, and its name in the folder, too") {
  const Folder folder;
  Synced before;
  save(large_model(), folder / "m.kith");
  CHECK(before.both_since());
  before = {};
  save_tuning(empty_tuning(DeviceInfo{}), folder / "t.txt", false);
  CHECK(before.both_since());
  before = {};
  AtomicFile file(folder / "o.csv");
  file.write("1\n");
  file.commit();
  CHECK(before.both_since());
}

TEST_CASE("unfinished: a disk that fails to write a folder is told; a folder that cannot be synced is not") {
  const Folder folder;
  failing_folders = EIO;
  CHECK(folder.error([&] { save(large_model(), folder / "m.kith"); }) ==
        "bad_file: model: m.kith: cannot be written: Input/output error; choose another place");
  CHECK(folder.error([&] { AtomicFile(folder / "o.csv").commit(); }) ==
        "bad_file: o.csv: cannot be written: Input/output error; choose another place");
  failing_folders = EINVAL;
  CHECK(folder.error([&] { save(large_model(), folder / "m.kith"); }) == "no error");
  failing_folders = 0;
}

TEST_CASE("unfinished: what to do about a disk") {
  CHECK(writing_advice(ENOSPC) == std::string("free some space"));
  CHECK(writing_advice(EDQUOT) == std::string("free some space"));
  CHECK(writing_advice(EROFS) == std::string("choose a folder that you may write to"));
  CHECK(writing_advice(ENOENT) == std::string("make the folder first"));
}

TEST_CASE("unfinished: a signal while a model is saved leaves what was there before") {
  const Folder folder;
  folder.write("m.kith", "old");
  bool signalled = false;
  const SaveOptions options{{}, [&](double) {
                              if (std::exchange(signalled, true)) return;
                              CHECK(folder.files() == 2);
                              remove_unfinished();  // as a signal handler would, just before the process ends
                              CHECK(folder.files() == 1);
                            }};
  // Here the process goes on, and finds its temporary file gone.
  CHECK(folder.error([&] { save(large_model(), folder / "m.kith", options); })
            .starts_with("bad_file: model: m.kith: cannot be written: No such file or directory"));
  CHECK(folder.read("m.kith") == "old");
}

TEST_CASE("unfinished: a forked child removes no file of its parent") {
  const Folder folder;
  AtomicFile file(folder / "o.csv");
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    remove_unfinished();
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(folder.files() == 1);
}

TEST_CASE(
    "unfinished: what a killed process left is removed by the next who writes there, and nothing else") {
  const Folder folder;
  for (const bool model : {true, false}) {
    CAPTURE(model);
    const std::string name = model ? "m.kith" : "o.csv";
    const auto write = [&](const std::function<void()>& meanwhile) {
      if (model) return save(large_model(), folder / name, {{}, [&](double) { meanwhile(); }});
      AtomicFile file(folder / name);
      meanwhile();
      file.commit();
    };
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      write([] { raise(SIGKILL); });
      _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    const std::string left = name + ".partial-" + std::to_string(child) + "-0";
    REQUIRE(folder.has(left));
    // Leave these alone: files of a process that lives, of another target, of no process, and a locked one,
    // as if by another machine.
    const std::set<std::string> others{name + ".partial-" + std::to_string(getppid()) + "-0",
                                       "x" + left,
                                       name + ".partial-x-0",
                                       name + ".partial.json",
                                       left + "-1",
                                       name + ".partial-" + std::to_string(child) + "-1"};
    for (const std::string& other : others) folder.write(other, "");
    const std::string held = name + ".partial-" + std::to_string(child) + "-1";
    const int fd = open((folder / held).c_str(), O_RDONLY);
    REQUIRE(flock(fd, LOCK_EX) == 0);
    write([] {});
    CHECK(!folder.has(left));
    for (const std::string& other : others) CHECK(folder.has(other));
    close(fd);
    write([] {});
    CHECK(!folder.has(held));
    CHECK(folder.has(name));
  }
}

TEST_CASE("unfinished: what stands where a temporary would be stays as it is") {
  const Folder folder;
  const std::string first = "m.kith.partial-" + std::to_string(getpid()) + "-0",
                    second = "m.kith.partial-" + std::to_string(getpid()) + "-1";
  folder.write(first, "another thread's");
  folder.write("other", "of somebody else");
  REQUIRE(symlink((folder / "other").c_str(), (folder / second).c_str()) == 0);
  save(large_model(), folder / "m.kith");
  CHECK(folder.read(first) == "another thread's");
  CHECK(folder.read("other") == "of somebody else");
  CHECK(fs::is_symlink(folder / second));
  CHECK(folder.names() == std::set<std::string>{first, "m.kith", "other", second});
  CHECK(load_model(folder / "m.kith").n == 40000);
}

TEST_CASE("unfinished: saving stops where it is asked to, and tells how far it is") {
  const Folder folder;
  std::vector<double> parts;
  SaveOptions options;
  options.progress = [&](double part) { parts.push_back(part); };
  save(large_model(), folder / "m.kith", options);
  REQUIRE(parts.size() > 10);
  CHECK(std::is_sorted(parts.begin(), parts.end()));
  CHECK(parts.back() == 1);
  const std::string saved = folder.read("m.kith");
  for (const std::size_t after : {std::size_t{0}, std::size_t{1}, parts.size() / 2, parts.size()}) {
    CAPTURE(after);
    std::stop_source source;
    std::size_t told = 0;
    options.stop = source.get_token();
    options.progress = [&](double) { told += told < after, told == after && source.request_stop(); };
    if (after == 0) source.request_stop();
    Model other = large_model();
    other.rows[0] = 2;
    CHECK(folder.error([&] { save(other, folder / "m.kith", options); }) ==
          "interrupted: model: m.kith: stopped while it was saved, as asked; no model is written: save it "
          "again");
    CHECK(told == after);
    CHECK(folder.files() == 1);
    CHECK(folder.read("m.kith") == saved);
  }
}

TEST_CASE("unfinished: a file that is shorter or longer than was said leaves what was there before") {
  const Folder folder;
  folder.write("i.kidx", "old");
  for (const std::string text : {"123", "12345"})
    CHECK(folder.error([&] {
      const SaveOptions options;
      SavedFile file("index", folder / "i.kidx", 4, options);
      file.write(text.data(), text.size());
      file.commit();
    }) == "bad_file: index: i.kidx: " + std::to_string(text.size()) +
              " bytes were written, but the file is to have 4; no index is written: report it");
  CHECK(folder.read("i.kidx") == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("unfinished: a model is saved, and its progress told, whatever the host program has set") {
  const Folder folder;
  save(large_model(), folder / "m.kith");
  const std::string expected = folder.read("m.kith");
  const std::span<const HostileSetting> all = hostile_settings;
  for (const HostileSetting setting : all.first(sanitized() ? 2 : all.size())) {
    CAPTURE(std::string(name(setting)));
    double last = 0;
    bool kept = true;
    {
      const HostileEnvironment hostile(setting);
      save(large_model(), folder / "m.kith", {{}, [&](double part) {
                                                last = part;
                                                kept = kept && hostile.still_set();
                                              }});
    }
    CHECK(last == 1);
    CHECK(kept);
    CHECK(folder.read("m.kith") == expected);
  }
}

TEST_CASE("unfinished: files are written below any number of folders, whatever the host program has set") {
  const Folder folder;
  const std::vector<float> rows{1, 2, 3};
  const Index index(open_device("cpu"), MatrixView<const float>(rows.data(), 3, 1));
  Model model;
  model.n = model.dims = 1;
  model.rows = {1};
  model.labels = {2};
  const Tuning tuning = empty_tuning(DeviceInfo{});
  std::string above = folder / "f";
  for (int depth = 0; depth < 12; ++depth, above += "/f")
    for (const HostileSetting setting : hostile_settings) {
      CAPTURE_ALL(depth, name(setting));
      const std::string here = above + "/" + std::string(name(setting));  // so that no file is there yet
      fs::create_directories(here);
      bool kept = true;
      std::int64_t opened = 0;
      {
        const HostileEnvironment hostile(setting);
        const auto tell = [&](double) { kept = kept && hostile.still_set(); };
        save(model, here + "/m.kith", {{}, tell});
        save(index, here + "/i.kidx", {{}, tell});
        opened = open_index(here + "/i.kidx", index.device(), {.progress = tell}).rows();
        save_tuning(tuning, here + "/more/folders/t.txt", true);
        kept = kept && hostile.still_set();
      }
      CHECK(opened == 3);
      CHECK(kept);
      CHECK(load_model(here + "/m.kith").labels == model.labels);
      CHECK(fs::exists(here + "/more/folders/t.txt"));
    }
}

TEST_CASE("unfinished: a pipe that is not read is refused in time; one that is read later is written") {
  const Folder folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(folder.error([&] { AtomicFile(pipe, "csv", std::chrono::seconds(1)); }) ==
        "bad_file: pipe: is a pipe that no process has opened to read within 1 s; start its reader first");
  std::string read;
  std::jthread reader([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    read = folder.read("pipe");
  });
  const std::string text(1000000, 'x');  // more than a pipe holds, so that writing waits for the reader
  AtomicFile file(pipe, "csv");
  file.write(text);
  file.commit();
  reader.join();
  CHECK(read == text);
}

}  // namespace
}  // namespace kith::tests::test_unfinished
