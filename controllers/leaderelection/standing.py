"""What is known of a replica's process whatever becomes of its memory: exits, callbacks, beliefs, refused writes.

Source of callbacks and exit codes: client-go `tools/leaderelection` and `cmd/kube-scheduler/app/server.go`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

import msgspec

from controllers.leaderelection.elector import Branch, Record, Try
from controllers.loop.component import Answer
from controllers.registry.models.clustersim_v1 import Belief, Callback, Election, Exit, Refusal, ReplicaStatus

Name = Literal["OnStartedLeading", "OnStoppedLeading", "OnNewLeader"]

CALLBACKS_MAX: Final = 6
"""Callbacks that are told: the newest."""

BELIEFS_MAX: Final = 12
"""Times of believed leadership that are told: the newest."""

TRIES_MAX: Final = 12
"""Tries for the lock that are told: the newest of those that say something."""

REFUSALS_MAX: Final = 8
"""Refused writes that are told: the newest."""

MESSAGE_MAX: Final = 160
"""Characters of the sentence with which one was refused."""

RENEWED: Final[frozenset[Branch]] = frozenset({"renew", "renew-optimistic"})
"""What the lock itself tells."""

EXIT_ASKED: Final = 0
EXIT_LOST: Final = 1


class Standing:
    """The record of one replica; times are simulated milliseconds."""

    def __init__(self, status: ReplicaStatus = ReplicaStatus()) -> None:  # noqa: B008 (frozen)
        """Begin as a status says."""
        self.restarts = status.restarts
        self.refused = status.refused
        """Writes that were refused because another one was faster."""
        self.last_exit = status.last_exit
        self.callbacks = status.callbacks
        self.beliefs = status.beliefs
        """When it believed that it leads, in the world's time."""
        self.tries = status.tries
        """What its tries for the lock came to that say something, in the world's time; see `tried`."""
        self.refusals = status.refusals
        """The newest writes that were refused because another one was faster, in the world's time."""
        self.noted = 0
        """How many tries were noted."""

    def called(self, callback: Name, at_ms: int, observed: Record | None) -> None:
        """Note a callback, on the replica's own clock."""
        identity = observed.holder if callback == "OnNewLeader" and observed is not None else ""
        self.callbacks = [*self.callbacks, Callback(callback=callback, at_ms=at_ms, identity=identity)][-CALLBACKS_MAX:]

    def exited(self, *, asked: bool, at_ms: int) -> None:
        """Note that the process ended, as kube-scheduler does when it stops leading."""
        self.restarts += 1
        reason = "Requested to terminate, exiting" if asked else "Leaderelection lost"
        self.last_exit = Exit(code=EXIT_ASKED if asked else EXIT_LOST, reason=reason, at_ms=at_ms)

    def believes(self, leading: bool, at_ms: int) -> None:
        """Note, in the world's time, whether it believes that it leads."""
        does = bool(self.beliefs) and self.beliefs[-1].to_ms is None
        if leading and not does:
            self.beliefs = [*self.beliefs, Belief(from_ms=at_ms)][-BELIEFS_MAX:]
        elif does and not leading:
            self.beliefs = [*self.beliefs[:-1], Belief(from_ms=self.beliefs[-1].from_ms, to_ms=at_ms)]

    def tried(self, one: Try, at_ms: int, seen_ms: int, expires_ms: int) -> None:
        """Note what a try for the lock came to, if it says something that others do not.

        Renewals are in the lock. Of who waits it says something that the lock has another holder, or that he is silent:
        from then on it is known when the lease will be over for this one. Of what fails again and again, the first.

        Args:
            one: the try.
            at_ms: when its answer came; this and the others are simulated milliseconds.
            seen_ms: when it had last seen the record change.
            expires_ms: when that lease is over, as it sees.
        """
        if one.branch in RENEWED or (one.branch == "renew-optimistic-refused" and not one.conflict):
            # The lock tells of renewals; a renewal that was lost is followed by a look at the lock, which is told.
            return
        last = self.tries[-1] if self.tries else None
        known = last is not None and (last.branch, last.holder, last.leading) == (one.branch, one.holder, one.leading)
        if not one.leading and known and (not one.silent or (last is not None and last.seen_ms == seen_ms)):
            return
        noted = Election(
            at_ms=at_ms,
            branch=one.branch,
            leading=one.leading,
            conflict=one.conflict,
            holder=one.holder,
            seen_ms=seen_ms,
            expires_ms=expires_ms,
        )
        self.tries = [*self.tries, noted][-TRIES_MAX:]
        self.noted += 1

    def count(self, answers: Sequence[Answer], at_ms: int) -> None:
        """Count what was refused in the results of the component's writes, and keep the newest in the world's time."""
        errors = [one.result.error for one in answers]
        found = [Refusal(at_ms=at_ms, message=one.message[:MESSAGE_MAX]) for one in errors if one and one.code == 409]
        self.refused += len(found)
        if found:
            self.refusals = [*self.refusals, *found][-REFUSALS_MAX:]

    def as_dict(self) -> dict[str, Any]:
        """Return the members of a replica's status."""
        return {
            "restarts": self.restarts,
            "refused": self.refused,
            "lastExit": msgspec.to_builtins(self.last_exit),
            "callbacks": msgspec.to_builtins(self.callbacks),
            "beliefs": msgspec.to_builtins(self.beliefs),
            "tries": msgspec.to_builtins(self.tries),
            "refusals": msgspec.to_builtins(self.refusals),
        }


def overlaps(beliefs: Sequence[Sequence[Belief]], now_ms: int) -> list[tuple[int, int]]:
    """Return the times (from, to) during which more than one of several replicas believed that it leads.

    Args:
        beliefs: those of each replica.
        now_ms: the end of a belief that lasts.
    """
    changes = sorted(
        change
        for own in beliefs
        for one in own
        for change in ((one.from_ms, 1), (now_ms if one.to_ms is None else one.to_ms, -1))
    )
    found: list[tuple[int, int]] = []
    leaders, since_ms = 0, 0
    for at_ms, step in changes:
        if leaders + step == 2 and step > 0:
            since_ms = at_ms
        elif leaders == 2 and step < 0 and at_ms > since_ms:
            found.append((since_ms, at_ms))
        leaders += step
    return found
