// Tests fork(): in the child a CPU keeps working, and devices with a driver are refused (docs/contract.md,
// section 7).
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "common/device.hpp"
#include "common/environment.hpp"
#include "common/oracle.hpp"
#include "common/sanitizers.hpp"
#include "kith/classifier.hpp"
#include "kith/index.hpp"

namespace kith::tests {
namespace {

constexpr unsigned patience_s = 60;

/// A forked child and the text that its body returns. The child ends without running any destructor
/// of its parent.
class Child {
 public:
  explicit Child(const std::function<std::string()>& body) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    id_ = fork();
    REQUIRE(id_ >= 0);
    if (id_ == 0) {
      alarm(patience_s);
      std::string said;
      try {
        said = body();
      } catch (const std::exception& error) {
        said = error.what();
      }
      _exit(write(ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size()) ? 0 : 1);
    }
    close(ends[1]);
    from_ = ends[0];
  }

  /// Returns the text, and how the child ended if it failed.
  std::string said() {
    std::string text;
    char buffer[4096];
    for (ssize_t n; (n = read(from_, buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<size_t>(n));
    close(from_);
    int status = 0;
    waitpid(id_, &status, 0);
    if (WIFSIGNALED(status)) return text + " (signal " + std::to_string(WTERMSIG(status)) + ")";
    return WEXITSTATUS(status) == 0 ? text : text + " (exit)";
  }

 private:
  pid_t id_ = -1;
  int from_ = -1;
};

/// Holds a search large enough for several threads, and its expected answer.
struct Search {
  Matrix train = hard_rows(DataKind::clusters, Set::train, 3000, 16, Metric::l2);
  Matrix queries = hard_rows(DataKind::clusters, Set::queries, 60, 16, Metric::l2);
  Neighbors expected = neighbors(Metric::l2, queries, train, 9);

  std::string wrong(const Index& index, std::uint32_t threads = 0) const {
    SearchOptions options{.threads = threads};
    return difference(index.search(queries, 9, options), expected);
  }
};

bool survives() {
  return device().info().backend == "cpu";
}

TEST_SUITE_BEGIN("device");

TEST_CASE("fork: an Index of the parent, and a new one, have the same bits in the child") {
  if (!survives()) return;
  const Search search;
  const Index index(device(), search.train, Metric::l2);
  CHECK(search.wrong(index) == "");
  for (const std::uint32_t threads : {0u, 1u, 3u}) {
    CAPTURE(threads);
    CHECK(Child([&] { return search.wrong(index, threads); }).said() == "");
    CHECK(Child([&] { return search.wrong(Index(device(), search.train, Metric::l2), threads); }).said() ==
          "");
    CHECK(Child([&] {
            const Device own = open_device(device_spec());
            return search.wrong(Index(own, search.train, Metric::l2), threads);
          }).said() == "");
  }
  CHECK(search.wrong(index) == "");
}

TEST_CASE("fork: the first device of a child is opened whatever the host program has set") {
  if (!survives()) return;
  const Search search;
  for (const HostileSetting setting : hostile_settings) {
    CAPTURE(std::string(name(setting)));
    const auto open = [&] {
      const HostileEnvironment hostile(setting);
      return open_device(device_spec());
    };
    CHECK(Child([&] { return search.wrong(Index(open(), search.train, Metric::l2)); }).said() == "");
  }
}

TEST_CASE("fork: many children at once, and children of children, as a server makes them") {
  if (!survives()) return;
  const Search search;
  const Index index(device(), search.train, Metric::l2);
  std::vector<Child> children;
  for (int i = 0; i < 8; ++i)
    children.emplace_back([&] {
      const std::string wrong = search.wrong(index);
      return wrong + Child([&] { return search.wrong(index); }).said() + search.wrong(index);
    });
  CHECK(search.wrong(index) == "");
  for (Child& child : children) CHECK(child.said() == "");
}

TEST_CASE("fork: while other threads search, and open devices") {
  if (!survives() || kith::tests::sanitized()) return;
  const Search search;
  const Index index(device(), search.train, Metric::l2);
  std::atomic<bool> enough = false;
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i)
    others.emplace_back([&, i] {
      while (!enough)
        if (i == 2) {
          search.wrong(Index(open_device(device_spec()), search.train, Metric::l2));
        } else {
          search.wrong(index);
        }
    });
  for (int i = 0; i < 20; ++i)
    CHECK(Child([&] {
            return search.wrong(index) +
                   search.wrong(Index(open_device(device_spec()), search.train, Metric::l2));
          }).said() == "");
  enough = true;
  for (std::thread& thread : others) thread.join();
}

TEST_CASE("fork: from a progress callback") {
  if (!survives()) return;
  const Search search;
  const Index index(device(), search.train, Metric::l2);
  std::string said = "no progress";
  SearchOptions options;
  options.progress = [&](const Progress&) { said = Child([&] { return search.wrong(index); }).said(); };
  CHECK(difference(index.search(search.queries, 9, options), search.expected) == "");
  CHECK(said == "");
}

TEST_CASE("fork: what has a driver is refused in the child, and goes on in the parent") {
  if (survives()) return;
  const Search search;
  auto index = std::make_unique<Index>(device(), search.train, Metric::l2);
  const std::string refused = "unavailable: " + device().info().spec +
                              ": opened before fork(), and its driver does not work in a forked child; open "
                              "devices after fork(), or start the child as a new program (spawn)";
  CHECK(Child([&] {
          const std::string said = error_of([&] { search.wrong(*index); });
          index.reset();  // must neither hang nor call the driver
          return said;
        }).said() == refused);
  CHECK(Child([&] { return error_of([&] { Index(device(), search.train, Metric::l2); }); }).said() ==
        refused);
  CHECK(Child([&] { return error_of([&] { open_device(device_spec()); }); }).said() ==
        "unavailable: open_device: " + device_spec() +
            ": its driver was started before fork(), and does not work in a forked child; ask for devices "
            "after fork(), or start the child as a new program (spawn); choose another device, or see `kith "
            "doctor`");
  CHECK(Child([&] { return search.wrong(Index(open_device("cpu"), search.train, Metric::l2)); }).said() ==
        "");
  CHECK(search.wrong(*index) == "");
}

TEST_CASE("fork: where no thread can be made, the caller does all") {
  if (!survives()) return;
  const Search search;
  const Index index(device(), search.train, Metric::l2);
  CHECK(Child([&] {
          pthread_attr_t endless;  // a stack larger than the address space
          pthread_attr_init(&endless);
          pthread_attr_setstacksize(&endless, std::size_t{1} << 47);
          if (pthread_setattr_default_np(&endless) != 0) return std::string("stacks cannot be made large");
          try {
            std::thread([] {}).join();
            return std::string("a thread could be made");
          } catch (const std::system_error&) {
          }
          return search.wrong(index, 4) + search.wrong(index);
        }).said() == "");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
