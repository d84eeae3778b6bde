#include "search/doubles/double_host_ranking.hpp"

#include <algorithm>
#include <vector>

#include "base/numbers.hpp"
#include "certified/lent_memory.hpp"
#include "cpu/backend.hpp"
#include "host/parallel.hpp"
#include "kith/key.hpp"

namespace kith {
namespace {

template <class T>
spi::Grid<T> grid_of(const std::unique_ptr<spi::Allocation>& memory, std::int64_t rows, std::int64_t cols) {
  return {memory.get(), 0, size(rows), size(cols), size(cols)};
}

}  // namespace

DoubleHostRanking::DoubleHostRanking(const RankedAmong& among, std::uint32_t threads)
    : metric_(among.metric),
      rows_(among.rows),
      terms_(among.terms),
      threads_(threads),
      host_(cpu::create_backend()->open(0)) {}

void DoubleHostRanking::rank(MatrixView<const double> queries, MatrixView<const std::uint32_t> places,
                             std::span<double> values) const {
  if (queries.rows() == 0 || places.cols() == 0) return;
  if (rows_.source()) return rank_read(queries, places, values);
  for (const DoubleRows::Chunk& chunk : rows_.chunks())
    rank_among(*chunk.rows, chunk.first, queries, places, values);
}

/// Ranks the listed rows among those from `first` on.
void DoubleHostRanking::rank_among(const PreparedDoubles& rows, std::int64_t first,
                                   MatrixView<const double> queries, MatrixView<const std::uint32_t> places,
                                   std::span<double> values) const {
  const std::int64_t m = queries.rows(), dims = queries.cols(), width = places.cols();
  const auto of_queries = lent(*host_, queries.data(), size(m * dims)),
             of_places = lent(*host_, places.data(), size(places.rows() * width)),
             of_values = lent(*host_, values.data(), size(m * width)),
             train = lent(*host_, rows.values.data(), rows.values.size());
  std::unique_ptr<spi::Allocation> terms;
  if (terms_) terms = lent(*host_, terms_->doubles().data(), size(dims));
  host_->enqueue(
      {spi::DoubleChainsStep{metric_,
                             grid_of<double>(of_queries, m, dims),
                             grid_of<double>(train, rows.rows, dims),
                             static_cast<std::uint32_t>(first),
                             {of_places.get(), 0, size(m), size(width), places.rows() == 1 ? 0 : size(width)},
                             grid_of<double>(of_values, m, width),
                             terms ? grid_of<double>(terms, 1, dims) : spi::Grid<double>{},
                             terms_ && terms_->is_mixed()},
       threads_});
}

/// Reads the listed rows from their Source, each once, some at a time, and ranks them.
void DoubleHostRanking::rank_read(MatrixView<const double> queries, MatrixView<const std::uint32_t> places,
                                  std::span<double> values) const {
  const std::span<const std::uint32_t> listed(places.data(), size(places.rows() * places.cols()));
  std::vector<std::uint32_t> wanted(listed.begin(), listed.end());
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  if (!wanted.empty() && wanted.back() == no_row) wanted.pop_back();
  constexpr std::size_t most_values = std::size_t{1} << 23;  // 64 MiB
  const std::size_t most = std::max<std::size_t>(1, most_values / size(queries.cols()));
  std::vector<std::uint32_t> at(listed.size());
  for (std::size_t first = 0; first < wanted.size(); first += most) {
    const std::span some = std::span(wanted).subspan(first, std::min(most, wanted.size() - first));
    // A listed row is named by its place among those that are read.
    parallel_for(static_cast<std::int64_t>(listed.size()), static_cast<std::int64_t>(listed.size()) * 8,
                 threads_, [&](std::int64_t i) {
                   const auto found = std::lower_bound(some.begin(), some.end(), listed[size(i)]);
                   const bool here = found != some.end() && *found == listed[size(i)];
                   at[size(i)] = here ? static_cast<std::uint32_t>(found - some.begin()) : no_row;
                 });
    rank_among(rows_.source()->gathered(some, threads_), 0, queries,
               {at.data(), places.rows(), places.cols()}, values);
  }
}

}  // namespace kith
