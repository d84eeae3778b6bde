// What was measured on a device, and the file it is kept in. make_plan() chooses by it.
//
// `kith tune` writes such files, open_device() and devices() read them. They change how a search is
// done and how long it takes, never its bits. docs/methods.md says how the plan chooses,
// docs/contract.md, section 6, where the files are and which of them are believed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kith/device.hpp"
#include "kith/export.hpp"
#include "kith/plan.hpp"
#include "kith/selector.hpp"

namespace kith {

/// The fastest way that was found for one problem.
struct TuningEntry {
  Problem problem;
  bool fused = false;                       ///< `nearest` instead of `distance` and `select`
  Selector selector = Selector::threshold;  ///< without fused; threshold with it
  Proposer proposer = Proposer::none;       ///< none, or one of the device
  std::int64_t lists = 1;                   ///< as in Plan
  std::int64_t query_tile = 1;              ///< as in Plan
  std::int64_t train_tile = 1;              ///< as in Plan
  double seconds = 0;                       ///< device seconds of a search this way
  double built_in_seconds = 0;              ///< the same of the built-in rule's way; equal where that is this

  bool operator==(const TuningEntry&) const = default;
};

/// All that was measured on one device under one driver.
struct Tuning {
  std::string kith;     ///< version and plug-in interface of the library that measured
  std::string backend;  ///< DeviceInfo::backend
  std::string name;     ///< DeviceInfo::name
  std::string driver;   ///< DeviceInfo::driver
  std::uint32_t compute_units = 1;
  std::vector<TuningEntry> entries;

  bool operator==(const Tuning&) const = default;
};

/// A Tuning without entries, of this device and this library.
KITH_API Tuning empty_tuning(const DeviceInfo& device);

/// `device` as if nothing had been measured on it: make_plan() then goes by its built-in rules.
KITH_API DeviceInfo without_tuning(const DeviceInfo& device);

/// The file of a Tuning: lines of text, an entry a line, the last one a checksum.
KITH_API std::string tuning_text(const Tuning& tuning);

/// The Tuning of a text, which must be exactly what tuning_text() makes of it.
/// Throws bad_file: what is wrong, and in which line; no file is named.
KITH_API Tuning parse_tuning(std::string_view text);

/// Where the file of `device` is looked for. Empty when KITH_TUNING is `off`, or no folder is known.
KITH_API std::string tuning_path(const DeviceInfo& device);

/// Read a file, if it is there and may be believed: a plain file of at most 1 MiB that belongs to
/// `user`, in a folder that belongs to `user`, neither of them writable by anybody else nor reached
/// through a link in its last step, undamaged, and of this device, driver and version of kith.
///   user     a user id; by default that of this process
///   warning  out: why a file that is there is ignored, as a sentence; empty otherwise
///   returns  null: there is no such file, or it is ignored
KITH_API std::shared_ptr<const Tuning> load_tuning(const DeviceInfo& device, const std::string& path,
                                                   std::string& warning);
KITH_API std::shared_ptr<const Tuning> load_tuning(const DeviceInfo& device, const std::string& path,
                                                   std::string& warning, std::uint32_t user);

/// Write a file that appears whole or not at all, for its owner alone (0600).
///   make_folders  make the folders above it that are missing (0700)
/// Throws bad_file: it cannot be written.
KITH_API void save_tuning(const Tuning& tuning, const std::string& path, bool make_folders);

/// One sentence for each file that was ignored in this process so far, in the order they were met.
KITH_API std::vector<std::string> tuning_warnings();

}  // namespace kith
