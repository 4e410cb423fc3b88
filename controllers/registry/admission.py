"""The admission chain: plugins that change, refuse or charge a write, each of which a flag switches.

A create or an update passes: decode and defaults → what mutates → the registry's own rules → what validates → quota →
store, as in k8s.io/apiserver/pkg/endpoints/handlers and pkg/registry/generic. The plugins: `controllers.admission`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from controllers.flags.apiserver import DISABLE_ADMISSION_PLUGINS, ENABLE_ADMISSION_PLUGINS
from controllers.flags.flag import Flags
from controllers.registry.context import Context
from controllers.registry.kind import Kind, Lookup, Subresource
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, forbidden

Verb = Literal["create", "update", "delete"]


class Served(Protocol):
    """The kinds that plugins may look up."""

    @property
    def served(self) -> Sequence[Kind]:
        """Return the kinds in all their versions."""

    def find_kind(self, api_version: str, kind: str) -> Kind | None:
        """Return the kind with this apiVersion and kind, or None."""


class Way(NamedTuple):
    """How a write was asked for, where that is not how the object is stored.

    Attributes:
        kinds: those that there are.
        asked: the version of the kind.
        shown: the subresource in whose form the object was sent; None: the object itself, or a part of it.
    """

    kinds: Served
    asked: Kind
    shown: Subresource | None = None


@dataclass(slots=True)
class Attempt:
    """One write as plugins see it.

    Attributes:
        verb: what is done.
        kind: to objects of which kind.
        subresource: through which subresource; empty: the object itself.
        namespace: where; empty for what belongs to the whole cluster.
        title: how refusals call the object: its name, or what its name will begin with.
        document: the object as it would be stored; plugins that mutate write into it.
        old: the object before; None for creates.
        lookup: other objects.
        context: who writes.
        flags: those in force.
        kinds, asked, shown: as `Way`.
    """

    verb: Verb
    kind: Kind
    subresource: str
    namespace: str
    title: str
    document: Document
    old: Mapping[str, Any] | None
    lookup: Lookup
    context: Context
    flags: Flags
    kinds: Served
    asked: Kind
    shown: Subresource | None

    @property
    def part(self) -> str:
        """Return the subresource by whose way the write came, in a form of its own or not; empty: the object itself."""
        return self.subresource or ("" if self.shown is None else self.shown.name)

    def refuse(self, why: str) -> ApiError:
        """Return the 403 with which admission refuses."""
        return forbidden(self.kind.stored_resource, self.title, why)


class Charge(NamedTuple):
    """A quota as it is once the write is paid for."""

    resource: str
    document: Document


def _watches_nothing(verb: Verb, kind: Kind, subresource: str) -> bool:
    return False


def _every(verb: Verb, kind: Kind, subresource: str) -> bool:
    return True


@dataclass(frozen=True)
class Plugin:
    """One admission plugin, named as upstream's.

    Attributes:
        name: upstream's.
        does: what it does, a sentence.
        watches: (verb, kind, subresource) → whether it looks at such writes.
        mutate: changes the document and returns what it changed, in few words; empty: nothing.
        mutates: which of the writes that it watches it may change.
        validate: refuses, or returns what it notes, in few words; empty: nothing.
        charge: refuses, or returns what is to be stored with the write.
        by_default: whether it is on unless a flag says otherwise.
        rules: the resource whose objects are what it goes by: while there is none, it has nothing to say, and is asked
            only for somebody who follows the request. Empty: it says something whatever there is.
    """

    name: str
    does: str
    watches: Callable[[Verb, Kind, str], bool] = _watches_nothing
    mutate: Callable[[Attempt], str] | None = None
    mutates: Callable[[Verb, Kind, str], bool] = _every
    validate: Callable[[Attempt], str | None] | None = None
    charge: Callable[[Attempt], Sequence[Charge]] | None = None
    by_default: bool = True
    rules: str = ""


class Chosen(NamedTuple):
    """The plugins that one write passes, in order: those that may change it, and those that may refuse or charge it."""

    mutating: tuple[Plugin, ...]
    validating: tuple[Plugin, ...]
    rules: tuple[str, ...]
    """Resources whose objects some of them go by."""

    def where(self, holds: Callable[[str], bool]) -> Chosen:
        """Return those that have rules to go by, or need none."""
        idle = {rules for rules in self.rules if not holds(rules)}
        if not idle:
            return self
        mutating = tuple([plugin for plugin in self.mutating if plugin.rules not in idle])
        return Chosen(mutating, tuple([plugin for plugin in self.validating if plugin.rules not in idle]), self.rules)


@dataclass(slots=True)
class Chain:
    """The plugins in upstream's order."""

    plugins: tuple[Plugin, ...] = ()
    _chosen: dict[tuple[object, ...], Chosen] = field(default_factory=dict)

    def of(self, flags: Flags, verb: Verb, kind: Kind, subresource: str) -> Chosen:
        """Return the plugins that look at such a write and are on."""
        on, off = flags[ENABLE_ADMISSION_PLUGINS], flags[DISABLE_ADMISSION_PLUGINS]
        # What a session defines may be another kind in the next.
        key = (on, off, verb, kind.resource, subresource) if not kind.kept_in else None
        chosen = self._chosen.get(key) if key is not None else None
        if chosen is None:
            watching = [
                plugin
                for plugin in self.plugins
                if (plugin.by_default or plugin.name in on)
                and plugin.name not in off
                and plugin.watches(verb, kind, subresource)
            ]
            chosen = Chosen(
                tuple(one for one in watching if one.mutate is not None and one.mutates(verb, kind, subresource)),
                tuple(one for one in watching if one.validate is not None or one.charge is not None),
                tuple(sorted({one.rules for one in watching if one.rules})),
            )
            if key is not None:
                self._chosen[key] = chosen
        return chosen


