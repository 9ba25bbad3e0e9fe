"""Routers that are no longer as it was decided: found, and brought back."""

from __future__ import annotations

from srv6net.compile.configuration import NOTHING, Edit, Entries
from srv6net.transaction.ports import Device
from srv6net.transaction.presence import repair


def drift(device: Device, wanted: Entries) -> Edit:
    """What brings the router back; nothing where it has all entries. Raises DeviceError."""
    return repair(wanted, NOTHING, device.read(wanted))


def bring_back(device: Device, wanted: Entries) -> Edit:
    """Write what is missing, for good: it was decided before. Raises DeviceError."""
    found = drift(device, wanted)
    if found:
        device.set(found)
    return found
