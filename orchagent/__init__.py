"""srv6-orchagent: APPL_DB to a SAI-shaped view of what an ASIC would be asked for."""
