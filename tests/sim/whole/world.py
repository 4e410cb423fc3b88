"""One cluster that is lived in: users who write, an owner who may be lost, time that passes tick by tick."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from clustersim.classroom.auth import STUDENT, TEACHER, Principal
from clustersim.classroom.roles import check, place_of, verb_of
from controllers.bootstrap import initial_objects
from controllers.cluster import Cluster, found
from controllers.kinds.table import REGISTRY
from controllers.kit.client import Client
from controllers.log.operations import Bind, Delete, Operation, Patch, Result, Update
from controllers.log.store import Stored
from controllers.loop.component import Emission
from controllers.registry.context import Context
from scheduler_core.api.document import Document
from scheduler_core.api.draw import draw_suffix, draw_uid
from tests.sim.whole import documents
from tests.sim.whole.books import Books
from tests.sim.whole.stores import InMemory, Kept

NODES = 6
REPLICAS = 2
ZONES = ("x", "y", "z")
Write = Update | Patch | Delete | Bind
"""What is done to an object that is there."""

IDLE_MAX = 2_000
"""Ticks that may follow each other at one moment and write nothing."""

UNIX_MS = 1_800_000_000_000

REFUSED = frozenset({403, 404, 409, 422, 429})
"""What a person may be answered: not allowed or beyond a quota, gone, taken or changed meanwhile, wrong, not now."""


def principal(slug: str, role: Any, namespace: str) -> Principal:
    """Return somebody with a seat."""
    return Principal(1, "ABC234", 1, slug, slug, role, namespace)


PEOPLE = (
    principal("teacher", TEACHER, "default"),
    principal("ada", STUDENT, "s-ada"),
    principal("bob", STUDENT, "s-bob"),
)


class World:
    """One run. `books` are asked after each tick."""

    def __init__(
        self,
        seed: int,
        *,
        checked: bool = True,
        cluster: Callable[..., Cluster] = Cluster,
        kept: Callable[[int], Kept] = InMemory,
    ) -> None:
        self.seed = seed
        self._kept = kept(seed)
        self.store = self._kept.store
        start = [
            *initial_objects(replicas=REPLICAS),
            documents.flags(),
            *(documents.namespace(person.namespace) for person in PEOPLE[1:]),
            *(documents.node(f"n{number}", ZONES[number % 3]) for number in range(NODES)),
        ]
        for result in found(self.store, start):
            if result.error is not None:
                raise result.error
        self.make = cluster
        self._racing = 0
        self.fence = 0
        self.owners = 0
        self.faults = 0
        self.unix_ms = UNIX_MS
        self.writes = 0
        self.answers: Counter[int] = Counter()
        """How people's writes were answered: 0 for those that were done, else the code."""
        self.kept: dict[tuple[str, str, str], Document] = {}
        """Objects as somebody read them a while ago."""
        self.cluster = self._owner()
        self.books = Books(self.store, checked=checked)
        self.books.read()

    # -- who owns it ----------------------------------------------------------------------------------------------

    def _owner(self) -> Cluster:
        store, self.fence = self._kept.owned()
        cluster = self.make(store, fence=self.fence)
        loop = cluster._loop
        commit = loop._commit

        def raced(emissions: Sequence[Emission], now_ms: int, read: int) -> tuple[Sequence[Result], int]:
            for emission in emissions:
                if isinstance(emission.operation, Write):
                    self._let_race(emission.operation)
            return commit(emissions, now_ms, read)

        loop._commit = raced
        cluster.start()
        return cluster

    def race(self, writes: int, first: Callable[[Write], None]) -> None:
        """Have somebody act before the so-manieth object is written that the engine writes: `first` is told which."""
        self._racing, self._first = writes, first

    def _let_race(self, asked: Write) -> None:
        self._racing -= 1
        if self._racing == 0:
            self._first(asked)

    def lose_owner(self) -> None:
        """Let another owner take the cluster up from what is stored; the memory of the last one is lost."""
        self.owners += 1
        self.cluster = self._owner()
        self.obey()

    # -- time -----------------------------------------------------------------------------------------------------

    def run(self, milliseconds: int, ticks: int = 0, amid: Callable[[], None] | None = None) -> None:
        """Let time pass, and look at what each tick has written; `amid` happens after so many ticks, if there are.

        What it writes is stamped up to a second ahead, which is promised by then, and read with the engine's next row.
        """
        until_ms = self.cluster.now_ms + milliseconds
        books = self.books
        idle, last = 0, (0, 0)
        # Another owner may have taken over amid it.
        while self.cluster.advance(until_ms, max_events=1):
            books.read()
            ticks -= 1
            if ticks == 0 and amid is not None:
                amid()
            now = self.cluster.now_ms, self.store.revision
            idle = idle + 1 if now == last else 0
            last = now
            assert idle < IDLE_MAX, f"nothing comes of all that happens at {self.cluster.now_ms} ms"
        books.read()

    def obey(self) -> None:
        """Let the owner look at the command objects."""
        self.unix_ms += 100
        self.cluster.pull()
        self.cluster.obey(self.unix_ms)
        self.books.read()

    # -- writing --------------------------------------------------------------------------------------------------

    def get(self, resource: str, namespace: str, name: str) -> Document | None:
        """Return an object."""
        stored = self.store.get(resource, namespace, name)
        return None if stored is None else stored.object

    def list(self, resource: str, namespace: str | None = None) -> list[Document]:
        """Return objects."""
        return [stored.object for stored in self.store.list(resource, namespace)[0]]

    def write(self, person: Principal, operation: Operation) -> Document | None:
        """Write as a person; return what is stored, None where it was refused as a person may be.

        Raises:
            ApiError: it was refused in a way in which nobody may be.
        """
        result = self._attempt(person, operation)
        self.books.read()
        self.answers[0 if result.error is None else result.error.code] += 1
        if result.error is None:
            return result.object
        if result.error.code not in REFUSED and "more than one PodDisruptionBudget" not in result.error.message:
            raise result.error
        return None

    def would_refuse(self, operation: Operation) -> bool:
        """Return whether a write would be refused; nothing is written."""
        return self._attempt(PEOPLE[0], operation, dry_run=True).error is not None

    def _attempt(self, person: Principal, operation: Operation, *, dry_run: bool = False) -> Result:
        self.writes += 1
        place = f"{person.slug}/{self.writes}"

        def guard(asked: Operation, old: Stored | None, new: Any) -> None:
            resource, namespace, name, subresource = place_of(asked)
            check(person, verb_of(asked), resource, namespace, name, subresource)

        with self.store.transaction(person.actor) as transaction:
            context = Context(
                actor=person.actor,
                epoch_ms=self.store.epoch_ms,
                new_uid=lambda: draw_uid(self.seed, "person", place),
                new_suffix=lambda: draw_suffix(self.seed, "person", place),
                creator=person.creator,
                dry_run=dry_run,
                guard=guard,
            )
            return REGISTRY.attempt(transaction, operation, context)

    def command(self, operation: Operation) -> None:
        """Write a command object as the session's own routes do, and let the owner obey."""
        result = Client(self.store).apply(operation, "user:teacher")
        if result.error is not None:
            raise result.error
        self.obey()


def who(random: Random) -> tuple[Principal, str]:
    """Return somebody and the namespace in which they write: their own, or sometimes that of all."""
    person = random.choice(PEOPLE)
    if person.role == TEACHER and random.random() < 0.4:
        return person, random.choice(PEOPLE).namespace
    return person, person.namespace
