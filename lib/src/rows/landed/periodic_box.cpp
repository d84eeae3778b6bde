#include "rows/landed/periodic_box.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "base/refuse.hpp"
#include "base/text.hpp"
#include "host/parallel.hpp"

namespace kith {
namespace {

void check_length(std::int64_t column, double length) {
  const auto rounded = static_cast<float>(length);
  if (length == 0 || (length > 0 && rounded > 0 && std::isfinite(rounded))) return;
  refuse("index", "the box is " + text_of(length) + " long in column " + std::to_string(column) +
                      "; give a length above 0 that a float can have, or 0 for an open column");
}

}  // namespace

PeriodicBox::PeriodicBox(std::vector<double> lengths, std::span<const std::int64_t> features)
    : lengths_(std::move(lengths)), features_(features.begin(), features.end()) {}

std::vector<double> PeriodicBox::terms() const {
  std::vector<double> terms;
  for (const std::int64_t column : features_) {
    const double length = lengths_[size(column)];
    terms.push_back(length == 0 ? std::numeric_limits<double>::infinity() : length);
  }
  return terms;
}

void PeriodicBox::move(std::span<double> rows, std::uint32_t threads) const {
  constexpr std::int64_t share_rows = 1 << 12;
  const std::size_t dims = features_.size();
  const auto all = static_cast<std::int64_t>(rows.size() / dims);
  parallel_for(divide_up(all, share_rows), static_cast<std::int64_t>(rows.size()), threads,
               [&](std::int64_t share) {
                 const std::int64_t end = std::min(all, (share + 1) * share_rows);
                 for (std::size_t i = size(share * share_rows) * dims; i < size(end) * dims; ++i)
                   rows[i] = moved_into<double>(lengths_[size(features_[i % dims])], rows[i]);
               });
}

std::shared_ptr<const PeriodicBox> box_of(const IndexOptions& options, Metric metric, std::int64_t columns,
                                          std::span<const std::int64_t> features) {
  if (options.box.empty()) return nullptr;
  if (!takes_box(metric))
    refuse("index", "a box is for differences of values, and " + std::string(name(metric)) +
                        " is none of l2, squared_l2, l1 and linf; leave it out, or choose one of these");
  if (!options.centre.empty() || options.learn_centre)
    refuse("index", "there are a box, into which values are moved, and a centre; leave one of them out");
  const std::size_t given = options.box.size();
  if (given != size(columns))
    refuse("index", "the box has " + std::to_string(given) + (given == 1 ? " length" : " lengths") +
                        " for rows of " + std::to_string(columns) + (columns == 1 ? " column" : " columns") +
                        "; give one a column, 0 for an open one");
  const FloatGuard guard;
  std::vector<double> lengths(given);
  for (const std::int64_t column : features) {
    check_length(column, options.box[size(column)]);
    lengths[size(column)] = options.box[size(column)];
  }
  return std::make_shared<const PeriodicBox>(std::move(lengths), features);
}

}  // namespace kith
