// Implements indexes and searches for C.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "c_api/c_arguments.hpp"
#include "c_api/c_searches.hpp"
#include "c_api/c_structs.hpp"
#include "kith/centre.hpp"
#include "kith/filter.hpp"
#include "rows/mapped_options.hpp"
#include "rows/rows.hpp"
#include "search/device_answers.hpp"
#include "search/nearest.hpp"

using namespace kith;
using namespace kith::c_api;

void kith::c_api::check_width(const char* where, Arithmetic of_index, Arithmetic of_arrays,
                              const char* instead) {
  if (of_index == of_arrays) return;
  const bool doubles = of_index == Arithmetic::f64;
  refuse(where, std::string("the index computes in ") + (doubles ? "double" : "single") +
                    " precision, and its distances are " + (doubles ? "doubles" : "floats") + "; call " +
                    instead + "()");
}

void ArraysSink::begin(std::int64_t m, std::int64_t k) {
  const std::size_t cells = cells_of(m, k);
  if (!distance_) unwanted_.distance.resize(cells);
  if (!row_) unwanted_.row.resize(cells);
  write_to(distance_ ? distance_ : unwanted_.distance.data(), row_ ? row_ : unwanted_.row.data());
  HostSink::begin(m, k);
}

void kith::c_api::search_to_arrays(const Index& in, const RowsView& asked, std::int64_t k,
                                   const SearchOptions& options, Trace* trace, float* distance,
                                   int64_t* row) {
  const Index::State& state = in.state();
  const MappedOptions mapped("search", state, options, asked.rows, k);
  ArraysSink sink(state.shown, distance, row);
  find_nearest(state, asked, k, mapped.options(), static_cast<AnswerSink&>(sink), trace);
  if (row) state.numbers.to_numbers({row, cells_of(asked.rows, k)});
}

void kith::c_api::search_to_arrays(const Index& in, const RowsView& asked, std::int64_t k,
                                   const SearchOptions& options, Trace* trace, double* distance,
                                   int64_t* row) {
  const Neighbors found = in.search(asked, k, options, trace);
  give(distance, found.distance64);
  give(row, found.row);
}

Index kith::c_api::index_of(const char* where, const kith_device* device, const RowsView& train,
                            const kith_index_options* options) {
  const Device& on = given(where, "device", device).device;
  const kith_index_options asked = read_struct(where, options);
  return Index(on, train, choice_of(asked.metric, default_metric), index_options_of(where, asked));
}

namespace {

/// Searches by an index whose arithmetic is that of `Distance`.
///   instead  the function for the other arithmetic
template <class Distance>
void search_index(const char* where, const char* instead, const kith_index* index, const kith_rows* queries,
                  std::int64_t k, const kith_search_options* options, Distance* distance, int64_t* row) {
  const Index& in = given(where, "index", index).index;
  const RowsView asked = rows_of(where, "query", queries);
  const Asked how(where, options, in.positions(), asked.rows);
  check_width(where, in.arithmetic(), arithmetic_of_array<Distance>, instead);
  search_to_arrays(in, asked, k, how.options(), how.trace(), distance, row);
  how.tell();
}

}  // namespace

kith_status kith_filter_of(int64_t n, const int64_t* rows, int64_t count, uint32_t* words) {
  return guarded(__func__, [&](const char* where) {
    check_given(where, "words", words);
    const RowFilter filter = RowFilter::only(n, array_of(where, "rows", rows, count));
    std::copy_n(filter.view().data(), filter.view().cols(), words);
  });
}

kith_status kith_index_new(const kith_device* device, const kith_rows* train,
                           const kith_index_options* options, kith_index** out) {
  return make_handle(__func__, out, [&](const char* where) {
    given(where, "device", device);
    return std::make_unique<kith_index>(
        kith_index{index_of(where, device, rows_of(where, "training", train), options)});
  });
}

kith_status kith_index_with(const kith_index* index, const kith_rows* more, const int64_t* ids,
                            kith_index** out) {
  return make_handle(__func__, out, [&](const char* where) {
    const Index& before = given(where, "index", index).index;
    const RowsView rows = rows_of(where, "added", more);
    return std::make_unique<kith_index>(kith_index{before.with(rows, ids_of(where, ids, rows.rows))});
  });
}

kith_status kith_index_without(const kith_index* index, const int64_t* rows, int64_t count,
                               kith_index** out) {
  return make_handle(__func__, out, [&](const char* where) {
    const Index& before = given(where, "index", index).index;
    return std::make_unique<kith_index>(kith_index{before.without(array_of(where, "rows", rows, count))});
  });
}

