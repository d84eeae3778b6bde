#include "search/streams/streamed_store.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/numbers.hpp"
#include "device/timing.hpp"
#include "kith/error.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"
#include "search/lists/asked_part.hpp"
#include "search/lists/trace_sums.hpp"
#include "search/resident/pipeline.hpp"
#include "search/resident/staying_queries.hpp"
#include "search/stores/part_sink.hpp"
#include "search/stores/resident_store.hpp"

namespace kith {
namespace {

[[noreturn]] void refuse_change(const std::string& what) {
  throw Error(Errc::unsupported,
              "index: " + what +
                  ", but its rows stay in a source; make an index of another source, or one "
                  "with residence resident");
}

/// Queries that stay on the device may take this part of its memory, or of the limit of a search.
constexpr std::size_t shares_of_queries = 8;

/// Returns the device memory of the packed queries, which stay for all chunks; 0 if they are copied for each
/// chunk, because they would take too much, or there is only one chunk.
std::size_t bytes_of_queries(const StreamedSet& set, std::int64_t m, const SearchOptions& asked) {
  const DeviceInfo& device = set.device.info();
  const std::size_t bytes = packed_bytes(m, set.dims, device.query_block);
  std::size_t room = device.memory_bytes;
  for (const std::size_t limit : {set.sizes.search_bytes, asked.memory_limit})
    if (limit > 0) room = std::min(room, limit);
  return set.rows.rows > set.sizes.chunk_rows && bytes <= room / shares_of_queries ? bytes : 0;
}

/// Makes the options for searching each chunk of a stream.
class ChunkOptions {
 public:
  /// `asked` must outlive this.
  ///   beside  bytes that the queries take besides each search
  ///   rows    of all chunks
  ChunkOptions(const SearchOptions& asked, const StreamSizes& sizes, std::size_t beside, RowRange rows)
      : asked_(asked), rows_(rows), own_(asked) {
    own_.checkpoint.clear();
    own_.self.reset();
    if (!asked.boxes) own_.boxes = false;  // boxes pay only if many searches use them
    if (sizes.search_bytes > 0 && (asked.memory_limit == 0 || sizes.search_bytes < asked.memory_limit))
      own_.memory_limit = sizes.search_bytes;
    if (own_.memory_limit > 0) own_.memory_limit -= beside;
  }

