// collect, dot and bf16: inner products of shadows, tested as they come.
//
// What a product is taken from, low(t), is computed first, in double precision, rounded down. Then each task
// takes some queries and a part of the training rows. docs/certificate.md, section 4.
#include "cpu/collect_products.hpp"

#include <algorithm>

#include "cpu/bounds.hpp"
#include "parallel.hpp"

namespace kith::cpu {
namespace {

constexpr std::size_t most_task_queries = 128, tasks_a_thread = 8;
constexpr std::size_t most_dims = std::size_t{1} << 20;  // so that roundings are few beside 1 / u

double fact(const spi::Grid<float>& facts, spi::Fact which, std::size_t r) {
  return static_cast<double>(elements(facts)[which * facts.stride + r]);
}

/// Of all queries of the step.
struct Largest {
  double norm = 0, error = 0, shadow_norm = 0;
};

Largest largest_of(const spi::CollectStep& step, double b) {
  Largest largest;
  for (std::size_t q = 0; q < step.values.rows; ++q) {
    const double length = fact(step.queries.facts, spi::shadow_norm, q);
    largest.norm = std::max(largest.norm, fact(step.queries.facts, spi::norm, q));
    largest.shadow_norm = std::max(largest.shadow_norm, length);
    largest.error = std::max(largest.error, fact(step.queries.facts, spi::residual, q) + b * length);
  }
  return largest;
}

/// What is computed of every training row before its products, one float each.
struct OfRows {
  float *low, *gap;
};

/// The training rows that a step goes over, in pieces: rows begin ... begin + rows - 1 of the shadow, whose
/// numbers of OfRows stand from place `at` on. Without visits there is one piece.
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

/// `low` and `gap` of every training row. The factor of the error is more than the roundings of its
/// computation.
void compute_rows(const spi::CollectStep& step, const OfRows& of) {
  const auto dims = static_cast<double>(step.train.rows.cols);
  const double steps = (dims + 2) * unit_of_float, b = steps / (1 - steps) * (1 + 0x1p-50);
  const bool squares = from_products(step.metric) == FromProducts::as_squares;
  const double chain = squares ? 0 : b, tiny = dims * (squares ? 0x1p-120 : 0x1p-119);
  const Largest largest = largest_of(step, b);
  for (std::size_t i = 0; i < pieces_of(step); ++i) {
    const Piece piece = piece_of(step, i);
    for (std::size_t t = 0; t < piece.rows; ++t) {
      const auto of_row = [&](spi::Fact which) { return fact(step.train.facts, which, piece.begin + t); };
      const double length = of_row(spi::shadow_norm), norm = of_row(spi::norm);
      const double error = (largest.norm * (of_row(spi::residual) + chain * norm) + largest.error * length +
                            tiny * (1 + largest.shadow_norm + length)) *
                           (1 + 0x1p-20);
      const double half = squares ? of_row(spi::half_norm) : 0, most = squares ? norm * norm / 2 : 0;
      const float low = -float_above(error - half);
      of.low[piece.at + t] = low;
      of.gap[piece.at + t] = float_above((most + error - static_cast<double>(low)) * (1 + 0x1p-20));
    }
  }
}

/// Elements of the shadow from row to row.
std::size_t pitch_of(Proposer proposer, std::size_t dims) {
  return proposer == Proposer::dot ? dims
                                   : (dims + spi::shadow_dims - 1) / spi::shadow_dims * spi::shadow_dims;
}

/// From row `begin` of the grid on.
const void* shadow_of(const spi::CollectStep& step, const spi::Grid<float>& rows, std::size_t begin) {
  const std::size_t element = step.proposer == Proposer::dot ? sizeof(float) : sizeof(std::uint16_t);
  return bytes_of(*rows.memory) + (rows.first + begin) * pitch_of(step.proposer, rows.cols) * element;
}

std::size_t padded_rows(const spi::CollectStep& step) {
  return (step.values.cols + train_block - 1) / train_block * train_block;
}

/// Some queries by some pieces, or by a part of the only one.
struct Task {
  std::size_t query_begin, query_end;
  std::size_t piece_begin, piece_end;
  std::size_t begin, end;  ///< training rows of a piece
};

void run_task(const spi::CollectStep& step, const OfRows& of, const Resources& with, const Task& task) {
  const auto propose = step.proposer == Proposer::dot ? with.kernels.propose : with.set.propose_bf16;
  const bool bounds = step.bounds.low.cols > 0;
  for (std::size_t i = task.piece_begin; i < task.piece_end; ++i) {
    const Piece piece = piece_of(step, i);
    const std::size_t end = std::min(task.end, piece.rows);
    if (task.begin >= end) continue;
    propose({shadow_of(step, step.queries.rows, 0),
             shadow_of(step, step.train.rows, piece.begin),
             step.train.rows.cols,
             task.query_begin,
             task.query_end,
             task.begin,
             end,
             of.low + piece.at,
             elements(step.theta),
             step.theta.stride,
             step.first_row + static_cast<std::uint32_t>(piece.begin),
             elements(step.out.rows),
             step.out.rows.stride,
             step.out.rows.cols,
             elements(step.out.counts),
             step.out.counts.stride,
             bounds ? elements(step.bounds.low) : nullptr,
             step.bounds.low.stride,
             bounds ? elements(step.bounds.high) : nullptr,
             step.bounds.high.stride,
             of.gap + piece.at});
  }
}

/// How the work of a step is shared out. Many queries a task share the training rows in the cache; few leave
/// these to be shared out: visits, or parts of the only piece.
struct Shares {
  std::size_t queries, groups, part, parts;

