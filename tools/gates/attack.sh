# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
#   attack        compares random searches through Python with an independent oracle, by bits, on cpu, opencl:pocl and both as
#                 a set; reads randomly changed files; kills writers; ends programs that search. First it must find
#                 planted faults. 20,000 searches, or KITH_ATTACK_CASES. Under --ci the searches on one device and one
#                 other part, by the date; with --only also, all of them, in two minutes. Seeds that are recorded in
#                 tests/attack/digests.txt must give the recorded digests
#
# Found so far: lost neighbours when the host ranked fewer than k candidates of a part of quantized rows.
#
# docs/fuzzing.md says what is drawn, and how to repeat a seed.

packages_attack="g++ python3-numpy"

attack() { # JOB PROGRAM ARGUMENTS...
  job=attack.$1 program=$2
  shift 2
  run_job "$job" env "PYTHONPATH=$root/python" "KITH_LIBRARY=$build/lib/libkith.so.0" "KITH_ORACLE=$build/attack/oracle.so" \
    "TMPDIR=$attack_folder" /usr/bin/python3 -B "$root/tests/attack/$program.py" "$@"
}

# Checks that a job failed and reported these faults.
names() { # JOB PATTERNS...
  job=attack.$1
  shift
  for pattern; do
    [ "$(cat "$marks/$job.code")" = 1 ] && grep -aq "^WRONG: .*$pattern" "$logs/$job.log" && continue
    echo "attack: not found where it was planted: $pattern; $logs/$job.log"
    return 1
  done
}

planted_faults_are_found() {
  { attack answer answers --cases 60 --plant answer; attack crash answers --cases 60 --plant crash
    attack hang answers --cases 10 --plant hang --patience 4; } &
  attack changed files --kith "$kith" --kind csv --cases 5 --plant
  attack killed kills --kith "$kith" --seconds 4 --plant
  attack ended exits --cases 1 --plant
  wait
  names answer "instead of" && names crash "ended the process: signal 11" && names hang "takes longer than" &&
    names changed "ended by signal 11" "does not end" "exit code 77" "has the character" "is no JSON" &&
    names killed "planted, kill" && names ended "ends with -6"
}

attack_answers() { # SECONDS SPECS...
  time_for_answers=$1
  shift
  for spec; do
    attack "answers.$(in_file_name "$spec")" answers --device "$spec" --first "${date}000000" \
      --cases "${KITH_ATTACK_CASES:-20000}" --seconds "$time_for_answers"
  done
}

# Checks that recorded seeds give the recorded answers: 500 of them, by the date, or all.
attack_recorded() { # SPECS...
  for spec; do
    if [ -n "$short" ]; then set -- --first $((date % 40 * 500)) --cases 500; else set -- --first 0 --cases 20000; fi
    attack "recorded.$(in_file_name "$spec")" answers --device "$spec" --digests tests/attack/digests.txt "$@"
  done
}

attack_others() { # SECONDS PARTS...
  time_for_others=$1
  shift
  for part; do
    case $part in
      files) attack files files --kith "$kith" --first "${date}000000" --cases 3000 --seconds "$time_for_others" ;;
      kills) attack kills kills --kith "$kith" --first "$date" --seconds "$time_for_others" ;;
      exits) attack exits exits --first "${date}000000" --cases 1000 --seconds "$time_for_others" ;;
      exits.*) attack "$part" exits --device opencl:pocl --first "${date}000000" --cases 1000 --seconds "$time_for_others" ;;
    esac
  done
}

gate_attack() {
  { [ -x "$kith" ] && [ -e "$build/lib/libkith.so.0" ]; } || build_kith || return
  find_gpus || return
  attack_folder=$(mktemp -d /dev/shm/kith-attack-XXXXXX 2>/dev/null || mktemp -d) && mkdir -p "$build/attack" || return
  c++ -std=c++17 -O2 -ffp-contract=off -Wall -Wextra -Werror -shared -fPIC -o "$build/attack/oracle.so" \
    tests/attack/oracle.cpp || return
  planted_faults_are_found || { rm -rf "$attack_folder"; return 1; }
  specs="cpu opencl:pocl cpu+opencl:pocl" parts="files kills exits exits.opencl-pocl" of_searches=14400 of_others=1200
  if [ -n "$short" ]; then
    of_searches=15 of_others=12
    [ -n "$only" ] || {
      # shellcheck disable=SC2086 # words
      specs=$(echo $specs | cut -d ' ' -f $((date % 3 + 1))) parts=$(echo $parts | cut -d ' ' -f $((date % 4 + 1)))
    }
  fi
  # shellcheck disable=SC2086 # words
  { attack_answers $of_searches $specs; attack_recorded $specs; } &
  # shellcheck disable=SC2086
  attack_others $of_others $parts
  wait
  for spec in $specs; do
    job=attack.answers.$(in_file_name "$spec") && judge "searches on $spec" "$(last_line "$job")" "$job"
    job=attack.recorded.$(in_file_name "$spec") && judge "recorded on $spec" "$(last_line "$job")" "$job"
  done
  for part in $parts; do judge "$part" "$(last_line "attack.$part")" "attack.$part"; done
  rm -rf "$attack_folder"
}
