// The samples and labels of a Structure on the host, and their order by class.
#include <algorithm>
#include <numeric>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "kith/labels.hpp"
#include "rows/doubles/prepared_doubles.hpp"
#include "rows/rows.hpp"
#include "structure/structure_state.hpp"

namespace kith {

void SampleCopy::append(std::string_view where, std::string_view what, const RowsView& more, Metric metric) {
  const FloatGuard guard;  // a float that is subnormal becomes the double that it equals
  if (arithmetic_ == Arithmetic::f64) {
    check_element(where, what, more, metric);
    check_rows(where, what, more);
    if (more.element == Element::i64)  // names a number that no double equals, in any column
      prepare_doubles(where, what, more, Metric::squared_l2, {}, {}, 0);
    const std::size_t before = doubles_.size();
    doubles_.resize(before + cells_of(more.rows, more.cols));
    std::vector<float> floats(size(more.cols));
    for (std::int64_t r = 0; r < more.rows; ++r)
      widen_row(more, r, floats, std::span(doubles_).subspan(before + size(r * more.cols), size(more.cols)));
  } else {
    const LandedRows landed = land_numbers(where, what, more, metric);
    floats_.reserve(floats_.size() + cells_of(more.rows, more.cols));
    for (std::int64_t r = 0; r < more.rows; ++r)
      floats_.insert(floats_.end(), landed.view.row(r), landed.view.row(r) + more.cols);
  }
  rows_ += more.rows;
  cols_ = more.cols;
}

SampleCopy SampleCopy::at(std::span<const std::int64_t> rows) const {
  SampleCopy some(arithmetic_);
  const auto gather = [&](const auto& from, auto& to) {
    for (const std::int64_t row : rows)
      to.insert(to.end(), from.begin() + row * cols_, from.begin() + (row + 1) * cols_);
  };
  arithmetic_ == Arithmetic::f64 ? gather(doubles_, some.doubles_) : gather(floats_, some.floats_);
  some.rows_ = static_cast<std::int64_t>(rows.size());
  some.cols_ = cols_;
  return some;
}

ClassCodes::ClassCodes(std::span<const std::int64_t> labels)
    : classes(classes_of({labels.begin(), labels.end()})), codes(class_codes(labels, classes)) {}

std::vector<std::int64_t> ClassCodes::labels() const {
  std::vector<std::int64_t> labels;
  for (const std::uint32_t code : codes) labels.push_back(classes[code]);
  return labels;
}

std::vector<std::int64_t> ClassCodes::sizes() const {
  std::vector<std::int64_t> sizes(classes.size());
  for (const std::uint32_t code : codes) ++sizes[code];
  return sizes;
}

std::vector<std::int64_t> order_by_class(std::span<const std::uint32_t> codes, std::int64_t first) {
  std::vector<std::int64_t> order(codes.size() - static_cast<std::size_t>(first));
  std::iota(order.begin(), order.end(), first);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return codes[static_cast<std::size_t>(a)] < codes[static_cast<std::size_t>(b)];
  });
  return order;
}

bool is_ascending(std::span<const std::int64_t> order) {
  return std::is_sorted(order.begin(), order.end());
}

std::vector<std::uint32_t> codes_in_order(std::span<const std::uint32_t> codes,
                                          std::span<const std::int64_t> order) {
  std::vector<std::uint32_t> ordered;
  ordered.reserve(order.size());
  for (const std::int64_t sample : order) ordered.push_back(codes[static_cast<std::size_t>(sample)]);
  return ordered;
}

}  // namespace kith
