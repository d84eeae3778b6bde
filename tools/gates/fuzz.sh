# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   fuzz          every reader of files and words under libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer, after
#                 these have found planted faults: 10^6 inputs per reader, or KITH_FUZZ_RUNS; under --ci all readers
#                 share a minute. The seed is the date
#
# Found so far: five faults of readers and of their messages, which docs/fuzzing.md names.
#
# docs/fuzzing.md says what is read, what is checked, and what was found.

packages_fuzz="clang-14 libclang-rt-14-dev libhdf5-dev"

kith_fuzz=$root/build-fuzz/bin/kith_fuzz

# Runs one reader on its seeds. Its output goes to fuzz/READER.log, an input that shows a fault to fuzz/READER-*. An
# input may have 4 KiB, take 10 s, and allocate 256 MiB in one piece.
under_libfuzzer() { # READER ARGUMENTS...
  reader=$1 && shift
  case $reader in
    npy | npz | hdf5 | idx | *vecs | *bin | neighbors | source) words=binary ;;
    gz | kidx | model | tuning | options | words) words=$reader ;;
    *) words=text ;;
  esac
  "$kith_fuzz" --reader="$reader" "$@" "$root/tests/fuzz/seeds/$reader" -dict="$root/tests/fuzz/$words.dict" \
    -seed="$date" -max_len=4096 -timeout=10 -malloc_limit_mb=256 -rss_limit_mb=2048 -close_fd_mask=3 \
    -print_final_stats=1 -artifact_prefix="$logs/fuzz/$reader-" > "$logs/fuzz/$reader.log" 2>&1
}

# A fault planted in kith_fuzz must be reported with these words.
sees_fault() { # FAULT WORDS
  under_libfuzzer csv --plant="$1" -runs=1000 && { echo "The planted fault \"$1\" is not seen"; return 1; }
  grep -q "$2" "$logs/fuzz/csv.log" && return
  echo "The planted fault \"$1\" is not reported as \"$2\":"
  tail -n 40 "$logs/fuzz/csv.log"
  return 1
}

number_in_log() { # PATTERN with \(number\)
  sed -n "s/$1/\\1/p" "$log" | tail -n 1
}

# Writes fuzz/READER.line, and behind it what was found.
fuzz_reader() { # READER LIMIT
  result=passed log=$logs/fuzz/$1.log
  mkdir -p "$logs/fuzz/$1.corpus"
  under_libfuzzer "$1" "$2" "$logs/fuzz/$1.corpus" || result=FAILED
  printf 'fuzz: %-8s %s: %s inputs, %s a second, %s edges, %s MiB\n' "$1" $result \
    "$(number_in_log '^stat::number_of_executed_units: *\(.*\)')" \
    "$(number_in_log '^stat::average_exec_per_sec: *\(.*\)')" "$(number_in_log '.*DONE *cov: \([0-9]*\) .*')" \
    "$(number_in_log '^stat::peak_rss_mb: *\(.*\)')" > "$logs/fuzz/$1.line"
  [ $result = passed ] || { tail -n 60 "$log"; echo "Again: $kith_fuzz --reader=$1 $logs/fuzz/$1-*"; } >> "$logs/fuzz/$1.line"
}

gate_fuzz() {
  configure fuzz "$root/build-fuzz" -DCMAKE_CXX_COMPILER=clang++-14 -DKITH_WERROR=ON &&
    cmake --build "$root/build-fuzz" --parallel "$jobs" --target kith_fuzz || return
  rm -rf "$logs/fuzz" && mkdir -p "$logs/fuzz" || return
  sees_fault overread heap-buffer-overflow && sees_fault overflow "signed integer overflow" &&
    sees_fault leak "detected memory leaks" && sees_fault memory "out-of-memory (malloc" &&
    sees_fault infinity "a value is not finite" || return
  readers=$("$kith_fuzz") limit=-runs=${KITH_FUZZ_RUNS:-1000000}
  [ -z "$short" ] || limit=-max_total_time=$((60 * jobs / $(echo "$readers" | wc -l)))
  echo "fuzz: seed $date, $limit"
  worker=0
  while [ $((worker += 1)) -le "$jobs" ]; do
    for one in $readers; do
      if mkdir "$logs/fuzz/$one.taken" 2>/dev/null; then fuzz_reader "$one" "$limit"; fi
    done &
  done
  wait
  for one in $readers; do cat "$logs/fuzz/$one.line" || return; done
  ! grep -q FAILED "$logs"/fuzz/*.line
}
