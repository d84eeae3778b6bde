// Implements searches without an index that is kept, for C.
#include "c_api/c_arguments.hpp"
#include "c_api/c_searches.hpp"
#include "c_api/c_structs.hpp"
#include "plan/reasons.hpp"
#include "search/straight/straight_search.hpp"

using namespace kith;
using namespace kith::c_api;

namespace {

/// Calls search(index, rows, options, trace) for the neighbours of all rows.
template <class Search>
void search_graph(const char* where, const kith_device* device, const kith_rows* rows,
                  const kith_index_options* index_options, const kith_search_options* options,
                  const Search& search) {
  const RowsView all = rows_of(where, "training", rows);
  const Index in = index_of(where, device, all, index_options);
  const Asked how(where, options, all.rows, all.rows);
  SearchOptions way = how.options();
  if (way.self)
    refuse(where, "self is given, but each row is left out by itself already; leave has_self at 0");
  way.self = 0;
  search(in, all, way, how.trace());
  how.tell();
}

template <class Distance>
void graph_to_arrays(const char* where, const char* instead, const kith_device* device, const kith_rows* rows,
                     std::int64_t k, const kith_index_options* index_options,
                     const kith_search_options* options, Distance* distance, int64_t* row) {
  search_graph(where, device, rows, index_options, options,
               [&](const Index& in, const RowsView& all, const SearchOptions& way, Trace* trace) {
                 check_width(where, in.arithmetic(), arithmetic_of_array<Distance>, instead);
                 search_to_arrays(in, all, k, way, trace, distance, row);
               });
}

/// Writes what a search of the rows where they lie finds to arrays of floats. Returns false if they need an
/// index.
bool straight_to_arrays(const SearchOnce& once, float* distance, int64_t* row, Trace* trace) {
  ArraysSink sink(ShownBy(once.metric), distance, row);
  return search_straight(once, sink, trace);
}
bool straight_to_arrays(const SearchOnce&, double*, int64_t*, Trace*) {
  return false;
}

template <class Distance>
void knn_to_arrays(const char* where, const char* instead, const kith_device* device, const kith_rows* rows,
                   const kith_rows* queries, std::int64_t k, const kith_index_options* index_options,
                   const kith_search_options* options, Distance* distance, int64_t* row) {
  const Device& on = given(where, "device", device).device;
  const RowsView train = rows_of(where, "training", rows), asked = rows_of(where, "query", queries);
  const kith_index_options wished = read_struct(where, index_options);
  const IndexOptions of_index = index_options_of(where, wished);
  const Metric metric = choice_of(wished.metric, default_metric);
  const Asked how(where, options, train.rows, asked.rows);
  const SearchOnce once{on, train, asked, k, metric, how.options(), of_index};
  if (!straight_to_arrays(once, distance, row, how.trace())) {
    const Index in(on, train, metric, of_index);
    check_width(where, in.arithmetic(), arithmetic_of_array<Distance>, instead);
    search_to_arrays(in, asked, k, how.options(), how.trace(), distance, row);
    if (how.trace()) how.trace()->plan.reason += reasons::index_for_once();
  }
  how.tell();
}

}  // namespace

kith_status kith_knn(const kith_device* device, const kith_rows* rows, const kith_rows* queries, int64_t k,
                     const kith_index_options* index_options, const kith_search_options* options,
                     float* distance, int64_t* row) {
  return guarded(__func__, [&](const char* where) {
    knn_to_arrays(where, "kith_knn_f64", device, rows, queries, k, index_options, options, distance, row);
  });
}

kith_status kith_knn_f64(const kith_device* device, const kith_rows* rows, const kith_rows* queries,
                         int64_t k, const kith_index_options* index_options,
                         const kith_search_options* options, double* distance, int64_t* row) {
  return guarded(__func__, [&](const char* where) {
    knn_to_arrays(where, "kith_knn", device, rows, queries, k, index_options, options, distance, row);
  });
}

kith_status kith_knn_graph(const kith_device* device, const kith_rows* rows, int64_t k,
                           const kith_index_options* index_options, const kith_search_options* options,
                           float* distance, int64_t* row) {
  return guarded(__func__, [&](const char* where) {
    graph_to_arrays(where, "kith_knn_graph_f64", device, rows, k, index_options, options, distance, row);
  });
}

kith_status kith_knn_graph_f64(const kith_device* device, const kith_rows* rows, int64_t k,
                               const kith_index_options* index_options, const kith_search_options* options,
                               double* distance, int64_t* row) {
  return guarded(__func__, [&](const char* where) {
    graph_to_arrays(where, "kith_knn_graph", device, rows, k, index_options, options, distance, row);
  });
}

kith_status kith_knn_graph_on_device(const kith_device* device, const kith_rows* rows, int64_t k,
                                     const kith_index_options* index_options,
                                     const kith_search_options* options, const kith_device_answers* answers) {
  return guarded(__func__, [&](const char* where) {
    const DeviceNeighbors to = answers_of(where, answers);
    search_graph(where, device, rows, index_options, options,
                 [&](const Index& in, const RowsView& all, const SearchOptions& way, Trace* trace) {
                   in.search_into(all, k, to, way, trace);
                 });
  });
}
