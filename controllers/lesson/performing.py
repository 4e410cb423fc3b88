"""Performing a script on a session: one action after the other, by whoever drives its cluster.

What an action writes is a row from elsewhere, as a person's. A run, or a step, is asked of the clock, and the performer
goes on when that has been obeyed: whoever drives lets the cluster obey after each `go_on`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

from controllers.cluster import Cluster
from controllers.commands import CLOCK, CLOCKS
from controllers.kit.client import Client
from controllers.lesson.clearing import clearing
from controllers.lesson.scripts import RUN_SECONDS, STEPS_UNTIL_MAX
from controllers.log.operations import Operation, Patch, Update
from controllers.log.store import copy_object
from controllers.predicates import Moment, Predicate, View
from controllers.registry.patch import merge
from controllers.scenario.actions import act, refusal
from controllers.scenario.reading import named_kind
from controllers.scenario.shape import Action
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, not_found

ACTOR: Final = "user:lesson"
"""Who writes what a lesson says."""


class Performer:
    """Performs scripts on one session."""

    def __init__(self, cluster: Cluster, fence: int | None = None) -> None:
        """Perform nothing yet.

        Args:
            cluster: the session's.
            fence: the owner's epoch.
        """
        self._cluster = cluster
        self._store = cluster.store
        self._client = Client(cluster.store, fence=fence)
        self._left: deque[Action] = deque()
        self.began_ms = 0
        """What `since()` counts from."""
        self.waits_ms: int | None = None
        """What `waited()` counts from; None: nothing is waited for."""
        self._run = 0
        """The id of the run that is waited for; 0: none."""
        self._steps = 0
        """How many steps of the present action were taken."""
        self.done = 0
        """How many actions of the script are done."""
        self.error = ""
        """Why the script ended before its end; empty: it did not."""

    @property
    def busy(self) -> bool:
        """Return whether the script has not come to its end."""
        return bool(self._left)

    @property
    def waits_for(self) -> tuple[int, int]:
        """Return the run, and how many steps, that the clock was asked for in the present action."""
        return self._run, self._steps

    def begin(self, script: Iterable[Action]) -> None:
        """Begin a script; the one before it is over."""
        self._left = deque(script)
        self._run = self._steps = self.done = 0
        self.error = ""

    def go_on(self) -> None:
        """Do what can be done now: at most one action."""
        if not self._left:
            return
        action = self._left[0]
        try:
            over = self._perform(action)
        except ApiError as refused:
            self.error = refused.message
        else:
            if over:
                self._left.popleft()
                self.done += 1
                self._run = self._steps = 0
            return
        self._left.clear()

    def _perform(self, action: Action) -> bool:
        """Begin an action, or go on with it; return whether it is over.

        Raises:
            ApiError: it was refused, or did not come to what it is for.
        """
        argument = action.argument
        match action.what:
            case "count":
                if argument["from"] == "scene":
                    self.began_ms, self.waits_ms = self._cluster.now_ms, None
                else:
                    self.waits_ms = self._cluster.now_ms
            case "clear":
                for operation in list(clearing(self._store, argument["pace"])):
                    # What went with its owner, or may not go, is not worth a word.
                    self._client.apply(operation, ACTOR)
            case "hold":
                hold = {"id": "lesson", "pod": argument["pod"]} if argument["pod"] else None
                self._apply(Patch(CLOCKS, "", CLOCK, {"spec": {"paused": True, "hold": hold, "run": None}}), action)
            case "race":
                self._race(argument, action)
            case "run":
                return self._run_on(argument, action)
            case "step":
                return self._step(argument, action)
            case _:
                act(self._store, action, ACTOR, self._client)
        return True

    def _apply(self, operation: Operation, action: Action) -> None:
        result = self._client.apply(operation, ACTOR)
        if result.error is not None:
            raise refusal(action, result.error)

    def _race(self, argument: Document, action: Action) -> None:
        """Let several write what they made of one version: the first is taken, the others are refused."""
        kind = named_kind(argument)
        namespace = argument.get("namespace", "default") if kind is not None and kind.namespaced else ""
        stored = None if kind is None else self._store.get(kind.resource, namespace, argument["name"])
        if kind is None or stored is None:
            raise refusal(action, not_found(str(argument["kind"]), argument["name"]))
        written = [merge(copy_object(stored.object), patch) for patch in argument["patches"]]
        for document in written:
            self._client.apply(Update(kind.resource, namespace, argument["name"], document), ACTOR)

    # -- time -----------------------------------------------------------------------------------------------------

    def _run_on(self, argument: Document, action: Action) -> bool:
        told = self._cluster.clock.run
        if not self._run:
            self._run = (0 if told is None else told.id) + 1
            run = {
                "id": self._run,
                "until": argument["until"],
                "seconds": float(argument.get("seconds", RUN_SECONDS)),
                "beganMs": self.began_ms,
                "waitsMs": self.waits_ms,
            }
            self._apply(Patch(CLOCKS, "", CLOCK, {"spec": {"paused": True, "run": run}}), action)
            return False
        if told is None or told.id < self._run or told.state == "running":
            return False
        if told.state != "reached":
            raise ApiError(409, "Conflict", f"{action.path}: {argument['until']}: {told.message}")
        return True

    def _step(self, argument: Document, action: Action) -> bool:
        until = argument.get("until")
        if self._steps and (until is None or Predicate.compile(until).holds(self.view())):
            return True
        if self._steps >= STEPS_UNTIL_MAX:
            raise ApiError(409, "Conflict", f"{action.path}: {until}: not reached in {STEPS_UNTIL_MAX} steps")
        stored = self._store.get(CLOCKS, "", CLOCK)
        known = {} if stored is None else stored.object["spec"].get("step") or {}
        step = {
            "id": int(known.get("id") or 0) + 1,
            "by": argument.get("by", "point"),
            "count": argument.get("count", 1),
        }
        self._steps += 1
        self._apply(Patch(CLOCKS, "", CLOCK, {"spec": {"paused": True, "step": step, "run": None}}), action)
        return False

    def view(self) -> View:
        """Return what predicates look at now."""
        rests = self._cluster.clock.held or {"pod": "", "point": ""}
        moment = Moment(self._cluster.now_ms, self.began_ms, rests["pod"], rests["point"], self.waits_ms)
        return View(self._store, moment)
