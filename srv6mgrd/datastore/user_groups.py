"""Groups of the operating system, for the rules of NACM."""

from __future__ import annotations

from srv6mgrd.datastore.connection import UnavailableError
from srv6mgrd.lookups import NoAnswerError
from srv6mgrd.name_service import Groups, system_groups

# RFC 8341 section 2.4: a recovery session is under no rules; sysrepo gives it to this user.
_RECOVERY = "root"


class UserGroups:
    """For any thread.

    sysrepo asks the system itself, under locks that block all others. A caller that acts for
    a user has to ask here first, so that a directory that does not answer is found out before.
    """

    def __init__(self, groups: Groups | None = None) -> None:
        self._groups = groups or system_groups()

    def of(self, user: str) -> frozenset[str]:
        """As they are now; none of a user whom no rule is for. Blocks. Raises UnavailableError."""
        if user in ("", _RECOVERY):
            return frozenset()
        try:
            return self._groups.ask(user)
        except NoAnswerError as error:
            raise UnavailableError(str(error)) from None
