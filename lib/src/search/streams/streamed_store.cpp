#include "search/streams/streamed_store.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/float_guard.hpp"
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
///   beside  bytes that the queries take besides each search
SearchOptions options_of_chunks(const SearchOptions& asked, const StreamSizes& sizes, std::size_t beside) {
  SearchOptions own = asked;
  own.checkpoint.clear();
  own.self.reset();
  if (!asked.boxes) own.boxes = false;  // boxes pay only if many searches use them
  if (sizes.search_bytes > 0 && (asked.memory_limit == 0 || sizes.search_bytes < asked.memory_limit))
    own.memory_limit = sizes.search_bytes;
  if (own.memory_limit > 0) own.memory_limit -= beside;
  return own;
}

/// Returns queries times rows.
double pairs_of(const SearchPiece& piece) {
  return static_cast<double>(piece.queries.count) * static_cast<double>(piece.rows.count);
}

/// Streams the chunks of a piece, and says what is asked of each.
class PassingChunks {
 public:
  /// `set` and `all` must outlive this.
  ///   some, rows  queries and rows of the piece
  ///   from, to    fractions of `all` that are done before and after it
  PassingChunks(const StreamedSet& set, const SearchRequest& all, RowRange some, RowRange rows, double from,
                double to)
      : all_(all),
        some_(some),
        rows_(rows),
        from_(from),
        to_(to),
        queries_(all.queries.slice(some.first, some.count)),
        beside_(all.radii ? 0 : bytes_of_queries(set, some.count, all.options)),
        own_(options_of_chunks(all.options, set.sizes, beside_)),
        staying_(set.device.state(), beside_),
        stream_(set, rows, all.options.threads, all.options.stop) {}

  std::optional<StreamedChunk> next() { return stream_.next(); }

  /// Returns a request that is valid until the next call.
  SearchRequest request_of(const StreamedChunk& chunk) {
    const RowRange here{chunk.first, chunk.rows->rows};
    if (has_filter(all_.options)) {
      filter_.emplace(all_.options.filter, all_.m(), some_, here);
      own_.filter = FilterWords(filter_->words());
    }
    if (all_.options.progress)
      own_.progress = [this, here](const Progress& of_chunk) { tell(here, of_chunk); };
    SearchRequest part = all_.part(queries_, own_, some_.first, here.first);
    part.staying_queries = &staying_;
    part.stream_plan = &plan_;
    return part;
  }

  /// Adds what reading has taken so far.
  void add_work(Trace& all) const {
    const ChunkStream::Work work = stream_.work();
    all.seconds["read"] += work.read;
    all.seconds["land"] += work.land;
    all.seconds["wait"] += work.wait;
    all.source_bytes += work.bytes;
  }

 private:
  void tell(const RowRange& chunk, const Progress& progress) const {
    const FloatGuard guard;
    const double done =
        static_cast<double>(chunk.first - rows_.first) + progress.fraction * static_cast<double>(chunk.count);
    const double whole = done / static_cast<double>(rows_.count);
    const double part = whole == 1 ? to_ : std::min(to_, from_ + (to_ - from_) * whole);
    call_back(all_.options.progress, Progress{part});
  }

  const SearchRequest& all_;
  const RowRange some_, rows_;
  const double from_, to_;
  QuerySet queries_;
  const std::size_t beside_;  ///< bytes that the queries take besides each search
  SearchOptions own_;
  std::optional<FilterPart> filter_;
  std::optional<Plan> plan_;
  StayingQueries staying_;
  ChunkStream stream_;
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

}  // namespace

StoreInfo StreamedStore::info() const {
  const FloatGuard guard;  // the source is asked
  return {
      Residence::stream, 0, true, set_.source ? set_.source->state() : 0, {.scans = scans_of_passing_rows}};
}

/// Visits the parts, except pieces that an earlier search with this checkpoint already searched.
void StreamedStore::each_part(const SearchRequest& request, const VisitPart& visit, Trace* trace) const {
  const std::int64_t m = request.m();
  const SearchPiece all{{request.first_query, m}, {request.first_row, rows()}};
  const std::vector<SearchPiece> left = request.parts->left(all);
  double done = pairs_of(all);
  for (const SearchPiece& piece : left) done -= pairs_of(piece);
  for (const SearchPiece& piece : left) {
    const double before = done / pairs_of(all);
    done += pairs_of(piece);
    PassingChunks chunks(set_, request, {piece.queries.first - request.first_query, piece.queries.count},
                         {piece.rows.first - request.first_row, piece.rows.count}, before,
                         done / pairs_of(all));
    Trace one = trace ? asked_like(*trace) : Trace{};
    while (const std::optional<StreamedChunk> chunk = chunks.next()) {
      visit(ResidentStore(chunk->rows), chunks.request_of(*chunk), trace ? &one : nullptr);
      if (trace) add_chunk(one, set_.sizes, rows(), *trace);
    }
    if (trace) chunks.add_work(*trace);
  }
  if (trace && trace->chunks == 0) trace->plan = plan(m, request.k, request.options, {});
}

/// Plans for a chunk without memory, since values do not decide.
Plan StreamedStore::plan(std::int64_t m, std::int64_t k, const SearchOptions& options,
                         const Feedback& feedback) const {
  ResidentRows chunk(schema_of(set_));
  chunk.rows = set_.sizes.chunk_rows;
  chunk.chunks.push_back({nullptr, 0, chunk.rows});
  SearchOptions of_chunk = options_of_chunks(options, set_.sizes, bytes_of_queries(set_, m, options));
  std::optional<FilterPart> first;
  if (has_filter(options)) {
    first.emplace(options.filter, m, RowRange{0, m}, RowRange{0, chunk.rows});
    of_chunk.filter = FilterWords(first->words());
  }
  Plan plan = plan_search(chunk, m, std::min(k, chunk.rows), of_chunk, feedback);
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
