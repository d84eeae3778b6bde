// Holds a placement that is ready to run: the memory of every stage on its device, and the copies
// between them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "lab/placement/placement.hpp"

namespace kith::experiments {

/// Holds host memory that copies pass through.
class Staging {
 public:
  /// Takes locked memory if `locked` is set and one of the devices, which may be null, has such memory.
  Staging(spi::Device* from, spi::Device* to, std::size_t bytes, bool locked);
  void* data() { return locked_ ? locked_->data : pageable_.data(); }

 private:
  std::unique_ptr<spi::HostMemory> locked_;
  std::vector<unsigned char> pageable_;
};

/// Describes a copy of data from stage to stage.
struct Copy {
  std::string what;
  spi::Device* from = nullptr;  ///< null: it is in `staging` already
  spi::Allocation* source = nullptr;
  spi::Device* to = nullptr;  ///< null: it stays in `staging`
  spi::Allocation* target = nullptr;
  std::size_t bytes = 0;
  std::unique_ptr<Staging> staging = nullptr;
};

/// Holds one stage on its device, and what must be copied before it starts.
struct Seat {
  workloads::Stage stage;
  std::string what, spec;
  spi::Device* device = nullptr;
  std::vector<Copy> before;
  std::vector<std::unique_ptr<spi::Allocation>> memory;
  std::unique_ptr<workloads::PreparedStage> prepared = nullptr;
};

/// Runs all stages of a placement. It must live inside spi::with_device() of all their devices.
class PlacedSearch {
 public:
  ///   devices  the opened device of each stage
  PlacedSearch(const Placement& placement, const std::vector<spi::Device*>& devices,
               const PlacedProblem& problem);

  /// Returns the first stage that its device refuses, and why; empty if all can run.
  const std::string& refusal() const { return refusal_; }
  PlacedRun run();
  /// Returns the result of the last run, read again from the devices.
  PlacedAnswer answer() const;

 private:
  spi::Allocation* place(Seat& seat, const Seat* previous, const char* what, const void* from,
                         std::size_t bytes);
  Copy leave(const char* what, const Seat& from, std::size_t part, spi::Device* to, spi::Allocation* target);

  const PlacedProblem& problem_;
  std::vector<Seat> seats_;
  std::vector<Copy> answer_;
  std::string refusal_;
};

}  // namespace kith::experiments
