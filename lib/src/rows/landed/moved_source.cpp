#include "rows/landed/moved_source.hpp"

#include <cstring>
#include <utility>
#include <vector>

#include "base/numbers.hpp"
#include "base/xxh64.hpp"
#include "rows/landed/moved_rows.hpp"
#include "rows/prepared/prepared_metric.hpp"
#include "rows/rows.hpp"

namespace kith {
namespace {

std::uint64_t fingerprint_of(const Index::State& by) {
  std::vector<double> all = by.shift;
  if (by.box) all.insert(all.end(), by.box->lengths().begin(), by.box->lengths().end());
  if (by.prepared) {
    all.push_back(static_cast<double>(by.shown.metric));
    for (const MetricParameter& one : metric_parameters) {
      const std::vector<double>& values = by.prepared->parameters().*one.values;
      all.insert(all.end(), values.begin(), values.end());
    }
  }
  return Xxh64::of(all.data(), all.size() * sizeof(double));
}

}  // namespace

MovedSource::MovedSource(std::shared_ptr<const Source> all, std::shared_ptr<const Index::State> by)
    : all_(std::move(all)), by_(std::move(by)), moves_(fingerprint_of(*by_)) {}

RowsInfo MovedSource::info() const {
  return {all_->info().rows, by_->columns, by_->arithmetic == Arithmetic::f64 ? Element::f64 : Element::f32};
}

void MovedSource::read(std::int64_t first, std::int64_t count, void* to) const {
  const RowsInfo all = all_->info();
  std::vector<unsigned char> raw(cells_of(count, row_bytes(all.element, all.cols)));
  all_->read(first, count, raw.data());
  const MovedRows moved("index", "training", *by_, RowsView(raw.data(), all.element, count, all.cols), {},
                        by_->first_row + first);
  const RowsView& rows = moved.view();
  std::memcpy(to, rows.data, size(rows.rows) * size(row_bytes(rows.element, rows.cols)));
}

std::uint64_t MovedSource::state() const {
  const std::uint64_t all = all_->state();
  return all == 0 ? 0 : (all ^ moves_) | 1;
}

}  // namespace kith
