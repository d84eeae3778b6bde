# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   abi           the C interface (kith.h) equals the recorded one, lib/abi/kith-MAJOR.MINOR.abi, by abigail-tools,
#                 and libkith.so exports it; first the gate must notice planted changes. KITH_ABI_RECORD=1 records a
#                 version that has no file yet. Also checks that the files which tools/options writes from the tables
#                 of options are up to date, after it has noticed planted options

packages_abi="abigail-tools"

abi_version() { # INCLUDE: prints MAJOR.MINOR
  sed -n 's/^#define KITH_ABI_MAJOR \(.*\)/\1/p; s/^#define KITH_ABI_MINOR \(.*\)/\1/p' "$1/kith/c/base.h" | paste -sd.
}

# abi_of INCLUDE NAME makes $abi/NAME.abi, the interface of these headers, from a library $abi/NAME.so of empty
# functions. So bodies and compiler options do not matter, and only C names, structs and constants are compared.
abi_of() {
  {
    echo '#include <kith/kith.h>'
    awk '/^KITH_C_API / { inside = 1 }
         inside { sub(/\/\/.*/, ""); end = sub(/;/, " { __builtin_trap(); }"); print; if (end) inside = 0 }' "$1"/kith/c/*.h
  } > "$abi/$2.c" &&
    cc -std=c99 -g -fPIC -shared -fvisibility=hidden -fno-eliminate-unused-debug-types "-fdebug-prefix-map=$abi/=" -I"$1" "$abi/$2.c" -o "$abi/$2.so" &&
    abidw --load-all-types --no-corpus-path --no-comp-dir-path --no-show-locs --no-architecture --no-elf-needed \
      --out-file "$abi/$2.abi" "$abi/$2.so"
}

# abi_changes BEFORE AFTER prints the differences, also of unreachable constants. Bits of abidiff's exit code: 4
# changed, 8 incompatible.
abi_changes() { abidiff --non-reachable-types "$1" "$2"; }

# Whether these headers equal the record of their version.
abi_is_recorded() { # INCLUDE NAME
  abi_of "$1" "$2" || return
  recorded=lib/abi/kith-$(abi_version "$1").abi
  [ -e "$recorded" ] ||
    { echo "There is no $recorded; record it: KITH_ABI_RECORD=1 tools/check --only abi"; return 1; }
  abi_changes "$recorded" "$abi/$2.abi" && return
  echo "kith.h is not what $recorded says; raise KITH_ABI_MINOR for what is added, KITH_ABI_MAJOR for all else, and record it"
  return 1
}

# planted WHAT FILE SED: the gate must notice this change of a header.
planted() {
  rm -rf "$abi/include" && cp -R lib/include "$abi/include" && sed "$3" "lib/include/kith/c/$2" > "$abi/include/kith/c/$2" || return
  if cmp -s "lib/include/kith/c/$2" "$abi/include/kith/c/$2"; then echo "Nothing was planted: $1"; return 1; fi
  if abi_is_recorded "$abi/include" planted > "$abi/planted.txt" 2>&1; then echo "The gate did not notice: $1"; return 1; fi
  grep -qE "$4" "$abi/planted.txt" || { echo "The gate noticed something else than: $1"; cat "$abi/planted.txt"; return 1; }
}

