#!/bin/sh
# Compiles all eBPF programs into a folder: build.sh FOLDER. Needs clang and libbpf's headers.
set -e
rooms=$(cd "$(dirname "$0")/../.." && pwd)
# Where Debian keeps asm/types.h.
include=/usr/include/$(uname -m)-linux-gnu
for source in "$rooms"/*/bpf/*.bpf.c; do
    folder=$(dirname "$source")
    object=$1/$(basename "$source" .c).o
    # Paths stand in the line information of BTF: without the last options, two builds are not the same.
    clang -O2 -g -Wall -Wextra -Werror -Wno-unused-parameter -Wno-sign-compare --target=bpf \
        -mcpu=v3 -I"$include" -I"$rooms/ebpf/bpf" -I"$rooms/accounting/bpf" \
        -fdebug-compilation-dir=. -ffile-prefix-map="$folder/=" \
        -ffile-prefix-map="$rooms/ebpf/bpf/=" -ffile-prefix-map="$rooms/accounting/bpf/=" \
        -c "$source" -o "$object"
    llvm-strip -g "$object"
done
