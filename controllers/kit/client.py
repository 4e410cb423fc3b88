"""How the loop writes: few transactions a tick, every operation through the registry with its own result.

Names and uids that the engine makes are keyed draws over what they are for: the kind and place of the new object, its
controller's uid, and the simulated time. So a row more or less elsewhere in the log changes no name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from controllers.kinds.table import KINDS, REGISTRY
from controllers.log.operations import Create, Operation, Result
from controllers.log.store import Store, Transaction
from controllers.loop.loop import Emission
from controllers.registry.context import Context
from controllers.registry.repeats import Draws, Repeats, Run
from scheduler_core.api.draw import draw_suffix, draw_uid

RESTART_ORDINALS: Final = 1_000_000
"""Ordinals an owner leaves to each of its predecessors within one simulated millisecond: a new owner that resumes at
the very millisecond at which the last one stopped cannot draw a uid that is already taken."""

_IN_ROWS: Final = frozenset(kind.resource for kind in KINDS if kind.in_rows)


class Client:
    """Writes the emissions of ticks. `commit` is the loop's `Commit`."""

    def __init__(self, store: Store, *, fence: int | None = None) -> None:
        """Begin at the store's horizon, under the owner's epoch."""
        self._store = store
        self._fence = fence
        self._registry = REGISTRY
        self._began_ms = store.horizon_ms
        self._made: dict[str, int] = {}
        self._made_ms = -1
        self._repeats = Repeats(_IN_ROWS)

    def commit(self, emissions: Sequence[Emission], now_ms: int, read: int) -> tuple[list[Result], int]:
        """Write one tick's emissions: in one transaction, or in more where others wait.

        Returns:
            The operations' results, in order; the last revision written, 0 where nothing was.

        Raises:
            Fenced: another owner has taken over; nothing was written from then on.
        """
        results: list[Result] = []
        last = done = 0
        while True:
            with self._store.transaction("session", now_ms=now_ms, fence=self._fence) as transaction:
                transaction.read = read
                before = transaction.revision
                done += self._write(transaction, emissions[done:], now_ms, results)
                if transaction.revision > before:
                    last = transaction.revision
            if done == len(emissions):
                return results, last

    def _write(
        self, transaction: Transaction, emissions: Sequence[Emission], now_ms: int, results: list[Result]
    ) -> int:
        """Write emissions until others should have their turn; return how many were written."""
        repeats = self._repeats
        repeats.go_on(now_ms, transaction.revision)
        try:
            for number, emission in enumerate(emissions, 1):
                if emission.trace is not None:
                    transaction.trace(*emission.trace)
                if emission.operation is None:
                    # A trace goes with the operation after it.
                    continue
                results.append(self._attempt(transaction, emission.operation, emission.actor, now_ms))
                if transaction.others_wait():
                    return number
            return len(emissions)
        finally:
            repeats.rest(now_ms, transaction.revision)

    def _attempt(self, transaction: Transaction, operation: Operation, actor: str, now_ms: int) -> Result:
        run = self._repeats.begin(operation, actor)
        if run is not None and run.is_known and isinstance(operation, Create):
            draws = self._draws(operation, now_ms)
            new_uid, new_suffix = partial(draws, draw_uid), partial(draws, draw_suffix)
            repeated = REGISTRY.repeat(transaction, run, operation, actor, new_uid, new_suffix)
            if repeated is not None:
                return repeated
        return REGISTRY.attempt(transaction, operation, self._context(operation, actor, now_ms, run))

    def apply(self, operation: Operation, actor: str) -> Result:
        """Write one operation outside the loop's ticks, as a row from elsewhere, stamped at the store's horizon."""
        with self._store.transaction(actor, fence=self._fence) as transaction:
            return REGISTRY.attempt(transaction, operation, self._context(operation, actor, transaction.now_ms))

    def advance_horizon(self, now_ms: int) -> None:
        """Commit that simulated time has come to `now_ms`; writes no row.

        Raises:
            Fenced: another owner has taken over.
        """
        with self._store.transaction("session", now_ms=now_ms, fence=self._fence):
            pass

    def _context(self, operation: Operation, actor: str, now_ms: int, run: Run | None = None) -> Context:
        if not isinstance(operation, Create):
            return Context(actor, self._store.epoch_ms, _no_draw, _no_draw, field_validation="Ignore")
        draws, drawn = self._draws(operation, now_ms), list[str]()
        if run is not None and run.is_recording:
            draws = _recording(draws, drawn)
        return Context(
            actor=actor,
            epoch_ms=self._store.epoch_ms,
            new_uid=partial(draws, draw_uid),
            new_suffix=partial(draws, draw_suffix),
            field_validation="Ignore",
            run=run,
            drawn=drawn,
        )

    def _draws(self, operation: Create, now_ms: int) -> Draws:
        metadata = operation.object.get("metadata") or {}
        name = metadata.get("name") or metadata.get("generateName") or ""
        owners: list[dict[str, Any]] = metadata.get("ownerReferences") or []
        owner = next((str(reference.get("uid", "")) for reference in owners if reference.get("controller")), "")
        # A fork goes on from the same seed: what it makes from there on is not what its parent makes.
        branch = f"{self._store.branch}/" if self._store.branch else ""
        place = f"{branch}{operation.resource}/{operation.namespace}/{name}/{owner}/{now_ms}"

        def make(draw: Callable[..., str]) -> str:
            return draw(self._store.seed, "object", place, self._ordinal(place, now_ms))

        return make

    def _ordinal(self, place: str, now_ms: int) -> int:
        if now_ms != self._made_ms:
            self._made_ms = now_ms
            self._made = {}
        base = (self._fence or 0) * RESTART_ORDINALS if now_ms == self._began_ms else 0
        ordinal = self._made.get(place, base)
        self._made[place] = ordinal + 1
        return ordinal


def _recording(draws: Draws, drawn: list[str]) -> Draws:
    """Return draws whose results are noted."""

    def noted(draw: Callable[..., str]) -> str:
        value = draws(draw)
        drawn.append(value)
        return value

    return noted


def _no_draw() -> str:
    raise AssertionError("only a create draws names and uids")