  const SearchOptions& of(std::int64_t first, std::int64_t count) {
    if (has_filter(asked_)) {
      filter_.emplace(asked_.filter, RowRange{0, asked_.filter.rows()}, RowRange{first, count});
      own_.filter = FilterWords(filter_->words());
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
  const SearchOptions& asked_;
  const RowRange rows_;
  SearchOptions own_;
  std::optional<FilterPart> filter_;
};

/// Adds the trace of searching a chunk.
void add_chunk(const Trace& chunk, const StreamSizes& sizes, std::int64_t rows, Trace& all) {
  if (all.chunks++ == 0) {
    all.plan = chunk.plan;
    all.plan.problem.n = rows;
    all.plan.residence = Residence::stream;
    all.plan.chunk_rows = sizes.chunk_rows;
  }
  const std::size_t largest = std::max(all.quantized_bytes, chunk.quantized_bytes);
  add_rows(all, chunk);
  all.quantized_bytes = largest;  // each chunk releases its own
}

void add_work(const ChunkStream::Work& work, Trace& all) {
  all.seconds["read"] += work.read;
  all.seconds["land"] += work.land;
  all.seconds["wait"] += work.wait;
  all.source_bytes += work.bytes;
}

/// Returns queries times rows.
double pairs_of(const SearchPiece& piece) {
  return static_cast<double>(piece.queries.count) * static_cast<double>(piece.rows.count);
}

}  // namespace

StoreInfo StreamedStore::info() const {
  return {Residence::stream, 0, true, set_.source ? set_.source->state() : 0, {}};
}

/// Visits the parts, except pieces that an earlier search with this checkpoint already searched.
void StreamedStore::each_part(const SearchRequest& request, const VisitPart& visit, Trace* trace) const {
  const std::int64_t m = request.m();
  const SearchPiece all{{request.first_query, m}, {request.first_row, rows()}};
  const std::vector<SearchPiece> left = request.parts->left(all);
  double done = pairs_of(all);
  for (const SearchPiece& piece : left) done -= pairs_of(piece);
  for (const SearchPiece& piece : left) {
    const RowRange some{piece.queries.first - request.first_query, piece.queries.count};
    AskedPart asked(m, request.options, some, {0, rows()});
    if (pairs_of(piece) < pairs_of(all))
      asked.scale_progress(done / pairs_of(all), (done + pairs_of(piece)) / pairs_of(all));
    QuerySet queries = request.queries.slice(some.first, some.count);
    pass(request.part(queries, asked.options(), some.first, 0),
         {piece.rows.first - request.first_row, piece.rows.count}, visit, trace);
    done += pairs_of(piece);
  }
  if (trace && trace->chunks == 0) trace->plan = plan(m, request.k, request.options, {});
}

/// Streams some of the rows, and passes one chunk after another to `visit`.
void StreamedStore::pass(const SearchRequest& request, const RowRange& rows, const VisitPart& visit,
                         Trace* trace) const {
  const SearchOptions& options = request.options;
  const std::size_t beside = request.radii ? 0 : bytes_of_queries(set_, request.m(), options);
  StayingQueries staying(set_.device.state(), beside);
  ChunkOptions of_chunk(options, set_.sizes, beside, rows);
  ChunkStream stream(set_, rows, options.threads, options.stop);
  std::optional<Plan> plan_of_chunks;
  Trace one = trace ? asked_like(*trace) : Trace{};
  while (const std::optional<StreamedChunk> chunk = stream.next()) {
    SearchRequest part =
        request.part(request.queries, of_chunk.of(chunk->first, chunk->rows->rows), 0, chunk->first);
    part.staying_queries = &staying;
    part.stream_plan = &plan_of_chunks;
    visit(ResidentStore(chunk->rows), part, trace ? &one : nullptr);
    if (trace) add_chunk(one, set_.sizes, set_.rows.rows, *trace);
  }
  if (trace) add_work(stream.work(), *trace);
}

/// Plans for a chunk without memory, since values do not decide.
Plan StreamedStore::plan(std::int64_t m, std::int64_t k, const SearchOptions& options,
                         const Feedback& feedback) const {
  ResidentRows chunk(schema_of(set_));
  chunk.rows = set_.sizes.chunk_rows;
  chunk.chunks.push_back({nullptr, 0, chunk.rows});
  ChunkOptions of_chunk(options, set_.sizes, bytes_of_queries(set_, m, options), {0, set_.rows.rows});
  Plan plan = plan_search(chunk, m, std::min(k, chunk.rows), of_chunk.of(0, chunk.rows), feedback);
  plan.problem.n = set_.rows.rows;
  plan.problem.k = k;
  plan.residence = Residence::stream;
  plan.chunk_rows = chunk.rows;
  return plan;
}

void StreamedStore::read(std::int64_t first, std::int64_t count, float* to, std::uint32_t threads) const {
  std::vector<unsigned char> raw;
  const PreparedRows rows = read_source(set_, first, count, raw, threads, nullptr);
  for (std::int64_t r = 0; r < count; ++r) std::copy_n(rows.view.row(r), set_.dims, to + r * set_.dims);
}

std::shared_ptr<const RowStore> StreamedStore::appended(const RowSchema&, const RowsForIndex&) const {
  refuse_change("rows are added");
}

std::shared_ptr<const RowStore> StreamedStore::subset(const RowSchema&, std::span<const std::int64_t>) const {
  refuse_change("it is compacted");
}

}  // namespace kith
