// Files that are being written, for programs that a signal may end.
#pragma once

#include "kith/export.hpp"

namespace kith {

/// Remove the temporaries of all files that this process is writing: those of save() and save_tuning(), and
/// all others that are an Unfinished. Async-signal-safe: for the handler of a signal that ends the process.
KITH_API void remove_unfinished() noexcept;

/// A temporary that remove_unfinished() removes while this object lives. At most 16 are known at a time.
class KITH_API Unfinished {
 public:
  Unfinished() = default;  ///< none
  ~Unfinished() { forget(); }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

  void remember(const char* name) noexcept;  ///< `name` must live as long as it is remembered
  void forget() noexcept;                    ///< the file stays

 private:
  int slot_ = -1;
};

}  // namespace kith
