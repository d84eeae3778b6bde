#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "communicator.hpp"
#include "kith/centre.hpp"
#include "kith/error.hpp"
#include "kith/key.hpp"
#include "kith/mpi.hpp"
#include "lost_ranks.hpp"
#include "reduce.hpp"
#include "same.hpp"

namespace kith::mpi {
namespace {

/// Holds what each rank says about its rows.
struct Shape {
  std::int64_t rows = 0, cols = 0, first = -1, given = 0;
};
constexpr std::size_t shape_facts = 4;

std::vector<Shape> shapes_of(const Communicator& ranks, const Shape& mine) {
  const std::array<std::int64_t, shape_facts> facts = {mine.rows, mine.cols, mine.first, mine.given};
  const std::vector<std::int64_t> all = ranks.all_of(facts);
  std::vector<Shape> shapes;
  for (std::size_t at = 0; at < all.size(); at += shape_facts)
    shapes.push_back({all[at], all[at + 1], all[at + 2], all[at + 3]});
  return shapes;
}

/// Numbers the rows of ranks that gave no first_row, rank after rank.
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

/// Refuses shapes that make no Index. Returns the number of rows of all ranks.
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

/// Refuses rows in double precision, whose keys ranks do not exchange.
void check_single(const std::optional<kith::Index>& mine) {
  if (!mine || mine->arithmetic() == Arithmetic::f32) return;
  throw Error(Errc::unsupported,
              "index: the rows are in double precision, and ranks exchange keys of floats; choose arithmetic "
              "f32 and a centre, or give floats");
}

/// Returns max |element| of this rank's rows. An error about a row names its number among all rows.
float my_largest(const Device& device, const RowsView& rows, Metric metric, const IndexOptions& options) {
  if (rows.rows == 0) return 0;
  try {
    return largest_element(rows, options.features);
  } catch (const Error&) {
    const kith::Index names_it(device, rows, metric, options);
    throw;
  }
}

/// Returns the centre of the rows of all ranks, which equals that of one Index, because sums are added in the
/// order of row numbers: each rank continues from the sums of the rank before.
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

/// Returns where the part of a rank begins.
std::int64_t divided(std::int64_t rows, std::int64_t rank, std::int64_t ranks) {
  return rows / ranks * rank + rows % ranks * rank / ranks;  // rows * rank could overflow 64 bits
}

/// Returns max |element| of the rows of a part.
float largest_in(const std::string& path, const OpenOptions& options) {
  const IndexFileRows part = read_index_rows(path, options);
  return largest_element({part.data.data(), part.element, part.rows, part.cols});
}

/// Returns the result of a collective call, made by uniformly().
template <class Call>
auto on_all(MPI_Comm comm, Call&& call) {
  require_mpi();
  decltype(call()) result{};
  uniformly(comm, [&] { result = call(); });
  return result;
}

/// Turns numbers of keys into numbers of neighbours.
template <class Found>
Found numbered_from_0(Found found, std::int64_t first) {
  for (std::int64_t& row : found.row)
    if (row >= 0) row -= first;
  return found;
}

}  // namespace

struct Index::State {
  Communicator ranks;
  Metric metric;
  std::int64_t rows = 0, first_row = 0;
  std::int64_t numbered_from = 0;   ///< difference between rows in keys and in
                                    ///< neighbours: IndexFileInfo::first_row
  std::optional<kith::Index> mine;  ///< absent: this rank has no rows

  State(MPI_Comm comm, const Device& device, const RowsView& my_rows, std::optional<std::int64_t> first,
        Metric of, IndexOptions options);
  State(MPI_Comm comm, const Device& device, const std::string& path, OpenOptions options);

