// groups: finds the k nearest rows of each query in its group. A task is some successive queries, of one
// group or of many; those of a group scan its rows as in the step nearest. A list from which the query's own
// row is left out has one key more.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "cpu/steps/shortlist.hpp"
#include "cpu/steps/steps.hpp"
#include "host/parallel.hpp"

namespace kith::cpu {
namespace {

constexpr std::size_t most_group_queries = 128;
/// The most bytes for the short lists of a task; if more are needed, a task gets fewer queries.
constexpr std::size_t most_bytes_of_lists = std::size_t{1} << 24;

/// How long lists are, and how many queries a task has.
struct ListSizes {
  std::size_t k;         ///< keys that a list keeps
  std::size_t capacity;  ///< entries per list
  std::size_t queries;   ///< queries per task

  explicit ListSizes(const spi::GroupsStep& step)
      : k(std::size_t{step.k} + (step.own >= 0 ? 1 : 0)),
        capacity(shortlist_capacity(k, step.train.rows)),
        queries(std::clamp(most_bytes_of_lists / (capacity * sizeof(Key)) / query_block * query_block,
                           query_block, most_group_queries)) {}
  /// Returns the bytes of the lists of a task, and of one list that has a key too many.
  std::size_t bytes() const { return (queries * capacity + k) * sizeof(Key); }
};

/// Searches the queries of a task.
class GroupsTask {
 public:
  GroupsTask(const spi::GroupsStep& step, const Kernels& kernels, const ListSizes& sizes, Key* memory)
      : step_(step), kernels_(kernels), sizes_(sizes), entries_(memory) {
    thresholds_.fill(-std::numeric_limits<float>::infinity());  // nothing passes outside the lists
  }

  /// Searches queries begin ... end - 1 of the step.
  void run(std::uint32_t begin, std::uint32_t end) {
    const std::uint32_t* const borders = elements(step_.query_borders);
    const std::uint32_t* const last = borders + step_.query_borders.cols;
    const std::uint32_t* next = std::upper_bound(borders, last, step_.first_query + begin);
    for (std::uint32_t q = begin; q < end;) {
      while (next != last && *next <= step_.first_query + q) ++next;
      const std::uint32_t until = next == last ? end : std::min(end, *next - step_.first_query);
      run_group(static_cast<std::size_t>(next - borders - 1), q, until);
      q = until;
    }
  }

 private:
  /// Searches queries begin ... end - 1, which are all of group g.
  void run_group(std::size_t g, std::uint32_t begin, std::uint32_t end) {
    const std::uint32_t* const borders = elements(step_.row_borders);
    const std::uint32_t from = borders[g] - step_.first_row, until = borders[g + 1] - step_.first_row;
    const std::uint32_t counted_from = step_.from_group ? borders[g] : 0;
    Shortlists lists{
        entries_, sizes_.capacity,  counts_.data(), ranked_.data(), thresholds_.data() + query_block,
        sizes_.k, kernels_.sort_few};
    for (std::size_t i = 0; i < end - begin; ++i) clear(lists, i);
    if (from < until)
      kernels_.nearest({step_.metric, elements(step_.queries), elements(step_.train), step_.train.dims,
                        step_.queries.first + begin, step_.queries.first + end, step_.train.first + from,
                        step_.train.first + until},
                       step_.first_row - step_.train.first - counted_from, lists);
    for (std::uint32_t q = begin; q < end; ++q)
      put(lists, q - begin, elements(step_.out) + q * step_.out.stride, own_of(q, counted_from));
  }

  /// Returns the row that query q of the step is, as its key names it.
  std::optional<std::uint32_t> own_of(std::uint32_t q, std::uint32_t counted_from) const {
    if (step_.own < 0) return {};
    return static_cast<std::uint32_t>(step_.own) + step_.first_query + q - counted_from;
  }

  void put(Shortlists& lists, std::size_t list, Key* out, std::optional<std::uint32_t> own) {
    if (!own) return finish(lists, list, out);
    Key* const longer = entries_ + sizes_.queries * sizes_.capacity;
    finish(lists, list, longer);
    std::size_t to = 0;
    for (std::size_t j = 0; j < sizes_.k && to < step_.k; ++j)
      if (longer[j] == no_key || row_of(longer[j]) != *own) out[to++] = longer[j];
  }

  const spi::GroupsStep& step_;
  const Kernels& kernels_;
  const ListSizes& sizes_;
  Key* const entries_;
  std::array<float, query_block + most_group_queries + query_block> thresholds_;
  std::array<std::size_t, most_group_queries> counts_, ranked_;
};

}  // namespace

spi::Support check(const spi::GroupsStep& step, const Resources& with) {
  return {{}, with.team * ListSizes(step).bytes()};
}

void run(const spi::GroupsStep& step, const Resources& with) {
  const std::size_t m = step.queries.rows;
  if (m == 0) return;
  const ListSizes sizes(step);
  const ScratchParts scratch(spi::GroupsStep::name, step.scratch, sizes.bytes(), with.team);
  const std::size_t tasks = (m + sizes.queries - 1) / sizes.queries;
  // How many pairs there are, the borders tell; a query that reads one block is about this work.
  const std::size_t work = m * step.train.dims * train_block;
  run_team(tasks, work, scratch.team(), [&](std::size_t task, std::size_t thread) {
    const std::size_t begin = task * sizes.queries;
    GroupsTask(step, with.kernels, sizes, scratch.of<Key>(thread))
        .run(static_cast<std::uint32_t>(begin),
             static_cast<std::uint32_t>(std::min(m, begin + sizes.queries)));
  });
}

}  // namespace kith::cpu
