// Training rows on their way to a device, so that memory does not hold them twice.
#pragma once

#include <algorithm>

#include "command/input/training.hpp"
#include "kith/device.hpp"

namespace kith::command {

/// Into how many pieces rows are cut that are given back one by one: one, unless the device's memory is the
/// host's and the rows are many.
///   keep  somebody needs the rows afterwards
std::int64_t pieces_of(const Rows& rows, const Device& device, Metric metric, bool keep);

/// Give the memory of some rows back to the system. Their values are lost.
void give_back(MatrixView<const float> rows);

/// An Index or what has one, of the rows of `rows`, whose memory is given back piece by piece, unless
/// somebody keeps them.
///   make    (rows)                a new one, of the first piece
///   extend  (made, rows, first)   one of these rows, too, which are rows first, first + 1, ...
template <class Make, class Extend>
auto from_pieces(Rows& rows, const Device& device, Metric metric, bool keep, Make make, Extend extend) {
  const std::int64_t pieces = pieces_of(rows, device, metric, keep);
  if (pieces > 1 && !rows.prepared.empty()) rows.table.values = {};
  const MatrixView<const float> all = rows.searched();
  const std::int64_t step = (all.rows() + pieces - 1) / pieces;
  auto made = make(all.slice(0, std::min(step, all.rows())));
  if (pieces == 1) return made;
  give_back(all.slice(0, step));
  for (std::int64_t first = step; first < all.rows(); first += step) {
    const MatrixView<const float> piece = all.slice(first, std::min(step, all.rows() - first));
    made = extend(made, piece, first);
    give_back(piece);
  }
  rows.table.values = {};
  rows.prepared = {};
  return made;
}

}  // namespace kith::command
