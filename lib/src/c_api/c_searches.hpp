// Searches indexes for C, and writes to arrays of the caller.
#pragma once

#include <cstdint>

#include "c_api/c_arguments.hpp"
#include "search/resident/answer_sink.hpp"

namespace kith::c_api {

/// Writes to arrays of a caller, and to its own memory in place of arrays that are NULL.
class ArraysSink final : public HostSink {
 public:
  ArraysSink(ShownBy shown, float* distance, int64_t* row)
      : HostSink(shown, distance, row), distance_(distance), row_(row) {}
  void begin(std::int64_t m, std::int64_t k) override;

 private:
  float* const distance_;
  int64_t* const row_;
  Neighbors unwanted_;
};

/// Calls Index::search(), and writes to arrays of the caller.
///   distance, row  [m, k]; null: not wanted
void search_to_arrays(const Index& in, const RowsView& asked, std::int64_t k, const SearchOptions& options,
                      Trace* trace, float* distance, int64_t* row);
void search_to_arrays(const Index& in, const RowsView& asked, std::int64_t k, const SearchOptions& options,
                      Trace* trace, double* distance, int64_t* row);

Index index_of(const char* where, const kith_device* device, const RowsView& train,
               const kith_index_options* options);

}  // namespace kith::c_api
