#!/bin/sh
# Runs the README's commands on a bare Debian 12 and a bare Ubuntu 24.04, in a clone of the commit that is checked out
# here, by root and by a user who cannot become root. Also runs the lines of docs/python.md that begin with `pip
# install`, each in a fresh virtual environment. Prints one line for each that passed, failed or was skipped.
#
#   from_nothing.sh [--release NAME] [--user NAME] [COMMAND...]
#
# NAME is bookworm or noble, and root or newcomer; without the options there are both. COMMAND is tools/quickstart,
# "tools/quickstart --lab", tools/check, or pip; without one there are all four. Those of a user run in one clone.
#
# mmdebstrap makes the bare system, by root alone, in a folder of its own below ${TMPDIR:-/tmp} with 20 GB of room. apt
# has this machine's configuration there. It needs root. What is mounted there is mounted for this process alone, in a
# namespace that ends with it, so nothing stays mounted, however it ends.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
[ "${1-}" != --help ] || { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p;}' "$0"; exit 0; }
if [ "${1-}" != --inside ]; then
  [ "$(id -u)" = 0 ] || { echo "from nothing: skipped: only root can make a bare system"; exit 0; }
  folder=$(mktemp -d) || exit
  trap 'kill -KILL $inside 2> /dev/null; wait $inside; rm -rf --one-file-system "$folder"' EXIT
  trap 'exit 130' INT TERM HUP
  unshare --mount --pid --fork --kill-child "$0" --inside "$folder" "$@" &
  inside=$! code=0
  wait $inside || code=$?
  exit $code
fi
folder=$2 && shift 2
releases="bookworm noble" users="root newcomer"
while [ $# -gt 0 ]; do
  case $1 in
    --release) releases=$2; shift 2 ;;
    --user) users=$2; shift 2 ;;
    -*) echo "from nothing: unknown option \"$1\""; exit 2 ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] || set -- tools/quickstart "tools/quickstart --lab" tools/check pip
failed=0

verdict() { # WHERE, WHAT, RESULT, SECONDS
  echo "from nothing: $1, $2: $3, $4 s"
  [ "$3" = passed ] || failed=$((failed + 1))
}

# Makes a bare system in $system, with the mirrors and proxies that this machine's apt uses.
make_system() { # RELEASE
  system=$folder/$1 mirror=""
  if [ "$1" = noble ]; then
    # shellcheck disable=SC2016 # apt expands it
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: noble' | head -n 1)
    [ -n "$mirror" ] || { echo "from nothing: $1: skipped: apt knows no mirror of Ubuntu 24.04"; return 1; }
  fi
  mmdebstrap --quiet --variant=minbase --include=ca-certificates,git "$1" "$system" ${mirror:+"$mirror"} > "$folder/$1.log" 2>&1 ||
    { tail -n 20 "$folder/$1.log"; verdict "$1" mmdebstrap FAILED 0; return 1; }
  cp -L /etc/resolv.conf /etc/hosts "$system/etc/"  # MPI would ask the network for the machine's own name each time
  cp /etc/ssl/certs/ca-certificates.crt "$system/etc/ssl/certs/"
  cp -r /etc/apt/apt.conf.d "$system/etc/apt/"
  if [ "$1" = bookworm ]; then
    rm -f "$system/etc/apt/sources.list"
    cp -r /etc/apt/sources.list* "$system/etc/apt/" && cp -r /usr/share/keyrings "$system/usr/share/"
  fi
  for place in proc dev sys; do mount --rbind "/$place" "$system/$place" || return; done
  chroot "$system" useradd --create-home newcomer
}

remove_system() {
  for place in proc dev sys; do umount --recursive --lazy "$system/$place"; done
  rm -rf --one-file-system "$system"
}

# The last line must be one that the README shows, or resemble one.
run_command() { # USER COMMAND
  home=$(chroot "$system" sh -c "echo ~$1")
  [ -e "$system$home/kith" ] ||
    { git clone --quiet "$root" "$system$home/kith" && chroot "$system" chown -R "$1:" "$home/kith"; } || return
  chroot --userspec="$1:" "$system" env -i HOME="$home" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    sh -c "cd ~/kith && $2" > "$folder/printed" 2> "$folder/errors" < /dev/null || { tail -n 20 "$folder/errors"; tail -n 3 "$folder/printed"; return 1; }
  last=$(tail -n 1 "$folder/printed")
  echo "$last"
  case $2 in
    tools/check*) echo "$last" | grep -qx '[0-9]* passed, 0 failed, [0-9]* skipped' ;;
    *) [ -n "$last" ] && grep -qF "\`$last\`" "$root/README.md" ;;
  esac
}

# Runs in a folder of its own, so that Python does not import kith from the working directory.
install_by_pip() { # LINE
  python3 -m venv --clear "$folder/environment" && cd "$folder/kith" && PATH=$folder/environment/bin:$PATH && eval "$1" && cd / &&
    python -c 'import kith; print(kith.Index([[0], [1], [5]], device="cpu").search([[4]], 1).row)'
}

run_pip() {
  command -v nvidia-smi > /dev/null || export CMAKE_ARGS=-DKITH_CUDA=OFF  # as tools/quickstart does
  git clone --quiet "$root" "$folder/kith" && grep '^pip install' "$root/docs/python.md" > "$folder/lines" || return
  while IFS= read -r line; do
    (install_by_pip "$line") > "$folder/pip.log" 2>&1 < /dev/null || { tail -n 20 "$folder/pip.log"; return 1; }
  done < "$folder/lines"
}

timed() { # WHERE, WHAT, FUNCTION ARGUMENTS...
  where=$1 what=$2 begin=$(date +%s) && shift 2
  if "$@"; then result=passed; else result=FAILED; fi
  verdict "$where" "$what" $result $(($(date +%s) - begin))
}

for command; do
  [ "$command" != pip ] || timed "a fresh virtual environment" "pip install" run_pip
done
case $* in
  pip) ;;
  *)
    for release in $releases; do
      make_system "$release" || continue
      for user in $users; do
        for command; do
          [ "$command" = pip ] || timed "$release, $user" "$command" run_command "$user" "$command"
        done
      done
      remove_system
    done ;;
esac
[ $failed -eq 0 ]
