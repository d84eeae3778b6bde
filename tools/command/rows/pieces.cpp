#include "command/rows/pieces.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "command/input/index_input.hpp"
#include "command/input/source_input.hpp"
#include "kith/centre.hpp"

namespace kith::command {
namespace {

constexpr std::int64_t most_pieces = 8;  ///< each makes a search a little slower
constexpr std::int64_t smallest_piece = std::int64_t{32} << 20;

/// Returns into how many pieces to cut rows whose memory is freed piece by piece: one, unless the device's
/// memory is the host's and the rows are many.
std::int64_t pieces_of(const Rows& rows, const Device& device, Metric metric, bool keep) {
  // Cosine and prepared metrics refuse a row by its number, which a piece does not know.
  if (keep || device.info().kind != DeviceKind::cpu || metric == Metric::cosine || is_prepared(metric))
    return 1;
  const RowsView all = rows.searched();
  return std::clamp<std::int64_t>(std::min(all.rows * all.stride_bytes / smallest_piece, all.rows), 1,
                                  most_pieces);
}

/// Gives the memory of some rows back to the system. Their values are lost.
void give_back(const RowsView& rows) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(rows.row(0));
  const std::uintptr_t end = begin + static_cast<std::size_t>(rows.rows * rows.stride_bytes);
  const std::uintptr_t first = (begin + page - 1) / page * page, last = end / page * page;
  // Only whole pages of the vector's memory, which is ours; the system may ignore this.
  if (first < last) static_cast<void>(::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED));
}

/// Makes an Index, or an object that has one, from `rows`, whose memory is freed piece by piece
/// unless `keep`.
///   make    (rows)               makes it from the first piece
///   extend  (made, rows, first)  adds rows first, first + 1, ...
template <class Make, class Extend>
auto from_pieces(Rows& rows, const Device& device, Metric metric, bool keep, Make make, Extend extend) {
  const std::int64_t pieces = pieces_of(rows, device, metric, keep);
  if (pieces > 1 && !rows.prepared.empty()) rows.table.values = {};
  const RowsView all = rows.searched();
  const std::int64_t step = (all.rows + pieces - 1) / pieces;
  auto made = make(all.slice(0, std::min(step, all.rows)));
  if (pieces == 1) return made;
  give_back(all.slice(0, step));
  for (std::int64_t first = step; first < all.rows; first += step) {
    const RowsView piece = all.slice(first, std::min(step, all.rows - first));
    made = extend(made, piece, first);
    give_back(piece);
  }
  rows.free_values();
  return made;
}

}  // namespace

Index index_of(Training& training, const Device& device, Metric metric, bool keep) {
  if (training.residence) return Index(device, source_of(training), metric, training.index_options());
  if (!training.index.empty()) return open_index_file(training.index, device, training.index_options());
  IndexOptions options = training.index_options();
  if (training.learn_centre) {  // the centre of all pieces
    ColumnSums sums;
    sums.add(training.rows.searched());
    options.centre = sums.centre();
  }
  return from_pieces(
      training.rows, device, metric, keep,
      [&](const RowsView& rows) { return Index(device, rows, metric, options); },
      [](const Index& made, const RowsView& rows, std::int64_t) { return made.with(rows); });
}

Classifier classifier_of(Training& training, const Device& device, Metric metric, bool keep) {
  const auto n = static_cast<std::size_t>(training.n()), outputs = training.labels.size();
  std::vector<std::int64_t> labels;
  labels.reserve(n * outputs);
  for (std::size_t t = 0; t < n; ++t)
    for (const files::Labels& column : training.labels) labels.push_back(column.code[t]);
  const MatrixView<const std::int64_t> all(labels.data(), training.n(), static_cast<std::int64_t>(outputs));
  const std::span<const float> weights = training.sample_weights;
  const auto weights_of = [&](std::int64_t first, std::int64_t count) {
    return weights.empty()
               ? weights
               : weights.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
  };
  if (training.residence || !training.index.empty())
    return Classifier(index_of(training, device, metric, keep), all, training.sample_weights);
  return from_pieces(
      training.rows, device, metric, keep,
      [&](const RowsView& rows) {
        const std::span<const float> some = weights_of(0, rows.rows);
        return Classifier(device, rows, all.slice(0, rows.rows), metric, training.index_options(),
                          {some.begin(), some.end()});
      },
      [&](const Classifier& made, const RowsView& rows, std::int64_t first) {
        return made.with(rows, all.slice(first, rows.rows), weights_of(first, rows.rows));
      });
}

}  // namespace kith::command
