#include "search/streams/streamed_rows.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/numbers.hpp"
#include "device/timing.hpp"
#include "kith/error.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"
#include "search/parted/asked_part.hpp"
#include "search/parted/joined_lists.hpp"
#include "search/parted/kept_search.hpp"
#include "search/queries_there.hpp"
#include "search/shard_lists.hpp"
#include "search/trace_sums.hpp"

namespace kith {
namespace {

[[noreturn]] void refuse_change(const std::string& what) {
  throw Error(Errc::unsupported,
              "index: " + what +
                  ", but its rows stay in a source; make an index of another source, or one "
                  "with residence resident");
}

/// Of a device, or of what searches may take, the part that queries may take which stay there.
constexpr std::size_t shares_of_queries = 8;

/// Device memory that the queries of all chunks take, packed; 0: they are copied for each chunk, since they
/// would take too much, or there is one chunk.
std::size_t bytes_of_queries(const StreamedSet& set, std::int64_t m, const PlanOptions& asked) {
  const DeviceInfo& device = set.device.info();
  const std::size_t bytes = packed_bytes(m, set.dims, device.query_block);
  std::size_t room = device.memory_bytes;
  for (const std::size_t limit : {set.sizes.search_bytes, asked.memory_limit})
    if (limit > 0) room = std::min(room, limit);
  return set.rows.rows > set.sizes.chunk_rows && bytes <= room / shares_of_queries ? bytes : 0;
}

/// What a search of rows that pass asks of each chunk.
class ChunkOptions {
 public:
  /// `asked` lives longer.
  ///   beside  bytes that queries take beside each search
  ///   rows    of all chunks
  ChunkOptions(const PlanOptions& asked, const StreamSizes& sizes, std::size_t beside, Stretch rows)
      : asked_(asked), rows_(rows), own_(asked) {
    own_.checkpoint.clear();
    own_.self.reset();
    if (!asked.boxes) own_.boxes = false;  // they pay where many searches use them
    if (sizes.search_bytes > 0 && (asked.memory_limit == 0 || sizes.search_bytes < asked.memory_limit))
      own_.memory_limit = sizes.search_bytes;
    if (own_.memory_limit > 0) own_.memory_limit -= beside;
  }

  const PlanOptions& of(std::int64_t first, std::int64_t count) {
    if (has_filter(asked_)) {
      words_ = cut_filter(asked_.filter, {0, asked_.filter.rows()}, {first, count});
      own_.filter = {words_.data(), asked_.filter.rows(), words_of_filter(count)};
    }
    if (asked_.progress)
      own_.progress = [this, first, count](const Progress& progress) {
        const double done =
            static_cast<double>(first - rows_.first) + progress.fraction * static_cast<double>(count);
        asked_.progress({done / static_cast<double>(rows_.count)});
      };
    return own_;
  }

