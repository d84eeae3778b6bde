#include "workloads/proposed_cases.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>

#include "kith/error.hpp"
#include "kith/index.hpp"
#include "kith/spi.hpp"
#include "workloads/clock.hpp"
#include "workloads/random.hpp"

namespace kith::workloads {
namespace {

constexpr std::size_t most_failures = 5;            ///< texts kept; all are counted
constexpr std::uint64_t sets_a_voucher = 16;        ///< a second device checks one in so many sets
constexpr double vouched_steps = 1e8;               ///< at most this m * n * dims is asked of it
constexpr double vouched_plain_steps = 3e6;         ///< the same of plain_answer()
constexpr std::int64_t most_cells = 2 << 20;        ///< n * dims, except for one set in eight
constexpr std::int64_t most_slow_steps = 60 << 20;  ///< m * n * dims on a CPU
constexpr std::int64_t most_steps_of_tiles = 24, most_query_tiles = 4;
// One set in so many has one of these numbers of columns, for which kernels have forms of their own.
constexpr std::uint64_t sets_a_wide_one = 6;
constexpr std::int64_t wide_dims[] = {321, 384, 385, 448, 449, 513, 640, 641, 768, 769, 896, 897};
constexpr std::int64_t most_proposed_for = 64;  // most queries that int8 and int4 take at a time on a GPU

bool is_slow(const DeviceInfo& device) {
  return device.kind == DeviceKind::cpu;
}

std::int64_t draw_n(Random& random, const DeviceInfo& device) {
  const std::int64_t share = is_slow(device) ? 4 : 1;
  switch (random.below(4)) {
    case 0:
      return random.between(1, 400);
    case 1:
      return random.pick<std::int64_t>({127, 128, 129, 255, 256, 257, 1023, 1024, 1025, 2048, 4096, 4097});
    case 2:
      return random.between(400, 4000);
    default:
      return random.between(4000, 20000) / share;
  }
}

std::int64_t draw_proposed_dims(Random& random) {
  if (random.one_in(2))
    return random.pick<std::int64_t>(
        {1, 2, 3, 4, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 96, 127, 128, 129, 192, 193, 256, 257, 300});
  return random.between(1, random.pick<std::int64_t>({4, 16, 64, 130, 300}));
}

std::int64_t draw_proposed_m(Random& random) {
  switch (random.below(4)) {
    case 0:
      return random.between(1, 8);
    case 1:
      return random.one_in(2) ? random.between(9, 64)
                              : random.pick<std::int64_t>({15, 16, 17, 31, 32, 33, 63, 64});
    case 2:
      return random.pick<std::int64_t>({65, 127, 128, 129, 192, 255, 256, 257});
    default:
      return random.between(65, 300);
  }
}

std::int64_t draw_k(Random& random) {
  switch (random.below(6)) {
    case 0:
      return random.between(1, 300);
    case 1:
      return random.pick<std::int64_t>({31, 32, 33, 63, 64, 100, 127, 128, 129, 255, 256, 257});
    default:
      return random.between(1, 32);
  }
}

Metric draw_metric(Random& random, DataKind data) {
  Metric metric = Metric::squared_l2;
  do {
    metric = random.pick(
        {Metric::squared_l2, Metric::squared_l2, Metric::l2, Metric::negative_dot, Metric::cosine});
  } while (!admits(metric, data));
  return metric;
}

Proposer draw_proposer(Random& random, std::span<const Proposer> all) {
  const bool has_fp16 = std::find(all.begin(), all.end(), Proposer::fp16) != all.end();
  if (has_fp16 && random.one_in(2)) return Proposer::fp16;
  return all[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(all.size())))];
}

/// Draws small tiles, as tests force them: few rows, or few queries, but not hundreds of steps for one case.
void draw_tiles(Random& random, const DeviceInfo& device, Case& c) {
  if (random.one_in(4))
    c.query_tile = random.pick<std::int64_t>({1, 16, 64, 65, 128, random.between(1, c.m)});
  if (random.one_in(4))
    c.train_tile = random.pick<std::int64_t>({1, 128, 129, 1000, random.between(1, c.n), c.n});
  while (c.query_tile > 0 && c.query_tile * most_query_tiles < c.m) c.query_tile *= 2;
  if (spi::multiplies_bytes(c.proposer) && !is_slow(device))
    c.query_tile = std::min(c.query_tile, most_proposed_for);
  while (c.train_tile > 0 && c.train_tile * most_steps_of_tiles < c.n) c.train_tile *= 2;
}

SearchOptions options_of(const Case& c, Proposer proposer) {
  SearchOptions options{.proposer = proposer};
  if (proposer != Proposer::none) {
    options.query_tile = c.query_tile;
    options.train_tile = c.train_tile;
  }
  options.threads = c.threads;
  return options;
}

