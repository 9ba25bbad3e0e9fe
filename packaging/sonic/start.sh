#!/bin/sh
# Prepares the container: settings of this namespace.
set -eu

out=${SRV6MGR_RUN:-/run/srv6mgr}
own=${SRV6MGR_ETC:-/etc/srv6mgr}
config=${SONIC_DB_CONFIG:-/var/run/redis/sonic-db/database_config.json}
# Set by the service of an ASIC on a router with several.
namespace=${NAMESPACE_ID:+asic$NAMESPACE_ID}
# The host has one folder for the containers of all namespaces.
state=${SRV6MGR_STATE:-/var/lib/srv6mgr}${namespace:+/$namespace}

mkdir -p "$out"
for daemon in srv6mgrd srv6-configdbd; do
    {
        # What an operator wrote goes first; what it says is not said again.
        # Its last line may lack its end.
        [ ! -f "$own/$daemon.toml" ] || { cat "$own/$daemon.toml" && echo; }
        folder=$state
        [ "$daemon" = srv6mgrd ] || folder=$state/configdb
        for line in 'mode = "sonic"' "sonic_database_config = \"$config\"" \
            "sonic_namespace = \"$namespace\"" "state_directory = \"$folder\""; do
            name=${line%% *}
            grep -qs "^$name *=" "$own/$daemon.toml" || echo "$line"
        done
    } >"$out/$daemon.toml"
done
if [ -f "$own/gnmid.toml" ]; then cp "$own/gnmid.toml" "$out"; else : >"$out/gnmid.toml"; fi
