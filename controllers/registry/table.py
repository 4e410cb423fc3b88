"""A table of kinds, and the ways in which kinds are looked up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from controllers.log.store import Store, Stored, Transaction
from controllers.registry.kind import Kind


class Kinds(Protocol):
    """The kinds that somebody may name: those of the table, and those that a session defines."""

    @property
    def kinds(self) -> Sequence[Kind]:
        """Return the kinds as which objects are stored."""

    @property
    def served(self) -> Sequence[Kind]:
        """Return the kinds that are served, in all their versions."""

    @property
    def computed(self) -> Sequence[Kind]:
        """Return the kinds that are served and of which nothing is stored."""

    def find_resource(self, resource: str) -> Kind | None:
        """Return the kind of a group resource, or None."""

    def find_kind(self, api_version: str, kind: str) -> Kind | None:
        """Return the kind with this apiVersion and kind, or None."""

    def find_plural(self, group: str, version: str, plural: str) -> Kind | None:
        """Return the kind of a path, or None."""


class Definer(Protocol):
    """What makes kinds of objects that are stored."""

    resource: str
    """The group resource of the objects that define kinds; such an object has the name of the resource that it
    defines."""

    def kinds_of(self, stored: Stored) -> Sequence[Kind]:
        """Return the kinds that an object defines, that as which the objects are stored first; none: not yet."""


class Table:
    """Kinds in order, found by resource or by apiVersion and kind."""

    def __init__(
        self,
        kinds: Iterable[Kind],
        versions: Iterable[Kind] = (),
        computed: Iterable[Kind] = (),
        definer: Definer | None = None,
    ) -> None:
        """Take the kinds, further versions of them, kinds of which nothing is stored, each name once; and what makes
        kinds of a session's objects.

        Raises:
            ValueError: two kinds have the same name.
        """
        self.kinds = tuple(kinds)
        self.served = (*self.kinds, *versions)
        self.computed = tuple(computed)
        self._by_resource = {kind.resource: kind for kind in (*self.served, *self.computed)}
        self._by_kind = {(kind.api_version, kind.kind): kind for kind in self.served}
        if not len(self.served) == len(self._by_resource) - len(self.computed) == len(self._by_kind):
            raise ValueError("two kinds have the same name")
        self._by_plural = {(kind.group, kind.version, kind.plural): kind for kind in (*self.served, *self.computed)}
        self._definer = definer

    def within(self, transaction: Transaction) -> Kinds:
        """Return the kinds that a transaction sees: it is asked when a kind is looked for that the table lacks."""
        definer = self._definer
        if definer is None:
            return self
        return Defined(self, definer, transaction.get, transaction.list)

    def of(self, store: Store) -> Kinds:
        """Return the kinds of a session as they are now; the store is asked as by `within`."""
        definer = self._definer
        if definer is None:
            return self
        return Defined(self, definer, store.get, lambda resource: store.list(resource)[0], store.holds)

    def of_objects(self, definitions: Sequence[Stored]) -> Kinds:
        """Return the kinds that some objects define, beside the table's: those of a moment that has passed."""
        definer = self._definer
        if definer is None:
            return self
        by_name = {stored.name: stored for stored in definitions}
        return Defined(self, definer, lambda resource, namespace, name: by_name.get(name), lambda resource: definitions)

    def kind_of(self, resource: str) -> Kind:
        """Return the kind of a group resource such as `pods` or `deployments.apps`.

        Raises:
            KeyError: no such resource.
        """
        return self._by_resource[resource]

    def by_kind(self, api_version: str, kind: str) -> Kind:
        """Return the kind that documents with this apiVersion and kind have.

        Raises:
            KeyError: no such kind.
        """
        return self._by_kind[(api_version, kind)]

    def find_resource(self, resource: str) -> Kind | None:
        """Return the kind of a group resource, or None."""
        return self._by_resource.get(resource)

    def find_kind(self, api_version: str, kind: str) -> Kind | None:
        """Return the kind with this apiVersion and kind, or None."""
        return self._by_kind.get((api_version, kind))

    def find_plural(self, group: str, version: str, plural: str) -> Kind | None:
        """Return the kind of a path, or None."""
        return self._by_plural.get((group, version, plural))


def _always(resource: str) -> bool:
    return True


class Defined:
    """A table, and behind it the kinds that stored objects define."""

    def __init__(
        self,
        table: Table,
        definer: Definer,
        get: Callable[[str, str, str], Stored | None],
        listed: Callable[[str], Sequence[Stored]],
        holds: Callable[[str], bool] = _always,
    ) -> None:
        """Look first in the table; `get` and `listed` find the objects that define kinds, `holds` tells whether there
        is any object of a resource, where kinds are looked for by path.
        """
        self._table = table
        self._definer = definer
        self._get = get
        self._list = listed
        self._holds = holds
        self._all: tuple[Kind, ...] | None = None

    @property
    def kinds(self) -> Sequence[Kind]:
        """Return the kinds as which objects are stored."""
        return (*self._table.kinds, *(kind for kind in self.defined if kind.resource == kind.kept_in))

    @property
    def served(self) -> Sequence[Kind]:
        """Return the kinds that are served, in all their versions."""
        return (*self._table.served, *(kind for kind in self.defined if kind.verbs))

    @property
    def computed(self) -> Sequence[Kind]:
        """Return the kinds that are served and of which nothing is stored."""
        return tuple(kind for kind in self._table.computed if self._is_served(kind))

    @property
    def defined(self) -> Sequence[Kind]:
        """Return the kinds that objects define, in all their versions."""
        if self._all is None:
            stored = self._list(self._definer.resource)
            self._all = tuple(kind for one in stored for kind in self._definer.kinds_of(one))
        return self._all

    def find_resource(self, resource: str) -> Kind | None:
        """Return the kind of a group resource, or None."""
        found = self._table.find_resource(resource)
        if found is not None or "." not in resource:
            return found
        plural, _, group = resource.partition(".")
        return next((kind for kind in self._of(plural.partition("@")[0], group) if kind.resource == resource), None)

    def find_kind(self, api_version: str, kind: str) -> Kind | None:
        """Return the kind with this apiVersion and kind, or None."""
        found = self._table.find_kind(api_version, kind)
        if found is not None or "/" not in api_version:
            return found
        return next((one for one in self.defined if one.kind == kind and one.api_version == api_version), None)

    def find_plural(self, group: str, version: str, plural: str) -> Kind | None:
        """Return the kind of a path, or None."""
        found = self._table.find_plural(group, version, plural)
        if found is not None:
            return found if self._is_served(found) else None
        return next((kind for kind in self._of(plural, group) if kind.version == version and kind.verbs), None)

    def _is_served(self, kind: Kind) -> bool:
        return kind.computed is None or not kind.computed.measured or self._holds(kind.computed.measured)

    def _of(self, plural: str, group: str) -> Sequence[Kind]:
        stored = self._get(self._definer.resource, "", f"{plural}.{group}") if group else None
        return () if stored is None else self._definer.kinds_of(stored)
