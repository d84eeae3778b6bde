#include "kith/structure.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/border.hpp"
#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "check/distance/terms_check.hpp"
#include "device/device_set.hpp"
#include "kith/error.hpp"
#include "rows/index_state.hpp"
#include "rows/landed/moved_rows.hpp"
#include "search/doubles/double_rows_of_index.hpp"
#include "search/groups/group_search.hpp"
#include "search/stores/resident_store.hpp"
#include "structure/structure_pairs.hpp"
#include "structure/structure_state.hpp"

namespace kith {
namespace {

/// Copies `count` samples to positions first, first + 1, ... of the device that sums.
std::vector<Chunk> uploaded(const Index& index, const SampleRows& from, std::int64_t count,
                            std::int64_t first, std::uint32_t threads) {
  const std::vector<float> rows = from.rows(0, count);
  return upload_chunks(first_of(index.device()).state(), {rows.data(), count, from.dims()}, first, threads);
}

std::vector<float>& smallest_of(SampleClasses& of, const TileSums&) {
  return of.smallest;
}
std::vector<double>& smallest_of(SampleClasses& of, const DoubleTileSums&) {
  return of.smallest64;
}

/// Returns the chunks of the rows if one device has them; none for a set.
std::vector<Chunk> chunks_of(const Index& index) {
  const std::shared_ptr<const ResidentRows> rows = resident_rows(*index.state().store);
  return rows ? rows->chunks : std::vector<Chunk>{};
}

/// Returns the options of an Index that has each sample at its own place, as sums need it.
IndexOptions options_of_samples(const IndexOptions& options) {
  if (options.deduplicate == true)
    throw Error(Errc::unsupported, "structure: deduplicate, but sums need every sample; leave it out");
  if (!options.box.empty())
    throw Error(
        Errc::unsupported,
        "structure: the samples are in a periodic box, in which class structure is not measured; leave "
        "it out");
  if (!options.centre.empty() || options.learn_centre)
    throw Error(Errc::unsupported,
                "structure: a centre, which sums of classes do not go by; subtract it from the samples");
  IndexOptions own = options;
  own.deduplicate = false;
  return own;
}

}  // namespace

void check_structure_metric(Metric metric) {
  if (compares_bits(metric))
    throw Error(Errc::unsupported, "structure: " + std::string(name(metric)) +
                                       " compares bits, whose class structure kith does not measure; choose "
                                       "squared_l2, l2, cosine, l1 or linf, and give numbers");
  if (is_of_sums(metric))
    throw Error(Errc::unsupported, "structure: " + std::string(name(metric)) +
                                       " is a quotient of two sums, whose class structure kith does not "
                                       "measure; choose squared_l2, l2, cosine, l1 or linf");
  if (!may_be_negative(metric)) return;
  throw Error(Errc::unsupported, "structure: " + std::string(name(metric)) +
                                     " may be below 0, so that its sums say nothing about classes; choose "
                                     "squared_l2, l2, cosine, l1 or linf");
}

LandedRows land_numbers(std::string_view where, std::string_view what, const RowsView& rows, Metric metric) {
  check_element(where, what, rows, metric);
  return land(where, what, rows, 0);
}

void check_structure_labels(std::span<const std::int64_t> labels, std::int64_t samples) {
  if (static_cast<std::int64_t>(labels.size()) != samples)
    throw Error(Errc::invalid_argument, "structure: " + std::to_string(labels.size()) + " labels for " +
                                            std::to_string(samples) + " samples; give one a sample");
}

std::shared_ptr<const SamplesByClass> Structure::State::samples_by_class(std::uint32_t threads) const {
  const std::lock_guard lock(mutex);
  if (by_class) return by_class;
  auto made = std::make_shared<SamplesByClass>();
  if (is_double()) {
    made->order.resize(labels.codes.size());
    std::iota(made->order.begin(), made->order.end(), 0);
    made->codes = labels.codes;
    return by_class = std::move(made);
  }
  made->order = order_by_class(labels.codes, 0);
  made->codes = codes_in_order(labels.codes, made->order);
  made->chunks = is_ascending(made->order) ? chunks_of(index) : upload(made->order, 0, threads);
  return by_class = std::move(made);
}

SampleRows Structure::State::rows_in(std::span<const std::int64_t> order) const {
  const MatrixView<const float> given = samples.floats();
  return {prepared_.empty() ? given : MatrixView<const float>(prepared_.data(), given.rows(), given.cols()),
          order, index.features(), index.state().metric};
}

std::vector<Chunk> Structure::State::upload(std::span<const std::int64_t> order, std::int64_t first,
                                            std::uint32_t threads) const {
  const FloatGuard guard;
  return uploaded(index, rows_in(order), static_cast<std::int64_t>(order.size()), first, threads);
}

std::vector<Chunk> Structure::State::on_one_device(std::uint32_t threads) const {
  return is_set(index.device()) ? uploaded(index, rows_in({}), index.rows(), 0, threads) : chunks_of(index);
}

std::shared_ptr<const ColumnTerms> Structure::State::terms() const {
  const Index::State& all = index.state();
  if (!all.terms) return nullptr;
  const Device& one = first_of(index.device());
  if (const std::string why = test_terms(*one.state(), all.metric, all.kind_of_terms()); !why.empty())
    throw Error(Errc::unsupported, "structure: " + one.info().spec + ": " + why);
  return is_set(index.device()) ? all.terms->on(one) : all.terms;
}

RankedAmong Structure::State::ranked_among(const ColumnTerms* terms) const {
  const RankedAmong all(index.state());
  RankedAmong one(first_of(index.device()), all.metric, all.rows, all.bytes_held);
  one.terms = terms;
  return one;
}

void Structure::State::sums_of_doubles(const SearchOptions& options, Trace* trace,
                                       const std::function<void(const DoubleTileSums&)>& take) const {
  const FloatGuard guard;
  const std::shared_ptr<const ColumnTerms> there = terms();
  run_double_sums(ranked_among(there.get()), labels.codes, static_cast<std::int64_t>(labels.classes.size()),
                  options, trace, take);
  if (trace) index.state().tell_metric(trace->plan);
}

void Structure::State::sums_of_floats(const SamplesByClass& by, const SearchOptions& options, Trace* trace,
                                      const TakeSums& take) const {
  const FloatGuard guard;
  SumsTask task{first_of(index.device()).state(), index.state().metric, by.codes};
  task.terms = terms();
  task.classes = static_cast<std::int64_t>(labels.classes.size());
  // A member of a set holds at most a part of the rows, and copies of all of them while sums need them.
  task.resident = is_ascending(by.order) || is_set(index.device()) ? index.rows() : 2 * index.rows();
  SumsInput input{rows_in(by.order), by.chunks};
  run_sums(task, {&input, 1}, options, trace, take);
  if (trace) index.state().tell_metric(trace->plan);
}

Structure::State::State(Index of, SampleCopy rows, ClassCodes coded)
    : index(std::move(of)), samples(std::move(rows)), labels(std::move(coded)) {
  if (!index.state().prepared || is_double()) return;
  const MovedRows moved("structure", "sample", index.state(), samples);
  const auto* const first = static_cast<const float*>(moved.view().data);
  prepared_.assign(first, first + cells_of(moved.view().rows, moved.view().cols));
}

Structure::Structure(Device device, const RowsView& samples, std::span<const std::int64_t> labels,
                     Metric metric, const IndexOptions& options) try {
  check_structure_metric(metric);
  check_structure_labels(labels, samples.rows);
  SampleCopy copy(arithmetic_of(options, metric, samples.element));
  copy.append("index", "training", samples, metric);
  Index index(std::move(device), copy, metric, options_of_samples(options));
  refuse_groups("structure", index.state(), "sums of classes do not go by them");
  state_ = std::make_shared<State>(std::move(index), std::move(copy), ClassCodes(labels));
} catch (...) {
  rethrow_as_error();
}

Structure::Structure(std::shared_ptr<const State> state) : state_(std::move(state)) {}

Structure Structure::with(const RowsView& more, std::span<const std::int64_t> labels) const try {
  check_structure_labels(labels, more.rows);
  const Metric metric = state_->index.metric();
  SampleCopy added(state_->index.arithmetic());
  added.append("index", "added", more, metric);
  Index index = state_->index.with(added);
  SampleCopy both = state_->samples;
  both.append("index", "added", added, metric);
  const std::int64_t before = state_->index.rows();
  std::vector<std::int64_t> all = state_->labels.labels();
  all.insert(all.end(), labels.begin(), labels.end());
  auto grown = std::make_shared<State>(std::move(index), std::move(both), ClassCodes(all));
  std::shared_ptr<const SamplesByClass> known;
  {
    const std::lock_guard lock(state_->mutex);
    known = state_->by_class;
  }
  if (known && !grown->is_double()) {  // samples on the device stay; only the new ones are uploaded
    auto joined = std::make_shared<SamplesByClass>(*known);
    const std::vector<std::int64_t> order = order_by_class(grown->labels.codes, before);
    joined->order.insert(joined->order.end(), order.begin(), order.end());
    joined->codes = codes_in_order(grown->labels.codes, joined->order);
    if (is_ascending(joined->order))
      joined->chunks = chunks_of(grown->index);
    else
      for (Chunk& chunk : grown->upload(order, before, 0)) joined->chunks.push_back(std::move(chunk));
    grown->by_class = std::move(joined);
  }
  return Structure(std::shared_ptr<const State>(std::move(grown)));
} catch (...) {
  rethrow_as_error();
}

SampleClasses Structure::sample_classes(const SearchOptions& options) const try {
  const std::shared_ptr<const SamplesByClass> by = state_->samples_by_class(options.threads);
  const std::vector<std::int64_t> sizes = this->sizes();
  const std::size_t n = by->order.size(), classes = sizes.size();
  const bool is_double = state_->is_double();
  SampleClasses result{static_cast<std::int64_t>(n),
                       static_cast<std::int64_t>(classes),
                       std::vector<float>(is_double ? 0 : n * classes),
                       std::vector<double>(n * classes),
                       state_->index.arithmetic(),
                       std::vector<double>(is_double ? n * classes : 0)};
  state_->sums(*by, options, nullptr, [&](const auto& tile) {
    auto& smallest = smallest_of(result, tile);
    const FloatGuard guard;
    for (std::int64_t i = 0; i < tile.count; ++i) {
      const std::size_t from = static_cast<std::size_t>(i) * classes;
      const std::size_t to =
          static_cast<std::size_t>(by->order[static_cast<std::size_t>(tile.first + i)]) * classes;
      for (std::size_t c = 0; c < classes; ++c) {
        const double sum = static_cast<double>(tile.high[from + c]) + static_cast<double>(tile.low[from + c]);
        smallest[to + c] = tile.smallest[from + c];
        result.mean[to + c] = sum / static_cast<double>(sizes[c]);
      }
    }
  });
  return result;
} catch (...) {
  rethrow_as_error();
}

ClassMatrix Structure::class_matrix(const SearchOptions& options, Trace* trace) const try {
  const std::shared_ptr<const SamplesByClass> by = state_->samples_by_class(options.threads);
  ClassPairs pairs(sizes(), state_->index.arithmetic());
  state_->sums(*by, options, trace, [&](const auto& tile) {
    pairs.add(std::span(by->codes).subspan(static_cast<std::size_t>(tile.first),
                                           static_cast<std::size_t>(tile.count)),
              tile.high, tile.low, options.threads);
  });
  return pairs.matrix();
} catch (...) {
  rethrow_as_error();
}

Neighbors Structure::nearest_other(const SearchOptions& options, Trace* trace) const try {
  refuse_filters(options);
  SearchOptions others = options;
  others.self = 0;
  return state_->index.search(state_->samples, 1, others, trace);
} catch (...) {
  rethrow_as_error();
}

std::vector<SampleError> Structure::errors(const SearchOptions& options) const try {
  const Neighbors nearest = nearest_other(options);
  const std::vector<std::uint32_t>& codes = state_->labels.codes;
  std::vector<SampleError> errors;
  for (std::size_t i = 0; i < codes.size(); ++i)
    if (codes[i] != codes[static_cast<std::size_t>(nearest.row[i])])
      errors.push_back({static_cast<std::int64_t>(i), nearest.row[i]});
  return errors;
} catch (...) {
  rethrow_as_error();
}

const std::vector<std::int64_t>& Structure::classes() const {
  return state_->labels.classes;
}
std::vector<std::int64_t> Structure::sizes() const try { return state_->labels.sizes(); } catch (...) {
  rethrow_as_error();
}
const std::vector<std::uint32_t>& Structure::codes() const {
  return state_->labels.codes;
}
const Index& Structure::index() const {
  return state_->index;
}

}  // namespace kith
