// collect, dot, bf16 and int8: computes inner products of quantized rows and tests them at once.
//
// First low(t), the values from which products are subtracted, are computed in double precision and rounded
// down. They are NaN if the terms of the row are NaN, so that no comparison lets it pass. Then each task
// handles some queries and a part of the training rows. If no other task needs these rows, as with few
// queries, it computes their low(t) itself, for some rows at a time, so that they stay in the cache.
// docs/certificate.md, section 4.
#include "cpu/steps/propose/collect_products.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "cpu/steps/propose/bounds.hpp"
#include "cpu/steps/propose/quantized_order.hpp"
#include "host/parallel.hpp"

namespace kith::cpu {
namespace {

constexpr std::size_t most_task_queries = 128, collects_a_thread = 8;
constexpr std::size_t task_rows = 4096, work_a_row = 16;  // for tasks that only read row terms

double row_term(const spi::Grid<float>& row_terms, spi::RowTerm which, std::size_t r) {
  return static_cast<double>(elements(row_terms)[which * row_terms.stride + r]);
}

/// The largest terms of all queries of the step.
struct Largest {
  double norm = 0, error = 0, quantized_norm = 0;
};

Largest largest_of(const spi::CollectStep& step) {
  Largest largest;
  for (std::size_t q = 0; q < step.values.rows; ++q) {
    const double length = row_term(step.queries.row_terms, spi::quantized_norm, q);
    largest.norm = std::max(largest.norm, row_term(step.queries.row_terms, spi::norm, q));
    largest.quantized_norm = std::max(largest.quantized_norm, length);
    largest.error =
        std::max(largest.error, row_term(step.queries.row_terms, spi::residual, q) + step.b * length);
  }
  return largest;
}

/// Values that are computed for every training row before its products, one float each.
struct OfRows {
  float *low, *gap;
};

/// The training rows of a step come in pieces: rows begin ... begin + rows - 1 of the quantized rows, whose
/// values in OfRows begin at place `at`. Without visits there is one piece.
struct Piece {
  std::size_t begin, rows, at;
};

Piece piece_of(const spi::CollectStep& step, std::size_t i) {
  const spi::Visits& visits = step.visits;
  if (visits.rows == 0) return {0, step.values.cols, 0};
  const std::uint64_t block = (std::uint64_t{visits.first} + i) * visits.stride % visits.blocks;
  const std::size_t begin = block * visits.rows;
  return {begin, std::min<std::size_t>(visits.rows, step.train.rows.rows - begin), i * visits.rows};
}

std::size_t pieces_of(const spi::CollectStep& step) {
  return step.visits.rows == 0 ? 1 : step.visits.count;
}

/// Writes `low` and `gap` of training rows begin ... begin + count - 1 for exact products: E is 0. For inner
/// products `low` is 0, or NaN if the row does not count.
///   at  where to write
void copy_half_norms(const spi::CollectStep& step, std::size_t begin, std::size_t count, bool squares,
                     const OfRows& of, std::size_t at) {
  const spi::Grid<float>& row_terms = step.train.row_terms;
  std::fill_n(of.gap + at, count, 0.0f);
  std::copy_n(elements(row_terms) + spi::half_norm * row_terms.stride + begin, count, of.low + at);
  if (squares) return;
  for (std::size_t t = 0; t < count; ++t) of.low[at + t] *= 0.0f;
}

/// Computes `low` and `gap` of training rows.
class RowBounds {
 public:
  RowBounds(const spi::CollectStep& step, const Resources& with)
      : step_(step),
        with_(with),
        squares_(from_products(step.metric) == FromProducts::as_squares),
        largest_(largest_of(step)) {}

  /// Computes them for `count` quantized rows from `begin` on, and writes them to place `at` and behind.
  void compute(std::size_t begin, std::size_t count, const OfRows& of, std::size_t at) const {
    if (count == 0) return;
    if (is_exact(step_)) return copy_half_norms(step_, begin, count, squares_, of, at);
    const std::size_t dims = step_.train.rows.cols;
    const auto row_terms = [&](spi::RowTerm which) {
      return elements(step_.train.row_terms) + which * step_.train.row_terms.stride + begin;
    };
    with_.kernels.bound_rows({row_terms(spi::half_norm), row_terms(spi::norm), row_terms(spi::quantized_norm),
                              row_terms(spi::residual), count, ordinary(largest_.norm),
                              ordinary(largest_.error), ordinary(largest_.quantized_norm),
                              spi::chain_error(dims), spi::product_underflow(dims, squares_), squares_},
                             of.low + at, of.gap + at);
    if (step_.gap_share < 1)
      for (std::size_t t = at; t < at + count; ++t) of.gap[t] *= step_.gap_share;
  }