# An interface may only grow within a major number.
abi_grows() {
  minor=$(abi_version lib/include) major=${minor%.*} minor=${minor#*.}
  [ "$minor" -gt 0 ] || return 0
  before=lib/abi/kith-$major.$((minor - 1)).abi
  [ -e "$before" ] || { echo "There is no $before"; return 1; }
  abi_changes "$before" "$abi/kith.abi" > "$abi/grown.txt"
  [ $(($? & 8)) -eq 0 ] || { cat "$abi/grown.txt"; echo "This breaks programs made for $before; raise KITH_ABI_MAJOR"; return 1; }
}

# NAME: libkith.so exports the C functions that these headers declare, apart from those for kith-ask-driver.
exports_abi() {
  nm -D --defined-only "$build/lib/libkith.so.0" | sed -n 's/.* \(kith_[A-Za-z0-9_]*\)$/\1/p' | grep -vx kith_ask_driver |
    sort > "$abi/exported.txt"
  nm -D --defined-only "$abi/$1.so" | sed -n 's/.* \(kith_[A-Za-z0-9_]*\)$/\1/p' | sort > "$abi/declared.txt"
  diff "$abi/declared.txt" "$abi/exported.txt" || { echo "kith.h declares (<) or libkith.so exports (>) these alone"; return 1; }
}

# planted_option WHAT FILE SED TEXT: tools/options notices a change in a copy, in words that have TEXT.
planted_option() {
  rm -rf "$logs/options" && mkdir -p "$logs/options/lib/include" "$logs/options/python/kith" "$logs/options/docs" &&
    cp -R lib/include/kith "$logs/options/lib/include/" && cp -R python/kith/_core "$logs/options/python/kith/" &&
    cp docs/options.md "$logs/options/docs/" && sed -i "$3" "$logs/options/$2" || return
  if python3 -B tools/options --check --root "$logs/options" > "$logs/options.planted"; then
    echo "The gate did not notice: $1"; return 1
  fi
  grep -q "$4" "$logs/options.planted" || { echo "The gate noticed something else than: $1"; cat "$logs/options.planted"; return 1; }
}

options_follow() { # what tools/options writes of the tables lies there, and Python has their defaults
  table=lib/include/kith/options.def
  planted_option "an option" $table 's/^KITH_TUNING_OPTION(number.* query_tile.*/&\nKITH_TUNING_OPTION(number, std::int64_t, depth, 0, "Planted.")/' c/options.h &&
    planted_option "a choice" lib/include/kith/choices.def 's/^KITH_CHOICE(TieRule, abstain.*/&\nKITH_CHOICE(TieRule, largest_label, "planted")/' _options.py &&
    planted_option "words of a docstring" python/kith/_core/_searches.py 's/Threads of the host; 0: as many/Threads; 0: as many/' _searches.py &&
    planted_option "a default of Python" python/kith/_core/_searches.py 's/threads: int = 0/threads: int = 2/' 'threads=2' &&
    python3 -B tools/options --check
}

gate_abi() {
  options_follow || return
  [ -e "$build/lib/libkith.so.0" ] || build_kith || return
  abi=$logs/abi && rm -rf "$abi" && mkdir -p "$abi" || return
  recorded=lib/abi/kith-$(abi_version lib/include).abi
  if [ -n "${KITH_ABI_RECORD-}" ] && [ ! -e "$recorded" ]; then
    abi_of lib/include kith && cp "$abi/kith.abi" "$recorded" && echo "Recorded $recorded" || return
  fi
  abi_is_recorded lib/include kith && abi_grows && exports_abi kith || return
  planted "a removed function" search.h '/kith_filter_of/d' '1 Removed function' || return
  if exports_abi planted; then echo "The gate did not notice: a function that only libkith.so has"; return 1; fi
  planted "an added function" model.h 's/^KITH_C_END/KITH_C_API void kith_more(void);/' '1 Added function' &&
    planted "a parameter of another type" vote.h 's/uint64_t seed/int32_t seed/' 'name changed from uint64_t to int32_t' &&
    planted "a field of another type" options.h 's/int32_t fused/int64_t fused/' "'int32_t fused'" &&
    planted "an added field" options.h 's/kith_trace\* trace;/int64_t added; &/' "'int64_t added'" &&
    planted "two fields exchanged" device.h 's/int64_t rows; /int64_t swapped; /;s/int64_t cols; *$/int64_t rows;/;s/int64_t swapped/int64_t cols/' "cols" &&
    planted "a constant of another value" base.h 's/KITH_BAD_FILE = 3/KITH_BAD_FILE = 9/' KITH_BAD_FILE &&
    planted "a version without a record" base.h 's/ABI_MINOR .*/ABI_MINOR 99/' 'There is no lib/abi/kith-.*99.abi'
}
