"""The part of a configuration that is carried out: checked and expanded. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from srv6mgrd.model.checks import check
from srv6mgrd.model.desired import Desired
from srv6mgrd.model.expand import expand
from srv6mgrd.model.outcomes import Outcome
from srv6mgrd.model.partition import Partition, judge, partition
from srv6mgrd.model.references import Ref
from srv6mgrd.model.rejection import RejectedError, Rejection
from srv6mgrd.model.status import InstallStatus, ObjectRef
from srv6mgrd.model.subset import declared_as


@dataclass(frozen=True, slots=True)
class Admitted:
    """Both expanded: ``valid`` is carried out, ``whole`` has the rejected objects, too."""

    partition: Partition = field(default_factory=Partition)
    valid: Desired = field(default_factory=Desired)
    whole: Desired = field(default_factory=Desired)

    @property
    def rejected(self) -> Mapping[ObjectRef, Outcome]:
        """Objects that are not carried out, with the reason."""
        return {
            ref: Outcome(InstallStatus.REJECTED, str(rejection))
            for ref, rejection in self.partition.rejected.items()
            if isinstance(ref, ObjectRef)
        }

    def has(self, ref: Ref, desired: Desired) -> bool:
        """Whether ``desired`` declares a part just so."""
        return declared_as(self.whole, ref) == declared_as(desired, ref) is not None


class Admission:
    """Judges configurations; ``limits`` says what FRR can't carry."""

    def __init__(self, limits: Callable[[Desired], list[Rejection]]) -> None:
        self._limits = limits
        # The last state that passed the checks, and the last that was expanded, with the result.
        self._passed: Desired | None = None
        self._expanded = Desired(), Desired()

    def commit(self, desired: Desired, before: Admitted) -> Admitted:
        """A commit on top of ``before``. Raises RejectedError."""
        return self._admitted(judge(desired, before.partition, self._rejections))

    def take(self, desired: Desired) -> Admitted:
        """The valid part of a configuration that is there already. Raises RejectedError when it
        cannot be determined."""
        return self._admitted(partition(desired, self._rejections))

    def _admitted(self, found: Partition) -> Admitted:
        expanded = self._expand(found.valid)
        return Admitted(found, expanded, found.whole(expanded))

    def _rejections(self, desired: Desired) -> Sequence[Rejection]:
        try:
            check(desired, self._passed)
        except RejectedError as rejected:
            return rejected.rejections
        self._passed = desired
        return self._limits(self._expand(desired))

    def _expand(self, desired: Desired) -> Desired:
        if self._expanded[0] is not desired:
            self._expanded = desired, expand(desired)
        return self._expanded[1]
