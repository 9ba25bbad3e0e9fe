"""CONFIG_DB as a northbound: rows of SONiC, declared in the model that all northbounds share."""
