// Makes an Index of the rows of a Source.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/border.hpp"
#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "device/device_set.hpp"
#include "kith/error.hpp"
#include "kith/index.hpp"
#include "rows/index_state.hpp"
#include "rows/landed/column_ranges.hpp"
#include "rows/landed/column_variances.hpp"
#include "rows/landed/moved_rows.hpp"
#include "rows/landed/moved_source.hpp"
#include "rows/prepared/prepared_metric.hpp"
#include "rows/rows.hpp"
#include "search/doubles/double_index.hpp"
#include "search/doubles/double_rows_of_index.hpp"
#include "search/index_checks.hpp"
#include "search/sets/set_store.hpp"
#include "search/streams/quantized_store.hpp"

namespace kith {
namespace {

[[noreturn]] void refuse_source(Errc code, const std::string& message) {
  throw Error(code, "index: " + message);
}

RowsInfo checked_info(const std::shared_ptr<const Source>& source) {
  if (!source) refuse_source(Errc::invalid_argument, "there is no source (a null pointer); give one");
  const RowsInfo info = source->info();
  if (info.rows < 1 || info.cols < 1)
    refuse_source(Errc::invalid_argument, source->name() + " has rows [" + std::to_string(info.rows) + ", " +
                                              std::to_string(info.cols) +
                                              "]; give at least one row and one column");
  return info;
}

/// Reads all rows, and makes an Index of them as if they were given at once.
Index resident_index(Device device, const Source& source, const RowsInfo& info, Metric metric,
                     const IndexOptions& options) {
  if (const std::optional<RowsView> rows = source.in_memory()) return Index(device, *rows, metric, options);
  std::vector<unsigned char> raw(cells_of(info.rows, row_bytes(info.element, info.cols)));
  source.read(0, info.rows, raw.data());
  return Index(std::move(device), RowsView(raw.data(), info.element, info.rows, info.cols), metric, options);
}

/// Reads the rows of a source part by part.
RowsInParts parts_of(const Source& source, std::vector<unsigned char>& raw) {
  const RowsInfo info = source.info();
  const std::int64_t bytes = row_bytes(info.element, info.cols);
  return {info.rows, info.cols, [&source, &raw, info, bytes](std::int64_t first, std::int64_t count) {
            raw.resize(cells_of(count, bytes));
            source.read(first, count, raw.data());
            return RowsView(raw.data(), info.element, count, info.cols);
          }};
}

/// Refuses terms of columns, of a metric or of a box, where steps that do not heed them would be taken.
void check_terms(const Index::State& index, Metric metric, Residence residence) {
  if (!index.terms) return;
  const std::string by = index.box ? "rows in a periodic box" : std::string(name(metric));
  if (residence == Residence::quantized)
    refuse_source(Errc::unsupported,
                  by + " with residence quantized, from whose rows distances of terms do not "
                       "follow; choose residence stream or resident");
  if (index.arithmetic == Arithmetic::f64)
    refuse_source(Errc::unsupported, by + " in double precision, of rows that stay in a source; choose "
                                          "arithmetic f32, or residence resident");
}

void check_ids(const IndexOptions& options) {
  if (std::is_sorted(options.ids.begin(), options.ids.end())) return;
  refuse_source(Errc::unsupported,
                "ids do not ascend, but rows of a source stay where they are; give ids that ascend, or "
                "residence resident");
}

void check_deduplicate(const IndexOptions& options) {
  if (options.deduplicate != true) return;
  refuse_source(Errc::unsupported,
                "deduplicate, but rows of a source stay where they are, and are all read; leave it out, or "
                "choose residence resident");
}

/// Returns max |element|, for which it reads all rows once.
float largest_of_source(const StreamedSet& set) {
  std::vector<unsigned char> raw;
  float largest = 0;
  for (std::int64_t first = 0; first < set.rows.rows; first += set.sizes.chunk_rows) {
    const std::int64_t count = std::min(set.sizes.chunk_rows, set.rows.rows - first);
    largest = std::max(largest, read_source(set, first, count, raw, 0, nullptr).largest);
  }
  return largest;
}

/// Sums the columns of all rows of a source, for learning a centre.
ColumnSums sums_of(const Source& source) {
  ColumnSums sums;
  std::vector<unsigned char> raw;
  const RowsInParts rows = parts_of(source, raw);
  const std::int64_t at_once = std::int64_t{1} << 20;  // values
  const std::int64_t step = std::max<std::int64_t>(1, at_once / rows.cols);
  for (std::int64_t first = 0; first < rows.rows; first += step)
    sums.add(rows.part(first, std::min(step, rows.rows - first)));
  return sums;
}

/// Returns the centre that the source's file has. Throws invalid_argument: the options ask for another one.
const std::vector<double>& kept_centre(const Source& source, const std::vector<double>& kept,
                                       const IndexOptions& options) {
  if (!options.centre.empty() || options.learn_centre)
    refuse_source(Errc::invalid_argument,
                  source.name() + " has a centre already, which is kept; leave the centre out");
  return kept;
}

/// Returns the options of the Index of floats that proposes for rows of doubles.
IndexOptions options_of_floats(const IndexOptions& chosen) {
  IndexOptions of_floats;
  of_floats.placement = chosen.placement;
  of_floats.shares = chosen.shares;
  of_floats.residence = chosen.residence;
  of_floats.memory_limit = chosen.memory_limit;
  of_floats.chunk_rows = chosen.chunk_rows;
  return of_floats;
}

/// Reads a range of the rows of another Source.
class PartOfSource final : public Source {
 public:
  PartOfSource(std::shared_ptr<const Source> all, RowRange rows) : all_(std::move(all)), rows_(rows) {}

