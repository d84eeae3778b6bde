#include "stages/stage_support.hpp"

#include <bit>
#include <cmath>

#include "plan/plan_memory.hpp"

namespace kith::stages {

void refuse(const std::string& message) {
  throw Error(Errc::invalid_argument, message);
}

RowPair row_pair(const RowsView& queries, const RowsView& train, Metric metric) {
  const FloatGuard guard;
  if (is_prepared(metric))
    refuse("stages: " + std::string(name(metric)) +
           " is a prepared metric, for which an index changes rows; choose a metric with a chain");
  if (train.rows < 1 || train.cols < 1)
    refuse("stages: the training rows are [" + std::to_string(train.rows) + ", " +
           std::to_string(train.cols) + "]; give at least one row and one column");
  if (queries.cols != train.cols)
    refuse("stages: queries have " + std::to_string(queries.cols) + " columns but the training rows " +
           std::to_string(train.cols) + "; give as many");
  const auto prepared = [&](const char* what, const RowsView& rows) {
    if (rows.rows > most_rows)
      refuse(std::string("stages: too many ") + what + " rows; give fewer than 2^32 - 1");
    return prepare_rows("stages", what, rows, metric, 0);
  };
  RowPair pair{prepared("query", queries), prepared("training", train)};
  check_range("stages", metric, pair.queries.view, pair.train.largest);
  return pair;
}

std::vector<float> dense_values(const char* stage, MatrixView<const float> values, Masked masked) {
  check_view(stage, "value", values);
  const FloatGuard guard;  // comparing a subnormal may raise a trap, too
  const std::size_t rows = size(values.rows()), cols = size(values.cols());
  std::vector<float> dense(rows * cols);
  for (std::size_t q = 0; q < rows; ++q)
    for (std::size_t t = 0; t < cols; ++t) {
      const float value = values(static_cast<std::int64_t>(q), static_cast<std::int64_t>(t));
      dense[q * cols + t] = value;
      if (!std::isnan(value)) continue;
      if (masked == Masked::refused || std::bit_cast<std::uint32_t>(value) != spi::masked_bits)
        refuse(std::string(stage) + ": row " + std::to_string(q) + ", column " + std::to_string(t) +
               " holds NaN; every value must be a number");
    }
  return dense;
}

void check_lists(const char* stage, const KeyLists& lists) {
  const std::size_t expected = size(lists.rows) * size(lists.lists) * size(lists.k);
  if (lists.rows < 0 || lists.lists < 1 || lists.k < 1 || lists.keys.size() != expected)
    refuse(std::string(stage) + ": " + std::to_string(lists.keys.size()) + " keys for lists of shape [" +
           std::to_string(lists.rows) + ", " + std::to_string(lists.lists) + ", " + std::to_string(lists.k) +
           "]; give one for each place");
  for (std::size_t i = 0; i < lists.keys.size(); ++i)
    if (i % size(lists.k) != 0 && lists.keys[i - 1] > lists.keys[i])
      refuse(std::string(stage) + ": key " + std::to_string(i) +
             " is smaller than the one before it; each list must ascend");
}

void check_labels(const char* stage, std::span<const std::uint32_t> labels, std::uint32_t classes) {
  if (classes < 1) refuse(std::string(stage) + ": there are no classes; give at least one");
  for (std::size_t t = 0; t < labels.size(); ++t)
    if (labels[t] >= classes)
      refuse(std::string(stage) + ": label " + std::to_string(labels[t]) + " of row " + std::to_string(t) +
             " is not below classes = " + std::to_string(classes) + "; give labels 0 to " +
             std::to_string(classes - 1));
}

void check_neighbours(const char* stage, const KeyLists& nearest, std::span<const std::uint32_t> labels,
                      std::uint32_t classes) {
  check_lists(stage, nearest);
  if (nearest.lists != 1)
    refuse(std::string(stage) + ": " + std::to_string(nearest.lists) + " lists a row; merge them first");
  check_labels(stage, labels, classes);
  for (const Key key : nearest.keys)
    if (key != no_key && row_of(key) >= labels.size())
      refuse(std::string(stage) + ": a neighbour is row " + std::to_string(row_of(key)) + " but there are " +
             std::to_string(labels.size()) + " labels; give one a row");
}

}  // namespace kith::stages
