"""Read-only views of SIDs and locators in the words of other models (docs/projections.md).

A view states its few schema nodes itself: no YANG file of another organization is needed. Its
entries are made from configuration, status and counters when somebody reads them.
"""

from __future__ import annotations

from srv6mgrd.gnmi.projections import ietf, openconfig
from srv6mgrd.gnmi.projections.view import View

VIEWS: tuple[View, ...] = (*ietf.views(), *openconfig.views())
