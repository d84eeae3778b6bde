// KNN-Classifier: times every step of class structure on the CPU and on a GPU.
#include "lab/experiments/structure.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kith/structure.hpp"

namespace kith::experiments {
namespace {

constexpr std::int64_t dims = 32, classes = 8, prototype_every = 10, queries_a_sample = 4;

/// Holds labelled samples, others to be classified, and which samples are prototypes.
struct Samples {
  workloads::Rows rows, queries;
  std::vector<std::int64_t> labels, prototypes;

  Samples(std::uint64_t seed, std::int64_t n)
      : rows(make_rows(workloads::DataKind::clusters, seed, workloads::Set::train, n, dims)),
        queries(make_rows(workloads::DataKind::clusters, seed, workloads::Set::queries,
                          std::max<std::int64_t>(1, n / queries_a_sample), dims)),
        labels(workloads::make_labels(seed, n, classes)) {
    for (std::int64_t sample = 0; sample < n; sample += prototype_every) prototypes.push_back(sample);
  }
};

/// Holds the bits of what a step returns.
struct Found {
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<std::int64_t> numbers;
};

/// Returns where two results differ; empty if they do not.
std::string difference(const Found& expected, const Found& actual) {
  const auto differs = [](const auto& a, const auto& b) {
    if (a.size() != b.size()) return true;
    using Bits = std::conditional_t<sizeof(a[0]) == 4, std::uint32_t, std::uint64_t>;
    return !std::equal(a.begin(), a.end(), b.begin(),
                       [](auto x, auto y) { return std::bit_cast<Bits>(x) == std::bit_cast<Bits>(y); });
  };
  if (differs(expected.floats, actual.floats)) return "distances are other bits than those of the CPU";
  if (differs(expected.doubles, actual.doubles)) return "means are other bits than those of the CPU";
  if (differs(expected.numbers, actual.numbers)) return "samples are others than those of the CPU";
  return "";
}

/// Describes one of the steps of the paper.
struct Step {
  const char* name;
  Found (*run)(const Structure& structure, const Samples& samples, const SearchOptions& options);
};

Found pairwise(const Structure& structure, const Samples& samples, const SearchOptions& options) {
  return {structure.distances(0, samples.rows.rows(), options).distance, {}, {}};
}

Found sample_class(const Structure& structure, const Samples&, const SearchOptions& options) {
  SampleClasses to = structure.sample_classes(options);
  return {std::move(to.smallest), std::move(to.mean), {}};
}

Found class_class(const Structure& structure, const Samples&, const SearchOptions& options) {
  ClassMatrix matrix = structure.class_matrix(options);
  matrix.mean.push_back(matrix.informativeness);
  return {{}, std::move(matrix.mean), {}};
}

Found nearest_other(const Structure& structure, const Samples&, const SearchOptions& options) {
  Neighbors nearest = structure.nearest_other(options);
  return {std::move(nearest.distance), {}, std::move(nearest.row)};
}

Found errors(const Structure& structure, const Samples&, const SearchOptions& options) {
  Found found;
  for (const SampleError& error : structure.errors(options)) {
    found.numbers.push_back(error.sample);
    found.numbers.push_back(error.nearest);
  }
  return found;
}

Found classified(const Structure& structure, const Samples& samples, const SearchOptions& options) {
  return {{}, {}, structure.classify(samples.queries.view(), samples.prototypes, options)};
}

constexpr Step steps[] = {{"pairwise distances", pairwise},
                          {"sample-class sums", sample_class},
                          {"class-class matrix and Q", class_class},
                          {"nearest other sample", nearest_other},
                          {"error matrix", errors},
                          {"classification by prototypes", classified}};

/// Checks and times a whole call.
Measured time_step(const Settings& settings, const Structure& structure, const Step& step,
                   const Samples& samples, const Found& expected) {
  const Device& device = structure.index().device();
  const std::string what =
      std::string(step.name) + " on " + device.info().spec + ", n = " + std::to_string(samples.rows.rows());
  SearchOptions options{.stop = settings.stop};
  return time_checked(
      settings, device, what, [&] { return difference(expected, step.run(structure, samples, options)); },
      [&]() -> Seconds {
        return {not_measured, not_measured, seconds_of([&] { step.run(structure, samples, options); })};
      });
}

/// Holds the curves by step, then device.
using Curves = std::vector<std::vector<Curve>>;

void measure(const Settings& settings, const std::vector<Device>& devices, std::int64_t n, Curves& curves) {
  const Samples samples(settings.seed, n);
  std::vector<Found> expected;
  for (const Device& device : devices) {
    const Structure structure(device, samples.rows.view(), samples.labels);
    const auto d = static_cast<std::size_t>(&device - devices.data());
    for (std::size_t s = 0; s < std::size(steps); ++s) {
      if (d == 0) expected.push_back(steps[s].run(structure, samples, {}));
      const Measured measured = time_step(settings, structure, steps[s], samples, expected[s]);
      curves[s][d].add(static_cast<double>(n), measured, 1e3 * measured.total);
    }
  }
}

void add_claims(const std::vector<Device>& devices, const Curves& curves, std::int64_t n, Result& result) {
  for (std::size_t d = 1; d < devices.size(); ++d)
    for (std::size_t s = 0; s < std::size(steps); ++s) {
      const Curve& curve = curves[s][d];
      const double ratio = curves[s][0].at(static_cast<double>(n)) / curve.at(static_cast<double>(n));
      result.claims.push_back(
          {std::string(steps[s].name) + ", times as fast as the CPU", not_available,
           ratio_text(ratio) + " (" + devices[d].info().spec + ", n = " + std::to_string(n) + ")",
           std::isfinite(ratio) ? "the paper's figures are of other sizes and machines"
                                : curve.series().note});
    }
  drop_empty_claims(result);
}

}  // namespace

std::vector<Device> cpu_and_others(const Settings& settings) {
  std::vector<Device> devices{settings.cpu};
  for (const Device& device : settings.devices)
    if (device.info().backend != "cpu") devices.push_back(device);
  return devices;
}

Result structure(const Settings& settings) {
  Result result =
      described("structure", {{"classes", std::to_string(classes)}, {"dims", std::to_string(dims)}});
  result.plans = {"structure: distance and accumulate, tile by tile; nearest other: a search with k = 1"};
  const std::vector<std::int64_t> sizes =
      settings.quick ? std::vector<std::int64_t>{128, 512} : std::vector<std::int64_t>{1024, 4096, 16384};
  const std::vector<Device> devices = cpu_and_others(settings);
  Curves curves(std::size(steps));
  for (std::vector<Curve>& of_step : curves)
    for (const Device& device : devices) of_step.emplace_back("whole call", device);
  for (const std::int64_t n : sizes) measure(settings, devices, n, curves);
  add_claims(devices, curves, sizes.back(), result);
  for (std::size_t s = 0; s < std::size(steps); ++s) {
    Chart chart{std::string(steps[s].name), {"samples n", true}, {"whole call, ms", true}, {}};
    for (Curve& curve : curves[s]) std::move(curve).finish(chart, result);
    result.charts.push_back(std::move(chart));
  }
  add_triangle(settings, devices, result);
  return result;
}

}  // namespace kith::experiments
