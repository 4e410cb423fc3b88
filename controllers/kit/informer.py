"""Informers: the shared, indexed copies of one component, and the callbacks that turn changes into work.

One `Informers` holds the reflectors and caches of one component, as client-go's shared informer factory does. Objects
in the caches are shared: read them, never change them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple, Protocol, runtime_checkable

from controllers.custom.kinds import RESOURCE as DEFINITIONS
from controllers.kinds.table import TABLE
from controllers.kit.interest import ADDED, DELETED, Handler, Interests, Part
from controllers.kit.reflector import Reflector
from controllers.log.store import Event, Stored
from controllers.loop.component import DEFINED
from controllers.loop.loop import Tick
from scheduler_core.api.document import Document
from scheduler_core.api.draw import draw
from scheduler_core.api.errors import ApiError

RELIST_TIMER: Final = "informers/relist"
"""The timer under which `Informers` lists again; the component hands it to `fire`."""


def by_controller(document: Document) -> Iterable[str]:
    """Index by the uid of the controlling owner."""
    for reference in document["metadata"].get("ownerReferences") or ():
        if reference.get("controller"):
            yield reference["uid"]


def by_node(document: Document) -> Iterable[str]:
    """Index pods by the node they are bound to."""
    node = document["spec"].get("nodeName")
    if node:
        yield node


class _Index(NamedTuple):
    keys_of: Callable[[Document], Iterable[str]]
    table: dict[str, dict[tuple[str, str], None]]
    of: int
    """Bits of the parts that the keys follow from; 0: from all of it."""


@dataclass(slots=True)
class _Turning:
    """Somebody who hears when an index comes to hold anything, or nothing any more."""

    table: Mapping[str, object]
    held: bool
    tell: Callable[[], None]


class Lister:
    """The indexed copy of one resource; its read side."""

    def __init__(self, resource: str) -> None:
        """Begin empty."""
        self.resource = resource
        self.changes = 0
        """How many changes it has taken: while it is the same, so is all that is read here."""
        self._objects: dict[tuple[str, str], Document] = {}
        self._indexes: dict[str, _Index] = {}
        self._interests = Interests()
        self._turning: list[_Turning] = []

    def add_index(self, name: str, keys_of: Callable[[Document], Iterable[str]], *, of: Sequence[Part] = ()) -> None:
        """Keep an index; once a name.

        Args:
            name: its name.
            keys_of: object → its keys.
            of: the parts of an object that its keys follow from, beside what never changes; none: from all of it.
        """
        if name in self._indexes:
            return
        table: dict[str, dict[tuple[str, str], None]] = {}
        self._indexes[name] = _Index(keys_of, table, self._interests.bits_of(of))
        for place, document in self._objects.items():
            for key in keys_of(document):
                table.setdefault(key, {})[place] = None

    def add_handler(
        self,
        handler: Handler,
        *,
        owned_by: str | None = None,
        reads: Iterable[Part] | None = None,
        while_any: tuple[Lister, str] | None = None,
    ) -> None:
        """Call `handler` at every change from now on, in order of addition.

        Args:
            handler: called.
            owned_by: only about objects that an object of this kind controls, or controlled before, or that nothing
                controls; None: about all.
            reads: only about modifications of these parts, beside what is added or deleted; none: of no modification
                at all; None: of every one.
            while_any: only while an index of a copy holds any object; None: always.
        """
        cares = None
        if while_any is not None:
            lister, index = while_any
            cares = partial(bool, lister._indexes[index].table)
            lister._on_turn(index, self._interests.forget)
        self._interests.add(handler, owned_by, reads, cares)

    def _on_turn(self, index: str, tell: Callable[[], None]) -> None:
        table = self._indexes[index].table
        self._turning.append(_Turning(table, bool(table), tell))

    def _turn(self) -> None:
        for one in self._turning:
            if bool(one.table) is not one.held:
                one.held = not one.held
                one.tell()

    def tell_all(self) -> None:
        """Tell the handlers of every object as one that was added: they are younger than the copy."""
        for place in sorted(self._objects):
            self._interests.tell(None, self._objects[place], ADDED)

    def get(self, namespace: str, name: str) -> Document | None:
        """Return the object."""
        return self._objects.get((namespace, name))

    def all(self) -> list[Document]:
        """Return all objects in order of (namespace, name)."""
        return [self._objects[place] for place in sorted(self._objects)]

    def each(self) -> Iterable[Document]:
        """Return all objects, in no order."""
        return self._objects.values()

    def __len__(self) -> int:
        return len(self._objects)

    def indexed(self, index: str, key: str) -> list[Document]:
        """Return the objects under an index key, in order of (namespace, name)."""
        places = self._indexes[index].table.get(key)
        if not places:
            return []
        return [self._objects[place] for place in (sorted(places) if len(places) > 1 else places)]

    def first_indexed(self, index: str, key: str) -> Document | None:
        """Return the first object under an index key by (namespace, name); None: there is none."""
        places = self._indexes[index].table.get(key)
        return self._objects[min(places)] if places else None

    def has_indexed(self, index: str, key: str) -> bool:
        """Return whether any object is under an index key."""
        return bool(self._indexes[index].table.get(key))

    # -- the reflector's side ------------------------------------------------------------------------------------

    def replace(self, objects: Sequence[Stored]) -> None:
        """Take a fresh list: what it lacks was deleted, what differs was modified."""
        listed = {(stored.namespace, stored.name): stored for stored in objects}
        for place in [place for place in self._objects if place not in listed]:
            self.remove(*place, self._objects[place])
        for (namespace, name), stored in listed.items():
            known = self._objects.get((namespace, name))
            if known is None or known["metadata"]["resourceVersion"] != str(stored.revision):
                self.put(namespace, name, stored.object)

    def put(self, namespace: str, name: str, document: Document) -> None:
        """Take an added or modified object."""
        place = (namespace, name)
        old = self._objects.get(place)
        if old is not None and old["metadata"]["uid"] != document["metadata"]["uid"]:
            # Deleted and made again while the watch was away: two changes, not one.
            self.remove(namespace, name, old)
            old = None
        self._objects[place] = document
        self.changes += 1
        changed = ADDED if old is None else self._interests.changes(old, document)
        for keys_of, table, of in self._indexes.values():
            if old is not None:
                if of and not of & changed:
                    continue
                before, after = tuple(keys_of(old)), tuple(keys_of(document))
                if before == after:
                    continue
                self._unindex(table, before, place)
            else:
                after = tuple(keys_of(document))
            for key in after:
                table.setdefault(key, {})[place] = None
        if self._turning:
            self._turn()
        self._interests.tell(old, document, changed)

    def remove(self, namespace: str, name: str, document: Document) -> None:
        """Take a deletion."""
        place = (namespace, name)
        old = self._objects.pop(place, None)
        if old is None:
            return
        self.changes += 1
        for keys_of, table, _ in self._indexes.values():
            self._unindex(table, tuple(keys_of(old)), place)
        if self._turning:
            self._turn()
        self._interests.tell(document, None, DELETED)

    @staticmethod
    def _unindex(table: dict[str, dict[tuple[str, str], None]], keys: Iterable[str], place: tuple[str, str]) -> None:
        for key in keys:
            places = table.get(key)
            if places is not None:
                places.pop(place, None)
                if not places:
                    del table[key]


class DefinedLister(Lister):
    """The copy of all objects whose kinds a session defines: a place is `<resource>|<namespace>` and the name."""

    def __init__(self) -> None:
        """Begin empty."""
        super().__init__(DEFINED)
        self._resources: dict[str, str] = {}

    def resource_of(self, document: Document) -> str:
        """Return the group resource of an object of the copy, or of one that has just left it."""
        return self._resources[document["metadata"]["uid"]]

    def put(self, namespace: str, name: str, document: Document) -> None:
        """Take an added or modified object."""
        self._resources[document["metadata"]["uid"]] = namespace.partition("|")[0]
        super().put(namespace, name, document)

    def remove(self, namespace: str, name: str, document: Document) -> None:
        """Take a deletion."""
        super().remove(namespace, name, document)
        self._resources.pop(document["metadata"]["uid"], None)


def _placed(stored: Stored) -> Stored:
    """Return a stored object at its place in the copy of all that is defined."""
    place = f"{stored.resource}|{stored.namespace}"
    return Stored(DEFINED, place, stored.name, stored.uid, stored.revision, stored.data, stored.known)


class Informers:
    """All reflectors and copies of one component."""

    def __init__(self, resources: Iterable[str], *, identity: str) -> None:
        """Name what is watched and for whom (the identity keys the back-off's jitter)."""
        self._identity = identity
        self._seed = 0
        self.synced_ms: int | None = None
        """When the first lists had all arrived; None: not yet."""
        self.poll_ms = 0
        """Every so often all is listed, and no watch is kept (a poller); 0: list once, then watch (reflectors)."""
        self.always_watched: frozenset[str] = frozenset()
        """What is watched although the others are polled."""
        self.gones = 0
        """How often the watch was told that its place is gone (410)."""
        self.listers: dict[str, Lister] = {}
        self.reflectors: dict[str, Reflector] = {}
        for resource in sorted(set(resources)):
            lister = DefinedLister() if resource == DEFINED else Lister(resource)
            self.listers[resource] = lister
            self.reflectors[resource] = Reflector(resource, lister, self._jitter_of(resource))

    @property
    def resources(self) -> frozenset[str]:
        """Return what is watched."""
        return frozenset(self.listers)

    def __getitem__(self, resource: str) -> Lister:
        return self.listers[resource]

    def start(self, tick: Tick) -> None:
        """Make the first lists."""
        self._seed = tick.seed
        self._list_due(tick)
        self._plan(tick)

    def tell_all(self) -> None:
        """Tell all handlers of what there is; see `Lister.tell_all`."""
        for lister in self.listers.values():
            lister.tell_all()

    def poll(self, every_ms: int, tick: Tick) -> None:
        """Poll from now on, or watch again (0): then all that is polled is listed at once."""
        if every_ms == self.poll_ms:
            return
        self.poll_ms = every_ms
        for resource, reflector in self.reflectors.items():
            if resource not in self.always_watched:
                reflector.list_again(tick.now_ms + every_ms)
        self._plan(tick)

    def polls(self, resource: str) -> bool:
        """Return whether a resource is listed again and again instead of watched."""
        return bool(self.poll_ms) and resource not in self.always_watched

    @property
    def polled_revision(self) -> int:
        """Return the revision of the newest lists of what is polled."""
        return min(one.revision for name, one in self.reflectors.items() if name not in self.always_watched)

    def observe(self, rows: Sequence[Event]) -> None:
        """Take watch rows."""
        reflectors = self.reflectors
        for row in rows:
            reflector = reflectors.get(row.resource)
            if reflector is None:
                # Of a kind that the session defines.
                reflectors[DEFINED].take(row, f"{row.resource}|{row.namespace}")
            else:
                reflector.take(row)

    def observe_gone(self, tick: Tick) -> None:
        """The watch's place is compacted: list again after a wait."""
        self.gones += 1
        for reflector in self.reflectors.values():
            reflector.gone(tick.now_ms)
        self._plan(tick)

    def relist(self, tick: Tick) -> None:
        """`RELIST_TIMER` has fired."""
        self._list_due(tick)
        self._plan(tick)

    def _list_due(self, tick: Tick) -> None:
        """List what wants to; where one list is due all are made, so that the copies are of one revision."""
        if not any(reflector.wants_list(tick.now_ms) for reflector in self.reflectors.values()):
            return
        for resource, reflector in self.reflectors.items():
            if reflector.list_at_ms is None:
                continue
            try:
                listed = self._list(resource, tick)
            except ApiError:
                reflector.gone(tick.now_ms)
            else:
                polls = self.polls(resource)
                reflector.listed(*listed, watches=not polls)
                if polls:
                    reflector.list_again(tick.now_ms + self.poll_ms)
        if self.synced_ms is None and all(reflector.synced for reflector in self.reflectors.values()):
            self.synced_ms = tick.now_ms

    def _list(self, resource: str, tick: Tick) -> tuple[Sequence[Stored], int]:
        if resource != DEFINED:
            return tick.list(resource)
        definitions, revision = tick.list(DEFINITIONS)
        kinds = [kind for kind in TABLE.of_objects(definitions).kinds if kind.kept_in]
        return [_placed(stored) for kind in kinds for stored in tick.list(kind.resource)[0]], revision

    def _plan(self, tick: Tick) -> None:
        due = [at_ms for reflector in self.reflectors.values() if (at_ms := reflector.list_at_ms) is not None]
        if due:
            tick.plan(RELIST_TIMER, min(due))

    def _jitter_of(self, resource: str) -> Callable[[int, int], int]:
        def jitter(attempt: int, below: int) -> int:
            return draw(self._seed, "relist", f"{self._identity}/{resource}", attempt, below=below)

        return jitter


@runtime_checkable
class Informed(Protocol):
    """A component that can show its copies."""

    @property
    def informers(self) -> Informers | None:
        """Return its copies; None while it keeps none."""
