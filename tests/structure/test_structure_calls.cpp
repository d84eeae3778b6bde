// Tests progress, stopping and refusals of calls about class structure: docs/contract.md, section 11.
#include <stop_token>

#include "structure/structure_cases.hpp"

namespace kith::tests {
namespace {

TEST_SUITE_BEGIN("device");

TEST_CASE("structure: progress, stop and trace") {
  const Structure structure = seven();
  std::vector<double> fractions;
  SearchOptions options{.query_tile = 3, .train_tile = 4};
  options.progress = [&](const Progress& progress) { fractions.push_back(progress.fraction); };
  Trace trace;
  structure.class_matrix(options, &trace);
  CHECK(std::is_sorted(fractions.begin(), fractions.end()));
  REQUIRE(fractions.size() >= 6);  // at least; a device may split the rows further
  CHECK(fractions.back() == 1);
  CHECK(trace.query_tiles == 3);
  CHECK(trace.plan.query_tile == 3);
  CHECK(trace.plan.train_tile == 4);
  CHECK(trace.seconds.count("distance") == 1);
  CHECK(trace.seconds.count("accumulate") == 1);
  fractions.clear();
  structure.distances(0, 7, options);
  CHECK(fractions.back() == 1);
  fractions.clear();
  class_matrices(device(), matrix(1, {1, 2, 4}), Labels{1, 2, 2}, Metric::l1, std::vector<Numbers>{{0}, {}},
                 options);
  CHECK(fractions.back() == 1);
  std::stop_source source;
  options.stop = source.get_token();
  options.progress = [&](const Progress&) { source.request_stop(); };
  const std::string stopped = error_of([&] { structure.class_matrix(options); });
  CHECK(stopped.starts_with("interrupted: search: stopped after 1 of "));
  CHECK(error_of([&] { structure.distances(0, 7, options); }).starts_with("interrupted: "));
}

TEST_CASE("structure: refuses what the contract refuses") {
  const Matrix samples = matrix(1, {1, 2, 3});
  const Labels labels{1, 2, 2};
  const std::string refusal =
      "unsupported: structure: negative_dot may be below 0, so that its sums say nothing about classes; "
      "choose squared_l2, l2, cosine, l1 or linf";
  CHECK(error_of([&] { Structure(device(), samples, labels, Metric::negative_dot); }) == refusal);
  CHECK(error_of([&] { class_matrices(device(), samples, labels, Metric::negative_dot, {}); }) == refusal);
  IndexOptions periodic, centred;
  periodic.box.assign(size(samples.cols), 1);
  centred.learn_centre = true;
  CHECK(
      error_of([&] { Structure(device(), samples, labels, Metric::l2, periodic); }) ==
      "unsupported: structure: the samples are in a periodic box, in which class structure is not measured; "
      "leave it out");
  CHECK(error_of([&] { Structure(device(), samples, labels, Metric::l2, centred); }) ==
        "unsupported: structure: a centre, which sums of classes do not go by; subtract it from the samples");
  CHECK(error_of([&] { Structure(device(), samples, Labels{1}); }) ==
        "invalid_argument: structure: 1 labels for 3 samples; give one a sample");
  const Structure structure(device(), samples, labels);
  CHECK(error_of([&] {
          structure.with(samples, Labels{1, 2});
        }) == "invalid_argument: structure: 2 labels for 3 samples; give one a sample");
  CHECK(error_of([&] {
          structure.with(matrix(3, {1, 2, 3}), Labels{1});
        }) == "invalid_argument: index: the added rows have 3 columns but the index has 1; give as many");
  CHECK(error_of([&] { structure.distances(1, 3); }) ==
        "invalid_argument: structure: there are no samples 1 ... 3 among 3; choose from 0 to 2");
  CHECK(error_of([&] {
          structure.classify(samples, Numbers{2, 3});
        }) == "invalid_argument: structure: prototype 3 is none of the 3 samples; choose from 0 to 2");
  CHECK(error_of([&] {
          structure.classify_distances(matrix(3, {1, 2, 3}), Numbers{1, 0, 1});
        }) == "invalid_argument: structure: prototype 1 is named twice; name each once");
  CHECK(error_of([&] {
          structure.classify_distances(matrix(2, {1, 2}));
        }) ==
        "invalid_argument: structure: distances have 2 columns, but there are 3 samples; give one to each");
  CHECK(error_of([&] {
          structure.classify_distances(matrix(3, {1, 2, 3, 4, 5, std::nanf("")}));
        }) == "invalid_argument: structure: row 1, column 2 holds NaN; every distance must be a number");
  const std::string filtered =
      "invalid_argument: structure: the plan has a filter, self or a radius, but here all samples count; "
      "leave "
      "them out";
  SearchOptions self{.self = 0};
  const std::uint32_t word = 7;
  SearchOptions filter{.filter = {&word, 1, 1}};
  for (const SearchOptions& options : {self, filter}) {
    CHECK(error_of([&] { structure.class_matrix(options); }) == filtered);
    CHECK(error_of([&] { structure.sample_classes(options); }) == filtered);
    CHECK(error_of([&] { structure.nearest_other(options); }) == filtered);
    CHECK(error_of([&] { structure.distances(0, 1, options); }) == filtered);
    CHECK(error_of([&] { structure.classify(samples, {}, options); }) == filtered);
    CHECK(error_of([&] { class_matrices(device(), samples, labels, Metric::l1, {}, options); }) == filtered);
  }
  CHECK(error_of([&] { structure.class_matrix({.query_tile = -1}); }) ==
        "invalid_argument: structure: query tile = -1; give a positive number, or 0 to let kith choose");
  CHECK(error_of([&] {
          structure.class_matrix({.memory_limit = 16});
        }).starts_with("out_of_memory: structure: one sample and 2 classes take "));
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
