#include "search/bytes/byte_store.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/numbers.hpp"
#include "certified/byte_grid.hpp"
#include "device/device_set.hpp"
#include "kith/error.hpp"
#include "plan/product_bounds.hpp"
#include "plan/proposal_sizes.hpp"

namespace kith {
namespace {

constexpr std::int64_t rows_a_block = spi::quantized_block_rows;

/// Rows of a part, of which a device has as few as it can.
std::int64_t rows_of_part(const DeviceInfo& device, std::int64_t dims) {
  const std::size_t a_block =
      std::max(quantized_row_bytes(Proposer::int8, rows_a_block, dims), size(rows_a_block) * sizeof(float));
  return static_cast<std::int64_t>(std::max<std::size_t>(1, device.largest_allocation / a_block)) *
         rows_a_block;
}

/// The grid that all rows of such elements lie on.
ByteGrid grid_of_element(Metric metric, Element element) {
  const bool bytes = element == Element::u8 || element == Element::i8;
  return bytes ? grid_of_values({}, metric, element) : ByteGrid{};
}

QuantizedForm form_of_bytes(const Index::State& like) {
  const ByteGrid grid = grid_of_element(like.metric, like.element);
  return {std::vector<float>(size(like.dims), grid.centre), grid.scale, spi::OnGrid::exactly, true};
}

}  // namespace

bool stays_in_bytes(const DeviceInfo& device, Metric metric, Element element, std::int64_t dims) {
  const auto& has = device.proposers;
  return grid_of_element(metric, element).exact && size(dims) <= spi::columns_of_exact_chains(metric) &&
         std::find(has.begin(), has.end(), Proposer::int8) != has.end();
}

bool keeps_bytes(const Index::State& index, std::int64_t reserve) {
  constexpr std::int64_t fewest_dims = 16, fewest_floats = std::int64_t{1} << 26;
  if (is_set(index.device) || !stays_in_bytes(index.device.info(), index.metric, index.element, index.dims))
    return false;
  return reserve > 0 || (index.dims >= fewest_dims && index.rows >= fewest_floats / index.dims);
}

ByteStore::ByteStore(const Index::State& like, std::int64_t room)
    : device_(like.device),
      a_part_(rows_of_part(like.device.info(), like.dims)),
      dims_(like.dims),
      room_(room) {
  const std::vector<std::int64_t> counts = counts_of_parts(room, a_part_);
  quantized_ = std::make_shared<IndexQuantizedRows>(device_.state(), counts, form_of_bytes(like),
                                                    Proposer::int8, nullptr);
  read_ = quantized_;
}

template <class Act>
void ByteStore::for_each_part(std::int64_t first, std::int64_t count, const Act& act) const {
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t at = first + done, row = at % a_part_, some = std::min(count - done, a_part_ - row);
    act(size(at / a_part_), row, done, some);
    done += some;
  }
}

void ByteStore::put(std::int64_t first, std::int64_t count, const spi::Allocation& from) {
  for_each_part(first, count, [&](std::size_t part, std::int64_t row, std::int64_t done, std::int64_t some) {
    quantized_->fill(*device_.state(), part, row, some, from, 0, done);
  });
}

void ByteStore::land(std::int64_t first, std::int64_t count, const spi::Allocation& to) const {
  const DeviceSession session(*device_.state());
  for_each_part(first, count, [&](std::size_t part, std::int64_t row, std::int64_t done, std::int64_t some) {
    const spi::RowBlocks out{&to, static_cast<std::uint32_t>(done), static_cast<std::uint32_t>(some),
                             static_cast<std::uint32_t>(dims_), session->info.train_block};
    const spi::Step step{
        spi::RecoverStep{quantized_->of(part, row, some), quantized_->centre(), quantized_->scale(), out}};
    const spi::Support support = session->check(step);
    if (!support.refusal.empty())
      throw Error(Errc::unsupported, "index: " + session->info.spec + ": " + support.refusal);
    session->enqueue(step);
  });
}

std::vector<Chunk> ByteStore::chunks(std::int64_t rows) const {
  std::vector<Chunk> chunks;
  for (std::int64_t first = 0; first < rows; first += a_part_)
    chunks.push_back({nullptr, first, std::min(a_part_, rows - first)});
  return chunks;
}

}  // namespace kith
