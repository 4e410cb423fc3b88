"""A session's objects as the API shows them: stored ones, in further versions too, and those computed when read.

What a kind computes (`Kind.computed`: the Leases of nodes, metrics) is the one exception to "list plus watch is the
next list": no row of the log holds it, and a watch does not tell of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from clustersim.apiserver.sessiontime import session_unix_ms
from clustersim.feed.seal import NO_SEAL, Seal
from clustersim.store import SqlStore
from controllers.custom.kinds import RESOURCE
from controllers.kinds.table import TABLE
from controllers.log.store import Stored
from controllers.registry.computed import Facts
from controllers.registry.kind import Kind
from controllers.registry.table import Kinds
from scheduler_core.api.errors import ApiError, not_found


def in_version(kind: Kind, stored: Stored) -> Stored:
    """Return a stored object in a further version of its kind."""
    document = kind.outward(stored.object)
    data = stored.data if document is stored.object else msgspec.json.encode(document)
    return Stored(kind.resource, stored.namespace, stored.name, stored.uid, stored.revision, data)


class ReadView:
    """A session's objects as the API shows them: the stored ones and the computed ones. For reading alone."""

    def __init__(self, store: SqlStore, seal: Seal = NO_SEAL) -> None:
        self.store = store
        self.seal = seal
        """What an open poll keeps from whoever reads."""
        self.session_id = store.session_id
        self.epoch_ms = store.epoch_ms

    @property
    def kinds(self) -> Kinds:
        """Return the kinds that the session has."""
        return TABLE.of(self.store)

    def _kind_of(self, resource: str) -> Kind:
        kind = self.kinds.find_resource(resource)
        if kind is None:
            raise not_found(RESOURCE, resource)
        return kind

    @property
    def revision(self) -> int:
        """Return the newest committed revision."""
        return self.store.revision

    @property
    def compacted(self) -> int:
        """Return the revision up to which history is dropped."""
        return self.store.compacted

    def get(self, resource: str, namespace: str, name: str) -> Stored | None:
        """Return the current object."""
        kind = self._kind_of(resource)
        stored = self.store.get(kind.stored_resource, namespace, name)
        if stored is not None:
            stored = self.seal.stored(stored)
        if kind.converts:
            return stored and in_version(kind, stored)
        return stored or _computed_one(self, kind, namespace, name)

    def list(self, resource: str, namespace: str | None = None) -> tuple[Sequence[Stored], int]:
        """Return (objects in order of (namespace, name), the revision at which they were read)."""
        kind = self._kind_of(resource)
        objects, revision = self.store.list(kind.stored_resource, namespace)
        objects = self.seal.all_stored(objects)
        if kind.converts:
            return [in_version(kind, stored) for stored in objects], revision
        return _with_computed(self, kind, namespace, objects), revision

    def stored(self, resource: str) -> Sequence[Stored]:
        """Return the objects that are stored, without those that are computed."""
        return self.seal.all_stored(self.store.list(self._kind_of(resource).stored_resource)[0])

    def list_at(self, resource: str, revision: int, namespace: str | None = None) -> Sequence[Stored]:
        """Return the objects as of a kept revision.

        Raises:
            Gone: that revision is compacted.
        """
        kind = self._kind_of(resource)
        objects = self.seal.all_stored(self.store.list_at(kind.stored_resource, revision, namespace))
        if kind.converts:
            return [in_version(kind, stored) for stored in objects]
        return _with_computed(PastView(self.store, revision, self.seal), kind, namespace, objects)

    def age_ms(self, revision: int) -> int:
        """Return for how long a revision has not been the newest one, by the session's clock.

        Raises:
            Gone: what followed it is compacted.
        """
        following = self.store.events(revision, 1)
        return self.unix_ms() - self.epoch_ms - following[0].now_ms if following else 0

    def unix_ms(self) -> int:
        """Return what time it is here, as Unix milliseconds on the wire: ages and renewals follow from it."""
        return session_unix_ms(self.store)


class PastView(ReadView):
    """A session as of a kept revision, shown as the API shows what is there now."""

    def __init__(self, store: SqlStore, revision: int, seal: Seal = NO_SEAL) -> None:
        super().__init__(store, seal)
        self._revision = revision

    @property
    def kinds(self) -> Kinds:
        """Return the kinds that the session had.

        Raises:
            Gone: that revision is compacted.
        """
        return TABLE.of_objects(self.store.list_at(RESOURCE, self._revision))

    @property
    def revision(self) -> int:
        """Return the revision that is shown."""
        return self._revision

    def get(self, resource: str, namespace: str, name: str) -> Stored | None:
        """Return the object as it was.

        Raises:
            Gone: that revision is compacted.
        """
        return next((one for one in self.list_at(resource, self._revision, namespace) if one.name == name), None)

    def list(self, resource: str, namespace: str | None = None) -> tuple[Sequence[Stored], int]:
        """Return (objects in order of (namespace, name), the revision).

        Raises:
            Gone: that revision is compacted.
        """
        return self.list_at(resource, self._revision, namespace), self._revision

    def stored(self, resource: str) -> Sequence[Stored]:
        """Return the objects that were stored, without those that are computed.

        Raises:
            Gone: that revision is compacted.
        """
        return self.seal.all_stored(self.store.list_at(self._kind_of(resource).stored_resource, self._revision))

    def unix_ms(self) -> int:
        """Return what time it was.

        Raises:
            Gone: that revision is compacted.
        """
        return self.epoch_ms + self.store.ms_at(self._revision)


def _computed_one(facts: Facts, kind: Kind, namespace: str, name: str) -> Stored | None:
    if kind.computed is None:
        return None
    return next(iter(kind.computed.objects(facts, namespace, name)), None)


def _with_computed(facts: Facts, kind: Kind, namespace: str | None, stored: Sequence[Stored]) -> Sequence[Stored]:
    """Return stored and computed objects in order; what is stored stands before what would be computed."""
    if kind.computed is None:
        return stored
    places = {(one.namespace, one.name): one for one in kind.computed.objects(facts, namespace, "")}
    places |= {(one.namespace, one.name): one for one in stored}
    return [places[place] for place in sorted(places)]


def check_writable(facts: Facts, kind: Kind, namespace: str, name: str) -> None:
    """Refuse to write a computed object.

    Raises:
        ApiError: 405.
    """
    if kind.computed is not None and _computed_one(facts, kind, namespace, name) is not None:
        raise ApiError(405, "MethodNotAllowed", kind.computed.fixed.format(name=name))
