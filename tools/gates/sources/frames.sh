# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   frames        counts the types and free functions that the headers of lib/src/search declare; there may be no more
#                 than the limit, which only falls. First the script must count a planted tree, and see the frames of a
#                 planted program
#
# tools/frames/frames.py says what counts. It measures searches where it is called by hand, since its build takes minutes.

# 148 before double precision, 193 with it; equal rows kept once declare 11, many groups 19, bands of bits 7, products
# of rows with gaps 14, projections and picked queries 36, searches without an Index 4.
limit_frames=309

packages_frames="gdb python3"

# Six declarations; on the way a lambda, a function of the standard library, and one behind the launcher.
planted_frames() {
  planted=$logs/frames.planted
  rm -rf "$planted" && mkdir -p "$planted/lib/src/search" "$planted/backends/cpu" || return
  cat > "$planted/lib/src/search/index.hpp" << 'END'
#pragma once
#include <functional>
namespace kith {
class Known;  // not declared here
using Work = std::function<void(int)>;
enum class Kind { one, two };
template <class T>
struct Index {
  struct Part { T size = {}; };
  void search() { part(); }
  void part(const Part& of = {});
};
inline int count(int most = (1)) { if (most > 0) { return 1; } return 0; }
constexpr int room = (1 + 2);
void pass(int rows, const Work& work);
}  // namespace kith
END
  cat > "$planted/lib/src/search/index.cpp" << 'END'
#include "index.hpp"
extern "C" {
void kith_search_begins() {}
void kith_search_ended() {}
}
namespace kith {
namespace cpu { void run(int rows); }
void pass(int rows, const Work& work) { work(rows); }
template <>
void Index<int>::part(const Part&) {
  pass(room, [](int rows) { cpu::run(rows); });
}
}  // namespace kith
int main() {
  kith::Index<int> index;
  kith::cpu::run(0);
  kith_search_begins();
  index.search();
  kith_search_ended();
}
END
  printf 'namespace kith::cpu { void run(int rows) { static int all; all += rows; } }\n' > "$planted/backends/cpu/run.cpp"
  c++ -std=c++20 -O0 -g "$planted/lib/src/search/index.cpp" "$planted/backends/cpu/run.cpp" -o "$planted/program" || return
  cat > "$planted.expected" << 'END'
planted: 4 frames in 3 files, 1 lambdas, 0 behind the launcher
   1 kith::Index::search  lib/src/search/index.hpp
   2 kith::Index::part  lib/src/search/index.cpp
   3 kith::pass  lib/src/search/index.cpp
   . std::function
   ~ kith::Index::part::{lambda}  lib/src/search/index.cpp
   4 kith::cpu::run  backends/cpu/run.cpp
headers types functions
      1     4         2  lib/src/search
      1     4         2  all: 6 declarations
END
  { python3 -B tools/frames/frames.py --root "$planted" --program "$planted/program" &&
    python3 -B tools/frames/frames.py --root "$planted" --declarations --limit 6; } > "$planted.all" || return
  # The standard library has several frames, whose names differ from version to version.
  sed 's|^/.*/program: |planted: |; s|   \. std::.*|   . std::function|' "$planted.all" | uniq > "$planted.found"
  diff "$planted.expected" "$planted.found" &&
    ! python3 -B tools/frames/frames.py --root "$planted" --declarations --limit 7 > "$planted.above"
}

gate_frames() {
  planted_frames || { echo "frames.py did not count what was planted"; return 1; }
  python3 -B tools/frames/frames.py --declarations --limit $limit_frames
}
