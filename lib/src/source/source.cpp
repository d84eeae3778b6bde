#include "kith/source.hpp"

#include <cstring>
#include <vector>

#include "base/border.hpp"
#include "base/names.hpp"
#include "base/numbers.hpp"
#include "base/xxh64.hpp"
#include "host/parallel.hpp"
#include "rows/landing.hpp"

namespace kith {
namespace {

constexpr std::pair<Residence, std::string_view> residence_names[] = {{Residence::automatic, "automatic"},
                                                                      {Residence::resident, "resident"},
                                                                      {Residence::stream, "stream"},
                                                                      {Residence::quantized, "quantized"}};
constexpr std::pair<Residence, std::string_view> other_residence_names[] = {{Residence::quantized, "shadow"}};

class MemorySource final : public Source {
 public:
  explicit MemorySource(const RowsView& rows) : rows_(rows) {}

  RowsInfo info() const override { return {rows_.rows, rows_.cols, rows_.element}; }
  void read(std::int64_t first, std::int64_t count, void* to) const override {
    const std::size_t bytes = size(row_bytes(rows_.element, rows_.cols));
    if (rows_.stride_bytes == static_cast<std::int64_t>(bytes) && count > 0) {
      std::memcpy(to, rows_.row(first), size(count) * bytes);
      return;
    }
    for (std::int64_t r = 0; r < count; ++r)
      std::memcpy(static_cast<unsigned char*>(to) + size(r) * bytes, rows_.row(first + r), bytes);
  }
  std::optional<RowsView> in_memory() const override { return rows_; }
  /// Of every byte, in some milliseconds a GiB.
  std::uint64_t state() const override {
    std::vector<std::uint64_t> sums(size(rows_.rows));
    parallel_for(rows_.rows, rows_.rows * rows_.cols, 0, [&](std::int64_t r) {
      sums[size(r)] = Xxh64::of(rows_.row(r), size(row_bytes(rows_.element, rows_.cols)));
    });
    return Xxh64::of(sums.data(), sums.size() * sizeof sums[0]) | 1;  // not 0
  }
  std::string name() const override { return "the rows in memory"; }

 private:
  const RowsView rows_;
};

}  // namespace

Source::~Source() = default;

std::optional<RowsView> Source::in_memory() const {
  return std::nullopt;
}
std::uint64_t Source::state() const {
  return 0;
}
std::string Source::name() const {
  return "the source";
}

std::shared_ptr<const Source> memory_source(const RowsView& rows) try {
  check_rows("source", "training", rows);
  return std::make_shared<MemorySource>(rows);
} catch (...) {
  rethrow_as_error();
}

std::string_view name(Residence residence) {
  return name_in(residence_names, residence);
}

Residence parse_residence(std::string_view text) {
  return parse_in(residence_names, "residence", text, &other_residence_names);
}

}  // namespace kith
