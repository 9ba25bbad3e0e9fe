"""Why a client is not served; each northbound says it in its own codes."""

from __future__ import annotations


class NotAuthenticatedError(Exception):
    """The client did not prove who it is; the message is for it."""


class ThrottledError(Exception):
    """Too many tries; the message says when to try again."""
