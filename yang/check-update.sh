#!/bin/bash
# Compares each module with its last published revision; RFC 7950 section 11 allows additions only.
# Whether a changed `must` still holds for what was valid is beyond pyang, which only warns of it.
set -eu
cd "$(dirname "$0")"
old=$(mktemp -d)
trap 'rm -r "$old"' EXIT
# The modules that ours import; pyang brings them along.
standard=$(dirname "$(dirname "$(readlink -f "$(command -v pyang)")")")/share/yang/modules
for file in published/*.yang.txt; do
    cp "$file" "$old/$(basename "$file" .txt)"
done
bad=0
for name in $(sed -n 's/^\(srv6mgr-[a-z0-9-]*\)\.yang.*/\1/p' install.txt); do
    last=$(find "$old" -name "$name@*.yang" | sort | tail -1)
    [ -n "$last" ] || continue # not published yet
    pyang -W none -p .:"$standard" --check-update-from "$last" -P "$old:$standard" "$name.yang" || bad=1
done
[ $bad = 0 ] || echo "a published definition changed: add a new one and mark the old one deprecated"
exit $bad
