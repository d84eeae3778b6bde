#include "shapes.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "kith/centre.hpp"
#include "kith/index.hpp"
#include "same.hpp"

namespace kith::mpi {
namespace {

constexpr std::size_t shape_facts = 5;

}  // namespace

std::vector<Shape> shapes_of(const Communicator& ranks, const Shape& mine) {
  const std::array<std::int64_t, shape_facts> facts = {mine.rows, mine.cols, mine.first, mine.given,
                                                       static_cast<std::int64_t>(mine.arithmetic)};
  const std::vector<std::int64_t> all = ranks.all_of(facts);
  std::vector<Shape> shapes;
  for (std::size_t at = 0; at < all.size(); at += shape_facts)
    shapes.push_back({all[at], all[at + 1], all[at + 2], all[at + 3], static_cast<Arithmetic>(all[at + 4])});
  return shapes;
}

void number(std::vector<Shape>& shapes) {
  for (std::size_t r = 1; r < shapes.size(); ++r)
    if (shapes[r].given != shapes[0].given)
      refuse("rank " + std::string(shapes[0].given ? "0" : std::to_string(r)) +
             " was given a first_row and rank " + (shapes[0].given ? std::to_string(r) : "0") +
             " none; give it to all ranks or to none");
  if (shapes[0].given) return;
  std::int64_t next = 0;
  for (Shape& shape : shapes) {
    shape.first = next;
    next += shape.rows;
  }
}

std::int64_t check_shapes(const std::vector<Shape>& shapes) {
  std::int64_t total = 0;
  std::vector<std::size_t> order;
  for (std::size_t r = 0; r < shapes.size(); ++r) {
    if (shapes[r].rows == 0) continue;
    if (!order.empty() && shapes[r].cols != shapes[order[0]].cols)
      refuse("rank " + std::to_string(order[0]) + " has rows of " + std::to_string(shapes[order[0]].cols) +
             " columns and rank " + std::to_string(r) + " of " + std::to_string(shapes[r].cols) +
             "; give rows of the same columns");
    order.push_back(r);
    total += shapes[r].rows;
  }
  if (order.empty()) refuse("no rank has a row; give at least one");
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return shapes[a].first < shapes[b].first; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const Shape &before = shapes[order[i - 1]], &after = shapes[order[i]];
    if (after.first - before.first < before.rows)
      refuse("row " + std::to_string(after.first) + " is with rank " + std::to_string(order[i - 1]) +
             " and with rank " + std::to_string(order[i]) + "; give first_row so that each row has one rank");
  }
  return total;
}

Arithmetic arithmetic_of(const RowsView& rows, const IndexOptions& options) {
  if (options.arithmetic != Arithmetic::automatic || rows.rows == 0) return options.arithmetic;
  const bool centred = !options.centre.empty() || options.learn_centre;
  return is_wide(rows.element) && !centred ? Arithmetic::f64 : Arithmetic::f32;
}

Arithmetic common_arithmetic(const std::vector<Shape>& shapes) {
  const auto is_known = [](const Shape& shape) { return shape.arithmetic != Arithmetic::automatic; };
  const auto first = std::find_if(shapes.begin(), shapes.end(), is_known);
  if (first == shapes.end()) return Arithmetic::automatic;
  const auto other = std::find_if(first, shapes.end(), [&](const Shape& shape) {
    return is_known(shape) && shape.arithmetic != first->arithmetic;
  });
  if (other == shapes.end()) return first->arithmetic;
  const auto computes = [&](const auto& shape) {
    return "rank " + std::to_string(shape - shapes.begin()) + " computes in " +
           std::string(name(shape->arithmetic));
  };
  refuse(computes(first) + " and " + computes(other) +
         "; give all ranks rows of one element, or choose one arithmetic for all");
}

std::vector<double> learned_centre(const Communicator& ranks, const std::vector<Shape>& shapes,
                                   const RowsView& my_rows) {
  std::vector<int> order;
  for (std::size_t r = 0; r < shapes.size(); ++r)
    if (shapes[r].rows > 0) order.push_back(static_cast<int>(r));
  const auto shape_of = [&](int rank) { return shapes[static_cast<std::size_t>(rank)]; };
  std::sort(order.begin(), order.end(), [&](int a, int b) { return shape_of(a).first < shape_of(b).first; });
  const auto cols = static_cast<std::size_t>(shape_of(order[0]).cols);
  ColumnSums sums{0, std::vector<double>(cols), std::vector<double>(cols)};
  for (const int rank : order) {
    const std::int64_t before = sums.rows;
    ranks.together([&] {
      if (rank == ranks.rank()) sums.add(my_rows);
    });
    sums.rows = before + shape_of(rank).rows;
    ranks.broadcast(sums.first.data(), cols * sizeof(double), rank);
    ranks.broadcast(sums.sum.data(), cols * sizeof(double), rank);
  }
  return sums.centre();
}

}  // namespace kith::mpi
