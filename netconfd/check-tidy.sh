#!/bin/bash
# clang-tidy over all C of the product, against the headers of the root in $1. What passed is not
# looked at again: in the folder $2 is a stamp for each file, named by all that the verdict is about.
set -eu
cd "$(dirname "$0")/.."
root=$1 stamps=$2
mkdir -p "$stamps"
files=$(git ls-files 'netconfd/*.c' 'srv6mgrd/*.c')
around=$({ cat .clang-tidy "netconfd/$(basename "$0")"; clang-tidy --version; basename "$(dirname "$root")"
    git ls-files -z '*.h' | xargs -0 cat; } | sha256sum)

check() {
    local flags=(-std=gnu17 -D_GNU_SOURCE) stamp
    case $1 in
    *.bpf.c) flags=(--target=bpf -O2 "-I$root/usr/include" "-I$root/usr/include/x86_64-linux-gnu"
        -Isrv6mgrd/ebpf/bpf -Isrv6mgrd/accounting/bpf) ;;
    esac
    stamp=$stamps/$({ echo "$around $1"; cat "$1"; } | sha256sum | cut -c1-32)
    [ -e "$stamp" ] && return
    clang-tidy --quiet "$1" -- "${flags[@]}" --sysroot="$root" 2>"$stamp.said" && touch "$stamp" || {
        cat "$stamp.said"
        rm -f "$stamp.said"
        return 1
    }
    rm -f "$stamp.said"
}

export -f check
export root stamps around
# shellcheck disable=SC2016
echo "$files" | xargs -P "$(nproc)" -n 1 bash -c 'check "$1"' tidy
