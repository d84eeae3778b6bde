// Computes class matrices of many sets of features.
#include <algorithm>
#include <string>

#include "base/border.hpp"
#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "device/device_set.hpp"
#include "kith/error.hpp"
#include "plan/plan_memory.hpp"
#include "rows/rows.hpp"
#include "structure/structure_pairs.hpp"
#include "structure/structure_state.hpp"

namespace kith {
namespace {

void check_shape(const RowsView& samples) {
  if (samples.rows < 1 || samples.cols < 1 || samples.rows > most_rows)
    throw Error(Errc::invalid_argument, "structure: the samples are [" + std::to_string(samples.rows) + ", " +
                                            std::to_string(samples.cols) + "]; give 1 to " +
                                            std::to_string(most_rows) + " rows and at least one column");
}

/// Passes on the progress of one of several parts of a call.
SearchOptions options_of_part(const SearchOptions& options, std::size_t part, std::size_t parts) {
  SearchOptions own = options;
  if (options.progress)
    own.progress = [&options, part, parts](const Progress& progress) {
      const FloatGuard guard;
      const double before = static_cast<double>(part);
      call_back(options.progress, Progress{(before + progress.fraction) / static_cast<double>(parts)});
    };
  return own;
}

std::vector<ClassMatrix> matrices_in_double(const Device& device, const RowsView& samples,
                                            std::span<const std::int64_t> labels, Metric metric,
                                            std::span<const std::vector<std::int64_t>> sets,
                                            const SearchOptions& options) {
  const ClassCodes coded(labels);
  const auto classes = static_cast<std::int64_t>(coded.classes.size());
  std::vector<ClassMatrix> matrices;
  for (const std::vector<std::int64_t>& set : sets) {
    DoubleRows rows;
    rows.append(prepare_doubles("structure", "sample", samples, metric, set, {}, options.threads),
                device.info());
    ClassPairs pairs(coded.sizes(), Arithmetic::f64);
    run_double_sums({device, metric, rows, 0}, coded.codes, classes,
                    options_of_part(options, matrices.size(), sets.size()), nullptr,
                    [&](const DoubleTileSums& tile) {
                      pairs.add(std::span(coded.codes).subspan(size(tile.first), size(tile.count)), tile.high,
                                tile.low, options.threads);
                    });
    matrices.push_back(pairs.matrix());
  }
  return matrices;
}

}  // namespace

std::vector<ClassMatrix> class_matrices(const Device& device, const RowsView& given,
                                        std::span<const std::int64_t> labels, Metric metric,
                                        std::span<const std::vector<std::int64_t>> features,
                                        const SearchOptions& options) try {
  const FloatGuard guard;
  check_structure_metric(metric);
  if (is_prepared(metric))
    throw Error(Errc::unsupported,
                "structure: " + std::string(name(metric)) +
                    " is a prepared metric, by which several sets of columns are not compared; make a "
                    "Structure of each, or choose squared_l2, l2, cosine, l1 or linf");
  check_structure_labels(labels, given.rows);
  refuse_filters(options);
  check_shape(given);
  std::vector<std::vector<std::int64_t>> sets;
  std::vector<std::int64_t> used;
  for (const std::vector<std::int64_t>& set : features) {
    sets.push_back(ordered_features(set, given.cols));
    used.insert(used.end(), sets.back().begin(), sets.back().end());
  }
  if (sets.empty()) return {};
  if (is_wide(given.element))
    return matrices_in_double(first_of(device), given, labels, metric, sets, options);
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  const LandedRows landed = land_numbers("structure", "sample", given, metric);
  const MatrixView<const float> samples = landed.view;
  // checks that all are finite
  prepare_rows("structure", "sample", samples, metric, options.threads, used);

  const ClassCodes coded(labels);
  const std::vector<std::int64_t> order = order_by_class(coded.codes, 0);
  const std::vector<std::uint32_t> codes = codes_in_order(coded.codes, order);
  std::vector<SumsInput> inputs;
  inputs.reserve(sets.size());
  for (const std::vector<std::int64_t>& set : sets) inputs.push_back({{samples, order, set, metric}});
  SumsTask task{first_of(device).state(), metric, codes};
  task.classes = static_cast<std::int64_t>(coded.classes.size());

  std::vector<ClassMatrix> matrices;
  ClassPairs pairs(coded.sizes(), Arithmetic::f32);
  run_sums(task, inputs, options, nullptr, [&](const TileSums& tile) {
    if (tile.input > matrices.size()) {  // tiles of an input are consecutive
      matrices.push_back(pairs.matrix());
      pairs = ClassPairs(coded.sizes(), Arithmetic::f32);
    }
    pairs.add(
        std::span(codes).subspan(static_cast<std::size_t>(tile.first), static_cast<std::size_t>(tile.count)),
        tile.high, tile.low, options.threads);
  });
  matrices.push_back(pairs.matrix());
  return matrices;
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
