#!/bin/sh
# Starts the compiler for mutants.py, through ccache if installed. Where a bug is planted ($KITH_PLANTED), warnings are
# no errors, and code is optimised less, as it runs once. Otherwise the options equal those of the gate `tests`, so the
# copy can reuse its objects.
for word; do
  shift
  if [ -n "${KITH_PLANTED-}" ]; then case $word in -Werror) continue ;; -O3) word=-O1 ;; esac; fi
  set -- "$@" "$word"
done
if command -v ccache >/dev/null 2>&1; then set -- ccache "$@"; fi
exec "$@"
