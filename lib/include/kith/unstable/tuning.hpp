// Holds what was measured on a device, and keeps it in a file. make_plan() chooses by it.
//
// `kith tune` writes such files; open_device() and devices() read them. They change how a search is done and
// how long it takes, never its bits. docs/methods.md says how the plan chooses; docs/contract.md, section 6,
// says where the files are, and which of them are trusted.
//
// Unstable: this may change in any release, and kith.hpp does not have it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kith/device.hpp"
#include "kith/export.hpp"
#include "kith/selector.hpp"
#include "kith/unstable/plan.hpp"

namespace kith {

/// Holds the fastest plan that was found for one problem.
struct TuningEntry {
  Problem problem;
  bool fused = false;                       ///< `nearest` instead of `distance` and `select`
  Selector selector = Selector::threshold;  ///< if not fused; threshold if fused
  Proposer proposer = Proposer::none;       ///< none, or one of the device
  std::int64_t lists = 1;                   ///< as in Plan
  std::int64_t query_tile = 1;              ///< as in Plan
  std::int64_t train_tile = 1;              ///< as in Plan
  double seconds = 0;                       ///< device seconds of a search by this plan
  double built_in_seconds = 0;              ///< device seconds by the built-in rule; equal if that makes
                                            ///< this plan

  bool operator==(const TuningEntry&) const = default;
};

/// Holds all measurements of one device under one driver.
struct Tuning {
  std::string kith;     ///< version and plug-in interface of the library that measured
  std::string backend;  ///< DeviceInfo::backend
  std::string name;     ///< DeviceInfo::name
  std::string driver;   ///< DeviceInfo::driver
  std::uint32_t compute_units = 1;
  std::vector<TuningEntry> entries;

  bool operator==(const Tuning&) const = default;
};

/// Returns a Tuning without entries, for this device and this library.
KITH_API Tuning empty_tuning(const DeviceInfo& device);

/// Returns `device` without its measurements: make_plan() then follows the built-in rules.
KITH_API DeviceInfo without_tuning(const DeviceInfo& device);

/// Returns the text of a tuning file: one entry a line, and a checksum in the last line.
KITH_API std::string tuning_text(const Tuning& tuning);

/// Parses a text, which must be exactly what tuning_text() makes of the result. Throws bad_file (says what is
/// wrong, and in which line, but does not name the file).
KITH_API Tuning parse_tuning(std::string_view text);

/// Returns the path at which the file of `device` is searched; empty if KITH_TUNING is `off`, or if no folder
/// is known.
KITH_API std::string tuning_path(const DeviceInfo& device);

/// Reads a file if it exists and may be trusted: a plain file of at most 1 MiB that belongs to `user`, in a
/// folder that belongs to `user`, neither of them writable by others nor reached by a link in its last step,
/// undamaged, and for this device, driver and version of kith.
///   user     a user id; by default that of this process
///   warning  out: a sentence on why an existing file is ignored; else empty
///   returns  null: there is no such file, or it is ignored
KITH_API std::shared_ptr<const Tuning> load_tuning(const DeviceInfo& device, const std::string& path,
                                                   std::string& warning);
KITH_API std::shared_ptr<const Tuning> load_tuning(const DeviceInfo& device, const std::string& path,
                                                   std::string& warning, std::uint32_t user);

/// Writes a file that appears complete or not at all, readable only by its owner (0600).
///   make_folders  makes missing folders above it (0700)
/// Throws bad_file: it cannot be written.
KITH_API void save_tuning(const Tuning& tuning, const std::string& path, bool make_folders);

/// Returns one sentence for each file ignored in this process so far, in order, and for each folder of files
/// that kith keeps for its user which is not used.
KITH_API std::vector<std::string> tuning_warnings();

}  // namespace kith