  RowsInfo info() const override {
    const RowsInfo all = all_->info();
    return {rows_.count, all.cols, all.element};
  }
  void read(std::int64_t first, std::int64_t count, void* to) const override {
    all_->read(rows_.first + first, count, to);
  }
  std::optional<RowsView> in_memory() const override {
    const std::optional<RowsView> all = all_->in_memory();
    return all ? std::optional(all->slice(rows_.first, rows_.count)) : std::nullopt;
  }
  std::uint64_t state() const override { return all_->state(); }
  std::string name() const override { return all_->name(); }

 private:
  const std::shared_ptr<const Source> all_;
  const RowRange rows_;
};

/// Stores the rows of `source` for one device, which streams them or holds them quantized.
///   options  with the chosen residence; messages call row 0 first_row
std::shared_ptr<const RowStore> store_of_source(const RowSchema& schema, std::shared_ptr<const Source> source,
                                                const IndexOptions& options) {
  const DeviceInfo& device = schema.device.info();
  const RowsInfo info = source->info();
  IndexOptions room = options;
  if (options.residence == Residence::quantized)
    room.memory_limit = room_beside_quantized(device, info.rows, schema.dims, options.memory_limit);
  StreamedSet set{schema.device,
                  std::move(source),
                  schema.metric,
                  info,
                  schema.features,
                  schema.dims,
                  options.first_row,
                  options.largest,
                  stream_sizes(device, info, schema.metric, schema.dims, room)};
  set.compared = std::make_shared<const RowSchema>(schema);
  if (schema.metric == Metric::negative_dot && set.largest == 0) set.largest = largest_of_source(set);
  if (options.residence == Residence::quantized)
    return QuantizedStore::made_of(
        set, proposer_of_quantized(device, info.rows, schema.dims, options.memory_limit));
  return std::make_shared<StreamedStore>(std::move(set));
}

/// Locks the whole memory of the source at once for quantized rows of a set, whose members share it. If each
/// share were locked alone, a page that two shares have in common would split the memory, and a copy by the
/// host program cannot cross from one locked block into another.
std::unique_ptr<const ReachedMemory> reached_by_a_member(const RowSchema& schema,
                                                         const std::shared_ptr<const Source>& source,
                                                         const SetLayout& layout) {
  const std::vector<Device>& members = members_of(schema.device);
  for (std::size_t i = 0; i < members.size(); ++i)
    if (layout.rows[i].count > 0)
      if (auto all = reached(
              {members[i], source, schema.metric, source->info(), schema.features, schema.dims, 0, 0, {}}))
        return all;
  return nullptr;
}

/// Stores the rows of `source` for a set, each of whose members takes its share.
std::shared_ptr<const RowStore> store_of_source_on_set(const RowSchema& schema,
                                                       const std::shared_ptr<const Source>& source,
                                                       const IndexOptions& options) {
  const std::int64_t rows = source->info().rows;
  SetLayout layout = set_layout(schema, options.placement, options.shares, rows);
  std::unique_ptr<const ReachedMemory> all;
  if (options.residence == Residence::quantized) all = reached_by_a_member(schema, source, layout);
  std::vector<SetPart> parts = make_parts(schema, layout, [&](const RowSchema& member, RowRange places) {
    IndexOptions own = options;
    own.first_row += places.first;
    return store_of_source(member, std::make_shared<PartOfSource>(source, places), own);
  });
  return std::make_shared<SetStore>(schema, std::move(layout), std::move(parts), rows);
}

}  // namespace

Index::Index(Device device, std::shared_ptr<const Source> source, Metric metric,
             const IndexOptions& options) try {
  const FloatGuard guard;  // the source is asked, and what it holds is measured
  if (const Metric named = metric_of_power(metric, options.p); named != metric) {
    *this = Index(std::move(device), std::move(source), named, without_p(options));
    return;
  }
  const RowsInfo info = checked_info(source);
  check_element("index", "training", RowsView(nullptr, info.element, info.rows, info.cols), metric);
  auto state = std::make_shared<State>(RowSchema(device, metric, prepared_columns(metric, info.cols),
                                                 checked_features(options, metric, info.cols)));
  IndexOptions chosen = options;
  const std::vector<double> kept = source->centre();
  if (!kept.empty()) chosen.centre = kept_centre(*source, kept, options);
  const bool fits = fits_device(device.info(), info.rows, state->dims, options.memory_limit);
  if (options.residence == Residence::automatic)
    chosen.residence = fits ? Residence::resident : Residence::stream;
  state->arithmetic = arithmetic_of(chosen, metric, info.element);
  const bool doubles = state->arithmetic == Arithmetic::f64;
  if ((doubles || asks_for_prepared_metric(options, metric)) && chosen.residence == Residence::resident) {
    *this = resident_index(std::move(device), *source, info, metric, chosen);
    return;
  }
  state->first_row = options.first_row;
  std::vector<unsigned char> raw;
  state->set_prepared(prepared_metric_of(
      chosen, metric, info.cols, state->features,
      [&] { return variances_of(parts_of(*source, raw), state->features, options.first_row); },
      [&] { return ranges_of_columns(parts_of(*source, raw), metric, state->features, options.first_row); }));
  state->set_box(box_of(chosen, metric, info.cols, state->features));
  if (!doubles && !state->box && !state->prepared)
    state->shift =
        centre_of(chosen, metric, info.element, info.cols, state->features, [&] { return sums_of(*source); });
  chosen.learn_centre = false;
  chosen.centre = kept.empty() ? state->shift : std::vector<double>{};
  if (chosen.residence != Residence::resident && !options.groups.empty())
    refuse_source(
        Errc::unsupported,
        "there are groups, which rows that stay in a source cannot have; choose residence resident");
  if (chosen.residence == Residence::resident) {
    *this = resident_index(std::move(device), *source, info, metric, chosen);
    if (kept.empty()) return;
    auto centred = std::make_shared<State>(*state_);
    centred->shift = state->shift;
    state_ = std::move(centred);
    return;
  }
  check_terms(*state, metric, chosen.residence);
  if (!chosen.centre.empty() || state->prepared || state->box)
    source = std::make_shared<MovedSource>(std::move(source), std::make_shared<const State>(*state));
  check_ids(options);
  check_deduplicate(options);
  check_shard(options, metric, info.rows, 0);
  static_cast<void>(order_of_ids("index", options.ids, info.rows, 0));
  state->rows = info.rows;
  state->element = source->info().element;
  state->largest_of_shards = options.largest;
  state->numbers = options.ids.empty() ? RowNumbers(info.rows) : RowNumbers(options.ids);
  if (doubles) {
    leave_doubles(*state, std::move(source), [&](std::shared_ptr<const Source> floats) {
      return Index(device, std::move(floats), metric_of_proposals(state->metric), options_of_floats(chosen))
          .state_;
    });
    check_shard(options, metric, info.rows, state->doubles->largest);
  } else {
    state->store = is_set(device) ? store_of_source_on_set(*state, source, chosen)
                                  : store_of_source(*state, std::move(source), chosen);
  }
  state_ = std::move(state);
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
