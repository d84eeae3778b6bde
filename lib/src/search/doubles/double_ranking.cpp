#include "search/doubles/double_ranking.hpp"

#include <type_traits>

#include "base/numbers.hpp"
#include "cpu/backend.hpp"

namespace kith {
namespace {

/// Lends host memory to kernels, which only read memory that is const here.
template <class T>
std::unique_ptr<spi::Allocation> lent(spi::Device& host, const T* data, std::size_t count) {
  using Plain = std::remove_const_t<T>;
  return host.borrow({Where::host, const_cast<Plain*>(data), count * sizeof(T), false, nullptr});
}

template <class T>
spi::Grid<T> grid_of(const std::unique_ptr<spi::Allocation>& memory, std::int64_t rows, std::int64_t cols) {
  return {memory.get(), 0, size(rows), size(cols), size(cols)};
}

}  // namespace

DoubleRanking::DoubleRanking(Metric metric, const DoubleRows& rows, std::uint32_t threads)
    : metric_(metric), rows_(rows), threads_(threads), host_(cpu::create_backend()->open(0)) {}

void DoubleRanking::rank(MatrixView<const double> queries, MatrixView<const std::uint32_t> places,
                         std::span<double> values) const {
  const std::int64_t m = queries.rows(), dims = queries.cols(), width = places.cols();
  if (m == 0 || width == 0) return;
  const auto of_queries = lent(*host_, queries.data(), size(m * dims)),
             of_places = lent(*host_, places.data(), size(m * width)),
             of_values = lent(*host_, values.data(), values.size());
  for (const DoubleRows::Chunk& chunk : rows_.chunks()) {
    const auto train = lent(*host_, chunk.rows->values.data(), chunk.rows->values.size());
    host_->enqueue({spi::DoubleChainsStep{metric_, grid_of<double>(of_queries, m, dims),
                                          grid_of<double>(train, chunk.rows->rows, dims),
                                          static_cast<std::uint32_t>(chunk.first),
                                          grid_of<std::uint32_t>(of_places, m, width),
                                          grid_of<double>(of_values, m, width)},
                    threads_});
  }
}

}  // namespace kith
