#include "search/streams/quantized_store.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "certified/quantized_rows.hpp"
#include "certified/row_sample.hpp"
#include "host/pieces.hpp"
#include "kith/error.hpp"
#include "metric/chain.hpp"
#include "plan/product_bounds.hpp"
#include "plan/proposal_sizes.hpp"
#include "rows/landing.hpp"
#include "rows/row_filter.hpp"
#include "search/resident/pipeline.hpp"
#include "search/resident/resident_search.hpp"
#include "search/stores/resident_store.hpp"

namespace kith {
namespace {

/// Candidates this close together are read from a file at once, with the rows between them.
constexpr std::uint32_t near_places = 4;

/// Returns whether the rows are in memory of the host and only need conversion to float32 to be searched.
bool as_they_are(const StreamedSet& set) {
  const std::optional<RowsView> there = set.source->in_memory();
  return there && there->where == Where::host && lands_as_given(set.metric) && mask_of(set).empty();
}

/// Returns the rows if they are in memory exactly as a search needs them, else null.
const float* floats_of(const StreamedSet& set) {
  const std::optional<RowsView> there = set.source->in_memory();
  if (!as_they_are(set) || there->element != Element::f32) return nullptr;
  if (there->rows > 1 && there->stride_bytes != row_bytes(Element::f32, there->cols)) return nullptr;
  const void* const first = there->row(0);
  const bool aligned = reinterpret_cast<std::uintptr_t>(first) % alignof(float) == 0;
  return aligned ? static_cast<const float*>(first) : nullptr;
}

class SourceRows final : public RowsElsewhere {
 public:
  explicit SourceRows(StreamedSet set)
      : set_(std::move(set)),
        floats_(floats_of(set_)),
        converted_(as_they_are(set_) ? set_.source->in_memory() : std::nullopt),
        apart_(set_.source->in_memory() ? 1 : near_places) {}

  const float* in_memory() const override { return floats_; }

  /// Reads the rows at these places by several threads, each of which takes stretches of places.
  void read(std::span<const std::uint32_t> places, float* to, std::uint32_t threads) const override {
    constexpr std::size_t stretch = 64;
    const std::size_t stretches = (places.size() + stretch - 1) / stretch, dims = size(set_.dims);
    run_pieces(stretches, places.size() * dims * operations_a_float, team_size(threads),
               [&](std::size_t i, std::size_t) {
                 const std::size_t begin = i * stretch;
                 read_stretch(places.subspan(begin, std::min(stretch, places.size() - begin)),
                              to + begin * dims);
               });
  }

 private:
  /// Operations that reading an element of a file is worth, by which the number of threads is chosen.
  static constexpr std::size_t operations_a_float = 8;

  /// Converts rows in memory that need nothing else. Returns false if they need more, or a value is
  /// not finite.
  bool convert(std::span<const std::uint32_t> places, float* to) const {
    if (!converted_) return false;
    bool finite = true;
    for (std::size_t i = 0; i < places.size() && finite; ++i, to += set_.dims) {
      land_row(converted_->element, converted_->row(places[i]), converted_->cols, to);
      finite = std::all_of(to, to + set_.dims, [](float value) { return std::isfinite(value); });
    }
    return finite;
  }

  void read_stretch(std::span<const std::uint32_t> places, float* to) const {
    if (convert(places, to)) return;
    std::vector<unsigned char> raw;
    for (std::size_t begin = 0; begin < places.size();) {
      std::size_t end = begin + 1;
      while (end < places.size() && places[end] - places[end - 1] <= apart_) ++end;
      const std::int64_t first = places[begin], count = places[end - 1] - first + 1;
      const PreparedRows rows = read_source(set_, first, count, raw, 1, nullptr);
      for (; begin < end; ++begin, to += set_.dims)
        std::copy_n(rows.view.row(places[begin] - first), set_.dims, to);
    }
  }

