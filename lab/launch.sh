#!/bin/sh
# First program in the lab's own mount and pid namespaces on the host.
# launch.sh BASE NAME=PATH... -- COMMAND...
# BASE becomes a tmpfs that only this namespace sees, so that nothing of it can be left behind;
# BASE/job holds one link per NAME: the folders of the host that the lab may reach.
set -e
base=$1
shift
mount -t tmpfs -o mode=755 lab "$base"
mkdir "$base/job"
while [ "$1" != -- ]; do
    ln -s "${1#*=}" "$base/job/${1%%=*}"
    shift
done
shift
ulimit -c 0 # the core of a machine is as big as its memory
export LAB_BASE="$base" LAB_JOB="$base/job"
exec "$@"
