// Removes incomplete files, for programs that a signal may end.
#pragma once

#include "kith/export.hpp"

namespace kith {

/// Removes all temporary files that this process is writing: those of save() and save_tuning(), and those of
/// every Unfinished. It is async-signal-safe, for the handler of a signal that ends the process.
KITH_API void remove_unfinished() noexcept;

/// Names a temporary file, which remove_unfinished() removes while this object lives. There may be at most 16
/// at a time.
class KITH_API Unfinished {
 public:
  Unfinished() = default;  ///< no file
  ~Unfinished() { forget(); }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

  void remember(const char* name) noexcept;  ///< `name` must outlive this, or forget()
  void forget() noexcept;                    ///< the file stays

 private:
  int slot_ = -1;
};

}  // namespace kith
