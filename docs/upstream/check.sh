#!/bin/sh
# Applies what is offered upstream to another project's source, exactly.
#   check.sh pyroute2         the newest release on the package index, and runs its tests of requests
#   check.sh frr|linux DIR    a checkout, which stays as it is
#   check.sh frr-dev DIR      the same of FRR's development branch
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

applies() { # SOURCE PATCH...: one after the other, on copies of the files that they change
    source=$1
    shift
    cat "$@" | sed -n 's|^--- a/||p' | sort -u | while read -r file; do
        mkdir -p "$work/tree/$(dirname "$file")"
        cp "$source/$file" "$work/tree/$file"
    done
    for patch in "$@"; do
        if grep -E '^\+\+\+ .*\.(orig|rej)$' "$patch"; then
            echo "$(basename "$patch") has a leftover of another patch" >&2
            exit 1
        fi
        patch -s -F0 -d "$work/tree" -p1 <"$patch"
        echo "$(basename "$patch") applies"
    done
}

case ${1:-} in
pyroute2)
    python3 -m venv "$work/venv"
    "$work/venv/bin/pip" -q download --no-deps --no-binary :all: -d "$work" pyroute2
    tar -xf "$work"/pyroute2-*.tar.gz -C "$work" --no-same-owner
    cd "$work"/pyroute2-*/
    patch -s -F0 -p1 <"$here/pyroute2-seg6local.patch"
    echo "pyroute2-seg6local.patch applies to $(basename "$PWD")"
    "$work/venv/bin/pip" -q install pytest .
    "$work/venv/bin/python" -m pytest -q -p no:cacheprovider tests/test_unit/test_requests
    ;;
frr | linux) applies "$2" "$here/$1"/*.patch ;;
frr-dev)
    # Those that differ there come in the place of the others.
    set -- "$2"
    for patch in "$here"/frr/*.patch; do
        other=$here/frr/development/$(basename "$patch")
        [ -e "$other" ] && patch=$other
        set -- "$@" "$patch"
    done
    applies "$@"
    ;;
*)
    echo "usage: check.sh pyroute2 | frr DIR | frr-dev DIR | linux DIR" >&2
    exit 2
    ;;
esac
