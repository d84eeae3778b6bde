# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # tools/check, which sources this, sets and reads them
# The gates of GPUs share these functions, which find the GPUs of this machine, and run jobs. When tools/check
# --devices runs out of time, the next run skips jobs that passed.
#
# KITH_GPUS names the devices that count as GPUs; default: cuda:0 and opencl:nvidia.

gates_of_gpus="differential proposed boxes sets bounds sanitizer whole twins"

find_cuda() {
  command -v nvcc >/dev/null 2>&1 && return
  for folder in "${CUDA_PATH:-}" "${CUDA_HOME:-}" /usr/local/cuda; do
    [ -n "$folder" ] && [ -x "$folder/bin/nvcc" ] && PATH=$PATH:$folder/bin && return
  done
}

# If no .icd file names NVIDIA's OpenCL driver to the loader, name it here.
find_nvidia_opencl() {
  vendors=${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}
  grep -qs nvidia "$vendors"/*.icd && return
  library=$(ldconfig -p 2>/dev/null | sed -n 's/.*libnvidia-opencl\.so\.1.*=> //p' | head -n 1)
  for folder in /usr/local/nvidia/lib64 /usr/lib/x86_64-linux-gnu /usr/lib64; do
    [ -n "$library" ] && break
    [ -e "$folder/libnvidia-opencl.so.1" ] && library=$folder/libnvidia-opencl.so.1
  done
  [ -n "$library" ] || return
  mkdir -p "$build/vendors"
  cp "$vendors"/*.icd "$build/vendors/" 2>/dev/null
  echo "$library" > "$build/vendors/nvidia.icd"
  OCL_ICD_VENDORS=$build/vendors && export OCL_ICD_VENDORS
  say "check: no file in $vendors names $library; OCL_ICD_VENDORS=$OCL_ICD_VENDORS does"
}

# Whether a device can search. The command's exit code 4 means unavailable, 2 that this build lacks the back end. Any
# other failure is left for the gate to report.
has_device() { # SPEC
  "$kith" compare --device "$1" --stage search -n 64 -m 1 --dims 2 -k 1 > "$logs/probe.$gate" 2>&1
  case $? in 2 | 4) return 1 ;; esac
}

# Sets $gpus to the GPUs of this machine, separated by spaces, and $why to what the others lack. Fails if a device that
# --require names is missing.
find_gpus() {
  [ -x "$kith" ] || build_kith || return
  gpus="" why=""
  for spec in ${KITH_GPUS:-cuda:0 opencl:nvidia}; do
    if has_device "$spec"; then gpus="$gpus${gpus:+ }$spec"; else why="$why${why:+; }no $spec: $(tail -n 1 "$logs/probe.$gate")"; fi
  done
  for spec in $required; do
    has_device "$spec" || { echo "$gate: --require $spec: $(tail -n 1 "$logs/probe.$gate")"; return 1; }
  done
  [ -z "$gpus" ] || [ -z "$why" ] || echo "$gate: $why"
}

# Runs a command in the time that is left. If that is too short, the gate is unfinished.
in_time() { # COMMAND...
  left=$(time_left)
  [ "$left" -gt 5 ] && timeout --foreground "$left" "$@" && return
  [ "$(time_left)" -gt 5 ] || outcome=unfinished
  return 1
}

in_file_name() { echo "$1" | tr ':+' '--'; }

time_left() { echo $((deadline - $(date +%s))); }

# Checks whether the build is newer than a file.
built_since() { # FILE
  [ ! -e "$1" ] || [ -n "$(find "$build/bin" "$build/lib" -type f -newer "$1" 2>/dev/null)" ]
}

# A job that passed with these very binaries need not run again.
passed_before() { # JOB
  [ -n "$devices" ] && ! built_since "$marks/$1"
}

# run_job JOB COMMAND... runs a command in the time that is left. $logs/JOB.log has its output, $marks/JOB.code its exit
# code. A job that ran out of time is not started again with as little time.
run_job() {
  job=$1 && shift
  ! passed_before "$job" || return 0
  left=$(time_left) needed=5 code=124
  built_since "$marks/$job.stopped" || needed=$(cat "$marks/$job.stopped")
  if [ "$left" -gt "$needed" ]; then
    timeout --foreground "$left" "$@" > "$logs/$job.log" 2>&1 < /dev/null
    code=$?
    [ $code -ne 124 ] || echo "$left" > "$marks/$job.stopped"
  else
    : > "$logs/$job.log"
  fi
  echo $code > "$marks/$job.code"
}

has_passed() { passed_before "$1" || [ "$(cat "$marks/$1.code")" = 0 ]; } # JOB

# judge WHAT FOUND JOB... prints the gate's line about these jobs: FOUND if all passed, else the ends of the logs
# of those that failed. Sets $outcome of the gate. Exit code 77 means a missing device, and is wrong for a GPU
# that is there.
judge() {
  what=$1 found=$2 open=0 wrong="" absent=""
  shift 2
  for job; do
    ! passed_before "$job" || continue
    case $(cat "$marks/$job.code" 2>/dev/null),$(tail -n 1 "$logs/$job.log" 2>/dev/null) in
      124,* | ,* | 0,*" so far"*) open=$((open + 1)) ;;
      0,*) [ -z "$devices" ] || : > "$marks/$job" ;;
      77,*) case " $gpus " in *" $what "*) wrong="$wrong $job" ;; *) absent=$(last_line "$job") ;; esac ;;
      *) wrong="$wrong $job" ;;
    esac
  done
  if [ -n "$wrong" ]; then
    echo "$gate: FAILED: $what"
    for job in $wrong; do
      echo "exit code $(cat "$marks/$job.code"), $logs/$job.log:"
      grep -a -A 3 '^WRONG' "$logs/$job.log" || tail -n 40 "$logs/$job.log"
    done
    outcome=FAILED
  elif [ $open -gt 0 ]; then
    if [ $# -eq 1 ]; then found=$(last_line "$1"); else found="$open of $# jobs"; fi
    echo "$gate: unfinished: $what: $found"
    longest=$(for job; do cat "$marks/$job.stopped" 2>/dev/null; done | sort -n | tail -n 1)
    [ -z "$longest" ] || echo "$gate: one needs more than $longest s"
    [ "$outcome" = FAILED ] || outcome=unfinished
  elif [ -n "$absent" ]; then
    echo "$gate: without $what: $absent"
  else
    echo "$gate: passed: $what: $found"
  fi
}

last_line() { tail -n 1 "$logs/$1.log" 2>/dev/null; } # JOB

# Random searches on each of these devices, all at once, must give the bits of the CPU. Cases that ran with the same
# binaries count.
random_cases() { # DEVICES COUNT ARGUMENTS OF VERIFY...
  on=$1 count=$2
  shift 2
  left=$(time_left)
  for spec in $on; do
    name=$gate.$(in_file_name "$spec") && cases=$marks/$name.cases
    if [ -z "$devices" ] || built_since "$cases.begun"; then rm -f "$cases" && : > "$cases.begun"; fi
    rm -f "$marks/$name.stopped"  # it continues where it was stopped
    run_job "$name" "$kith" verify --device "$spec" --random-cases "$count" --seed 20 "$@" \
      --seconds $((left > 20 ? left - 15 : 5)) --resume "$cases" &
  done
  wait
  for spec in $on; do
    name=$gate.$(in_file_name "$spec")
    judge "$spec" "$(last_line "$name")" "$name"
  done
}

# Runs random cases on each GPU; under --ci one in a hundred.
random_cases_of_gpus() { # COUNT ARGUMENTS OF VERIFY...
  find_gpus || return
  [ -n "$gpus" ] || { skip "$why"; return; }
  count=$1 && shift
  [ -z "$short" ] || count=$((count / 100))
  random_cases "$gpus" "$count" "$@"
}
