#include "mpi_ranks.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "command/shared/command.hpp"
#include "files/output.hpp"
#include "kith/mpi.hpp"
#include "kith/unfinished.hpp"

namespace kith::command {

template <class Step>
auto MpiRanks::step(Common what, std::int64_t count, Step&& together) {
  try {
    meet(what, count, nullptr);
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

  Keys search_keys(const RowsView& queries, std::int64_t k, const SearchOptions& options,
                   Trace* trace) const override {
    return ranks_.step(MpiRanks::Common::search, 0,
                       [&] { return index_.search_keys(queries, k, options, trace); });
  }
  RadiusKeys within_keys(const RowsView& queries, std::span<const double> radii, const SearchOptions& options,
                         Trace* trace) const override {
    return ranks_.step(MpiRanks::Common::within, 0,
                       [&] { return index_.within_keys(queries, radii, options, trace); });
  }
  ShownBy shown() const override { return index_.shown(); }

 private:
  MpiRanks& ranks_;
  mpi::Index index_;
};

/// Calls mpi::survivors(), which takes milliseconds. Open MPI 5.0 sometimes waits there for ever if one more
/// rank dies meanwhile: then this rank ends.
MPI_Comm survivors_of(MPI_Comm comm) {
  constexpr std::chrono::seconds patience{30};
  const std::jthread watch([patience](const std::stop_token& done) {
    std::mutex mutex;
    std::condition_variable_any ended;
    std::unique_lock lock(mutex);
    if (ended.wait_for(lock, done, patience, [&] { return done.stop_requested(); })) return;
    constexpr std::string_view line =
        "kith: device_failure: mpi: ranks died, and MPI does not say who lives; run it again\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
    remove_unfinished();
    std::_Exit(exit_code(Errc::device_failure));
  });
  return mpi::survivors(comm);
}

}  // namespace

MpiRanks::MpiRanks() {
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
}

/// Finds this rank's place among those of its machine, once: a rank keeps its device when others die. Open
/// MPI's mpirun gives it in the environment; making a communicator instead crashes Open MPI 5.0 if a rank
/// dies meanwhile.
void MpiRanks::find_place() {
  int place = 0;
  mpi::together(comm_, [&] {
    if (const char* const local = std::getenv("OMPI_COMM_WORLD_LOCAL_RANK")) {
      place = std::atoi(local);
      return;
    }
    MPI_Comm here = MPI_COMM_NULL;
    if (MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here) != MPI_SUCCESS)
      throw Error(Errc::device_failure,
                  "mpi: MPI_Comm_split_type failed; look at the network and at what mpirun says");
    MPI_Comm_rank(here, &place);
    MPI_Comm_free(&here);
  });
  place_ = place;  // set on all ranks, or on none
}

std::vector<std::int64_t> MpiRanks::all_of(const std::vector<std::int64_t>& mine, MPI_Op op) {
  std::vector<std::int64_t> all(mine.size());
  mpi::together(comm_, [&] {  // if a rank has died, a failure here also ends the MPI_Allreduce of the others
    if (MPI_Allreduce(mine.data(), all.data(), static_cast<int>(mine.size()), MPI_INT64_T, op, comm_) !=
        MPI_SUCCESS)
      throw Error(Errc::device_failure,
                  "mpi: MPI_Allreduce failed; look at the network and at what mpirun says");
  });
  return all;
}

void MpiRanks::meet(Common what, std::int64_t count, const std::exception_ptr& failure) {
  const auto step = static_cast<std::int64_t>(what);
  const bool fails = failure != nullptr;
  constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::int64_t> mine = {fails ? 0 : 1, fails ? any : step, fails ? any : -step,
                                          fails ? any : count, fails ? any : -count};
  const std::vector<std::int64_t> least = all_of(mine, MPI_MIN);
  if (least[0] == 0) {
    mpi::agree(comm_, failure);
  } else if (least[1] != -least[2] || least[3] != -least[4]) {
    throw Error(Errc::invalid_argument,
                "mpi: the ranks were given different commands or different files; give every rank the same");
  }
}

std::unique_ptr<SharedIndex> MpiRanks::index(const Device& device, const RowsView& my_rows,
                                             std::int64_t first_row, Metric metric,
                                             const IndexOptions& options) {
  return step(Common::index, 0, [&] {
    return std::make_unique<MpiIndex>(*this, mpi::Index(comm_, device, my_rows, first_row, metric, options));
  });
}

std::unique_ptr<SharedIndex> MpiRanks::open_index(const Device& device, const std::string& path,
                                                  const OpenOptions& options) {
  return step(Common::index_file, 0,
              [&] { return std::make_unique<MpiIndex>(*this, mpi::Index(comm_, device, path, options)); });
}

std::vector<std::int64_t> MpiRanks::sums(const std::vector<std::int64_t>& mine) {
  return step(Common::sums, static_cast<std::int64_t>(mine.size()), [&] { return all_of(mine, MPI_SUM); });
}

int MpiRanks::run_once(const std::function<int()>& body) {
  std::exception_ptr failure;
  told_ = false;
  try {
    code_ = body();
  } catch (const ClosedPipe&) {  // on rank 0, which alone writes
    code_ = exit_closed_pipe;
  } catch (const files::ClosedPipe&) {
    code_ = exit_closed_pipe;
  } catch (...) {
    if (told_) throw;
    failure = std::current_exception();
  }
  meet(Common::end, 0, failure);
  return code_;
}

/// Returns the command's exit code if rank 0 had written everything when another rank died.
int MpiRanks::written_before() {
  return static_cast<int>(all_of({written_}, MPI_MAX)[0]);
}

int MpiRanks::run(const std::function<int()>& body) {
  const int all = size_;
  for (;;) {
    try {
      if (lost_) {
        if (const int code = written_before(); code != unwritten) return code;
        note(std::to_string(all - size_) + " of " + std::to_string(all) +
             " ranks died; the others take all rows and begin again");
      }
      if (place_ < 0) find_place();
      return run_once(body);
    } catch (const mpi::RankLost&) {  // on all living ranks
      lost_ = true;
      if (rank_ == 0 && code_ != unwritten) written_ = code_;
      code_ = unwritten;
      comm_ = survivors_of(comm_);
      MPI_Comm_rank(comm_, &rank_);
      MPI_Comm_size(comm_, &size_);
    }
  }
}

}  // namespace kith::command
