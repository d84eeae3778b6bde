#include "search/packed/byte_memory.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/numbers.hpp"
#include "certified/byte_grid.hpp"
#include "device/device_set.hpp"
#include "kith/error.hpp"
#include "plan/product_bounds.hpp"
#include "plan/proposal_sizes.hpp"
#include "rows/landed/borrowed.hpp"
#include "rows/rows.hpp"
#include "search/packed/recovered_rows.hpp"

namespace kith {
namespace {

constexpr std::int64_t rows_a_block = spi::quantized_block_rows;

/// Returns how many rows a part has: as many as fit, so that a device has as few parts as possible.
std::int64_t rows_of_part(const DeviceInfo& device, std::int64_t dims) {
  const std::size_t a_block =
      std::max(quantized_row_bytes(Proposer::int8, rows_a_block, dims), size(rows_a_block) * sizeof(float));
  return static_cast<std::int64_t>(std::max<std::size_t>(1, device.largest_allocation / a_block)) *
         rows_a_block;
}

/// Returns the grid on which all rows of the element lie.
ByteGrid grid_of_element(Metric metric, Element element) {
  const bool bytes = element == Element::u8 || element == Element::i8;
  return bytes ? grid_of_values({}, metric, element) : ByteGrid{};
}

QuantizedForm form_of_bytes(const RowSchema& schema) {
  const ByteGrid grid = grid_of_element(schema.metric, schema.element);
  return {std::vector<float>(size(schema.dims), grid.centre), grid.scale, spi::OnGrid::exactly, true};
}

/// Returns whether every chain of two such rows is exact, and the device can keep and recover them.
bool stays_in_bytes(const RowSchema& schema) {
  const auto& has = schema.device.info().proposers;
  return grid_of_element(schema.metric, schema.element).exact &&
         size(schema.dims) <= spi::columns_of_exact_chains(schema.metric) &&
         std::find(has.begin(), has.end(), Proposer::int8) != has.end();
}

/// Returns how many rows fill up the block that row `first` is in; 0 if it is the first row of a block.
std::int64_t rows_of_head(std::int64_t first, std::int64_t count) {
  return first % rows_a_block == 0 ? 0 : std::min(count, rows_a_block - first % rows_a_block);
}

}  // namespace

bool keeps_bytes(const RowSchema& schema, std::int64_t rows, std::int64_t reserve) {
  constexpr std::int64_t fewest_dims = 16, fewest_floats = std::int64_t{1} << 26;
  if (is_set(schema.device) || !stays_in_bytes(schema)) return false;
  return reserve > 0 || (schema.dims >= fewest_dims && rows >= fewest_floats / schema.dims);
}

ByteMemory::ByteMemory(const RowSchema& schema, std::int64_t room)
    : PackedMemory(room, 0),
      schema_(schema),
      a_part_(rows_of_part(schema.device.info(), schema.dims)),
      quantized_(std::make_shared<IndexQuantizedRows>(schema.device.state(), counts_of_parts(room, a_part_),
                                                      form_of_bytes(schema), Proposer::int8, nullptr)) {}

template <class Act>
void ByteMemory::for_each_part(std::int64_t first, std::int64_t count, const Act& act) const {
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t at = first + done, row = at % a_part_, some = std::min(count - done, a_part_ - row);
    act(size(at / a_part_), row, done, some);
    done += some;
  }
}

bool ByteMemory::holds(MatrixView<const float> rows, std::uint32_t threads) const {
  return lie_on(grid_of_element(schema_.metric, schema_.element), rows, threads);
}

/// Quantizes rows into these places; they are there when it returns. Locks the device.
///   first  a multiple of spi::quantized_block_rows
///   from   RowBlocks of the device's train_block, from the beginning
void ByteMemory::quantize(std::int64_t first, std::int64_t count, const spi::Allocation& from) {
  for_each_part(first, count, [&](std::size_t part, std::int64_t row, std::int64_t done, std::int64_t some) {
    quantized_->fill(*schema_.device.state(), part, row, some, from, 0, done);
  });
}

/// Puts the first rows into a block that is partly full, by quantizing them together with the rows in it.
///   rows  at most as many as the block lacks
void ByteMemory::fill_block(std::int64_t first, MatrixView<const float> rows) {
  const std::int64_t dims = rows.cols(), begun = first % rows_a_block;
  std::vector<float> both(size(begun + rows.rows()) * size(dims));
  read_recovered(*this, schema_, first - begun, begun, both.data(), 0);
  for (std::int64_t r = 0; r < rows.rows(); ++r)
    std::copy_n(rows.row(r), dims, both.data() + size(begun + r) * size(dims));
  const DeviceMemory floats = memory_of_floats(schema_, rows_a_block);
  upload_rows(*schema_.device.state(), *floats.get(), {both.data(), begun + rows.rows(), dims},
              schema_.device.info().train_block, 0);
  quantize(first - begun, begun + rows.rows(), *floats.get());
}

