#include "kith/source.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/border.hpp"
#include "base/names.hpp"
#include "base/numbers.hpp"
#include "base/xxh64.hpp"
#include "host/parallel.hpp"
#include "kith/error.hpp"
#include "rows/landing.hpp"
#include "source/mapped_memory.hpp"
#include "source/source_file.hpp"

namespace kith {
namespace {

class MemorySource : public Source {
 public:
  explicit MemorySource(const RowsView& rows) : rows_(rows) {}

  RowsInfo info() const override { return {rows_.rows, rows_.cols, rows_.element}; }
  void read(std::int64_t first, std::int64_t count, void* to) const override {
    copy_rows(first, count, to, [](const void* from, std::size_t bytes, void* here) {
      std::memcpy(here, from, bytes);
      return bytes;
    });
  }
  std::optional<RowsView> in_memory() const override { return rows_; }
  /// Digests every byte, in some milliseconds per GiB.
  std::uint64_t state() const override {
    std::vector<std::uint64_t> sums(size(rows_.rows));
    parallel_for(rows_.rows, rows_.rows * rows_.cols, 0,
                 [&](std::int64_t r) { sums[size(r)] = sum_of(rows_.row(r)); });
    return sum_of_all(sums);
  }
  std::string name() const override { return "the rows in memory"; }

 protected:
  /// Copies rows by copy(from, bytes, to), which returns how many bytes it could read. Returns the first row
  /// that it could not read completely, or first + count.
  template <class Copy>
  std::int64_t copy_rows(std::int64_t first, std::int64_t count, void* to, const Copy& copy) const {
    const std::size_t bytes = size(row_bytes(rows_.element, rows_.cols));
    if (count <= 0 || bytes == 0) return first + count;
    if (rows_.stride_bytes == static_cast<std::int64_t>(bytes))
      return first + static_cast<std::int64_t>(copy(rows_.row(first), size(count) * bytes, to) / bytes);
    for (std::int64_t r = 0; r < count; ++r)
      if (copy(rows_.row(first + r), bytes, static_cast<unsigned char*>(to) + size(r) * bytes) < bytes)
        return first + r;
    return first + count;
  }

  std::uint64_t sum_of(const unsigned char* row) const {
    return Xxh64::of(row, size(row_bytes(rows_.element, rows_.cols)));
  }
  static std::uint64_t sum_of_all(const std::vector<std::uint64_t>& sums) {
    return Xxh64::of(sums.data(), sums.size() * sizeof sums[0]) | 1;  // never 0
  }

 private:
  const RowsView rows_;
};

/// Reads rows of a file that the caller maps. It always copies them, and never reads them in place.
class MappedSource final : public MemorySource {
 public:
  using MemorySource::MemorySource;

  void read(std::int64_t first, std::int64_t count, void* to) const override {
    const std::int64_t end = copy_rows(first, count, to, copy_mapped);
    if (end == first + count) return;
    throw Error(Errc::bad_file,
                std::string(source_where) + ": " + name() + ": row " + std::to_string(end) +
                    ": the file ends here, though it was longer when it was mapped; let nobody "
                    "cut it, map it again, and search again");
  }
  std::optional<RowsView> in_memory() const override { return std::nullopt; }
  std::uint64_t state() const override {
    constexpr std::int64_t some_bytes = 1 << 20;
    const RowsInfo rows = info();
    const std::int64_t bytes = row_bytes(rows.element, rows.cols),
                       step = std::max<std::int64_t>(some_bytes / bytes, 1);
    std::vector<unsigned char> some(size(std::min(step, rows.rows) * bytes));
    std::vector<std::uint64_t> sums;
    for (std::int64_t first = 0; first < rows.rows; first += step) {
      const std::int64_t count = std::min(step, rows.rows - first);
      read(first, count, some.data());
      for (std::int64_t r = 0; r < count; ++r) sums.push_back(sum_of(some.data() + r * bytes));
    }
    return sum_of_all(sums);
  }
  std::string name() const override { return "the mapped file"; }
};

/// Returns whether rows lie in a mapped file, which somebody may truncate.
bool are_mapped(const RowsView& rows) {
  if (rows.rows == 0 || rows.cols == 0) return false;
  const auto* const first = static_cast<const unsigned char*>(rows.row(0));
  const auto* const last = static_cast<const unsigned char*>(rows.row(rows.rows - 1));
  const std::size_t bytes = size(row_bytes(rows.element, rows.cols));
  return maps_file(std::min(first, last), size(std::abs(last - first)) + bytes);
}

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
std::vector<double> Source::centre() const {
  return {};
}

std::shared_ptr<const Source> memory_source(const RowsView& rows) try {
  check_rows("source", "training", rows);
  if (are_mapped(rows)) return std::make_shared<MappedSource>(rows);
  return std::make_shared<MemorySource>(rows);
} catch (...) {
  rethrow_as_error();
}

std::string_view name(Residence residence) {
  return name_in(names_of<Residence>, residence);
}

}  // namespace kith
