"""Plays Replay objects: creates and deletes the pods of a trace at their times.

How far a replay has come stands in its status. A new owner goes on from there; what it does again (at most
`TELL_EVERY_MS` of the trace) is refused as done already, and harms nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

from controllers.kit.informer import RELIST_TIMER, Informers
from controllers.log.operations import Create, Delete, Patch
from controllers.log.store import Event
from controllers.loop.loop import Answer, Tick
from controllers.registry.models.clustersim_v1 import ReplaySpec, ReplayStatus
from controllers.registry.structs import read
from controllers.replay.trace import NAMESPACE, BadTrace, Step, steps_of
from scheduler_core.api.document import Document

NAME: Final = "replay"
REPLAYS: Final = "replays.clustersim.io"

BATCH_STEPS_MAX: Final = 40
"""Steps of one call; more that are due follow at once, in a transaction of their own."""

TELL_EVERY_MS: Final = 1_000
"""How often progress is written, in simulated milliseconds."""


@dataclass(slots=True)
class _Playing:
    """One replay as it is played. `done` steps are behind it, `created` of them creations."""

    uid: str
    generation: int
    steps: list[Step]
    done: int
    created: int
    told_at_ms: int = -TELL_EVERY_MS
    message: str = ""

    @property
    def is_over(self) -> bool:
        return self.done >= len(self.steps)


class ReplayComponent:
    """Watches Replay objects."""

    resources = frozenset({REPLAYS})

    def __init__(self) -> None:
        """Begin with nothing to play."""
        self._informers = Informers(self.resources, identity=NAME)
        self._informers[REPLAYS].add_handler(self._note)
        self._noted: dict[str, Document | None] = {}
        self._playing: dict[str, _Playing] = {}

    def start(self, tick: Tick) -> None:
        """Go on with every replay from where its status says it is."""
        self._informers.start(tick)
        self._follow(tick)

    def observe(self, rows: Sequence[Event], tick: Tick) -> None:
        """Take up new replays, drop deleted ones."""
        self._informers.observe(rows)
        self._follow(tick)

    def observe_gone(self, tick: Tick) -> None:
        """List again, after a wait."""
        self._informers.observe_gone(tick)

    def settle(self, answers: Sequence[Answer], tick: Tick) -> None:
        """A pod that was there or gone already is as the trace wants it; a refused one shows in the session's log."""

    def fire(self, timer: Hashable, tick: Tick) -> None:
        """Play what is due, or list again."""
        if timer == RELIST_TIMER:
            self._informers.relist(tick)
            self._follow(tick)
        else:
            self._play(str(timer), tick)

    def _note(self, old: Document | None, new: Document | None) -> None:
        document = new or old
        if document is not None:
            self._noted[document["metadata"]["name"]] = new

    def _follow(self, tick: Tick) -> None:
        noted, self._noted = self._noted, {}
        for name, document in noted.items():
            known = self._playing.get(name)
            if document is None:
                self._playing.pop(name, None)
                tick.cancel(name)
            elif known is None or (known.uid, known.generation) != _version(document):
                playing = self._playing[name] = _begun(document)
                if not (playing.is_over and read(document.get("status"), ReplayStatus).done):
                    tick.plan(name, tick.now_ms)

    def _play(self, name: str, tick: Tick) -> None:
        playing = self._playing.get(name)
        if playing is None:
            return
        steps, last = playing.steps, playing.done + BATCH_STEPS_MAX
        while playing.done < min(len(steps), last) and steps[playing.done].due_ms <= tick.now_ms:
            step = steps[playing.done]
            if step.pod is None:
                tick.emit(Delete("pods", NAMESPACE, step.name, grace_period_seconds=0))
            else:
                playing.created += 1
                tick.emit(Create("pods", NAMESPACE, step.pod))
            playing.done += 1
        if playing.is_over or tick.now_ms - playing.told_at_ms >= TELL_EVERY_MS:
            playing.told_at_ms = tick.now_ms
            tick.emit(Patch(REPLAYS, "", name, {"status": _status(playing)}, "merge", "status"))
        if not playing.is_over:
            tick.plan(name, max(tick.now_ms, steps[playing.done].due_ms))


def _version(document: Document) -> tuple[str, int]:
    metadata = document["metadata"]
    return metadata["uid"], int(metadata.get("generation") or 0)


def _begun(document: Document) -> _Playing:
    """Return the replay at the place that its status names."""
    spec, status = read(document.get("spec"), ReplaySpec), read(document.get("status"), ReplayStatus)
    uid, generation = _version(document)
    message = ""
    try:
        steps = steps_of(
            spec.pods,
            divisor=spec.divisor,
            start_ms=int(spec.start * 1000),
        )
    except BadTrace as error:
        steps, message = [], str(error)
    done = min(len(steps), status.created + status.deleted)
    created = sum(step.pod is not None for step in steps[:done])
    return _Playing(uid, generation, steps, done, created, message=message)


def _status(playing: _Playing) -> Document:
    status: Document = {
        "observedGeneration": playing.generation,
        "created": playing.created,
        "deleted": playing.done - playing.created,
        "total": len(playing.steps),
        "done": playing.is_over,
    }
    if playing.message:
        status["message"] = playing.message
    return status
