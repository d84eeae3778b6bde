#!/bin/sh
# Starts the compiler for mutants.py, through ccache if installed. Where a bug is planted ($KITH_PLANTED), warnings are
# no errors. Otherwise the options equal those of the gate `tests`, so the copy can reuse its objects.
for word; do
  shift
  if [ -n "${KITH_PLANTED-}" ] && [ "$word" = -Werror ]; then continue; fi
  set -- "$@" "$word"
done
if command -v ccache >/dev/null 2>&1; then set -- ccache "$@"; fi
exec "$@"
