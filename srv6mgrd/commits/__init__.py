"""The commit socket: northbounds ask srv6mgrd to change the configuration (docs/adr/0024)."""