 private:
  const PlanOptions& asked_;
  const Stretch rows_;
  PlanOptions own_;
  std::vector<std::uint32_t> words_;
};

/// Add what the search of a chunk did.
void add_chunk(const Trace& chunk, const StreamSizes& sizes, std::int64_t rows, Trace& all) {
  if (all.chunks++ == 0) {
    all.plan = chunk.plan;
    all.plan.problem.n = rows;
    all.plan.residence = Residence::stream;
    all.plan.chunk_rows = sizes.chunk_rows;
  }
  const std::size_t largest = std::max(all.quantized_bytes, chunk.quantized_bytes);
  add_rows(all, chunk);
  all.quantized_bytes = largest;  // each chunk gives its own back
}

void add_work(const ChunkStream::Work& work, Trace& all) {
  all.seconds["read"] += work.read;
  all.seconds["land"] += work.land;
  all.seconds["wait"] += work.wait;
  all.source_bytes += work.bytes;
}

/// take(chunk, options, trace) for each chunk of these rows, added up in `trace`.
///   beside  bytes that queries take beside each search
template <class Take>
void for_each_chunk(const StreamedSet& set, const PlanOptions& options, std::size_t beside, Stretch rows,
                    Trace* trace, const Take& take) {
  ChunkOptions of_chunk(options, set.sizes, beside, rows);
  ChunkStream stream(set, rows, options.threads, options.stop);
  Trace one = trace ? asked_like(*trace) : Trace{};
  while (const Index::State* const chunk = stream.next()) {
    take(*chunk, of_chunk.of(chunk->first_row, chunk->rows), trace ? &one : nullptr);
    if (trace) add_chunk(one, set.sizes, set.rows.rows, *trace);
  }
  if (trace) add_work(stream.work(), *trace);
}

}  // namespace

Keys StreamedRows::search_keys(const Index::State& whole, const CheckedQueries& queries, std::int64_t k,
                               const PlanOptions& options, Trace* trace) const {
  if (queries.kept.search) {
    search_what_is_left(queries, options, trace);
    if (trace && trace->chunks == 0) trace->plan = plan(whole, queries.given.rows, k, options, {});
    return lists_of_none(queries.given.rows, k);
  }
  const std::size_t beside = bytes_of_queries(set_, queries.given.rows, options);
  StayingQueries there(set_.device.state(), beside);
  CheckedQueries asked = queries;
  asked.there = &there;
  std::vector<Keys> lists;  // of what was found so far, and of one chunk more
  for_each_chunk(set_, options, beside, {0, set_.rows.rows}, trace,
                 [&](const Index::State& chunk, const PlanOptions& way, Trace* one) {
                   if (!lists.empty()) asked.before = {lists.front().value, k};
                   lists.push_back(search_for_keys(chunk, asked, k, way, one, kept_.take()));
                   Keys best = united(std::move(lists), kept_);
                   lists.clear();
                   lists.push_back(std::move(best));
                 });
  return std::move(lists.front());
}

/// A piece that is left: what other members of a set have found is known before each chunk, too.
void StreamedRows::search_piece(const CheckedQueries& queries, const SearchPiece& piece,
                                const PlanOptions& options, Trace* trace) const {
  const KeptPart kept = queries.kept;
  const std::int64_t k = kept.search->k();
  const std::size_t beside = bytes_of_queries(set_, piece.queries.count, options);
  StayingQueries there(set_.device.state(), beside);
  CheckedQueries asked = queries.slice(piece.queries.first - kept.first_query, piece.queries.count);
  asked.kept = {};
  asked.there = &there;
  const Stretch rows = {piece.rows.first - kept.first_row, piece.rows.count};
  for_each_chunk(set_, options, beside, rows, trace,
                 [&](const Index::State& chunk, const PlanOptions& way, Trace* one) {
                   const std::vector<std::uint32_t> values = kept.search->values(piece.queries);
                   asked.before = {values, k};
                   Keys keys = search_for_keys(chunk, asked, k, way, one);
                   for (std::int64_t& row : keys.row) row += row < 0 ? 0 : kept.first_row;
                   kept.search->add({piece.queries, {kept.first_row + chunk.first_row, chunk.rows}}, keys);
                 });
}

void StreamedRows::search_what_is_left(const CheckedQueries& queries, const PlanOptions& options,
                                       Trace* trace) const {
  const KeptPart kept = queries.kept;
  const std::int64_t m = queries.given.rows;
  const auto cells = [](const SearchPiece& piece) {
    return static_cast<double>(piece.queries.count) * static_cast<double>(piece.rows.count);
  };
  const SearchPiece all = {{kept.first_query, m}, {kept.first_row, set_.rows.rows}};
  const std::vector<SearchPiece> left = kept.search->left(all);
  double done = cells(all);
  for (const SearchPiece& piece : left) done -= cells(piece);
  for (const SearchPiece& piece : left) {
    const Stretch some = {piece.queries.first - kept.first_query, piece.queries.count};
    AskedPart asked(m, options, some, {0, set_.rows.rows});
    asked.scale_progress(done / cells(all), (done + cells(piece)) / cells(all));
    search_piece(queries, piece, asked.options(), trace);
    done += cells(piece);
  }
}

RadiusKeys StreamedRows::within_keys(const Index::State&, const CheckedQueries& queries,
                                     std::span<const float> radii, const PlanOptions& options,
                                     Trace* trace) const {
  std::vector<RadiusKeys> lists;
  for_each_chunk(set_, options, 0, {0, set_.rows.rows}, trace,
                 [&](const Index::State& chunk, const PlanOptions& way, Trace* one) {
                   lists.push_back(search_within_keys(chunk, queries, radii, way, one));
                 });
  return merge(lists);
}

Plan StreamedRows::plan(const Index::State&, std::int64_t m, std::int64_t k, const PlanOptions& options,
                        const Feedback& feedback) const {
  // A plan needs rows to be planned for, and their values do not decide: those of a chunk that is empty of
  // memory.
  Index::State chunk(set_.device, set_.metric, set_.rows.cols, set_.features);
  chunk.rows = set_.sizes.chunk_rows;
  chunk.numbers = RowNumbers(chunk.rows);
  chunk.chunks.push_back({nullptr, 0, chunk.rows});
  ChunkOptions of_chunk(options, set_.sizes, bytes_of_queries(set_, m, options), {0, set_.rows.rows});
  Plan plan = plan_search(chunk, m, std::min(k, chunk.rows), of_chunk.of(0, chunk.rows), feedback);
  plan.problem.n = set_.rows.rows;
  plan.problem.k = k;
  plan.residence = Residence::stream;
  plan.chunk_rows = chunk.rows;
  return plan;
}

void StreamedRows::prepare(const Index::State& whole, std::int64_t m, std::int64_t k,
                           const PlanOptions& options) const {
  static_cast<void>(plan(whole, m, k, options, {}));  // what refuses the search refuses this
}

void StreamedRows::read_rows(std::int64_t first, std::int64_t count, float* to, std::uint32_t threads) const {
  std::vector<unsigned char> raw;
  const PreparedRows rows = read_source(set_, first, count, raw, threads, nullptr);
  for (std::int64_t r = 0; r < count; ++r) std::copy_n(rows.view.row(r), set_.dims, to + r * set_.dims);
}

std::shared_ptr<const PartedRows> StreamedRows::with(const Index::State&, MatrixView<const float>,
                                                     std::uint32_t) const {
  refuse_change("rows are added");
}

std::shared_ptr<const PartedRows> StreamedRows::of(const Index::State&, std::span<const std::int64_t>) const {
  refuse_change("it is compacted");
}

}  // namespace kith
