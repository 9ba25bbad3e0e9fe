#!/bin/bash
# Write the generated files: YANG trees, the Redis schema, srv6ctl(1), srv6net(1), tags of YANG's errors,
# docs/reference. With --check, only compare.
set -eu
cd "$(dirname "$0")/.."
check=${1:-}
python -m srv6mgrd.redis.schemadoc $check
python -m srv6mgrd.cli.manual $check
python -m srv6net.command.manual $check
python docs/app_tags.py $check
python packaging/ansible_schema.py $check
PYTHONPATH=. python docs/site/reference.py $check
trees=docs/yang
if [ "$check" = --check ]; then
    trees=$(mktemp -d)
    trap 'rm -r "$trees"' EXIT
fi
mkdir -p "$trees"
for name in $(sed -n 's/^\(srv6mgr-[a-z0-9-]*\)\.yang.*/\1/p' yang/install.txt); do
    pyang -f tree -p yang --tree-line-length 100 "yang/$name.yang" >"$trees/$name.tree"
    [ -s "$trees/$name.tree" ] || rm "$trees/$name.tree"
done
pyang -f tree -p yang --tree-line-length 100 yang/srv6mgr-*.yang >"$trees/srv6mgr.tree"
if [ "$check" = --check ]; then
    diff -r docs/yang "$trees" || { echo "docs/yang is stale: run 'make format'"; exit 1; }
fi
