#include "workloads/cases.hpp"

#include <algorithm>
#include <sstream>

#include "kith/spi.hpp"
#include "workloads/random.hpp"
#include "workloads/stored.hpp"

namespace kith::workloads {
namespace {

/// A case should take milliseconds on two cores through a CPU's OpenCL driver.
constexpr std::int64_t most_chain_steps = 1000000;   ///< m * n * dims
constexpr std::int64_t most_pairs = 300000;          ///< m * n
constexpr std::int64_t most_sorting_work = 4000000;  ///< m * n * k, or m * n * n
constexpr std::int64_t most_tiles = 48;
constexpr std::int64_t most_queries_of_bytes =
    64;  ///< most queries that int8 and int4 take at a time on a GPU

/// Returns whether the selector's work grows with n * k.
bool grows_with_k(Selector selector) {
  return selector == Selector::bubble || selector == Selector::insertion || selector == Selector::k_min ||
         selector == Selector::selection_sort || selector == Selector::quick_sort;
}

/// Returns whether the selector's work grows with n * n.
bool grows_with_n(Selector selector) {
  return selector == Selector::rank_sort || selector == Selector::odd_even;
}

std::int64_t draw_n(Random& random) {
  switch (random.below(8)) {
    case 0:
      return random.between(1, 40);
    case 1:
      return random.pick<std::int64_t>({63, 64, 65, 255, 256, 257, 1023, 1024, 1025, 4096});
    case 2:
      return random.between(4000, 60000);
    default:
      return random.between(1, 4000);
  }
}

std::int64_t draw_m(Random& random) {
  if (random.one_in(64)) return 0;
  if (random.one_in(3)) return random.between(1, 3);
  return random.one_in(2) ? random.pick<std::int64_t>({15, 16, 17, 31, 32, 33, 64, 100})
                          : random.between(1, 70);
}

std::int64_t draw_dims(Random& random) {
  return random.one_in(4)
             ? random.between(1, 40)
             : random.pick<std::int64_t>({1, 2, 3, 4, 5, 8, 13, 16, 17, 29, 32, 64, 100, 128, 784});
}

std::int64_t draw_k(Random& random, std::int64_t n) {
  std::int64_t k = 1;
  switch (random.below(6)) {
    case 0:
      k = random.between(1, n);
      break;
    case 1:
      k = n - random.below(2);
      break;
    case 2:
      k = random.pick<std::int64_t>(
          {32, 33, 64, 100, 255, 256, 257, 1023, 1024, 1025, 2047, 2048, 2049, 4096});
      break;
    default:
      k = random.pick<std::int64_t>({1, 2, 3, 5, 7, 8, 10, 15, 16, 17, 31});
      break;
  }
  return std::clamp<std::int64_t>(k, 1, n);
}

/// Draws many queries and rows, for which kernels work in large tiles and first look at a sample of the rows.
/// A slow reference could not check it.
void draw_wide(Random& random, Case& c) {
  c.m = random.between(65, 300);
  c.n = random.between(2000, 30000);
  c.dims = random.pick<std::int64_t>({1, 2, 3, 5, 8, 17, 33});
  c.k = random.one_in(4) ? random.between(1, 300) : random.between(1, 32);
}

void draw_path(Random& random, const DeviceInfo& device, Case& c) {
  if (!device.selectors.empty() && !random.one_in(4))
    c.selector = device.selectors[static_cast<std::size_t>(
        random.below(static_cast<std::int64_t>(device.selectors.size())))];
  if (c.selector == Selector::automatic) {
    if (random.one_in(4)) c.fused = false;
    if (device.fused_max_k >= c.k && random.one_in(2)) c.fused = true;
  }
  if (c.selector == Selector::local_sort) c.k = std::min<std::int64_t>(c.k, 256);
  const bool products = c.metric != Metric::l1 && c.metric != Metric::linf;
  if (products && !device.proposers.empty() && random.one_in(5)) {
    c.proposer = device.proposers[static_cast<std::size_t>(
        random.below(static_cast<std::int64_t>(device.proposers.size())))];
    c.fused.reset();
  }
}

/// Takes fewer rows, then fewer neighbours, until a case is quick.
void limit_work(Case& c) {
  while (c.n > 1 && (c.m * c.n * c.dims > most_chain_steps || c.m * c.n > most_pairs)) c.n = (c.n + 1) / 2;
  c.k = std::min(c.k, c.n);
  if (grows_with_n(c.selector))
    while (c.n > 1 && c.m * c.n * c.n > most_sorting_work) c.n = (c.n + 1) / 2;
  c.k = std::min(c.k, c.n);
  if (!grows_with_k(c.selector)) return;
  while (c.k > 1 && c.m * c.n * c.k > most_sorting_work) c.k = (c.k + 1) / 2;
}

void draw_tiles(Random& random, DeviceKind kind, Case& c) {
  const std::int64_t m = std::max<std::int64_t>(c.m, 1);
  if (random.one_in(2)) c.query_tile = random.pick<std::int64_t>({1, 2, 7, 16, random.between(1, m)});
  if (random.one_in(2))
    c.train_tile = random.pick<std::int64_t>(
        {1, 5, 64, c.k, std::max<std::int64_t>(1, c.k - 1), random.between(1, c.n), c.n});
  if (random.one_in(2)) c.lists = random.pick<std::int64_t>({1, 2, 3, 7, 16, random.between(1, 100)});
  const auto tiles = [](std::int64_t rows, std::int64_t tile) {
    return tile == 0 ? 1 : (rows + tile - 1) / tile;
  };
  while (tiles(m, c.query_tile) > 6) c.query_tile *= 2;
  if (spi::multiplies_bytes(c.proposer) && kind == DeviceKind::gpu)
    c.query_tile = std::min(c.query_tile, most_queries_of_bytes);
  while (c.train_tile > 0 && tiles(m, c.query_tile) * tiles(c.n, c.train_tile) > most_tiles)
    c.train_tile *= 2;
}

/// Turns some cases into a stage that no plain search has. The rows stay the same; the path does not matter.
void draw_stage(Random random, Case& c) {
  if (c.m == 0 || !random.one_in(10)) return;
  c.stage = random.pick({Stage::mask, Stage::score, Stage::accumulate});
  c.classes = random.pick<std::int64_t>({1, 2, 3, 10, 40, 300});
  c.selector = Selector::automatic;
  c.proposer = Proposer::automatic;
  c.fused.reset();
  c.lists = c.query_tile = c.train_tile = 0;
}

/// Returns whether a search for these sizes can go by boxes.
bool has_boxes(const DeviceInfo& device, const Case& c) {
  const bool bounded = sums_squares(c.metric) || c.metric == Metric::l1 || c.metric == Metric::linf;
  return bounded && c.k <= device.boxes_max_k && !c.stage;
}

void go_by_boxes(Case& c) {
  c.boxes = true;
  c.selector = Selector::automatic;
  c.proposer = Proposer::automatic;
  c.fused.reset();
  c.lists = c.train_tile = 0;
}

/// Gives half of the cases rows of another element than float32, some of them bits. It draws from a series of
/// its own, so that the other choices of a seed do not change.
void draw_elements(Random random, Case& c) {
  if (c.stage || random.one_in(2)) return;
  const auto draw = [&] {
    return random.pick({Element::f32, Element::f16, Element::bf16, Element::u8, Element::i8});
  };
  c.train_element = draw();
  c.query_element = draw();
  if (!random.one_in(6)) return;
  c.train_element = c.query_element = Element::bits;
  c.metric = Metric::hamming;
  c.proposer = Proposer::automatic;  // none has a bound for bits
}

/// Lets half of the searches among bytes keep bytes on the device.
void draw_reserve(Random random, Case& c) {
  const bool bytes = c.train_element == Element::u8 || c.train_element == Element::i8;
  if (bytes && !c.stage && c.classes == 0 && random.one_in(2)) c.reserve = 1 + random.below(2 * c.n);
}

}  // namespace

Index index_of(const Device& device, const RowsView& train, Metric metric, std::int64_t reserve) {
  if (reserve == 0) return Index(device, train, metric);
  IndexOptions options{.reserve = reserve};
  const std::int64_t first = (train.rows + 1) / 2;
  const Index half(device, train.slice(0, first), metric, options);
  return first == train.rows ? half : half.with(train.slice(first, train.rows - first));
}

bool take_boxes(const DeviceInfo& device, Case& c) {
  if (!has_boxes(device, c)) return false;
  go_by_boxes(c);
  return true;
}

Case random_case(const DeviceInfo& device, std::uint64_t seed, std::uint64_t number) {
  Random random(random_bits(scramble(seed), number));
  Case c;
  c.seed = random.next() % 1000000;
  c.data = all_data_kinds[static_cast<std::size_t>(random.below(all_data_kinds.size()))];
  do {
    c.metric = number_metrics[static_cast<std::size_t>(random.below(number_metrics.size()))];
  } while (!admits(c.metric, c.data));
  c.n = draw_n(random);
  c.m = draw_m(random);
  c.dims = draw_dims(random);
  c.k = draw_k(random, c.n);
  const bool wide = device.backend != "cpu" && random.one_in(device.kind == DeviceKind::cpu ? 50 : 8);
  if (wide) draw_wide(random, c);
  draw_path(random, device, c);
  if (wide && (grows_with_k(c.selector) || grows_with_n(c.selector))) c.selector = Selector::automatic;
  if (!wide) limit_work(c);
  if (c.fused == true && c.k > device.fused_max_k) c.fused.reset();
  draw_tiles(random, device.kind, c);
  if (random.one_in(3)) c.classes = random.pick<std::int64_t>({1, 2, 3, 10, 300});
  c.threads = static_cast<std::uint32_t>(random.pick({0, 0, 1, 3}));
  if (!wide) draw_stage(Random(random_bits(scramble(seed) + 1, number)), c);
  draw_elements(Random(random_bits(scramble(seed) + 2, number)), c);
  if (Random(random_bits(scramble(seed) + 3, number)).one_in(6)) take_boxes(device, c);
  draw_reserve(Random(random_bits(scramble(seed) + 4, number)), c);
  return c;
}

Case problem_of(const Case& c) {
  return {.data = c.data,
          .seed = c.seed,
          .n = c.n,
          .m = c.m,
          .dims = c.dims,
          .k = c.k,
          .metric = c.metric,
          .train_element = c.train_element,
          .query_element = c.query_element,
          .classes = c.classes};
}

Answer ask(const Index& index, const RowsView& queries, std::int64_t k, const SearchOptions& options,
           Trace* trace) {
  return {index.search(queries, k, options, trace), {}, {}};
}

Answer ask(const Classifier& classifier, const RowsView& queries, std::int64_t k,
           const SearchOptions& options, Trace* trace) {
  Classification found = classifier.classify(queries, k, options, trace);
  return {std::move(found.neighbors), std::move(found.label), std::move(found.votes)};
}

std::string command_line(const Case& c, const std::string& device) {
  std::ostringstream out;
  out << "kith compare --device " << device << " --stage "
      << (c.stage     ? name(*c.stage)
          : c.classes ? "classify"
                      : "search")
      << " --data " << name(c.data) << " --seed " << c.seed << " -n " << c.n << " -m " << c.m << " --dims "
      << c.dims << " -k " << c.k << " --metric " << name(c.metric);
  if (c.train_element != Element::f32 || c.query_element != Element::f32)
    out << " --element " << name(c.train_element) << "," << name(c.query_element);
  if (c.classes) out << " --classes " << c.classes;
  std::string how;
  const auto tell = [&](const std::string& key, const std::string& value) {
    how += (how.empty() ? " --how " : ",") + key + "=" + value;
  };
  if (c.selector != Selector::automatic) tell("selector", std::string(name(c.selector)));
  if (c.proposer != Proposer::automatic) tell("proposer", std::string(name(c.proposer)));
  if (c.fused) tell("fused", *c.fused ? "yes" : "no");
  if (c.boxes) tell("boxes", *c.boxes ? "yes" : "no");
  if (c.lists) tell("lists", std::to_string(c.lists));
  if (c.query_tile) tell("query_tile", std::to_string(c.query_tile));
  if (c.train_tile) tell("train_tile", std::to_string(c.train_tile));
  out << how;
  if (c.threads) out << " --place threads=" << c.threads;
  if (c.reserve) out << " --reserve " << c.reserve;
  return out.str();
}

Rows case_rows(const Case& c, Set set) {
  const bool train = set == Set::train;
  Rows rows = make_rows(c.data, c.seed, set, train ? c.n : c.m, c.dims, c.metric);
  round_to(train ? c.train_element : c.query_element, c.metric, rows);
  return rows;
}

Answer answer(const Device& device, const Case& c) {
  const StoredRows train(c.train_element, case_rows(c, Set::train));
  const StoredRows queries(c.query_element, case_rows(c, Set::queries));
  SearchOptions options{.selector = c.selector,
                        .proposer = c.proposer,
                        .fused = c.fused,
                        .boxes = c.boxes,
                        .lists = c.lists,
                        .query_tile = c.query_tile,
                        .train_tile = c.train_tile,
                        .threads = c.threads};
  if (c.classes == 0)
    return ask(index_of(device, train.view(), c.metric, c.reserve), queries.view(), c.k, options);
  const std::vector<std::int64_t> labels = make_labels(c.seed, c.n, c.classes);
  return ask(Classifier(device, train.view(), labels, c.metric), queries.view(), c.k, options);
}

}  // namespace kith::workloads