float ByteMemory::put(std::int64_t first, const RowsView& given, const Landing& how) {
  const std::shared_ptr<Device::State>& state = schema_.device.state();
  const std::int64_t head = rows_of_head(first, given.rows), rest = given.rows - head;
  float largest = 0;
  if (head > 0) {
    std::vector<unsigned char> copy;
    const RowsView some = rows_on_host(how.where, how.what, state, given.slice(0, head), copy);
    const PreparedRows rows = prepare_rows(how.where, how.what, some, how.metric, 1, how.features);
    fill_block(first, rows.view);
    largest = rows.largest;
  }
  if (rest == 0) return largest;
  Landing of_rest = how;
  of_rest.first_row += head;
  RowsToLand rows(state, given.slice(head, rest), of_rest);
  const std::int64_t step = std::min(rest, floats_at_once(schema_.dims));
  const DeviceMemory floats = memory_of_floats(schema_, step);
  for (std::int64_t begin = 0; begin < rest; begin += step) {
    const std::int64_t count = std::min(step, rest - begin);
    rows.land_some(begin, count, floats);
    quantize(first + head + begin, count, *floats.get());
  }
  rows.check();
  return std::max(largest, rows.largest());
}

void ByteMemory::put(std::int64_t first, MatrixView<const float> rows, std::uint32_t threads) {
  const std::int64_t head = rows_of_head(first, rows.rows()), rest = rows.rows() - head;
  if (head > 0) fill_block(first, rows.slice(0, head));
  if (rest == 0) return;
  const std::int64_t step = std::min(rest, floats_at_once(rows.cols()));
  const DeviceMemory floats = memory_of_floats(schema_, step);
  for (std::int64_t begin = 0; begin < rest; begin += step) {
    const std::int64_t count = std::min(step, rest - begin);
    upload_rows(*schema_.device.state(), *floats.get(), rows.slice(head + begin, count),
                schema_.device.info().train_block, threads);
    quantize(first + head + begin, count, *floats.get());
  }
}

std::shared_ptr<PackedMemory> ByteMemory::with_room(std::int64_t rows, std::int64_t more) const {
  // extra room, so that adding rows one by one does not copy all of them each time
  constexpr std::int64_t share = 8;
  auto other = std::make_shared<ByteMemory>(schema_, rows + std::max(more, rows / share));
  other->claim(0, rows + more);
  const std::int64_t step = std::min(rows, floats_at_once(schema_.dims));
  const DeviceMemory floats = memory_of_floats(schema_, step);
  for (std::int64_t first = 0; first < rows; first += step) {
    const std::int64_t count = std::min(step, rows - first);
    land(first, count, *floats.get());
    other->quantize(first, count, *floats.get());
  }
  return other;
}

/// The chunks have no memory, since the quantized rows are the rows.
std::shared_ptr<const ResidentRows> ByteMemory::exact_rows(std::int64_t rows, float largest) const {
  auto exact = std::make_shared<ResidentRows>(schema_);
  exact->rows = rows;
  exact->largest = largest;
  for (std::int64_t first = 0; first < rows; first += a_part_)
    exact->chunks.push_back({nullptr, first, std::min(a_part_, rows - first)});
  exact->rows_are_bytes = true;
  exact->grid = grid_of_element(schema_.metric, schema_.element);
  exact->centre.assign(size(schema_.dims), exact->grid.centre);
  exact->clip_range = spi::most_on_grid;
  exact->made->quantized_rows[Proposer::int8] = quantized_;
  return exact;
}

void ByteMemory::land(std::int64_t first, std::int64_t count, const spi::Allocation& to) const {
  const DeviceSession session(*schema_.device.state());
  for_each_part(first, count, [&](std::size_t part, std::int64_t row, std::int64_t done, std::int64_t some) {
    const spi::RowBlocks out{&to, static_cast<std::uint32_t>(done), static_cast<std::uint32_t>(some),
                             static_cast<std::uint32_t>(schema_.dims), session->info.train_block};
    const spi::Step step{
        spi::RecoverStep{quantized_->of(part, row, some), quantized_->centre(), quantized_->scale(), out}};
    const spi::Support support = session->check(step);
    if (!support.refusal.empty())
      throw Error(Errc::unsupported, "index: " + session->info.spec + ": " + support.refusal);
    session->enqueue(step);
  });
}

}  // namespace kith
