// kith_fault_tests [SPEC]: what kith does where the host's memory runs out, at every allocation of every
// operation below. The N-th allocation fails alone, or it and all after it. Each time the operation must give
// the right answer or throw Error out_of_memory, the same operation right after must give the right answer,
// and at the end nothing may be lost. Exit code 1 where something is wrong; 77 where there is no such device.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "common/data.hpp"
#include "kith/kith.hpp"

namespace {

/// Of this thread: allocations until one fails; 0: none does.
thread_local long until_failure = 0;
thread_local bool fail_on = false;  // those after it fail, too
thread_local long allocations = 0;
std::atomic<long> live = 0;

void* allocate(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  if (until_failure > 0 && --until_failure == 0) {
    if (fail_on) until_failure = 1;
    throw std::bad_alloc();
  }
  void* const memory = alignment
                           ? std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment)
                           : std::malloc(bytes ? bytes : 1);
  if (!memory) throw std::bad_alloc();
  ++live;
  return memory;
}

void release(void* memory) {
  if (memory) --live;
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) {
  return allocate(bytes, 0);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}

namespace {

using namespace kith;
using namespace kith::tests;

struct Operation {
  std::string name;
  std::function<bool()> is_right;  ///< do it, and look at the answer
};

int failures = 0;

void complain(const Operation& operation, long number, const std::string& what) {
  std::printf("%s, allocation %ld%s: %s\n", operation.name.c_str(), number,
              fail_on ? " and all after it" : "", what.c_str());
  ++failures;
}

/// The operation with one failure, or one and all that follow.
void meet_failure(const Operation& operation, long number) {
  std::string wrong;
  until_failure = number;
  try {
    if (!operation.is_right()) wrong = "gives a wrong answer";
    until_failure = 0;
  } catch (const Error& error) {
    until_failure = 0;
    if (error.code() != Errc::out_of_memory)
      wrong = "throws " + std::string(name(error.code())) + ": " + error.what();
  } catch (const std::exception& error) {
    until_failure = 0;
    wrong = std::string("throws ") + error.what();
  }
  if (!wrong.empty()) complain(operation, number, wrong);
}

void fail_everywhere(const Operation& operation) {
  for (int again = 0; again < 3; ++again)
    if (!operation.is_right()) complain(operation, 0, "is wrong without a failure");
  const long before = live;
  allocations = 0;
  static_cast<void>(operation.is_right());
  const long all = allocations;
  for (const bool all_after : {false, true})
    for (long number = 1; number <= all; ++number) {
      fail_on = all_after;
      meet_failure(operation, number);
      fail_on = false;
      if (!operation.is_right()) complain(operation, number, "is wrong afterwards");
    }
  const long lost = live - before;
  std::printf("%-28s %4ld allocations, each failed alone and with all after it; %ld lost\n",
              operation.name.c_str(), all, lost);
  if (lost > 0) complain(operation, 0, "loses " + std::to_string(lost) + " blocks of memory");
}

std::vector<Operation> operations(const std::string& spec, const Device& device) {
  static const Matrix train = hard_rows(DataKind::integers, Set::train, 300, 5, Metric::l2);
  static const Matrix queries = hard_rows(DataKind::integers, Set::queries, 7, 5, Metric::l2);
  static std::vector<std::int64_t> labels;
  for (std::int64_t t = 0; t < train.rows; ++t) labels.push_back(t % 4);
  static std::vector<double> values(labels.begin(), labels.end());
  static const Index index(device, train, Metric::l2);
  static const Classifier classifier(device, train, labels);
  static const MatrixView<const double> targets{values.data(), train.rows, 1};
  static const Regressor regressor(device, train, targets);
  static const Structure structure(device, train, labels);
  static const Neighbors found = index.search(queries, 9);
  static const std::vector<std::int64_t> predicted = classifier.predict(queries, 9);
  static const std::vector<double> estimated = regressor.predict(queries, 9);
  static const std::vector<float> radius{3.5f};
  static const RadiusNeighbors around = index.within(queries, radius);
  static const std::vector<std::int64_t> left_out = leave_one_out(classifier, train, 5).correct;
  static const std::size_t errors = structure.errors().size();
  static const std::string plan = explain(index.plan(7, 9));
  const auto same = [](const Neighbors& a, const Neighbors& b) {
    return a.index == b.index && a.distance == b.distance;
  };
  std::vector<Operation> list = {
      {"Index", [&] { return Index(device, train, Metric::l2).rows() == train.rows; }},
      {"search", [same] { return same(index.search(queries, 9), found); }},
      {"within", [] { return index.within(queries, radius).index == around.index; }},
      {"plan", [] { return explain(index.plan(7, 9)) == plan; }},
      {"Classifier, predict", [] { return classifier.predict(queries, 9) == predicted; }},
      {"Regressor, predict", [] { return regressor.predict(queries, 9) == estimated; }},
      {"leave_one_out", [] { return leave_one_out(classifier, train, 5).correct == left_out; }},
      {"Structure, errors", [] { return structure.errors().size() == errors; }},
      {"stages", [&] { return stages::distance(device, queries, train, Metric::l1).size() == 2100; }},
  };
  if (spec == "cpu") list.push_back({"open_device", [] { return open_device("cpu").info().spec == "cpu"; }});
  return list;
}

}  // namespace

int main(int count, char** words) {
  const std::string spec = count > 1 ? words[1] : "cpu";
  try {
    const Device device = open_device(spec);
    for (const Operation& operation : operations(spec, device)) fail_everywhere(operation);
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
    return error.code() == Errc::unavailable ? 77 : 1;
  }
  std::printf("%d faults\n", failures);
  return failures == 0 ? 0 : 1;
}