  const StreamedSet set_;
  const float* const floats_;                ///< rows exactly as they are searched; null: there are none
  const std::optional<RowsView> converted_;  ///< rows on the host that only need conversion, with all columns
  const std::uint32_t apart_;
};

bool has(const DeviceInfo& device, Proposer proposer) {
  return std::find(device.proposers.begin(), device.proposers.end(), proposer) != device.proposers.end();
}

void check_proposes(const StreamedSet& set) {
  const DeviceInfo& info = set.device.info();
  if (!has(info, Proposer::int8))
    throw Error(Errc::unsupported,
                "index: " + info.spec +
                    " has no proposer int8, which quantized rows are for; choose residence "
                    "stream, or a device that has it (cuda, opencl on NVIDIA, cpu with AVX2)");
  if (!follows_from_products(set.metric))
    throw Error(Errc::unsupported, "index: " + std::string(name(set.metric)) +
                                       " does not follow from products, which quantized rows are for; choose "
                                       "residence stream");
}

/// Finds centre, range and grid from a sample of the rows.
void measure_sample(const StreamedSet& set, ResidentRows& rows) {
  RowSample sample(set.dims);
  std::vector<unsigned char> raw;
  const std::int64_t stride = sample_stride(set.rows.rows);
  for (std::int64_t first = 0; first < set.rows.rows; first += stride) {
    const PreparedRows row = read_source(set, first, 1, raw, 0, nullptr);
    sample.add(row.view, first, stride);
  }
  sample.values(set.metric, rows.element).tell(rows);
}

/// Returns the stream that quantizes the rows: its chunks end where blocks of quantized rows end, if they are
/// as long as one.
StreamedSet passing(const StreamedSet& set) {
  constexpr std::int64_t block = spi::quantized_block_rows;
  StreamedSet passes = set;
  std::int64_t& chunk = passes.sizes.chunk_rows;
  if (chunk > block && chunk < set.rows.rows) chunk -= chunk % block;
  return passes;
}

/// Returns how many rows a part of the quantized rows has. A device has as few parts as possible, because
/// parts are not visited in a mixed order, and are ranked separately.
std::int64_t rows_of_part(const StreamedSet& set, Proposer proposer, std::int64_t chunk_rows) {
  if (chunk_rows % spi::quantized_block_rows != 0) return chunk_rows;
  const std::size_t most = set.device.info().largest_allocation;
  const std::size_t a_chunk = std::max(quantized_row_bytes(proposer, chunk_rows, set.dims),
                                       size(chunk_rows) * spi::terms_a_row * sizeof(float));
  const auto chunks = static_cast<std::int64_t>(std::max<std::size_t>(1, most / a_chunk));
  return clamped_product(chunk_rows, chunks);
}

/// Chooses the form from a sample. Halves leave room for elements that are eight times as large.
QuantizedForm form_of_sample(const ResidentRows& rows, Proposer proposer) {
  constexpr double room = 8;
  if (proposer != Proposer::fp16) return form_for(rows, proposer);
  const double shift = largest_centred(0, rows.centre);
  return {rows.centre, scale_of(proposer, room * (rows.clip_range + shift) + shift), spi::OnGrid::no};
}

/// Returns whether the form can hold the largest element of all rows, which were read by now.
bool holds_all(const QuantizedForm& form, const ResidentRows& rows, Proposer proposer) {
  return proposer != Proposer::fp16 ||
         form.scale <= scale_of(proposer, largest_centred(rows.largest, rows.centre));
}

/// Reads all rows once, and makes their quantized rows and their largest element.
void quantize(const StreamedSet& set, Proposer proposer, const QuantizedForm& form, ResidentRows& rows) {
  const StreamedSet passes = passing(set);
  const std::int64_t a_part = rows_of_part(set, proposer, passes.sizes.chunk_rows);
  const std::vector<std::int64_t> counts = counts_of_parts(rows.rows, a_part);
  Device::State& device = *set.device.state();
  rows.made->quantized_rows.clear();
  const auto quantized = std::make_shared<IndexQuantizedRows>(set.device.state(), counts, form, proposer,
                                                              std::make_shared<SourceRows>(set));
  quantized->reach(reached(set));  // first, since locked memory is copied faster
  ChunkStream stream(passes, {0, passes.rows.rows}, 0, {});
  while (const std::optional<StreamedChunk> chunk = stream.next()) {
    quantized->fill(device, size(chunk->first / a_part), chunk->first % a_part, chunk->rows->rows,
                    *chunk->rows->chunks.front().memory, 0);
    rows.largest = std::max(rows.largest, chunk->rows->largest);
  }
  quantized->settle(device);
  rows.chunks.clear();
  for (std::size_t part = 0; part < counts.size(); ++part)
    rows.chunks.push_back({nullptr, static_cast<std::int64_t>(part) * a_part, counts[part]});
  rows.made->quantized_rows[proposer] = quantized;
}

}  // namespace

std::unique_ptr<const ReachedMemory> reached(const StreamedSet& set) {
  // The C library's heap puts blocks of so many bytes on separate pages (M_MMAP_THRESHOLD).
  constexpr std::size_t fewest_bytes = std::size_t{1} << 25;
  const float* const rows = floats_of(set);
  const std::size_t bytes = size(set.rows.rows) * size(set.dims) * sizeof(float);
  if (!rows || bytes < fewest_bytes || set.device.info().profile.host_threads) return nullptr;
  const std::shared_ptr<Device::State>& state = set.device.state();
  const DeviceSession session(*state);
  try {
    return std::make_unique<const ReachedMemory>(
        state, session->borrow({Where::host, const_cast<float*>(rows), bytes, false, nullptr}));
  } catch (const Error& error) {
    if (error.code() != Errc::unsupported) throw;
    return nullptr;  // then the host ranks
  }
}

Proposer proposer_of_quantized(const DeviceInfo& device, std::int64_t rows, std::int64_t dims,
                               std::size_t memory_limit) {
  const bool has_halves = device.kind == DeviceKind::gpu && has(device, Proposer::fp16);
  if (!has_halves || size(dims) > spi::most_dims_int8) return Proposer::int8;
  constexpr std::size_t least_room = std::size_t{1} << 28;  // for chunks and lists, which else would be short
  const std::size_t memory = memory_limit ? memory_limit : device.memory_bytes;
  const std::size_t taken = quantized_bytes(Proposer::fp16, rows, dims);
  return taken <= memory / 2 && memory - taken >= least_room ? Proposer::fp16 : Proposer::int8;
}

std::size_t room_beside_quantized(const DeviceInfo& device, std::int64_t rows, std::int64_t dims,
                                  std::size_t memory_limit) {
  if (rows > most_rows)
    throw Error(Errc::unsupported, "index: " + std::to_string(rows) +
                                       " training rows, but a device holds quantized rows of at most " +
                                       std::to_string(most_rows) + "; choose residence stream");
  const std::size_t memory = memory_limit ? memory_limit : device.memory_bytes;
  const std::size_t taken =
      quantized_bytes(proposer_of_quantized(device, rows, dims, memory_limit), rows, dims);
  if (taken < memory) return memory - taken;
  throw Error(Errc::out_of_memory, "index: quantized rows of " + std::to_string(rows) +
                                       " training rows take " + std::to_string(taken) + " bytes on " +
                                       device.spec + ", but " + std::to_string(memory) +
                                       " are allowed; raise the memory limit, or choose residence stream");
}

std::shared_ptr<const QuantizedStore> QuantizedStore::made_of(const StreamedSet& set, Proposer proposer) {
  check_proposes(set);
  const auto rows = std::make_shared<ResidentRows>(schema_of(set));
  rows->rows = set.rows.rows;
  rows->residence = Residence::quantized;
  rows->search_bytes = set.sizes.search_bytes;
  measure_sample(set, *rows);
  if (rows->grid.there()) proposer = Proposer::int8;  // exact products need no rows for ranking
  try {
    const QuantizedForm form = form_of_sample(*rows, proposer);
    quantize(set, proposer, form, *rows);
    if (!holds_all(form, *rows, proposer)) quantize(set, proposer, form_for(*rows, proposer), *rows);
  } catch (const Error& error) {  // others may use some of the device's memory
    if (proposer != Proposer::fp16 || error.code() != Errc::out_of_memory) throw;
    quantize(set, Proposer::int8, form_for(*rows, Proposer::int8), *rows);
  }
  return std::make_shared<const QuantizedStore>(set, rows);
}

StoreInfo QuantizedStore::info() const {
  StoreInfo info;
  info.residence = Residence::quantized;
  info.bytes = bytes_of(*quantized_);
  return info;
}

/// Returns the quantized rows if they can propose: no row is excluded, their bounds hold for the queries, and
/// there is a plan.
std::shared_ptr<const ResidentRows> QuantizedStore::resident(const SearchRequest& request) const {
  if (request.radii || has_filter(request.options)) return nullptr;
  if (!request.parts) {
    check_k("search", request.k, rows(), request.options);
    check_rows_left_out("search", rows(), request.m(), request.options);
  }
  const Proposer proposer = quantized_->made->quantized_rows.begin()->first;
  request.queries.prepare(request.options.threads, nullptr, grid_for(*quantized_, proposer));
  if (!has_bound(*quantized_, proposer, request.queries.largest())) return nullptr;
  try {
    static_cast<void>(plan_resident(*quantized_, request.m(), request.k, request.options, {}));
  } catch (const Error& error) {
    if (error.code() != Errc::unsupported && error.code() != Errc::out_of_memory) throw;
    return nullptr;  // streaming takes less memory, and any k
  }
  return quantized_;
}

void QuantizedStore::each_part(const SearchRequest& request, const VisitPart& visit, Trace* trace) const {
  stream_.each_part(request, visit, trace);
  if (trace && !request.radii) trace->fallbacks += request.m();
}

Plan QuantizedStore::plan(std::int64_t m, std::int64_t k, const SearchOptions& options,
                          const Feedback& feedback) const {
  if (has_filter(options)) return stream_.plan(m, k, options, feedback);
  return plan_resident(*quantized_, m, k, options, feedback);
}

}  // namespace kith
