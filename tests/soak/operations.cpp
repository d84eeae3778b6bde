#include "operations.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "common/oracle.hpp"
#include "kith/knn.hpp"

namespace kith::tests::soak {
namespace {

/// Is thrown by a progress callback.
struct Enough {};

SearchOptions options_of(const Way& way) {
  return {.selector = way.selector, .proposer = way.proposer, .fused = way.fused};
}

const Way& any(const std::vector<Way>& ways, Random& random) {
  return ways[size(random.below(static_cast<std::int64_t>(ways.size())))];
}

/// Returns random options: one of the ways to search, random threads, and often random tiles.
SearchOptions drawn(const Bench& bench, Random& random) {
  SearchOptions options = options_of(any(bench.ways, random));
  options.threads = static_cast<std::uint32_t>(random.below(4));
  if (random.one_in(2)) options.query_tile = random.between(1, bench.problem.queries.rows);
  if (random.one_in(2)) options.train_tile = random.between(bench.problem.train.rows / 8 + 1, 10000);
  return options;
}

std::string wrong_code(const Error& error, Errc expected) {
  return error.code() == expected ? ""
                                  : std::string(name(error.code())) + " instead of " +
                                        std::string(name(expected)) + ": " + error.what();
}

/// Searches some queries by the index, or without one.
std::string search(Worker& worker, Place& place, Bench& bench) {
  const KnownProblem& p = bench.problem;
  const std::int64_t first = worker.random.below(p.queries.rows),
                     count = worker.random.between(1, p.queries.rows - first);
  const auto all = [](std::int64_t, std::int64_t) { return true; };
  const MatrixView<const float> some = p.queries.view().slice(first, count);
  const Neighbors found = worker.random.one_in(4)
                              ? knn(place.device, p.train, some, p.k, p.metric)
                              : bench.index.search(some, p.k, drawn(bench, worker.random));
  return difference(found, known(p, first, count, p.k, all));
}

/// Stops a search before it begins, from within, or by another worker at any time.
std::string stop(Worker& worker, Place& place, Bench& bench) {
  const KnownProblem& p = bench.problem;
  SearchOptions options = drawn(bench, worker.random);
  {
    const std::lock_guard lock(worker.stopping);
    worker.stop = std::stop_source();
    options.stop = worker.stop.get_token();
  }
  const std::int64_t when = worker.random.below(3);
  if (when == 0) worker.stop.request_stop();
  if (when == 1) options.progress = [&](const Progress&) { worker.stop.request_stop(); };
  try {
    const std::string wrong =
        difference(bench.index.search(p.queries, p.k, options), known(p, p.train.rows, p.k));
    return when == 0 ? "a search that was stopped before it began has an answer" : wrong;
  } catch (const Error& error) {
    ++place.stopped;
    return wrong_code(error, Errc::interrupted);
  }
}

/// Tests progress: fractions must rise, and a callback may search the same index, and may throw.
std::string progress(Worker& worker, Place&, Bench& bench) {
  const KnownProblem& p = bench.problem;
  SearchOptions options = drawn(bench, worker.random);
  const bool searches = worker.random.one_in(2), throws = worker.random.one_in(4);
  double last = 0;
  int calls = 0;
  std::string wrong;
  options.progress = [&](const Progress& now) {
    if (now.fraction < last || now.fraction > 1)
      wrong = "progress went from " + std::to_string(last) + " to " + std::to_string(now.fraction);
    last = now.fraction;
    if (++calls > 1) return;
    if (searches) wrong += difference(bench.index.search(p.queries, 1), known(p, p.train.rows, 1));
    if (throws) throw Enough();
  };
  try {
    wrong += difference(bench.index.search(p.queries, p.k, options), known(p, p.train.rows, p.k));
    return throws && calls > 0 ? "the caller's exception was lost" : wrong;
  } catch (const Enough&) {
    return wrong;
  }
}

std::string filter(Worker& worker, Place&, Bench& bench) {
  const KnownProblem& p = bench.problem;
  const bool own = worker.random.one_in(2);
  RowFilter bits(p.train.rows, own ? p.queries.rows : 1, false);
  const std::int64_t share = worker.random.between(1, 40);
  for (std::int64_t f = 0; f < bits.filters(); ++f)
    for (std::int64_t t = 0; t < p.train.rows; ++t)
      if (worker.random.one_in(share)) bits.set(t, true, f);
  SearchOptions options{.filter = bits, .threads = static_cast<std::uint32_t>(worker.random.below(3))};
  const auto counts = [&](std::int64_t q, std::int64_t t) { return bits.counts(t, own ? q : 0); };
  return difference(bench.index.search(p.queries, p.k, options), known(p, 0, p.queries.rows, p.k, counts));
}

std::string leave_one_out(Worker& worker, Place&, Bench& bench) {
  const KnownProblem& p = bench.problem;
  SearchOptions options = drawn(bench, worker.random);
  options.self = p.self;
  const std::int64_t first = p.first_self();
  const auto others = [&](std::int64_t q, std::int64_t t) { return t != p.self + q - first; };
  return difference(bench.index.search(p.last_queries(), p.k, options),
                    known(p, first, p.self_count(), p.k, others));
}

/// Appends rows to an index that all workers share, and to one of this worker's own in two steps.
std::string with(Worker& worker, Place& place, Bench& bench) {
  const KnownProblem& p = bench.problem;
  Index index = [&] {
    const std::lock_guard lock(bench.growing);
    const std::int64_t rows = bench.grown.rows(), more = std::min(p.train.rows - rows, p.train.rows / 8 + 1);
    if (worker.random.one_in(3))
      bench.grown = more == 0 ? bench.first_half() : bench.grown.with(p.train.view().slice(rows, more));
    return bench.grown;
  }();
  const std::int64_t k = std::min(p.k, index.rows());
  const std::string wrong = difference(index.search(p.queries, k), known(p, index.rows(), k));
  if (!wrong.empty() || !worker.random.one_in(4)) return wrong;
  const std::int64_t one = worker.random.between(1, p.train.rows - 1),
                     two = worker.random.between(one, p.train.rows - 1);
  Index own(place.device, p.train.view().slice(0, one), p.metric);
  if (two > one) own = own.with(p.train.view().slice(one, two - one));
  own = own.with(p.train.view().slice(two, p.train.rows - two));
  return difference(own.search(p.queries, p.k), known(p, p.train.rows, p.k));
}

std::vector<std::int64_t> bounds_of(const Neighbors& found) {
  std::vector<std::int64_t> bounds;
  for (std::int64_t q = 0; q <= found.queries; ++q) bounds.push_back(q * found.k);
  return bounds;
}

std::string wrong_votes(const std::vector<std::int64_t>& label, const std::vector<std::uint32_t>& votes,
                        const Votes& expected) {
  if (label != expected.label) return "other labels";
  return votes == expected.votes ? "" : "other votes";
}

std::string classify(Worker& worker, Place&, Bench& bench) {
  const KnownProblem& p = bench.problem;
  const Neighbors nearest = known(p, p.train.rows, p.k);
  const Votes expected = known_votes(p, nearest.row, bounds_of(nearest));
  if (worker.random.one_in(3))
    return bench.classifier.predict(p.queries, p.k) == expected.label ? "" : "predict: other labels";
  const Classification found = bench.classifier.classify(p.queries, p.k, drawn(bench, worker.random));
  const std::string wrong = difference(found.neighbors, nearest);
  return wrong.empty() ? wrong_votes(found.label, found.votes, expected) : wrong;
}

std::string radius(Worker& worker, Place&, Bench& bench) {
  const KnownProblem& p = bench.problem;
  const auto& list = p.ranked[size(worker.random.below(p.queries.rows))];
  const float reach = list[size(worker.random.below(static_cast<std::int64_t>(list.size())))].first;
  const RadiusNeighbors expected = known_within(p, reach);
  SearchOptions options{.threads = static_cast<std::uint32_t>(worker.random.below(3))};
  const std::vector<float> radii{reach};
  if (worker.random.one_in(2))
    return bench.index.within(p.queries, radii, options) == expected ? "" : "other rows within the radius";
  const RadiusClassification found = bench.classifier.classify_within(p.queries, radii, {}, options);
  if (found.neighbors != expected) return "other rows within the radius";
  return wrong_votes(found.label, found.votes, known_votes(p, expected.row, expected.first));
}

std::string open(Worker&, Place& place, Bench& bench) {
  const KnownProblem& p = bench.problem;
  ++place.opened;
  const Index index(open_device(place.device.info().spec), p.train, p.metric);
  return difference(index.search(p.queries, p.k), known(p, p.train.rows, p.k));
}

std::string save_and_load(Worker& worker, Place& place, Bench& bench) {
  const KnownProblem& p = bench.problem;
  Model model;
  model.metric = p.metric;
  model.k = p.k;
  model.n = p.train.rows;
  model.dims = p.train.cols;
  model.rows = p.train.values;
  model.labels = p.labels;
  save(model, worker.file);
  const Model loaded = load_model(worker.file);
  if (loaded.rows != model.rows || loaded.labels != model.labels || loaded.k != model.k)
    return "another model was loaded";
  const Neighbors nearest = known(p, p.train.rows, p.k);
  return loaded.classifier(place.device).predict(p.queries, loaded.k) ==
                 known_votes(p, nearest.row, bounds_of(nearest)).label
             ? ""
             : "a loaded model has other labels";
}

/// Makes calls that must be refused, and reads a file that is no model.
std::string refuse(Worker& worker, Place& place, Bench& bench) {
  const KnownProblem& p = bench.problem;
  const std::int64_t what = worker.random.below(4);
  try {
    if (what == 0) {
      bench.index.search(p.queries, p.train.rows + 1);
    } else if (what == 1) {
      Matrix bad = p.queries;
      bad.values.back() = inf;
      bench.index.search(bad, p.k);
    } else if (what == 2) {
      open_device(place.device.info().backend + ":no-such-device");
    } else {
      std::ofstream(worker.file) << "no model";
      load_model(worker.file);
    }
  } catch (const Error& error) {
    return wrong_code(error, what < 2   ? Errc::invalid_argument
                             : what < 3 ? Errc::unavailable
                                        : Errc::bad_file);
  }
  return "what is wrong was taken";
}

using Kind = std::string (*)(Worker&, Place&, Bench&);
constexpr std::array<Kind, kinds.size()> functions = {
    search, stop, progress, filter, leave_one_out, with, classify, radius, open, save_and_load, refuse};

std::vector<Way> ways_of(const DeviceInfo& info) {
  std::vector<Way> ways{{"as the plan chooses"}};
  for (const Selector selector : info.selectors)
    ways.push_back({std::string(name(selector)), selector, Proposer::none, false});
  ways.push_back({"fused", Selector::automatic, Proposer::none, true});
  for (const Proposer proposer : info.proposers)
    ways.push_back({std::string(name(proposer)), Selector::automatic, proposer, {}});
  return ways;
}

}  // namespace

Bench::Bench(const Device& device, const KnownProblem& of)
    : problem(of),
      index(device, of.train, of.metric),
      classifier(device, of.train, of.labels, of.metric),
      grown(first_half()) {}

Index Bench::first_half() const {
  return Index(index.device(), problem.train.view().slice(0, problem.train.rows / 2), problem.metric);
}

std::unique_ptr<Place> make_place(const std::string& spec, const std::vector<KnownProblem>& problems) {
  auto place = std::make_unique<Place>(open_device(spec));
  for (const KnownProblem& problem : problems) {
    auto bench = std::make_unique<Bench>(place->device, problem);
    const Neighbors expected = known(problem, problem.train.rows, problem.k);
    for (const Way& way : ways_of(place->device.info())) {
      try {
        const std::string wrong =
            difference(bench->index.search(problem.queries, problem.k, options_of(way)), expected);
        if (!wrong.empty())
          throw std::runtime_error(spec + ", " + problem.title + ", " + way.title + ": " + wrong);
        bench->ways.push_back(way);
      } catch (const Error& error) {
        if (error.code() != Errc::unsupported && error.code() != Errc::unavailable) throw;
        place->without += "\n  " + problem.title + ", " + way.title + ": " + error.what();
      }
    }
    place->benches.push_back(std::move(bench));
  }
  return place;
}

std::string work(Worker& worker, Place& place, std::vector<std::unique_ptr<Worker>>& all) {
  const auto kind = size(worker.random.below(static_cast<std::int64_t>(kinds.size())));
  Bench& bench = *place.benches[size(worker.random.below(static_cast<std::int64_t>(place.benches.size())))];
  worker.doing = kinds[kind];
  std::string wrong;
  try {
    wrong = functions[kind](worker, place, bench);
  } catch (const std::exception& error) {
    wrong = error.what();
  }
  if (worker.random.one_in(3)) {
    Worker& other = *all[size(worker.random.below(static_cast<std::int64_t>(all.size())))];
    const std::lock_guard lock(other.stopping);
    other.stop.request_stop();
  }
  ++worker.operations;
  if (wrong.empty()) {
    ++place.done[kind];
    return "";
  }
  return place.device.info().spec + ", " + bench.problem.title + ", " + kinds[kind] + ": " + wrong;
}

}  // namespace kith::tests::soak
