#include "mpi_ranks.hpp"

#include <exception>
#include <utility>

#include "command/shared/command.hpp"
#include "files/output.hpp"
#include "kith/mpi.hpp"

namespace kith::command {

template <class Step>
auto MpiRanks::step(Step&& together) {
  try {
    mpi::agree(MPI_COMM_WORLD, nullptr);
    return std::forward<Step>(together)();
  } catch (...) {
    told_ = true;
    throw;
  }
}

namespace {

class MpiIndex final : public SharedIndex {
 public:
  MpiIndex(MpiRanks& ranks, mpi::Index index) : ranks_(ranks), index_(std::move(index)) {}

  Keys search_keys(const RowsView& queries, std::int64_t k, const PlanOptions& options,
                   Trace* trace) const override {
    return ranks_.step([&] { return index_.search_keys(queries, k, options, trace); });
  }
  RadiusKeys within_keys(const RowsView& queries, std::span<const float> radii, const PlanOptions& options,
                         Trace* trace) const override {
    return ranks_.step([&] { return index_.within_keys(queries, radii, options, trace); });
  }

 private:
  MpiRanks& ranks_;
  mpi::Index index_;
};

}  // namespace

MpiRanks::MpiRanks() {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  MPI_Comm here = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  MPI_Comm_rank(here, &place_);
  MPI_Comm_free(&here);
}

std::unique_ptr<SharedIndex> MpiRanks::index(const Device& device, const RowsView& my_rows,
                                             std::int64_t first_row, Metric metric,
                                             const IndexOptions& options) {
  return step([&] {
    return std::make_unique<MpiIndex>(
        *this, mpi::Index(MPI_COMM_WORLD, device, my_rows, first_row, metric, options));
  });
}

std::vector<std::int64_t> MpiRanks::sums(const std::vector<std::int64_t>& mine) {
  return step([&] {
    std::vector<std::int64_t> all(mine.size());
    MPI_Allreduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_INT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    return all;
  });
}

int MpiRanks::run(const std::function<int()>& body) {
  std::exception_ptr failure;
  int code = exit_ok;
  try {
    code = body();
  } catch (const ClosedPipe&) {  // of rank 0, which alone writes
    code = exit_closed_pipe;
  } catch (const files::ClosedPipe&) {
    code = exit_closed_pipe;
  } catch (...) {
    if (told_) throw;
    failure = std::current_exception();
  }
  mpi::agree(MPI_COMM_WORLD, std::move(failure));
  return code;
}

}  // namespace kith::command