/// Holds the rows of a set, and the answer of the chain alone.
struct Searched {
  Rows train, queries;
  Index index;
  Neighbors right;  ///< with as many queries and neighbours as the largest case needs
};

Searched search_by_chain(const Device& device, std::span<const Case> cases) {
  const Case& c = cases.front();
  std::int64_t m = 0, k = 0;
  for (const Case& one : cases) m = std::max(m, one.m), k = std::max(k, one.k);
  Rows train = make_rows(c.data, c.seed, Set::train, c.n, c.dims, c.metric);
  Rows queries = make_rows(c.data, c.seed, Set::queries, m, c.dims, c.metric);
  Index index(device, train.view(), c.metric);
  Neighbors right = index.search(queries.view(), k, options_of(c, Proposer::none));
  return {std::move(train), std::move(queries), std::move(index), std::move(right)};
}

/// Compares the chains of two devices. Returns the first difference.
std::string vouch(const Device* voucher, const Case& c, const Searched& searched) {
  const double a_query = static_cast<double>(c.n) * static_cast<double>(c.dims),
               most = voucher ? vouched_steps : vouched_plain_steps;
  const auto m =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(most / a_query), 1, searched.right.queries);
  const MatrixView<const float> queries = searched.queries.view().slice(0, m);
  Answer expected;
  if (voucher)
    expected.neighbors = Index(*voucher, searched.train.view(), c.metric)
                             .search(queries, searched.right.k, options_of(c, Proposer::none));
  else
    expected = plain_answer(c.metric, searched.train.view(), queries, searched.right.k, nullptr);
  return difference(expected, {first_of(searched.right, m, searched.right.k), {}, {}});
}

/// Runs and counts one case. Returns what is wrong; empty if the bits are the same.
std::string check(const Case& c, const Searched& searched, CaseCounts& counts_of_case) {
  Trace trace;
  trace.time_steps = false;
  const Neighbors found =
      searched.index.search(searched.queries.view().slice(0, c.m), c.k, options_of(c, c.proposer), &trace);
  ++counts_of_case.cases;
  counts_of_case.queries += static_cast<std::uint64_t>(c.m);
  counts_of_case.repeats += static_cast<std::uint64_t>(trace.repeats);
  counts_of_case.fallbacks += static_cast<std::uint64_t>(trace.fallbacks);
  if (trace.plan.proposer == Proposer::none) counts_of_case.out_of_range += counts_of_case.queries;
  return difference({first_of(searched.right, c.m, c.k), {}, {}}, {found, {}, {}});
}

void add_failure(ProposedResult& result, const std::string& wrong, const Case& c, const Device& device) {
  ++result.different;
  if (result.failures.size() < most_failures)
    result.failures.push_back(wrong + "\n  " + command_line(c, device.info().spec));
}

/// Hands out the numbers of cases, one set at a time.
class Numbers {
 public:
  explicit Numbers(const RandomOptions& options)
      : options_(options), end_(options.first + options.cases), set_(options.first / cases_a_set) {}

  /// Returns the next set; nothing if none is left or the time is up.
  std::optional<std::uint64_t> take() {
    const std::lock_guard lock(mutex_);
    if (set_ * cases_a_set >= end_ || over()) return std::nullopt;
    return set_++;
  }

  /// Returns whether the time is up.
  bool over() const {
    return options_.stop.stop_requested() || (options_.seconds > 0 && clock_.seconds() >= options_.seconds);
  }

  /// Returns the cases of a set that the options ask for.
  std::span<const Case> wanted(std::uint64_t set, std::span<const Case> cases) const {
    const std::uint64_t before = set * cases_a_set, from = std::max(before, options_.first),
                        to = std::min(before + cases_a_set, end_);
    return cases.subspan(from - before, to - from);
  }

  /// Returns the first number that was not handed out.
  std::uint64_t next() const { return std::clamp(set_ * cases_a_set, options_.first, end_); }

 private:
  const RandomOptions& options_;
  const std::uint64_t end_;
  const Clock clock_;
  std::mutex mutex_;
  std::uint64_t set_;
};

