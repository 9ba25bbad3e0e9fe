#!/bin/sh
# Builds the lab's kernel in /build, one stage per call, inside the lab's root.
set -e
cd /build
case $1 in
source)
    apt-get -q update
    source=$(apt-cache -t trixie-backports depends linux-source | sed -n 's/.*Depends: //p' | head -n 1)
    apt-get -q -t trixie-backports -o APT::Sandbox::User=root download "$source"
    dpkg-deb --fsys-tarfile linux-source-*.deb | tar -xf - --wildcards './usr/src/linux-source-*.tar.*'
    rm linux-source-*.deb
    mkdir src
    tar -xf usr/src/linux-source-*.tar.* -C src --strip-components=1
    rm -r usr
    make -s -C src kernelversion >version
    ;;
configure)
    cd src
    make ARCH=um tinyconfig
    ./scripts/kconfig/merge_config.sh -m .config ../fragment
    make ARCH=um olddefconfig
    ;;
compile)
    make -C src ARCH=um -j"$(nproc)" linux
    strip -s src/linux -o linux
    cp src/.config config
    ;;
esac
