#!/bin/sh
# Compiles the proxies' programs into a folder: build.sh FOLDER. Needs clang and libbpf's headers.
set -e
here=$(dirname "$0")
# Where Debian keeps asm/types.h.
include=/usr/include/$(uname -m)-linux-gnu
# Paths stand in the line information of BTF: without the last two, two builds are not the same.
clang -O2 -g -Wall -Wextra -Werror -Wno-unused-parameter -Wno-sign-compare --target=bpf -mcpu=v3 \
    -I"$include" -fdebug-compilation-dir=. -ffile-prefix-map="$(cd "$here" && pwd)/=" \
    -c "$here/proxy.bpf.c" -o "$1/proxy.bpf.o"
llvm-strip -g "$1/proxy.bpf.o"