 private:
  /// Limits a value to numbers that are neither 0 nor infinite, so that no product is NaN.
  static double ordinary(double value) {
    return std::clamp(value, std::numeric_limits<double>::min(),
                      static_cast<double>(std::numeric_limits<float>::max()));
  }

  const spi::CollectStep& step_;
  const Resources& with_;
  const bool squares_;
  const Largest largest_;
};

/// Computes `low` and `gap` of every training row.
void compute_rows(const spi::CollectStep& step, const OfRows& of, const Resources& with) {
  const RowBounds bounds(step, with);
  const auto compute = [&](const Piece& piece, std::size_t begin, std::size_t end) {
    if (begin < end) bounds.compute(piece.begin + begin, end - begin, of, piece.at + begin);
  };
  // A task is several pieces, or a part of the only one.
  const bool visits = step.visits.rows > 0;
  const std::size_t pieces = pieces_of(step), n = step.values.cols;
  const std::size_t some = visits ? (task_rows + step.visits.rows - 1) / step.visits.rows : 1;
  const std::size_t tasks = visits ? (pieces + some - 1) / some : (n + task_rows - 1) / task_rows;
  run_team(tasks, n * work_a_row, with.team, [&](std::size_t task, std::size_t) {
    if (!visits) return compute(piece_of(step, 0), task * task_rows, std::min(n, (task + 1) * task_rows));
    for (std::size_t i = task * some; i < std::min(pieces, (task + 1) * some); ++i)
      compute(piece_of(step, i), 0, piece_of(step, i).rows);
  });
}

/// Returns the address of row `begin` of the grid.
const void* quantized_of(const spi::CollectStep& step, const spi::Grid<float>& rows, std::size_t begin) {
  return bytes_of(*rows.memory) +
         (rows.first + begin) * pitch_of(step.proposer, rows.cols) * element_bytes(step.proposer);
}

std::size_t whole_blocks(std::size_t rows) {
  return (rows + train_block - 1) / train_block * train_block;
}

/// Some queries, and some pieces of training rows, or a part of the only piece.
struct Task {
  std::size_t query_begin, query_end;
  std::size_t piece_begin, piece_end;
  std::size_t begin, end;  ///< training rows of a piece
};

/// Multiplies and tests `count` quantized training rows from `begin` on, whose values in OfRows begin at
/// place `at`.
void propose_rows(const spi::CollectStep& step, const OfRows& of, const Resources& with, const Task& task,
                  std::size_t begin, std::size_t count, std::size_t at) {
  const bool any_byte = step.queries.on_grid != spi::OnGrid::no;
  const auto propose = step.proposer == Proposer::dot    ? with.kernels.propose
                       : step.proposer == Proposer::bf16 ? with.set.propose_bf16
                       : any_byte                        ? with.set.propose_int8_wide
                                                         : with.set.propose_int8;
  const bool bounds = step.bounds.low.cols > 0;
  propose({quantized_of(step, step.queries.rows, 0),
           quantized_of(step, step.train.rows, begin),
           step.train.rows.cols,
           task.query_begin,
           task.query_end,
           0,
           count,
           of.low + at,
           elements(step.threshold),
           step.threshold.stride,
           step.first_row + static_cast<std::uint32_t>(begin),
           elements(step.out.rows),
           step.out.rows.stride,
           step.out.rows.cols,
           elements(step.out.counts),
           step.out.counts.stride,
           bounds ? elements(step.bounds.low) : nullptr,
           step.bounds.low.stride,
           bounds ? elements(step.bounds.high) : nullptr,
           step.bounds.high.stride,
           of.gap + at,
           pitch_of(step.proposer, step.train.rows.cols),
           any_byte ? step.unscale : step.unscale / share_of_scale(with.set.most_query_byte)});
}

/// Calls body(begin, count, at) for the training rows of a task, piece by piece: `begin` is a place among the
/// quantized rows, `at` one in OfRows.
template <class Body>
void for_each_piece(const spi::CollectStep& step, const Task& task, const Body& body) {
  for (std::size_t i = task.piece_begin; i < task.piece_end; ++i) {
    const Piece piece = piece_of(step, i);
    const std::size_t end = std::min(task.end, piece.rows);
    if (task.begin < end) body(piece.begin + task.begin, end - task.begin, piece.at + task.begin);
  }
}

void run_task(const spi::CollectStep& step, const OfRows& of, const Resources& with, const Task& task) {
  for_each_piece(step, task, [&](std::size_t begin, std::size_t count, std::size_t at) {
    propose_rows(step, of, with, task, begin, count, at);
  });
}

/// Computes `low` and `gap` of the task's rows, too. The values of some rows take the place of those of the
/// rows before them.
void run_alone(const spi::CollectStep& step, const OfRows& of, const Resources& with, const RowBounds& bounds,
               const Task& task) {
  std::size_t place = std::numeric_limits<std::size_t>::max();
  for_each_piece(step, task, [&](std::size_t begin, std::size_t rows, std::size_t at) {
    place = std::min(place, at);
    for (std::size_t first = 0; first < rows; first += task_rows) {
      const std::size_t count = std::min(task_rows, rows - first), padded = whole_blocks(count);
      bounds.compute(begin + first, count, of, place);
      std::fill(of.low + place + count, of.low + place + padded, std::numeric_limits<float>::infinity());
      propose_rows(step, of, with, task, begin + first, count, place);
    }
  });
}

/// How the work of a step is divided. With many queries per task, these share training rows in the cache;
/// with few queries, the training rows are divided: into visits, or into parts of the only piece.
struct Shares {
  std::size_t queries, groups, part, parts;