@dataclass(slots=True)
class Passing:
    """One write on its way through the chain; the fields are those of `Attempt`."""

    chosen: Chosen
    verb: Verb
    kind: Kind
    subresource: str
    namespace: str
    old: Mapping[str, Any] | None
    lookup: Lookup | None
    """None: there is no plugin that could look anything up."""
    context: Context
    flags: Flags
    way: Way

    def _attempt(self, document: Document, title: str) -> Attempt:
        assert self.lookup is not None, "whoever is asked may look things up"
        return Attempt(
            self.verb,
            self.kind,
            self.subresource,
            self.namespace,
            title,
            document,
            self.old,
            self.lookup,
            self.context,
            self.flags,
            *self.way,
        )

    def mutate(self, document: Document, title: str) -> None:
        """Let plugins change a document.

        Raises:
            ApiError: one refuses.
        """
        if not self.chosen.mutating:
            return
        attempt = self._attempt(document, title)
        for plugin in self.chosen.mutating:
            assert plugin.mutate is not None, "it was chosen as one that may change"
            with self.context.step("mutating", plugin.name) as mark:
                changed = plugin.mutate(attempt)
                if mark is not None and changed:
                    mark.result, mark.message = "changed", changed

    def validate(self, document: Document, title: str) -> list[Charge]:
        """Ask plugins about a document that the kind's own rules accept; return what is to be stored with it.

        Raises:
            ApiError: one refuses.
        """
        charges: list[Charge] = []
        if not self.chosen.validating:
            return charges
        attempt = self._attempt(document, title)
        for plugin in self.chosen.validating:
            if plugin.validate is not None:
                with self.context.step("validating", plugin.name) as mark:
                    noted = plugin.validate(attempt)
                    if mark is not None and noted:
                        mark.message = noted
            if plugin.charge is not None:
                with self.context.step("quota", plugin.name) as mark:
                    charges += plugin.charge(attempt)
                    if mark is not None and charges:
                        mark.result = "changed"
                        mark.message = ", ".join(charge.document["metadata"]["name"] for charge in charges)
        return charges