  Shares(const spi::CollectStep& step, std::size_t team) {
    const std::size_t m = step.values.rows, n = step.values.cols, wanted = team * tasks_a_thread;
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
  const std::string what = "proposer " + std::string(name(step.proposer));
  if (std::find(has.begin(), has.end(), step.proposer) == has.end())
    return {what + " is not made for this CPU; choose proposer dot or none", 0};
  if (from_products(step.metric) == FromProducts::not_at_all)
    return {"metric " + std::string(name(step.metric)) +
                " does not follow from inner products; choose proposer none",
            0};
  if (step.train.rows.cols > most_dims)
    return {"the bound of " + what + " holds for at most " + std::to_string(most_dims) +
                " columns, but these are " + std::to_string(step.train.rows.cols) + "; choose proposer none",
            0};
  if (step.queries.rows.first % spi::shadow_rows || step.train.rows.first % spi::shadow_rows)
    return {"shadows of " + what + " begin at a multiple of " + std::to_string(spi::shadow_rows) + " rows",
            0};
  if (step.sample.cols > 0) return {"samples are of proposers fp16 and int8", 0};
  if (step.visits.rows % spi::shadow_rows)
    return {"visits are of a multiple of " + std::to_string(spi::shadow_rows) + " rows", 0};
  return {{}, 2 * padded_rows(step) * sizeof(float)};
}

void collect_products(const spi::CollectStep& step, const Resources& with) {
  const std::size_t m = step.values.rows, n = step.values.cols, padded = padded_rows(step);
  if (m == 0 || n == 0) return;
  auto* const low = reinterpret_cast<float*>(bytes_of(*step.scratch.memory));
  const OfRows of{low, low + padded};
  std::fill(low, low + padded, std::numeric_limits<float>::infinity());  // behind the last row of a piece
  compute_rows(step, of);
  const Shares shares(step, with.team);
  const std::size_t visit = step.visits.rows;
  run_team(shares.groups * shares.parts, m * n * step.train.rows.cols, with.team,
           [&](std::size_t number, std::size_t) {
             const std::size_t q = number / shares.parts * shares.queries;
             const std::size_t begin = number % shares.parts * shares.part,
                               end = std::min(n, begin + shares.part);
             if (begin >= end) return;
             const std::size_t query_end = std::min(m, q + shares.queries);
             run_task(step, of, with,
                      visit ? Task{q, query_end, begin / visit, (end + visit - 1) / visit, 0, visit}
                            : Task{q, query_end, 0, 1, begin, end});
           });
}

}  // namespace kith::cpu
