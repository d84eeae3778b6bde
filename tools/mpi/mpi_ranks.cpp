#include "mpi_ranks.hpp"

#include <exception>
#include <string>
#include <utility>

#include "command/shared/command.hpp"
#include "files/output.hpp"
#include "kith/mpi.hpp"

namespace kith::command {

template <class Step>
auto MpiRanks::step(Step&& together) {
  try {
    mpi::agree(comm_, nullptr);
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
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm all = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &all);
  take(all);
}

/// Work with these ranks from now on.
void MpiRanks::take(MPI_Comm comm) {
  comm_ = comm;
  told_ = false;
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  MPI_Comm here = MPI_COMM_NULL;
  if (MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here) != MPI_SUCCESS) return;
  MPI_Comm_rank(here, &place_);
  MPI_Comm_free(&here);
}

std::unique_ptr<SharedIndex> MpiRanks::index(const Device& device, const RowsView& my_rows,
                                             std::int64_t first_row, Metric metric,
                                             const IndexOptions& options) {
  return step([&] {
    return std::make_unique<MpiIndex>(*this, mpi::Index(comm_, device, my_rows, first_row, metric, options));
  });
}

std::unique_ptr<SharedIndex> MpiRanks::open_index(const Device& device, const std::string& path,
                                                  const OpenOptions& options) {
  return step([&] { return std::make_unique<MpiIndex>(*this, mpi::Index(comm_, device, path, options)); });
}

std::vector<std::int64_t> MpiRanks::sums(const std::vector<std::int64_t>& mine) {
  return step([&] {
    std::vector<std::int64_t> all(mine.size());
    if (MPI_Allreduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_INT64_T, MPI_SUM, comm_) !=
        MPI_SUCCESS) {
      mpi::agree(comm_, nullptr);  // which throws where a rank died
      throw Error(Errc::device_failure,
                  "mpi: MPI_Allreduce failed; look at the network and at what mpirun says");
    }
    return all;
  });
}

int MpiRanks::run_once(const std::function<int()>& body) {
  std::exception_ptr failure;
  try {
    code_ = body();
  } catch (const ClosedPipe&) {  // of rank 0, which alone writes
    code_ = exit_closed_pipe;
  } catch (const files::ClosedPipe&) {
    code_ = exit_closed_pipe;
  } catch (...) {
    if (told_) throw;
    failure = std::current_exception();
  }
  mpi::agree(comm_, failure);
  return code_;
}

int MpiRanks::run(const std::function<int()>& body) {
  for (;;) {
    try {
      return run_once(body);
    } catch (const mpi::RankLost&) {
      lost_ = true;
      const MPI_Comm alive = mpi::survivors(comm_);
      const int before = size_, mine = rank_ == 0 ? code_ : -1;  // whether what was asked for is written
      int code = -1;
      take(alive);
      if (MPI_Allreduce(&mine, &code, 1, MPI_INT, MPI_MAX, comm_) == MPI_SUCCESS && code >= 0) return code;
      note(std::to_string(before - size_) + " of " + std::to_string(before) +
           " ranks died; the others take all rows and begin again");
      code_ = -1;
    }
  }
}

}  // namespace kith::command
