#!/bin/sh
# Packages of a later version out of those of this one: next-version.sh FOLDER NEW. Of their content
# only the module srv6mgr-proxy differs: a later revision, with a leaf more. srv6mgr-tests has none.
set -e
mkdir -p "$2"
for deb in $(ls "$1"/*.deb | grep -v tests_); do
    tree=$2/tree
    dpkg-deb --raw-extract "$deb" "$tree"
    version=$(sed -n 's/^Version: //p' "$tree/DEBIAN/control")
    sed -i "s/^Version: .*/&+next/; s/(= $version)/(= $version+next)/" "$tree/DEBIAN/control"
    module=$tree/usr/share/yang/modules/srv6mgr/srv6mgr-proxy.yang
    if [ -e "$module" ]; then
        sed -i '0,/^  revision /s//  revision 2099-01-01 {\n    description "Next.";\n  }\n&/' "$module"
        rm "$tree/DEBIAN/md5sums"
    fi
    dpkg-deb -Znone --root-owner-group --build "$tree" "$2/$(basename "$deb")" >/dev/null
    rm -r "$tree"
done
