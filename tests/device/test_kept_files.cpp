// Tests the files that back ends keep for later processes: what is found again, and what counts as missing.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "common/folder.hpp"
#include "common/tuning.hpp"
#include "kith/spi/kept_files.hpp"

namespace kith::tests {
namespace {

namespace fs = std::filesystem;
using test_support::TemporaryFolder;

constexpr std::size_t plenty = std::size_t{1} << 20;
constexpr const char* variable = "KITH_PLANTED_CACHE";

mode_t mode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

/// Makes a folder, named by the variable, in which one file is kept.
struct KeptHere {
  TemporaryFolder above;
  const std::string folder = above / "a/b";
  const Variable named{variable, folder.c_str()};
  const spi::KeptFiles files{{variable, "planted", plenty}};
  const std::string key = "device: one\nsource", content = std::string("bytes \0 of a program", 20);
  const std::string path = files.path_of(key);

  KeptHere() { files.keep(key, content); }

  std::string read() const { return test_support::text_of_file(path); }
  /// Replaces the file by one with `text` that only its owner may use.
  void replace(const std::string& text) const {
    std::error_code ignored;
    fs::remove_all(path, ignored);
    std::ofstream(path, std::ios::binary) << text;
    ::chmod(path.c_str(), 0600);
  }
  /// Checks that nothing is found, and that keep() repairs it.
  void check_missing() const {
    CHECK(!files.find(key));
    files.keep(key, content);
    CHECK(files.find(key) == content);
    CHECK(mode_of(path) == 0600);
    CHECK(std::distance(fs::directory_iterator(folder), {}) == 1);
  }
  std::string warning() const {
    const std::vector<std::string> all = tuning_warnings();
    const auto found = std::find_if(all.begin(), all.end(), [&](const std::string& one) {
      return one.find(folder) != std::string::npos;
    });
    return found == all.end() ? "" : *found;
  }
};

TEST_CASE("kept files: what is kept is found again, by its key alone, whatever it holds") {
  const KeptHere kept;
  const spi::KeptFiles later({variable, "planted", plenty});  // as in another process
  CHECK(later.find(kept.key) == kept.content);
  CHECK(!later.find(kept.key + " "));
  CHECK(!later.find(""));
  std::string all;
  for (int i = 0; i < 100000; ++i) all += static_cast<char>(std::int64_t{i} * i % 257);
  for (const std::string& content : {std::string(), all}) {
    kept.files.keep(all, content);
    CHECK(later.find(all) == content);
  }
  kept.files.keep(kept.key, "another");
  CHECK(later.find(kept.key) == "another");
}

TEST_CASE("kept files: file and folders are their owner's alone, with nothing beside the file") {
  const KeptHere kept;
  CHECK(mode_of(kept.path) == 0600);
  CHECK(mode_of(kept.folder) == 0700);
  CHECK(mode_of(kept.above / "a") == 0700);
  CHECK(std::distance(fs::directory_iterator(kept.folder), {}) == 1);
  CHECK(kept.warning() == "");
}

TEST_CASE("kept files: where they are") {
  const spi::KeptFolder how = {variable, "planted", plenty};
  const auto place = [&] { return fs::path(spi::KeptFiles(how).path_of("k")).parent_path().string(); };
  const Variable unset(variable, nullptr), cache("XDG_CACHE_HOME", nullptr), home("HOME", "/home/me");
  CHECK(place() == "/home/me/.cache/kith/planted");
  const Variable there("XDG_CACHE_HOME", "/var/cache/me");
  CHECK(place() == "/var/cache/me/kith/planted");
  CHECK(spi::KeptFiles(how).are_kept());
  {
    const Variable named(variable, "/etc/kith");
    CHECK(place() == "/etc/kith");
  }
  const auto nowhere = [&] {
    const spi::KeptFiles files(how);
    files.keep("k", "content");
    CHECK(!files.find("k"));
    CHECK(files.path_of("k") == "");
    return !files.are_kept();
  };
  {
    const Variable off(variable, "off");
    CHECK(nowhere());
  }
  {
    const Variable relative(variable, "here");
    CHECK(nowhere());
    const std::vector<std::string> told = tuning_warnings();
    CHECK(std::count(told.begin(), told.end(),
                     "KITH_PLANTED_CACHE=here is neither `off` nor an absolute folder, so nothing is kept; "
                     "set it to one") == 1);
  }
  const Variable relative("XDG_CACHE_HOME", "cache"), homeless("HOME", nullptr);
  CHECK(nowhere());
}

TEST_CASE("kept files: each changed bit, each lost byte and each byte too many makes a file missing") {
  const KeptHere kept;
  const std::string good = kept.read();
  REQUIRE(good.size() > kept.key.size() + kept.content.size());
  for (std::size_t at = 0; at < good.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      CAPTURE_ALL(at, bit);
      std::string flipped = good;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      kept.replace(flipped);
      CHECK(!kept.files.find(kept.key));
    }
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes) {
    CAPTURE(bytes);
    kept.replace(good.substr(0, bytes));
    CHECK(!kept.files.find(kept.key));
  }
  kept.replace(good + '\0');
  CHECK(!kept.files.find(kept.key));
  kept.replace(good + good);
  kept.check_missing();
  kept.replace("");
  kept.check_missing();
  CHECK(kept.read() == good);
}

TEST_CASE("kept files: the whole file of another key in its place makes it missing") {
  const KeptHere kept;
  const std::string other = "device: two\nsource";  // it has the same length
  kept.files.keep(other, kept.content);
  const std::string whole = test_support::text_of_file(kept.files.path_of(other));
  fs::remove(kept.files.path_of(other));
  kept.replace(whole);
  kept.check_missing();
}

TEST_CASE("kept files: a file that others may have written, or that is none, makes it missing") {
  const KeptHere kept;
  for (const mode_t mode : {0620u, 0602u, 0666u}) {
    CAPTURE(mode);
    ::chmod(kept.path.c_str(), mode);
    kept.check_missing();
  }
  ::chmod(kept.path.c_str(), 0644);
  CHECK(kept.files.find(kept.key) == kept.content);  // others may read it
  if (::geteuid() == 0) {
    REQUIRE(::chown(kept.path.c_str(), 1, 1) == 0);
    kept.check_missing();
  } else {
    ::chmod(kept.path.c_str(), 0);  // root reads it all the same
    kept.check_missing();
  }
  const std::string moved = kept.above / "moved";
  fs::rename(kept.path, moved);
  fs::create_symlink(moved, kept.path);
  kept.check_missing();
  fs::remove(kept.path);
  REQUIRE(::mkfifo(kept.path.c_str(), 0600) == 0);
  kept.check_missing();  // does not wait for a writer
  fs::remove(kept.path);
  fs::create_directory(kept.path);
  kept.check_missing();
  fs::remove(kept.path);
  fs::create_directories(kept.path + "/full");
  kept.files.keep(kept.key, kept.content);
  CHECK(!kept.files.find(kept.key));  // a folder that is not empty is not kith's, and stays
  CHECK(fs::is_directory(kept.path + "/full"));
}

TEST_CASE(
    "kept files: nothing is read from, or written to, a folder that others may write to, and it is told") {
  const KeptHere kept;
  ::chmod(kept.folder.c_str(), 0770);
  CHECK(!kept.files.find(kept.key));
  kept.files.keep("another", kept.content);
  CHECK(std::distance(fs::directory_iterator(kept.folder), {}) == 1);
  CHECK(kept.warning() == "planted: " + kept.folder +
                              " is not used: it can be written by others (mode 0770); make it private, or "
                              "set KITH_PLANTED_CACHE to another one, or to off");
  ::chmod(kept.folder.c_str(), 0700);
  CHECK(kept.files.find(kept.key) == kept.content);
}

TEST_CASE("kept files: a folder that is a link is not used, and it is told") {
  const KeptHere kept;
  fs::rename(kept.folder, kept.above / "elsewhere");
  fs::create_directory_symlink(kept.above / "elsewhere", kept.folder);
  CHECK(!kept.files.find(kept.key));
  kept.files.keep("another", kept.content);
  CHECK(std::distance(fs::directory_iterator(kept.above / "elsewhere"), {}) == 1);
  CHECK(kept.warning().starts_with("planted: " + kept.folder + " is not used: it is a link, or no folder"));
}

TEST_CASE("kept files: a folder that cannot be made or written is no error, and not told") {
  const TemporaryFolder above;
  above.write("file", "");
  for (const std::string& folder :
       {above / "file/folder", std::string("/proc/kith"), std::string("/dev/null/kith")}) {
    CAPTURE(folder);
    const Variable named(variable, folder.c_str());
    const spi::KeptFiles files({variable, "planted", plenty});
    CHECK(files.are_kept());
    files.keep("key", "content");
    CHECK(!files.find("key"));
    for (const std::string& warning : tuning_warnings()) CHECK(warning.find(folder) == std::string::npos);
  }
}

TEST_CASE("kept files: what was not used for the longest time goes when there are too many bytes") {
  const TemporaryFolder above;
  const std::string folder = above / "kept", content(1000, 'c');
  const Variable named(variable, folder.c_str());
  const spi::KeptFiles files({variable, "planted", 5000});
  const auto has = [&](const char* key) { return fs::exists(files.path_of(key)); };
  const auto used = [&](const char* key, std::time_t seconds) {
    const timespec times[2] = {{seconds, 0}, {seconds, 0}};
    REQUIRE(::utimensat(AT_FDCWD, files.path_of(key).c_str(), times, 0) == 0);
  };
  for (const char* key : {"a", "b", "c", "d"}) files.keep(key, content);
  const std::string foreign = folder + "/mine.txt", left = files.path_of("e") + ".partial-1-0";
  std::ofstream(foreign) << std::string(10000, 'x');  // not kith's: it does not count, and is not removed
  std::ofstream(left) << std::string(100, 'x');       // this is left by a process that ended too early
  used("a", 1000);
  used("b", 500);
  used("c", 2000);
  used("d", 3000);
  const timespec oldest[2] = {{1, 0}, {1, 0}};
  REQUIRE(::utimensat(AT_FDCWD, left.c_str(), oldest, 0) == 0);
  CHECK(files.find("b") == content);  // this makes it the most recently used
  files.keep("e", content);
  CHECK(!fs::exists(left));
  CHECK(!has("a"));
  for (const char* key : {"b", "c", "d", "e"}) {
    CAPTURE(std::string(key));
    CHECK(has(key));
  }
  CHECK(fs::exists(foreign));
  files.keep("large", std::string(5000, 'c'));  // exceeds the limit by itself
  CHECK(!has("large"));
  CHECK(has("b"));
}

TEST_CASE("kept files: processes that keep the same at once leave a whole file, and read whole ones") {
  const KeptHere kept;
  constexpr int processes = 4, rounds = 200;
  const std::string one(70000, '1'), two(70000, '2');
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      bool right = true;
      for (int round = 0; round < rounds; ++round) {
        kept.files.keep("shared", (i + round) % 2 ? one : two);
        const auto found = kept.files.find("shared");
        right = right && (!found || *found == one || *found == two);
      }
      ::_exit(right ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  const auto found = kept.files.find("shared");
  CHECK((found == one || found == two));
  CHECK(std::distance(fs::directory_iterator(kept.folder), {}) == 2);
}

}  // namespace
}  // namespace kith::tests
