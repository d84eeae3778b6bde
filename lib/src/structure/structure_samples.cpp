// The samples and labels of a Structure on the host, and their order by class.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "kith/labels.hpp"
#include "rows/rows.hpp"
#include "structure/structure_state.hpp"

namespace kith {

void SampleCopy::append(std::string_view where, std::string_view what, const RowsView& more, Metric metric) {
  if (arithmetic_ == Arithmetic::f64 && more.element == Element::f64) {
    check_rows(where, what, more);
    const auto before = static_cast<std::ptrdiff_t>(doubles_.size());
    doubles_.resize(doubles_.size() + cells_of(more.rows, more.cols));
    for (std::int64_t r = 0; r < more.rows; ++r)
      std::memcpy(doubles_.data() + before + r * more.cols, more.row(r), size(more.cols) * sizeof(double));
  } else {
    const LandedRows landed = land_numbers(where, what, more, metric);
    const FloatGuard guard;  // a float that is subnormal becomes the double that it equals
    const auto append_to = [&](auto& all) {
      all.reserve(all.size() + cells_of(more.rows, more.cols));
      for (std::int64_t r = 0; r < more.rows; ++r)
        all.insert(all.end(), landed.view.row(r), landed.view.row(r) + more.cols);
    };
    arithmetic_ == Arithmetic::f64 ? append_to(doubles_) : append_to(floats_);
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
