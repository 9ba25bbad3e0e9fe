"""Measurements against the goals of the product: ``make bench BENCH=name``."""
