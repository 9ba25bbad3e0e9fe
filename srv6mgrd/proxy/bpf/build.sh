#!/bin/sh
# Compiles the programs of the proxies and of accounting into a folder: build.sh FOLDER. Needs clang
# and libbpf's headers.
set -e
rooms=$(cd "$(dirname "$0")/../.." && pwd)
# Where Debian keeps asm/types.h.
include=/usr/include/$(uname -m)-linux-gnu
for room in proxy accounting; do
    # Paths stand in the line information of BTF: without the last two, two builds are not the same.
    clang -O2 -g -Wall -Wextra -Werror -Wno-unused-parameter -Wno-sign-compare --target=bpf \
        -mcpu=v3 -I"$include" -I"$rooms/proxy/bpf" -fdebug-compilation-dir=. \
        -ffile-prefix-map="$rooms/$room/bpf/=" -ffile-prefix-map="$rooms/proxy/bpf/=" \
        -c "$rooms/$room/bpf/$room.bpf.c" -o "$1/$room.bpf.o"
    llvm-strip -g "$1/$room.bpf.o"
done
