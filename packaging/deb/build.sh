#!/bin/sh
# Builds the Debian packages, and has lintian judge them unless JUDGED=no:
# build.sh FOLDER [FOLDER-TO-BUILD-IN]. Runs in a root that has what
# debian/control asks for, with /src a checkout, /wheels what requirements.txt names, and
# FOLDER/sources the names of the files of the source package.
set -e
out=$1
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' /src/packaging/deb/debian/changelog)
tree=${2:-/build}/srv6mgr-$version
rm -rf "$tree"
mkdir -p "$tree"
cd /src
tar -c -T "$out/sources" | tar -x -C "$tree"
mv "$tree/packaging/deb/debian" "$tree/debian"
mv "$tree/packaging/deb/requirements.txt" "$tree/requirements.txt"
rm -r "$tree/packaging"
cp -r /wheels "$tree/wheels"
cd "$tree"
# The order in which a file system lists files, and who runs this, must not matter.
chmod -R u=rwX,go=rX .
# Its lines are progress (lab/forecast.py).
dpkg-buildpackage --build=source,binary --no-sign --no-check-builddeps
cd ..
[ "${JUDGED:-yes}" = no ] ||
    lintian --allow-root --fail-on error,warning --info "srv6mgr_${version}"_*.changes
cp -- *.deb *.changes *.dsc *.buildinfo *.tar.* "$out"