/// Runs the cases of one set.
void run_set(const Device& device, const Device* voucher, bool vouches, std::span<const Case> cases,
             const Numbers& numbers, ProposedResult& result) {
  Case by_chain = problem_of(cases.front());
  for (const Case& c : cases) by_chain.m = std::max(by_chain.m, c.m), by_chain.k = std::max(by_chain.k, c.k);
  by_chain.proposer = Proposer::none;
  std::optional<Searched> searched;
  try {
    searched = search_by_chain(device, cases);
    if (vouches) {
      ++result.vouched;
      if (const std::string wrong = vouch(voucher, cases.front(), *searched); !wrong.empty())
        add_failure(result, "the chain alone: " + wrong, by_chain, device);
    }
  } catch (const Error& error) {
    add_failure(result, error.what(), by_chain, device);
  }
  for (const Case& c : cases) {
    if (numbers.over()) break;
    ++result.compared;
    if (!searched) continue;
    CaseCounts counts_of_case;
    std::string wrong;
    try {
      wrong = check(c, *searched, counts_of_case);
    } catch (const Error& error) {
      wrong = error.what();
    }
    if (!wrong.empty()) add_failure(result, wrong, c, device);
    result.case_counts[std::string(name(c.proposer))] += counts_of_case;
    result.case_counts[std::string(name(c.data))] += counts_of_case;
  }
}

}  // namespace

CaseCounts& CaseCounts::operator+=(const CaseCounts& more) {
  cases += more.cases;
  queries += more.queries;
  repeats += more.repeats;
  fallbacks += more.fallbacks;
  out_of_range += more.out_of_range;
  return *this;
}

ProposedResult& ProposedResult::operator+=(const ProposedResult& more) {
  next = more.next;
  compared += more.compared;
  different += more.different;
  refused += more.refused;
  vouched += more.vouched;
  if (first_refusal.empty()) first_refusal = more.first_refusal;
  for (const std::string& failure : more.failures)
    if (failures.size() < most_failures) failures.push_back(failure);
  for (const auto& [name, counts_of_case] : more.case_counts) case_counts[name] += counts_of_case;
  return *this;
}

Neighbors first_of(const Neighbors& all, std::int64_t m, std::int64_t k) {
  Neighbors some{m, k, {}, {}};
  for (std::int64_t q = 0; q < m; ++q) {
    const auto take = [&](auto& to, const auto& from) {
      to.insert(to.end(), from.begin() + q * all.k, from.begin() + q * all.k + k);
    };
    take(some.distance, all.distance);
    take(some.row, all.row);
  }
  return some;
}

std::vector<Case> proposed_cases(const DeviceInfo& device, std::span<const Proposer> proposers,
                                 std::uint64_t seed, std::uint64_t number) {
  Random random(random_bits(scramble(seed) + 2, number));
  Case c{.seed = random.next() % 1000000};
  const auto kind = static_cast<std::size_t>(
      random.below(static_cast<std::int64_t>(all_data_kinds.size() + adversarial_data_kinds.size())));
  c.data = kind < all_data_kinds.size() ? all_data_kinds[kind]
                                        : adversarial_data_kinds[kind - all_data_kinds.size()];
  c.metric = draw_metric(random, c.data);
  c.n = draw_n(random, device);
  c.dims = draw_proposed_dims(random);
  if (number % sets_a_wide_one == sets_a_wide_one - 1)
    c.dims = wide_dims[number / sets_a_wide_one % std::size(wide_dims)];
  c.threads = device.backend == "cpu" ? 0 : 1;
  if (!random.one_in(8)) c.n = std::min(c.n, std::max<std::int64_t>(1, most_cells / c.dims));
  std::vector<Case> cases(cases_a_set, c);
  for (Case& one : cases) {
    one.m = draw_proposed_m(random);
    one.k = draw_k(random);
    one.proposer = draw_proposer(random, proposers);
  }
  if (is_slow(device))
    for (Case& one : cases) one.m = std::clamp<std::int64_t>(most_slow_steps / (c.n * c.dims), 1, one.m);
  for (Case& one : cases) {
    one.k = std::min(one.k, one.n);
    draw_tiles(random, device, one);
  }
  return cases;
}

ProposedResult run_proposed_cases(std::span<const Device> workers, const Device* voucher,
                                  const ProposedOptions& options) {
  const DeviceInfo& info = workers.front().info();
  ProposedResult all;
  std::mutex mutex;
  std::exception_ptr failure;
  Numbers numbers(options);
  const auto work = [&](const Device& device) {
    try {
      while (const std::optional<std::uint64_t> set = numbers.take()) {
        ProposedResult result;
        const std::vector<Case> cases = proposed_cases(info, options.proposers, options.seed, *set);
        run_set(device, voucher, *set % sets_a_voucher == 0, numbers.wanted(*set, cases), numbers, result);
        const std::lock_guard lock(mutex);
        all += result;
      }
    } catch (...) {  // a thread must not throw
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> team;
    for (const Device& device : workers.subspan(1)) team.emplace_back([&] { work(device); });
    work(workers.front());
  }
  if (failure) std::rethrow_exception(failure);
  all.next = numbers.next();
  return all;
}

}  // namespace kith::workloads
