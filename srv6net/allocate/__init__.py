"""Numbers that services need: functions of SIDs, tables, route distinguishers and targets. Pure."""
