#!/bin/sh
# A compiler as mutants.py starts it: by ccache where that is there, and with warnings that are no errors where a bug
# is planted ($KITH_PLANTED). Else with the very options of the gate `tests`, whose objects are then those of the copy.
for word; do
  shift
  if [ -n "${KITH_PLANTED-}" ] && [ "$word" = -Werror ]; then continue; fi
  set -- "$@" "$word"
done
if command -v ccache >/dev/null 2>&1; then set -- ccache "$@"; fi
exec "$@"