  Shares(const spi::CollectStep& step, std::size_t team) {
    const std::size_t m = step.values.rows, n = step.values.cols, wanted = team * collects_a_thread;
    queries = std::clamp<std::size_t>((m / wanted + 31) / 32 * 32, 32, most_task_queries);
    groups = (m + queries - 1) / queries;
    const std::size_t unit = step.visits.rows ? step.visits.rows : train_block;
    const std::size_t most = step.visits.rows ? step.visits.count : (n + 1023) / 1024;
    parts = std::clamp<std::size_t>(wanted / groups, 1, most);
    const std::size_t units = (n + unit - 1) / unit;
    part = (units + parts - 1) / parts * unit;
  }
};

}  // namespace

spi::Support check_products(const spi::CollectStep& step, const Resources& with) {
  const auto& has = with.proposers();
  if (std::find(has.begin(), has.end(), step.proposer) == has.end())
    return {"proposer " + std::string(name(step.proposer)) +
                " is not made for this CPU; choose proposer dot or none",
            0};
  if (step.sample.cols > 0) return {"it takes no samples", 0};
  return {{}, 2 * whole_blocks(step.values.cols) * sizeof(float)};
}

void collect_products(const spi::CollectStep& step, const Resources& with) {
  const std::size_t m = step.values.rows, n = step.values.cols, padded = whole_blocks(n);
  if (m == 0 || n == 0) return;
  auto* const low = reinterpret_cast<float*>(bytes_of(*step.scratch.memory));
  const OfRows of{low, low + padded};
  const Shares shares(step, with.team);
  const bool alone = shares.groups == 1;
  std::optional<RowBounds> bounds;
  if (alone) {
    bounds.emplace(step, with);
  } else {
    std::fill(low, low + padded, std::numeric_limits<float>::infinity());  // places without a row
    compute_rows(step, of, with);
  }
  const std::size_t visit = step.visits.rows;
  run_team(shares.groups * shares.parts, m * n * step.train.rows.cols, with.team,
           [&](std::size_t number, std::size_t) {
             const std::size_t q = number / shares.parts * shares.queries;
             const std::size_t begin = number % shares.parts * shares.part,
                               end = std::min(n, begin + shares.part);
             if (begin >= end) return;
             const std::size_t query_end = std::min(m, q + shares.queries);
             const Task task = visit ? Task{q, query_end, begin / visit, (end + visit - 1) / visit, 0, visit}
                                     : Task{q, query_end, 0, 1, begin, end};
             alone ? run_alone(step, of, with, *bounds, task) : run_task(step, of, with, task);
           });
}

}  // namespace kith::cpu
