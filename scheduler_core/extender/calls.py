"""Calls to extenders as Asks, and their answers as a cycle's input keeps them."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from scheduler_core.extender.configuration import ExtenderConfiguration
from scheduler_core.framework.asks import Ask, CallExtenders, Reply

Purpose = Literal["filter", "prioritize", "preempt", "bind"]

Record = dict[str, Any]
"""One answer: `extender`, `verb` (the purpose), `durationMs`, and either `error` (a text) or `answer` (see `wire`)."""

ERROR_CHARS_MAX: Final = 1_024
"""Characters kept of what went wrong with a call; the rest is cut."""

NO_ANSWER: Final = "the extender was not called: nothing that carries calls out was handed to this run"
"""Error of a call in a run without a transport."""


@dataclass(frozen=True, slots=True)
class ExtenderCall:
    """One call: POST `body` as JSON to `url`.

    Attributes:
        extender: whom; its `timeout_ms` is in real milliseconds.
        purpose: what it is asked for.
        url: the address of the verb.
        body: the JSON document, as upstream's type spells it.
    """

    extender: ExtenderConfiguration
    purpose: Purpose
    url: str
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """What came of the HTTP request.

    Attributes:
        status: HTTP status, 0 where none came.
        body: what came with it.
        error: why no answer came, in words; empty where one did.
        duration_ms: real milliseconds from the request to the end of the answer.
    """

    status: int = 0
    body: bytes = b""
    error: str = ""
    duration_ms: float = 0.0


def failed(call: ExtenderCall, error: str, duration_ms: float = 0.0) -> Record:
    """Return the record of a call that brought no answer."""
    return {
        "extender": call.extender.name,
        "verb": call.purpose,
        "durationMs": round(duration_ms, 3),
        "error": error[:ERROR_CHARS_MAX],
    }


class Calls:
    """The calls of one attempt: what is recorded is not asked again."""

    def __init__(self, recorded: list[Record]) -> None:
        """Begin at the first record; new ones are put behind."""
        self.recorded = recorded
        self._next = 0

    def ask(self, calls: Sequence[ExtenderCall]) -> Generator[Ask, Reply, list[Record]]:
        """Return a record for each call, carried out together unless recorded."""
        end = self._next + len(calls)
        if end > len(self.recorded):
            del self.recorded[self._next :]
            reply = yield CallExtenders(tuple(calls))
            records = reply.value if isinstance(reply.value, list) else None
            if records is None:
                records = [failed(call, reply.error or NO_ANSWER) for call in calls]
            self.recorded.extend(records)
        found = self.recorded[self._next : end]
        self._next = end
        return found
