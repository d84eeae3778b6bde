#include <array>
#include <bit>
#include <cstddef>
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
#include "shapes.hpp"

namespace kith::mpi {
namespace {

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

/// Refuses a metric whose parameters each rank would learn from its own rows.
void check_learns_nothing(Metric metric, const IndexOptions& options) {
  if (metric == Metric::seuclidean && options.variances.empty())
    refuse("seuclidean without variances, of which each rank would have its own; give one a column");
  if (takes_categories(metric) && options.ranges.empty())
    refuse(std::string(name(metric)) +
           " without ranges, of which each rank would have its own; give one a column, 0 for categories");
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
  ShownBy shown = default_metric;
  Arithmetic arithmetic = Arithmetic::f32;
  std::int64_t rows = 0, first_row = 0;
  std::int64_t numbered_from = 0;   ///< difference between rows in keys and in
                                    ///< neighbours: IndexFileInfo::first_row
  std::optional<kith::Index> mine;  ///< absent: this rank has no rows

  State(MPI_Comm comm, const Device& device, const RowsView& my_rows, std::optional<std::int64_t> first,
        Metric of, IndexOptions options);
  State(MPI_Comm comm, const Device& device, const std::string& path, OpenOptions options);

  /// Sets the parameter of `shown` from the ranks that have rows.
  void share_parameter();
  /// Throws invalid_argument: ranks were given different queries, k or radii.
  ///   bytes  of a radius, in which `radii` holds their number
  void require_same_queries(const RowsView& queries, std::int64_t k, std::span<const std::byte> radii = {},
                            std::size_t bytes = sizeof(double)) const;
  Keys keys(const RowsView& queries, std::int64_t k, const SearchOptions& options, Trace* trace) const;
  Keys keys_of_search(const RowsView& queries, std::int64_t k, const SearchOptions& options,
                      Trace* trace) const;
  ///   Radius  float or double
  template <class Radius>
  RadiusKeys keys(const RowsView& queries, std::span<const Radius> radii, const SearchOptions& options,
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
    : ranks(comm), shown(metric_of_power(of, options.p)) {
  if (shown.metric != of) options.p = 0;
  of = shown.metric;
  ranks.together([&] {
    if (options.first_row != 0 || options.largest != 0)
      refuse(
          "IndexOptions::first_row and largest are found here; leave them out, and give first_row by itself");
    check_learns_nothing(of, options);
    if (my_rows.rows < 0) refuse(std::to_string(my_rows.rows) + " rows are below 0; give 0 or more");
    if (first && *first < 0) refuse("first_row = " + std::to_string(*first) + " is below 0; give 0 or more");
  });
  Digest features, centre, box, parameters;
  features.add(options.features.data(), options.features.size() * sizeof(std::int64_t));
  centre.add(options.centre.data(), options.centre.size() * sizeof(double));
  box.add(options.box.data(), options.box.size() * sizeof(double));
  for (const std::vector<double>* const one :
       {&options.column_weights, &options.variances, &options.covariance, &options.inverse_covariance,
        &options.ranges}) {
    const std::size_t count = one->size();
    parameters.add(&count, sizeof count);
    parameters.add(one->data(), count * sizeof(double));
  }
  const int degrees = options.degrees ? 1 : 0;
  parameters.add(&degrees, sizeof degrees);
  parameters.add(&options.p, sizeof options.p);
  parameters.add(options.categorical.data(), options.categorical.size() * sizeof(std::int64_t));
  const std::array<std::int64_t, 6> facts = {
      static_cast<std::int64_t>(of), features.value(), centre.value(), box.value(), parameters.value(),
      options.learn_centre ? 1 : 0};
  constexpr std::array names = {
      "metrics", "features", "centres", "boxes", "parameters of the metric", "wishes to learn a centre"};
  require_same(ranks, facts, names);
  if (of == Metric::haversine && options.arithmetic == Arithmetic::automatic)
    options.arithmetic = Arithmetic::f64;
  std::vector<Shape> shapes = shapes_of(ranks, {my_rows.rows, my_rows.cols, first.value_or(-1), first ? 1 : 0,
                                                arithmetic_of(my_rows, options)});
  number(shapes);
  rows = check_shapes(shapes);
  arithmetic = common_arithmetic(shapes);
  first_row = options.first_row = shapes[static_cast<std::size_t>(ranks.rank())].first;
  if (options.learn_centre && options.centre.empty() && takes_centre(of)) {  // else each Index refuses it
    options.centre = learned_centre(ranks, shapes, my_rows);
    options.learn_centre = false;
  }
  // `largest` makes each rank refuse what one Index of all rows would. It is a float: with doubles the rank
  // that has the largest refuses exactly that.
  if (of == Metric::negative_dot && arithmetic == Arithmetic::f32) {
    ranks.together([&] { options.largest = my_largest(device, my_rows, of, options); });
    options.largest = ranks.largest(options.largest);
  }
  ranks.together([&] {
    if (my_rows.rows > 0) mine.emplace(device, my_rows, of, options);
  });
  share_parameter();
}

Index::State::State(MPI_Comm comm, const Device& device, const std::string& path, OpenOptions options)
    : ranks(comm) {
  IndexFileInfo info;
  ranks.together([&] {
    if (options.first != 0 || options.rows >= 0 || options.largest != 0)
      refuse("OpenOptions::first, rows and largest are found here; leave them out");
    info = index_file_info(path);
  });
  const std::array<std::int64_t, 4> facts = {info.rows, static_cast<std::int64_t>(info.bytes),
                                             static_cast<std::int64_t>(info.metric),
                                             static_cast<std::int64_t>(info.element)};
  constexpr std::array names = {"rows of the index file", "bytes of the index file", "metrics",
                                "elements of the index file"};
  require_same(ranks, facts, names);
  shown = info.metric;
  arithmetic = info.element == Element::f64 ? Arithmetic::f64 : Arithmetic::f32;
  numbered_from = info.first_row;
  const auto begin_of = [&](std::int64_t rank) { return divided(info.rows, rank, ranks.size()); };
  options.first = first_row = begin_of(ranks.rank());
  options.rows = begin_of(ranks.rank() + 1) - first_row;
  if (info.metric == Metric::negative_dot && arithmetic == Arithmetic::f32) {
    ranks.together([&] { options.largest = options.rows > 0 ? largest_in(path, options) : 0; });
    options.largest = ranks.largest(options.largest);
  }
  ranks.together([&] {
    if (options.rows > 0) mine.emplace(open_index(path, device, options));
  });
  share_parameter();
  const std::array<std::int64_t, 1> live = {mine ? mine->rows() : 0};
  for (const std::int64_t one : ranks.all_of(live)) rows += one;
}

void Index::State::share_parameter() {
  const std::array<std::int64_t, 1> here = {
      std::bit_cast<std::int64_t>(mine ? mine->shown().parameter : 0.0)};
  for (const std::int64_t one : ranks.all_of(here))
    if (one != 0) shown.parameter = std::bit_cast<double>(one);
}

void Index::State::require_same_queries(const RowsView& queries, std::int64_t k,
                                        std::span<const std::byte> radii, std::size_t bytes) const {
  Digest asked, within;
  asked.add(queries);
  within.add(radii.data(), radii.size());
  const std::array<std::int64_t, 8> facts = {queries.rows,
                                             queries.cols,
                                             static_cast<std::int64_t>(queries.element),
                                             k,
                                             asked.value(),
                                             static_cast<std::int64_t>(bytes),
                                             static_cast<std::int64_t>(radii.size() / bytes),
                                             within.value()};
  constexpr std::array names = {"numbers of queries",
                                "columns of queries",
                                "elements of queries",
                                "k",
                                "queries",
                                "elements of radii",
                                "numbers of radii",
                                "radii"};
  require_same(ranks, facts, names);
}

Keys Index::State::keys(const RowsView& queries, std::int64_t k, const SearchOptions& options,
                        Trace* trace) const {
  require_same_queries(queries, k);
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
    const bool doubles = arithmetic == Arithmetic::f64;
    found = {queries.rows,
             k,
             std::vector<std::uint32_t>(doubles ? 0 : cells, no_value),
             std::vector<std::int64_t>(cells, -1),
             arithmetic,
             std::vector<std::uint64_t>(doubles ? cells : 0, no_double)};
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

template <class Radius>
RadiusKeys Index::State::keys(const RowsView& queries, std::span<const Radius> radii,
                              const SearchOptions& options, Trace* trace) const {
  require_same_queries(queries, 0, std::as_bytes(radii), sizeof(Radius));
  RadiusKeys found;
  ranks.together([&] {
    if (mine)
      found = mine->within_keys(queries, radii, options, trace);
    else if (queries.rows >= 0)
      found = {queries.rows,
               std::vector<std::int64_t>(static_cast<std::size_t>(queries.rows) + 1),
               {},
               {},
               arithmetic};
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

Neighbors Index::search(const RowsView& queries, std::int64_t k, const SearchOptions& options,
                        Trace* trace) const {
  return state_->voted(
      [&] { return state_->keys_of_search(queries, k, options, trace); },
      [&](const Keys& keys) { return numbered_from_0(finish(state_->shown, keys), state_->numbered_from); });
}

Classification Index::classify(const RowsView& queries, std::int64_t k, const ShardLabels& labels,
                               const VotingOptions& voting, const SearchOptions& options,
                               Trace* trace) const {
  return state_->voted([&] { return state_->keys_of_search(queries, k, options, trace); },
                       [&](const Keys& keys) { return kith::classify(state_->shown, keys, labels, voting); });
}

Regression Index::regress(const RowsView& queries, std::int64_t k, const ShardValues& values,
                          const VotingOptions& voting, const SearchOptions& options, Trace* trace) const {
  return state_->voted([&] { return state_->keys_of_search(queries, k, options, trace); },
                       [&](const Keys& keys) { return kith::regress(state_->shown, keys, values, voting); });
}

// Questions within radii, which are floats or doubles.
#define KITH_FOR_RADII(Radius)                                                                         \
  RadiusKeys Index::within_keys(const RowsView& queries, std::span<const Radius> radii,                \
                                const SearchOptions& options, Trace* trace) const {                    \
    return on_all(state_->ranks.get(), [&] { return state_->keys(queries, radii, options, trace); });  \
  }                                                                                                    \
  RadiusNeighbors Index::within(const RowsView& queries, std::span<const Radius> radii,                \
                                const SearchOptions& options, Trace* trace) const {                    \
    return state_->voted([&] { return state_->keys(queries, radii, options, trace); },                 \
                         [&](const RadiusKeys& keys) {                                                 \
                           return numbered_from_0(finish(state_->shown, keys), state_->numbered_from); \
                         });                                                                           \
  }                                                                                                    \
  RadiusClassification Index::classify_within(const RowsView& queries, std::span<const Radius> radii,  \
                                              const ShardLabels& labels, const VotingOptions& voting,  \
                                              const SearchOptions& options, Trace* trace) const {      \
    return state_->voted(                                                                              \
        [&] { return state_->keys(queries, radii, options, trace); },                                  \
        [&](const RadiusKeys& keys) { return kith::classify(state_->shown, keys, labels, voting); });  \
  }                                                                                                    \
  RadiusRegression Index::regress_within(const RowsView& queries, std::span<const Radius> radii,       \
                                         const ShardValues& values, const VotingOptions& voting,       \
                                         const SearchOptions& options, Trace* trace) const {           \
    return state_->voted(                                                                              \
        [&] { return state_->keys(queries, radii, options, trace); },                                  \
        [&](const RadiusKeys& keys) { return kith::regress(state_->shown, keys, values, voting); });   \
  }
KITH_FOR_RADII(float)
KITH_FOR_RADII(double)
#undef KITH_FOR_RADII

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
  return state_->shown.metric;
}

Arithmetic Index::arithmetic() const {
  return state_->arithmetic;
}

ShownBy Index::shown() const {
  return state_->shown;
}

}  // namespace kith::mpi
