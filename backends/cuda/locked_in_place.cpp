#include "locked_in_place.hpp"

#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>
#include <string>

#include "kith/error.hpp"
#include "visit.hpp"

namespace kith::cuda {
namespace {

using Byte = const unsigned char*;

/// A range of contiguous pages that kith has locked.
struct Piece {
  Byte end;
  std::size_t users;
};
struct Locked {
  std::mutex mutex;
  std::map<Byte, Piece> pieces;  // the keys are their beginnings; the mutex guards this
};

// It is never destroyed: a host program may keep an Index in a static variable.
Locked& locked() {
  static Locked& all = *new Locked;
  return all;
}

struct Pages {
  Byte begin, end;
};

Pages pages_around(const void* begin, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(begin) / page * page;
  const std::uintptr_t last = (reinterpret_cast<std::uintptr_t>(begin) + bytes + page - 1) / page * page;
  return {reinterpret_cast<Byte>(first), reinterpret_cast<Byte>(last)};
}

/// Returns whether some of these pages belong to a file. Pages that the system does not list count as such.
bool are_of_a_file(Pages pages) {
  const auto begin = reinterpret_cast<std::uintptr_t>(pages.begin),
             end = reinterpret_cast<std::uintptr_t>(pages.end);
  std::ifstream maps("/proc/self/maps");
  std::uintptr_t known = begin;
  for (std::string line; known < end && std::getline(maps, line);) {
    std::uintptr_t from = 0, to = 0, inode = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %*s %*s %*s %" SCNuPTR, &from, &to, &inode) != 3)
      return true;
    if (to <= known) continue;
    if (from > known || inode != 0) return true;
    known = to;
  }
  return known < end;
}

}  // namespace

LockedInPlace::LockedInPlace(const void* begin, std::size_t bytes) {
  const Pages all = pages_around(begin, bytes);
  const std::lock_guard lock(locked().mutex);
  auto& pieces = locked().pieces;
  Byte at = all.begin;
  const auto before = pieces.upper_bound(at);
  auto next = before != pieces.begin() && std::prev(before)->second.end > at ? std::prev(before) : before;
  const bool ours = next != pieces.end() && next->first < all.end;
  if (!ours && (bytes == 0 || are_locked_in_one(begin, bytes))) return;  // the host program has locked it
  if (are_of_a_file(all))
    throw Error(Errc::unsupported, "finds it in a mapped file, which stays on the disk");
  try {
    while (at < all.end) {
      pieces_.reserve(pieces_.size() + 1);
      if (next == pieces.end() || next->first > at) {
        const Byte end = next == pieces.end() ? all.end : std::min(all.end, next->first);
        next = pieces.insert({at, {end, 0}}).first;
        const cudaError_t error = cudaHostRegister(const_cast<unsigned char*>(at), std::size_t(end - at),
                                                   cudaHostRegisterPortable | cudaHostRegisterMapped);
        if (error != cudaSuccess) {
          cudaGetLastError();
          pieces.erase(next);
          throw Error(Errc::unsupported,
                      std::string("cannot lock it in place (") + cudaGetErrorName(error) + ")");
        }
      }
      ++next->second.users;
      pieces_.push_back(next->first);
      at = next->second.end;
      ++next;
    }
  } catch (...) {
    give_up();
    throw;
  }
}

LockedInPlace::~LockedInPlace() {
  const std::lock_guard lock(locked().mutex);
  give_up();
}

/// The caller holds the lock.
void LockedInPlace::give_up() noexcept {
  auto& pieces = locked().pieces;
  for (const Byte begin : pieces_) {
    const auto piece = pieces.find(begin);
    if (--piece->second.users > 0) continue;
    cudaHostUnregister(const_cast<unsigned char*>(begin));
    cudaGetLastError();
    pieces.erase(piece);
  }
  pieces_.clear();
}

}  // namespace kith::cuda
