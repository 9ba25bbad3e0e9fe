"""CONFIG_DB as a door: rows of SONiC, declared in the model that all doors share."""