kith_status kith_index_compact(const kith_index* index, kith_index** out) {
  return make_handle(__func__, out, [&](const char* where) {
    return std::make_unique<kith_index>(kith_index{given(where, "index", index).index.compact()});
  });
}

kith_status kith_index_numbers(const kith_index* index, int64_t* numbers) {
  return guarded(__func__, [&](const char* where) {
    const Index& of = given(where, "index", index).index;
    check_given(where, "numbers", numbers);
    give(numbers, of.numbers());
  });
}

kith_status kith_centre_learn(const kith_rows* rows, int64_t before, double* state, double* centre) {
  return guarded(__func__, [&](const char* where) {
    const RowsView more = rows_of(where, "given", rows);
    check_array(where, "state", state, more.cols);
    if (before < 0) refuse(where, "before = " + std::to_string(before) + "; give 0 or more");
    const auto cols = static_cast<std::size_t>(more.cols);
    ColumnSums sums{before, {state, state + cols}, {state + cols, state + 2 * cols}};
    sums.add(more);
    if (sums.rows == 0) return;
    std::copy(sums.first.begin(), sums.first.end(), state);
    std::copy(sums.sum.begin(), sums.sum.end(), state + cols);
    if (centre) give(centre, sums.centre());
  });
}

void kith_index_free(kith_index* index) {
  delete index;
}

kith_status kith_index_describe(const kith_index* index, kith_index_info* info) {
  return guarded(__func__, [&](const char* where) {
    const Index& from = given(where, "index", index).index;
    auto to = KITH_INIT(kith_index_info);
    to.rows = from.rows();
    to.dims = from.dims();
    to.metric = name(from.metric()).data();
    to.device = from.device().info().spec.c_str();
    to.features = from.features().data();
    to.features_count = static_cast<int64_t>(from.features().size());
    to.memory_bytes = from.memory_bytes();
    to.first_row = from.first_row();
    to.next_row = from.next_row();
    to.positions = from.positions();
    to.centre = from.centre().empty() ? nullptr : from.centre().data();
    to.arithmetic = name(from.arithmetic()).data();
    to.box = from.box().empty() ? nullptr : from.box().data();
    to.prepared = from.state().prepared ? 1 : 0;
    to.parameter = from.shown().parameter;
    write_struct(where, info, to);
  });
}

kith_status kith_index_search(const kith_index* index, const kith_rows* queries, int64_t k,
                              const kith_search_options* options, float* distance, int64_t* row) {
  return guarded(__func__, [&](const char* where) {
    search_index(where, "kith_index_search_f64", index, queries, k, options, distance, row);
  });
}

kith_status kith_index_search_f64(const kith_index* index, const kith_rows* queries, int64_t k,
                                  const kith_search_options* options, double* distance, int64_t* row) {
  return guarded(__func__, [&](const char* where) {
    search_index(where, "kith_index_search", index, queries, k, options, distance, row);
  });
}

kith_status kith_index_search_on_device(const kith_index* index, const kith_rows* queries, int64_t k,
                                        const kith_search_options* options,
                                        const kith_device_answers* answers) {
  return guarded(__func__, [&](const char* where) {
    const Index& in = given(where, "index", index).index;
    const RowsView asked = rows_of(where, "query", queries);
    const DeviceNeighbors to = answers_of(where, answers);
    const Asked how(where, options, in.positions(), asked.rows);
    in.search_into(asked, k, to, how.options(), how.trace());
    how.tell();
  });
}

kith_status kith_index_prepare(const kith_index* index, int64_t m, int64_t k,
                               const kith_search_options* options) {
  return guarded(__func__, [&](const char* where) {
    const Index& of = given(where, "index", index).index;
    of.prepare(m, k, Asked(where, options, of.positions(), m).options());
  });
}

kith_status kith_index_explain(const kith_index* index, int64_t m, int64_t k,
                               const kith_search_options* options, char** out) {
  return guarded(__func__, [&](const char* where) {
    given(where, "out", out) = nullptr;
    const Index& in = given(where, "index", index).index;
    const std::string text = explain(in.plan(m, k, Asked(where, options, in.positions(), m).options()));
    auto copy = std::make_unique<char[]>(text.size() + 1);
    std::memcpy(copy.get(), text.c_str(), text.size() + 1);
    *out = copy.release();
  });
}

void kith_text_free(char* text) {
  delete[] text;
}
