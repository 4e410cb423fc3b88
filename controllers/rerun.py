"""Running a session again from its log: the same foreign rows at the same places must give the same engine rows.

Every engine row carries the revision that the engine had read (`Event.read`), so it is known between which of its ticks
each foreign row was taken. One owner's life can be run again; a change of owner begins another.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from controllers.cluster import Cluster
from controllers.commands import CLOCKS, REPLICAS, SESSION, generation_of, status_of
from controllers.flags.table import RESOURCE as FLAGS
from controllers.log.memory import MemoryStore
from controllers.log.store import DELETED, Event
from controllers.log.transaction import BufferedTransaction
from controllers.outside import leave
from scheduler_core.api.document import Document
from scheduler_core.framework.registry import PluginRegistry


class RerunStore(MemoryStore):
    """A store in memory that puts the foreign rows of a log where they stood, and shows them when they were taken."""

    def __init__(
        self, log: Sequence[Event], *, seed: int, epoch_ms: int, plugins: PluginRegistry | None = None
    ) -> None:
        """Begin empty.

        Args:
            log: all rows from revision 1 on.
            seed: the session's.
            epoch_ms: the session's.
            plugins: those that were installed.
        """
        super().__init__(seed=seed, epoch_ms=epoch_ms, plugins=plugins)
        self._history = log
        self._own = [row.revision for row in log if row.read]

    def begin(self) -> None:
        """Put what was there when the engine began."""
        first = self._history[self._own[0] - 1] if self._own else None
        until = first.read if first is not None else len(self._history)
        while self.revision < until and self._next_is_foreign():
            self._inject()

    def events(self, after: int, limit: int = 1000) -> Sequence[Event]:
        """Return the rows after `after`; foreign ones stand there as soon as the engine may have read them."""
        while self._next_is_foreign() and self._was_read(self._history[self.revision]):
            self._inject()
        return super().events(after, limit)

    @contextmanager
    def transaction(
        self, actor: str, *, now_ms: int | None = None, fence: int | None = None
    ) -> Iterator[BufferedTransaction]:
        """Open a transaction, after the foreign rows that stood before it."""
        while self._next_is_foreign():
            self._inject()
        with super().transaction(actor, now_ms=now_ms, fence=fence) as transaction:
            # It ended where somebody else had a turn.
            transaction.others_wait = lambda: not self._is_own(transaction.revision + 1)
            yield transaction

    def _is_own(self, revision: int) -> bool:
        position = bisect_right(self._own, revision)
        return revision > len(self._history) or (position > 0 and self._own[position - 1] == revision)

    def _next_is_foreign(self) -> bool:
        return self.revision < len(self._history) and not self._is_own(self.revision + 1)

    def _was_read(self, row: Event) -> bool:
        """Return whether the engine had read a foreign row before it wrote the row of its own that follows."""
        position = bisect_right(self._own, row.revision)
        if position == len(self._own):
            return True
        following = self._history[self._own[position] - 1]
        return following.read >= row.revision

    def _inject(self) -> None:
        row = self._history[self.revision]
        with super().transaction(row.actor) as transaction:
            transaction.now_ms = row.now_ms
            if row.verb == DELETED:
                transaction.delete(row.resource, row.namespace, row.name, document=row.object)
            else:
                transaction.put(row.resource, row.namespace, row.name, row.object)


def rerun(
    log: Sequence[Event],
    *,
    seed: int,
    epoch_ms: int,
    kubelets: bool = True,
    fence: int | None = None,
    plugins: PluginRegistry | None = None,
) -> RerunStore:
    """Run the engine again over a log's foreign rows, as far as the log goes; return the store that came of it.

    Args:
        log: all rows from revision 1 on, of one owner's life.
        seed: the session's.
        epoch_ms: the session's.
        kubelets: whether hollow kubelets ran.
        fence: the owner's epoch, which is in the uids that it drew first.
        plugins: the scheduler plugins that were installed.
    """
    store = RerunStore(log, seed=seed, epoch_ms=epoch_ms, plugins=plugins)
    if fence is not None:
        store.fence = fence
    store.begin()
    cluster = Cluster(store, fence=fence, kubelets=kubelets, call=leave)
    cluster.obeys_pause = False
    answers = list(_answers(log))
    cluster.outside.known = {answer["call"]: answer["records"][0] for _, answer in answers if answer["atOnce"]}
    cluster.start()
    after = store.revision
    outside: list[tuple[Document, Event | Document]] = [
        (answer["engine"], answer) for row, answer in answers if row.revision > after and not answer["atOnce"]
    ]
    outside.extend(_commands(log, after))
    for place, command in sorted(outside, key=lambda one: int(one[0]["order"])):
        cluster.run_to(place)
        if isinstance(command, dict):
            cluster.outside.obey(command)
        else:
            cluster.obey_again(command.resource, command.object)
    while store.revision < len(log) and cluster.advance(log[-1].now_ms, max_events=1):
        pass
    return store


def _commands(log: Sequence[Event], after: int) -> Iterator[tuple[Document, Event]]:
    """Yield where a command took effect, and the row that holds the command."""
    newest: dict[tuple[str, str, int], Event] = {}
    told: dict[tuple[str, str], int] = {}
    answers = {row.revision for row, _ in _answers(log)}
    for row in log:
        if row.resource not in (CLOCKS, FLAGS, REPLICAS) or row.verb == DELETED:
            continue
        newest[(row.resource, row.name, generation_of(row.object))] = row
        status = status_of(row.object)
        observed = int(status.get("observedGeneration") or 0)
        foreign = not row.read and row.actor == SESSION and row.revision not in answers and status.get("engine")
        if row.revision > after and foreign and told.get((row.resource, row.name)) != observed:
            told[(row.resource, row.name)] = observed
            yield status["engine"], newest[(row.resource, row.name, observed)]


def _answers(log: Sequence[Event]) -> Iterator[tuple[Event, Document]]:
    """Yield the rows that note an answer from outside, each with it."""
    known: dict[str, Document] = {}
    for row in log:
        answer = status_of(row.object).get("answer") if row.resource == REPLICAS and row.verb != DELETED else None
        if answer is not None and known.get(row.name) != answer:
            known[row.name] = answer
            yield row, answer


def first_difference(log: Sequence[Event], again: Sequence[Event]) -> str:
    """Return a sentence about the first row in which two logs differ; empty where they are the same."""
    for one, other in zip(log, again, strict=False):
        if _facts(one) != _facts(other):
            return f"revision {one.revision}: {_facts(one)} became {_facts(other)}"
    if len(log) > len(again):
        return f"the second run ends at revision {len(again)}, the first at {len(log)}"
    return ""


def _facts(row: Event) -> tuple[object, ...]:
    return (row.revision, row.verb, row.resource, row.namespace, row.name, row.now_ms, row.actor, row.data)
