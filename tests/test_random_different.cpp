// Random cases on a device that gives wrong answers: they are counted, and said to be wrong.
#include <doctest/doctest.h>

#include <memory>
#include <variant>

#include "../lib/src/device_state.hpp"
#include "workloads/cases.hpp"
#include "workloads/proposed_cases.hpp"

using namespace kith;
using namespace kith::workloads;

namespace {

/// A device that does what another does, but changes the row of the first key that is read after certain
/// steps.
class Liar : public spi::Device {
 public:
  enum class After { any, ranking };

  Liar(std::unique_ptr<spi::Device> honest, After after)
      : spi::Device(honest->info), honest_(std::move(honest)), after_(after) {}

  std::unique_ptr<spi::Allocation> allocate(std::size_t bytes) override { return honest_->allocate(bytes); }
  void write(spi::Allocation& to, std::size_t offset, const void* from, std::size_t bytes) override {
    honest_->write(to, offset, from, bytes);
  }
  void read(const spi::Allocation& from, std::size_t offset, void* to, std::size_t bytes) override {
    honest_->read(from, offset, to, bytes);
    if (after_ == After::ranking && !ranked_) return;
    if (bytes < sizeof(Key) || &from != result_) return;
    *static_cast<Key*>(to) ^= 1;
    ranked_ = false;
  }
  void finish() override { honest_->finish(); }
  std::uint64_t mark() override { return honest_->mark(); }
  double elapsed(std::uint64_t from, std::uint64_t to) override { return honest_->elapsed(from, to); }
  spi::Support check(const spi::Step& step) const override { return honest_->check(step); }
  void enqueue(const spi::Step& step) override {
    std::visit([&](const auto& work) { note(work); }, step.work);
    honest_->enqueue(step);
  }

 private:
  template <class Work>
  void note(const Work&) {}
  void note(const spi::SelectStep& step) { result_ = step.out.memory; }
  void note(const spi::NearestStep& step) { result_ = step.out.memory; }
  void note(const spi::MergeStep& step) { result_ = step.out.memory; }
  void note(const spi::RerankStep&) { ranked_ = true; }
  void note(const spi::TightenStep& step) {
    if (step.of == spi::TightenStep::Of::chains) result_ = step.best.memory;
  }

  const std::unique_ptr<spi::Device> honest_;
  const After after_;
  const spi::Allocation* result_ = nullptr;  // where keys were put last
  bool ranked_ = false;
};

/// The CPU, but for what it says.
Device liar(Liar::After after) {
  const Device cpu = open_device("cpu");
  const std::shared_ptr<Device::State>& state = cpu.state();
  state->device = std::make_unique<Liar>(std::move(state->device), after);
  return cpu;
}

}  // namespace

TEST_CASE("run_random_cases: a wrong answer is counted, and told as the command that repeats it") {
  const Device wrong = liar(Liar::After::any);
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
  const std::vector<Device> wrong = {liar(Liar::After::ranking)};
  ProposedOptions options;
  options.seed = 20;
  options.cases = 32;
  options.proposers = {Proposer::dot};
  const ProposedResult result = run_proposed_cases(wrong, nullptr, options);
  CHECK(result.compared == 32);
  CHECK(result.different >= 10);
  REQUIRE(!result.failures.empty());
  CHECK(result.failures[0].find("--proposer dot") != std::string::npos);
}
