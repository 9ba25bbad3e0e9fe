"""Why a configuration is rejected, in words an operator can act on."""

from __future__ import annotations

from dataclasses import dataclass

# Tags of what is valid, but kernel or FRR would not have it, or could not be asked.
NOT_CARRIED_OUT = frozenset({"refused", "read-back", "unreachable"})


@dataclass(frozen=True, slots=True)
class Rejection:
    """One reason: ``VRF blue: table 100 is already used by VRF red; choose another table-id``.

    ``tag`` is the YANG error-app-tag; ``path`` the data path of the offender, and ``element`` its
    name where that is what is wrong.
    """

    object: str
    cause: str
    remedy: str
    tag: str
    path: str = ""
    element: str = ""

    @property
    def app_tag(self) -> str:
        """The error-app-tag; empty where nothing more is known than that it was rejected."""
        return "" if self.tag == "refused" else self.tag

    def __str__(self) -> str:
        return f"{self.object}: {self.cause}; {self.remedy}"


class RejectedError(Exception):
    """A configuration that is rejected whole, with every reason found."""

    def __init__(self, rejections: list[Rejection]) -> None:
        super().__init__("\n".join(map(str, rejections)))
        self.rejections = rejections
