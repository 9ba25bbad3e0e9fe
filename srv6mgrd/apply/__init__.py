"""Carrying out plans: journal, executor, and the reconciler that ties them together."""
