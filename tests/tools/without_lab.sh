#!/bin/sh
# The command without its laboratory (KITH_LAB=OFF), as tools/quickstart builds it.
#   without_lab.sh KITH
set -eu
kith=$1
for command in compare verify reproduce bench tune; do
  code=0
  said=$("$kith" $command --stage search 2>&1) || code=$?
  expected="kith: unsupported: $command: this kith is built without its laboratory (KITH_LAB=OFF); run \`tools/quickstart --lab\` in kith's sources, or build it with KITH_LAB=ON"
  [ "$code" = 6 ] || { echo "kith $command ends with $code, not 6"; exit 1; }
  [ "$said" = "$expected" ] || { echo "kith $command says: $said"; exit 1; }
done
"$kith" --help | grep -c "Not in this build of kith" | grep -qx 5 || { echo "kith --help does not say what is left out"; exit 1; }
found=$(printf '0,0\n1,0\n9,9\n' | "$kith" search --device cpu --train - --format csv --query 1,1 -k 1 --json)
echo "$found" | tr -d ' \n' | grep -q '"row":1' || { echo "kith search says: $found"; exit 1; }
