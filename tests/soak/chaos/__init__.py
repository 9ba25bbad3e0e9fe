"""A chaos campaign by seed: changes through random northbounds while random faults strike."""
