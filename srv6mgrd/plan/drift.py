"""How the observed state differed from the declared one, by object. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from srv6mgrd.plan.actions import Action, Create, Delete, Replace


def differences(actions: Iterable[Action]) -> dict[str, str]:
    """What each object's actions put right, by key. What was only made again, since something else
    was, did not differ."""
    found: dict[str, Action] = {}
    for action in actions:
        key, before = action.object.key, found.get(action.object.key)
        if isinstance(before, Delete) and isinstance(action, Create):
            found[key] = Replace(before.object, action.object)
            if before.object == action.object:
                del found[key]
        elif not _went_along(action):
            found[key] = action
    return {key: action.difference for key, action in found.items()}


def _went_along(action: Action) -> bool:
    """Whether it writes a value once more that an interface made again, or cycled, had taken along
    (``cascade.put_again``)."""
    obj = action.object
    return isinstance(action, Replace) and obj.is_kept and action.before == obj