  void require_same_queries(const RowsView& queries, std::int64_t k, std::span<const float> radii) const;
  Keys keys(const RowsView& queries, std::int64_t k, const SearchOptions& options, Trace* trace) const;
  Keys keys_of_search(const RowsView& queries, std::int64_t k, const SearchOptions& options,
                      Trace* trace) const;
  RadiusKeys keys(const RowsView& queries, std::span<const float> radii, const SearchOptions& options,
                  Trace* trace) const;
  /// Returns what `vote` makes of the keys that `find` finds.
  template <class Find, class Vote>
  auto voted(Find&& find, Vote&& vote) const {
    return on_all(ranks.get(), [&] {
      const auto keys = find();
      decltype(vote(keys)) result;
      ranks.together([&] { result = vote(keys); });
      return result;
    });
  }
};

Index::State::State(MPI_Comm comm, const Device& device, const RowsView& my_rows,
                    std::optional<std::int64_t> first, Metric of, IndexOptions options)
    : ranks(comm), metric(of) {
  ranks.together([&] {
    if (options.first_row != 0 || options.largest != 0)
      refuse(
          "IndexOptions::first_row and largest are found here; leave them out, and give first_row by itself");
    if (my_rows.rows < 0) refuse(std::to_string(my_rows.rows) + " rows are below 0; give 0 or more");
    if (first && *first < 0) refuse("first_row = " + std::to_string(*first) + " is below 0; give 0 or more");
  });
  Digest features, centre;
  features.add(options.features.data(), options.features.size() * sizeof(std::int64_t));
  centre.add(options.centre.data(), options.centre.size() * sizeof(double));
  const std::array<std::int64_t, 4> facts = {static_cast<std::int64_t>(of), features.value(), centre.value(),
                                             options.learn_centre ? 1 : 0};
  constexpr std::array names = {"metrics", "features", "centres", "wishes to learn a centre"};
  require_same(ranks, facts, names);
  std::vector<Shape> shapes =
      shapes_of(ranks, {my_rows.rows, my_rows.cols, first.value_or(-1), first ? 1 : 0});
  number(shapes);
  rows = check_shapes(shapes);
  first_row = options.first_row = shapes[static_cast<std::size_t>(ranks.rank())].first;
  if (options.learn_centre && options.centre.empty() && takes_centre(of)) {  // else each Index refuses it
    options.centre = learned_centre(ranks, shapes, my_rows);
    options.learn_centre = false;
  }
  if (of == Metric::negative_dot) {  // `largest` makes each rank refuse what one Index of all rows would
    ranks.together([&] { options.largest = my_largest(device, my_rows, of, options); });
    options.largest = ranks.largest(options.largest);
  }
  ranks.together([&] {
    if (my_rows.rows > 0) mine.emplace(device, my_rows, of, options);
    check_single(mine);
  });
}

Index::State::State(MPI_Comm comm, const Device& device, const std::string& path, OpenOptions options)
    : ranks(comm) {
  IndexFileInfo info;
  ranks.together([&] {
    if (options.first != 0 || options.rows >= 0 || options.largest != 0)
      refuse("OpenOptions::first, rows and largest are found here; leave them out");
    info = index_file_info(path);
  });
  const std::array<std::int64_t, 3> facts = {info.rows, static_cast<std::int64_t>(info.bytes),
                                             static_cast<std::int64_t>(info.metric)};
  constexpr std::array names = {"rows of the index file", "bytes of the index file", "metrics"};
  require_same(ranks, facts, names);
  metric = info.metric;
  numbered_from = info.first_row;
  const auto begin_of = [&](std::int64_t rank) { return divided(info.rows, rank, ranks.size()); };
  options.first = first_row = begin_of(ranks.rank());
  options.rows = begin_of(ranks.rank() + 1) - first_row;
  if (metric == Metric::negative_dot) {
    ranks.together([&] { options.largest = options.rows > 0 ? largest_in(path, options) : 0; });
    options.largest = ranks.largest(options.largest);
  }
  ranks.together([&] {
    if (options.rows > 0) mine.emplace(open_index(path, device, options));
    check_single(mine);
  });
  const std::array<std::int64_t, 1> live = {mine ? mine->rows() : 0};
  for (const std::int64_t one : ranks.all_of(live)) rows += one;
}

void Index::State::require_same_queries(const RowsView& queries, std::int64_t k,
                                        std::span<const float> radii) const {
  Digest asked, within;
  asked.add(queries);
  within.add(radii.data(), radii.size_bytes());
  const std::array<std::int64_t, 7> facts = {queries.rows,
                                             queries.cols,
                                             static_cast<std::int64_t>(queries.element),
                                             k,
                                             asked.value(),
                                             static_cast<std::int64_t>(radii.size()),
                                             within.value()};
  constexpr std::array names = {"numbers of queries",
                                "columns of queries",
                                "elements of queries",
                                "k",
                                "queries",
                                "numbers of radii",
                                "radii"};
  require_same(ranks, facts, names);
}

Keys Index::State::keys(const RowsView& queries, std::int64_t k, const SearchOptions& options,
                        Trace* trace) const {
  require_same_queries(queries, k, {});
  if (k > std::numeric_limits<int>::max())
    refuse("k = " + std::to_string(k) + ", but MPI counts to 2147483647; choose a smaller k");
  Keys found;
  ranks.together([&] {
    if (mine) {
      found = mine->search_keys(queries, k, options, trace);
      return;
    }
    if (queries.rows < 0 || k < 1) return;  // ranks with rows refuse these
    const auto cells = static_cast<std::size_t>(clamped_product(queries.rows, k));
    found = {queries.rows, k, std::vector<std::uint32_t>(cells, no_value),
             std::vector<std::int64_t>(cells, -1)};
  });
  reduce(ranks, found);
  return found;
}

Keys Index::State::keys_of_search(const RowsView& queries, std::int64_t k, const SearchOptions& options,
                                  Trace* trace) const {
  ranks.together([&] {
    if (k > rows)
      throw Error(Errc::invalid_argument, "search: k = " + std::to_string(k) + " but the ranks hold " +
                                              std::to_string(rows) + (rows == 1 ? " row" : " rows") +
                                              "; choose k from 1 to " + std::to_string(rows));
  });
  return keys(queries, k, options, trace);
}

RadiusKeys Index::State::keys(const RowsView& queries, std::span<const float> radii,
                              const SearchOptions& options, Trace* trace) const {
  require_same_queries(queries, 0, radii);
  RadiusKeys found;
  ranks.together([&] {
    if (mine)
      found = mine->within_keys(queries, radii, options, trace);
    else if (queries.rows >= 0)
      found = {queries.rows, std::vector<std::int64_t>(static_cast<std::size_t>(queries.rows) + 1), {}, {}};
  });
  return gather(ranks, std::move(found));
}

Index::Index(MPI_Comm comm, const Device& device, const RowsView& my_rows,
             std::optional<std::int64_t> first_row, Metric metric, const IndexOptions& options)
    : state_(on_all(comm, [&] {
        return std::make_shared<const State>(comm, device, my_rows, first_row, metric, options);
      })) {}

Index::Index(MPI_Comm comm, const Device& device, const std::string& path, const OpenOptions& options)
    : state_(on_all(comm, [&] { return std::make_shared<const State>(comm, device, path, options); })) {}

Keys Index::search_keys(const RowsView& queries, std::int64_t k, const SearchOptions& options,
                        Trace* trace) const {
  return on_all(state_->ranks.get(), [&] { return state_->keys(queries, k, options, trace); });
}

RadiusKeys Index::within_keys(const RowsView& queries, std::span<const float> radii,
                              const SearchOptions& options, Trace* trace) const {
  return on_all(state_->ranks.get(), [&] { return state_->keys(queries, radii, options, trace); });
}

Neighbors Index::search(const RowsView& queries, std::int64_t k, const SearchOptions& options,
                        Trace* trace) const {
  return state_->voted(
      [&] { return state_->keys_of_search(queries, k, options, trace); },
      [&](const Keys& keys) { return numbered_from_0(finish(state_->metric, keys), state_->numbered_from); });
}

RadiusNeighbors Index::within(const RowsView& queries, std::span<const float> radii,
                              const SearchOptions& options, Trace* trace) const {
  return state_->voted([&] { return state_->keys(queries, radii, options, trace); },
                       [&](const RadiusKeys& keys) {
                         return numbered_from_0(finish(state_->metric, keys), state_->numbered_from);
                       });
}

Classification Index::classify(const RowsView& queries, std::int64_t k, const ShardLabels& labels,
                               const VotingOptions& voting, const SearchOptions& options,
                               Trace* trace) const {
  return state_->voted(
      [&] { return state_->keys_of_search(queries, k, options, trace); },
      [&](const Keys& keys) { return kith::classify(state_->metric, keys, labels, voting); });
}

RadiusClassification Index::classify_within(const RowsView& queries, std::span<const float> radii,
                                            const ShardLabels& labels, const VotingOptions& voting,
                                            const SearchOptions& options, Trace* trace) const {
  return state_->voted(
      [&] { return state_->keys(queries, radii, options, trace); },
      [&](const RadiusKeys& keys) { return kith::classify(state_->metric, keys, labels, voting); });
}

Regression Index::regress(const RowsView& queries, std::int64_t k, const ShardValues& values,
                          const VotingOptions& voting, const SearchOptions& options, Trace* trace) const {
  return state_->voted([&] { return state_->keys_of_search(queries, k, options, trace); },
                       [&](const Keys& keys) { return kith::regress(state_->metric, keys, values, voting); });
}

RadiusRegression Index::regress_within(const RowsView& queries, std::span<const float> radii,
                                       const ShardValues& values, const VotingOptions& voting,
                                       const SearchOptions& options, Trace* trace) const {
  return state_->voted(
      [&] { return state_->keys(queries, radii, options, trace); },
      [&](const RadiusKeys& keys) { return kith::regress(state_->metric, keys, values, voting); });
}

std::int64_t Index::rows() const {
  return state_->rows;
}

std::int64_t Index::my_rows() const {
  return state_->mine ? state_->mine->rows() : 0;
}

std::int64_t Index::first_row() const {
  return state_->first_row;
}

Metric Index::metric() const {
  return state_->metric;
}

}  // namespace kith::mpi
