// Runs random cases on a device that gives wrong answers, which must be counted and reported.
#include <variant>

#include "common/proxy_device.hpp"
#include "common/test.hpp"
#include "workloads/cases.hpp"
#include "workloads/proposed_cases.hpp"

using namespace kith;
using namespace kith::workloads;

namespace {

/// Changes the row of the first key that is read after certain steps.
class Liar : public tests::ProxyDevice {
 public:
  enum class After { any, ranking };

  Liar(std::unique_ptr<spi::Device> honest, After after) : ProxyDevice(std::move(honest)), after_(after) {}

  void read(const spi::Allocation& from, std::size_t offset, void* to, std::size_t bytes) override {
    ProxyDevice::read(from, offset, to, bytes);
    if (after_ == After::ranking && !ranked_) return;
    if (bytes < sizeof(Key) || &from != result_) return;
    *static_cast<Key*>(to) ^= 1;
    ranked_ = false;
  }
  void enqueue(const spi::Step& step) override {
    std::visit([&](const auto& work) { note(work); }, step.work);
    ProxyDevice::enqueue(step);
  }

 private:
  template <class Work>
  void note(const Work&) {}
  void note(const spi::SelectStep& step) { result_ = step.out.memory; }
  void note(const spi::NearestStep& step) { result_ = step.out.memory; }
  void note(const spi::MergeStep& step) { result_ = step.out.memory; }
  void note(const spi::RerankStep&) { ranked_ = true; }
  void note(const spi::TightenStep& step) { result_ = step.best.memory; }

  const After after_;
  const spi::Allocation* result_ = nullptr;  // where keys were put last
  bool ranked_ = false;
};

}  // namespace

TEST_CASE("run_random_cases: a wrong answer is counted, and told as the command that repeats it") {
  const Device wrong = tests::cpu_behind<Liar>(Liar::After::any);
  RandomOptions options;
  options.seed = 2;
  options.cases = 30;
  const RandomResult result = run_random_cases(wrong, nullptr, options);
  CHECK(result.compared == 30);
  CHECK(result.different >= 10);  // the others are single stages
  REQUIRE(result.failures.size() == 5);
  CHECK(result.failures[0].find(", place 0: row ") != std::string::npos);
  CHECK(result.failures[0].find("\n  kith compare --device cpu ") != std::string::npos);
  CHECK(summary(result).find(" 0 different") == std::string::npos);
}

TEST_CASE("run_proposed_cases: a proposer's wrong answer is told from its chain's right one") {
  const std::vector<Device> wrong = {tests::cpu_behind<Liar>(Liar::After::ranking)};
  ProposedOptions options;
  options.seed = 20;
  options.cases = 32;
  options.proposers = {Proposer::dot};
  const ProposedResult result = run_proposed_cases(wrong, nullptr, options);
  CHECK(result.compared == 32);
  CHECK(result.different >= 10);
  REQUIRE(!result.failures.empty());
  CHECK(result.failures[0].find("--how proposer=dot") != std::string::npos);
}
