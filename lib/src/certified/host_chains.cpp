#include "certified/host_chains.hpp"

#include <algorithm>

#include "certified/lent_memory.hpp"
#include "cpu/backend.hpp"
#include "rows/rows.hpp"

namespace kith {

HostChains::HostChains(Metric metric, std::uint32_t threads)
    : metric_(metric), threads_(threads), host_(cpu::create_backend()->open(0)) {}

void HostChains::take(MatrixView<const float> queries) {
  const std::uint32_t block = host_->info.query_block;
  m_ = static_cast<std::size_t>(queries.rows());
  dims_ = static_cast<std::size_t>(queries.cols());
  queries_.resize(packed_bytes(queries.rows(), queries.cols(), block) / sizeof(float));
  write_packed(queries, block, threads_, queries_, Reader::core,
               [](std::size_t, const void*, std::size_t) {});
}

std::span<Key> HostChains::rank(const float* rows, std::size_t count, const ListedPlaces& lists,
                                std::size_t longest) {
  if (longest == 0) return {};
  keys_.resize(std::max(keys_.size(), m_ * longest));
  const auto train = lent(*host_, rows, count * dims_),
             queries = lent(*host_, queries_.data(), queries_.size()),
             places = lent(*host_, lists.places.data(), lists.places.size()),
             lengths = lent(*host_, lists.lengths.data(), lists.lengths.size()),
             keys = lent(*host_, keys_.data(), keys_.size());
  const auto dims = static_cast<std::uint32_t>(dims_), m = static_cast<std::uint32_t>(m_);
  host_->enqueue(
      {spi::RerankStep{metric_,
                       {queries.get(), 0, m, dims, host_->info.query_block},
                       {train.get(), 0, static_cast<std::uint32_t>(count), dims, 1},
                       0,
                       {{places.get(), 0, m_, longest, lists.capacity}, {lengths.get(), 0, m_, 1, 1}},
                       {keys.get(), 0, m_, longest, longest}},
       threads_});
  return keys_;
}

}  // namespace kith
