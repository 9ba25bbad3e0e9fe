#!/bin/sh
# Installs the modules that yang/install.txt names (MODULE.yang [FEATURE...]) and keeps the
# resulting repository in /opt/sysrepo.
set -e
cd /src/yang
set --
while read -r module features; do
    case $module in '' | '#'*) continue ;; esac
    set -- "$@" --install "$module"
    for feature in $features; do
        set -- "$@" --enable-feature "$feature"
    done
done <install.txt
sysrepoctl --search-dirs /src/yang:/usr/share/yang/modules/sysrepo "$@"
sysrepoctl --list
cp -a /etc/sysrepo /opt/sysrepo/repository
