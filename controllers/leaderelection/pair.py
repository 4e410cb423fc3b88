"""The migration pair: an annotated object and a Lease, held at once, so that old and new replicas respect each other.

Source: client-go `tools/leaderelection/resourcelock/multilock.go`, removed in v0.28.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from controllers.leaderelection.annotated import AnnotatedLock
from controllers.leaderelection.elector import Create, Failed, Found, Missing, Record, Response, Update
from controllers.leaderelection.lease import LeaseLock
from controllers.log.operations import Operation, Result
from controllers.log.store import Stored

UNKNOWN_LEADER: Final = "leaderelection.k8s.io/unknown"
"""Who holds a pair of which the two locks name different holders: nobody may take it until it runs out."""

_BETWEEN: Final = " "
"""Between the versions of the two: no version holds it."""


class PairLock:
    """Two locks as one: the first is asked and written first."""

    def __init__(self, first: AnnotatedLock, second: LeaseLock, identity: str) -> None:
        """Pair two locks for a candidate."""
        self._first = first
        self._second = second
        self._identity = identity
        self._request: Create | Update | None = None
        self._had: Found | None = None
        """What the first lock answered to the request under way."""
        self.kind = first.kind
        self.resource = first.resource
        self.resources = (*first.resources, *second.resources)
        self.namespace = first.namespace
        self.name = first.name

    def describe(self) -> str:
        """Return `namespace/name`."""
        return self._first.describe()

    def read(self, read: Callable[[str, str, str], Stored | None]) -> Response:
        """Return the answer to a `Get`: the first lock's record, held by nobody known where the two disagree."""
        first, second = self._first.read(read), self._second.read(read)
        if not isinstance(first, Found):
            return first
        if not isinstance(second, Found):
            # An old replica that knows only the first lock holds it; one's own half-made pair is made again.
            missing = isinstance(second, Missing)
            return Found(first.record, first.version) if missing and first.record.holder != self._identity else second
        return _both(first, second)

    def write(self, request: Create | Update) -> Operation:
        """Return the operation on the first lock."""
        self._request, self._had = request, None
        if isinstance(request, Create):
            return self._first.write(request)
        return self._first.write(replace(request, version=request.version.partition(_BETWEEN)[0]))

    def written(self, result: Result, read: Callable[[str, str, str], Stored | None]) -> Operation | Response:
        """Return the operation on the second lock, once the first one's is done, or the answer."""
        request = self._request
        assert request is not None, "an answer to no request"
        if self._had is not None:
            answer = self._second.written(result, read)
            return _both(self._had, answer) if isinstance(answer, Found) else answer
        answer = self._first.written(result, read)
        if not isinstance(answer, Found):
            exists = isinstance(request, Create) and isinstance(answer, Failed) and answer.conflict
            found = self._first.read(read) if exists else None
            if not isinstance(found, Found):
                return answer
            answer = found
        self._had = answer
        version = request.version.partition(_BETWEEN)[2] if isinstance(request, Update) else ""
        if version:
            return self._second.write(Update(request.record, version))
        return self._second.write(Create(request.record))


def _both(first: Found, second: Found) -> Found:
    record: Record = first.record
    if record.holder != second.record.holder:
        record = replace(record, holder=UNKNOWN_LEADER)
    return Found(record, f"{first.version}{_BETWEEN}{second.version}")
