#!/bin/sh
# Debian's FRR with the patches of this folder. Runs as root in a throw-away Debian root: the lab's
# (lab/frr.py), or any clean chroot of the release that the packages are for.
#   build.sh fetch DIR       the distribution's source package into DIR; the patches must apply to it
#   build.sh build DIR OUT   packages from the source in DIR into OUT/debs, their files in OUT/root
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dir=$(realpath "$2")
export DEBIAN_FRONTEND=noninteractive DEB_BUILD_PROFILES=nodoc
export DEB_BUILD_OPTIONS="nocheck nodoc parallel=$(nproc)"
work=$(mktemp -d -p "${3:-$dir}" .work.XXXXXX)
trap 'rm -rf "$work"' EXIT

install() {
    sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >/etc/apt/sources.list.d/frr-source.list
    apt-get -q update
    apt-get -qy --no-install-recommends install dpkg-dev quilt
}

unpack() { # the source with our patches on it in $work/src
    dpkg-source --no-check -x "$dir"/frr_*.dsc "$work/src"
    while read -r patch; do
        cp "$here/$patch" "$work/src/debian/patches/"
        echo "$patch" >>"$work/src/debian/patches/series"
    done <"$here/series"
    cd "$work/src"
    # Not even an offset of context is let pass: the patches are for this version.
    QUILT_PATCHES=debian/patches QUILT_PATCH_OPTS=--fuzz=0 quilt push -aq
}

install
case $1 in
fetch)
    cd "$dir"
    apt-get -q -o APT::Sandbox::User=root --download-only source frr
    unpack
    ;;
build)
    out=$(realpath "$3")
    unpack
    apt-get -qy --no-install-recommends build-dep frr
    version=$(dpkg-parsechangelog -S Version)+srv6mgr1
    {
        echo "frr ($version) UNRELEASED; urgency=medium"
        echo
        sed 's/^/  * /' "$here/series"
        echo
        echo " -- srv6mgr maintainers <srv6mgr@localhost>  $(dpkg-parsechangelog -S Date)"
        echo
        cat debian/changelog
    } >"$work/changelog"
    mv "$work/changelog" debian/changelog
    # `show version` tells which FRR runs.
    sed -i 's/^\t\t--enable-multipath=256 .*/&\n\t\t--with-pkg-extra-version=+srv6mgr1 \\/' debian/rules
    grep -q 'with-pkg-extra-version' debian/rules
    dpkg-buildpackage -b -uc -us
    mkdir -p "$out/debs" "$out/root"
    for package in frr frr-pythontools frr-snmp frr-rpki-rtrlib; do
        mv "$work"/${package}_*.deb "$out/debs/"
    done
    dpkg-deb -x "$out"/debs/frr_*.deb "$out/root"
    ;;
*)
    echo "build.sh: '$1' is neither fetch nor build" >&2
    exit 2
    ;;
esac
