// A placement in place: the memory of every stage on its device, and what goes between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lab/placement/placement.hpp"

namespace kith::experiments {

/// Memory of the host that copies go through.
class Staging {
 public:
  /// Locked in place where that is asked for and one of the two, which may be null, has such.
  Staging(spi::Device* from, spi::Device* to, std::size_t bytes, bool locked);
  void* data() { return locked_ ? locked_->data : pageable_.data(); }

 private:
  std::unique_ptr<spi::HostMemory> locked_;
  std::vector<unsigned char> pageable_;
};

/// A piece of data on its way from stage to stage.
struct Copy {
  std::string what;
  spi::Device* from = nullptr;  ///< null: it is in `staging` already
  spi::Allocation* source = nullptr;
  spi::Device* to = nullptr;  ///< null: it stays in `staging`
  spi::Allocation* target = nullptr;
  std::size_t bytes = 0;
  std::unique_ptr<Staging> staging = nullptr;
};

/// One stage on its device, with its operands and what must be copied before it starts.
struct Seat {
  std::string what, spec;
  spi::Device* device = nullptr;
  std::vector<Copy> before;
  std::vector<std::unique_ptr<spi::Allocation>> memory;
  spi::Allocation* out[2] = {};  ///< values or keys; vote: winner, counts
  std::size_t out_bytes[2] = {};
  spi::Step step;
};

/// All stages of a placement. Lives inside spi::with_device() of all their devices.
class PlacedSearch {
 public:
  ///   devices  the opened device of each stage
  PlacedSearch(const Placement& placement, const std::vector<spi::Device*>& devices,
               const PlacedProblem& problem);

  /// The first stage that its device does not do, and why; empty: all can be run.
  const std::string& refusal() const { return refusal_; }
  PlacedRun run();
  /// What the last run left, read once more from the devices.
  PlacedAnswer answer() const;

 private:
  void make(workloads::Stage stage, Seat& seat, const Seat* previous);
  void make_vote(Seat& seat, const Seat* previous);
  spi::Allocation* output(Seat& seat, std::size_t i, std::size_t bytes);
  spi::Allocation* send(const char* what, Seat& seat, const void* from, std::size_t bytes);
  spi::RowBlocks send_rows(const char* what, Seat& seat, MatrixView<const float> rows, std::uint32_t block);
  Copy leave(const char* what, const Seat& from, std::size_t i, spi::Device* to, spi::Allocation* target);
  spi::Allocation* input(const char* what, Seat& seat, const Seat* previous);
  void set(Seat& seat, spi::Work work);
  workloads::StageResult read_votes(const Seat& seat) const;

  const PlacedProblem& problem_;
  const std::size_t m_, n_;
  std::vector<Seat> seats_;
  std::vector<Copy> answer_;
  std::string refusal_;
};

}  // namespace kith::experiments
