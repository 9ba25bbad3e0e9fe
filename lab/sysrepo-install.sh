#!/bin/sh
# Installs the modules that yang/install.txt names (MODULE.yang [FEATURE...]) and keeps the
# resulting repository in /opt/sysrepo.
set -e
folders="/src/yang /src/yang/rfc5277 /usr/share/yang/modules/sysrepo
    /usr/share/yang/modules/libnetconf2 /opt/yang"

# The module's file, of whatever revision.
found() {
    for folder in $folders; do
        for file in "$folder/$1" "$folder/${1%.yang}@"*.yang; do
            [ ! -e "$file" ] || { echo "$file"; return; }
        done
    done
    echo "yang/install.txt: $1: there is no such module in" $folders >&2
    return 1
}

set --
while read -r module features; do
    case $module in '' | '#'*) continue ;; esac
    file=$(found "$module")
    set -- "$@" --install "$file"
    for feature in $features; do
        set -- "$@" --enable-feature "$feature"
    done
done </src/yang/install.txt
sysrepoctl --search-dirs "$(echo $folders | tr ' ' :)" "$@"
sysrepoctl --list
cp -a /etc/sysrepo /opt/sysrepo/repository
