"""What a controller's panel shows of its last reconciliation (contract 25): why, what was asked, what there was, which
calls it made and what was answered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from controllers.log.operations import Create, Delete, Operation, Result, resource_of
from scheduler_core.api.errors import ApiError

CALLS_MAX: Final = 20
"""Calls of one reconciliation that are kept; the others are counted."""


class Reconciled:
    """One reconciliation of one key. Cheap to keep: the text is made when somebody looks."""

    __slots__ = ("_answers", "actual", "began_ms", "calls", "desired", "ended_ms", "error", "object", "reason")

    def __init__(self, key: str, now_ms: int) -> None:
        """Begin at `now_ms`, simulated milliseconds."""
        self.object = key
        self.began_ms = now_ms
        self.ended_ms: int | None = None
        self.reason = ""
        self.desired: Mapping[str, Any] = {}
        self.actual: Mapping[str, Any] = {}
        self.calls = 0
        self.error: ApiError | None = None
        self._answers: list[Result] = []

    def answered(self, results: Sequence[Result]) -> None:
        """Take what calls were answered."""
        self.calls += len(results)
        room = CALLS_MAX - len(self._answers)
        if room > 0:
            self._answers.extend(results[:room])

    def end(self, now_ms: int, error: ApiError | None) -> None:
        """It is over, with the refusal that makes it be tried again, if any."""
        self.ended_ms = now_ms
        self.error = error

    def shown(self) -> dict[str, Any]:
        """Return it as JSON: `object, reason, desired, actual, calls, callCount, beganMs, endedMs, error`."""
        return {
            "object": self.object.removeprefix("\x00").replace("\x00", " "),
            "reason": self.reason,
            "desired": dict(self.desired),
            "actual": dict(self.actual),
            "calls": [_call(result) for result in self._answers],
            "callCount": self.calls,
            "beganMs": self.began_ms,
            "endedMs": self.ended_ms,
            "error": self.error.message if self.error is not None else None,
        }


def _call(result: Result) -> dict[str, Any]:
    operation = result.operation
    assert operation is not None, "a controller's answer is to a call of its own"
    created = isinstance(operation, Create)
    shown: dict[str, Any] = {
        "verb": type(operation).__name__.lower(),
        "resource": resource_of(operation),
        "subresource": "" if isinstance(operation, Delete) else operation.subresource,
        "name": _name(result, operation),
        "code": 201 if created else 200,
        "message": "",
    }
    if result.error is not None:
        shown |= {"code": result.error.code, "message": result.error.message}
    return shown


def _name(result: Result, operation: Operation) -> str:
    if result.object is not None:
        return str(result.object["metadata"]["name"])
    if isinstance(operation, Create):
        metadata = operation.object["metadata"]
        return str(metadata.get("name") or metadata.get("generateName", ""))
    return operation.name
