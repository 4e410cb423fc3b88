"""The Store protocol: an append-only revision log with the current objects beside it.

One instance is one session's store. `revision` is one counter for the whole session and is what Kubernetes calls
resourceVersion. Everything that watches reads `events(after)`; nothing depends on a message having arrived.
Implementations: `MemoryStore` here, `clustersim.store.SqlStore` over SQLite and PostgreSQL. One contract suite holds
them to the same behaviour (`tests/contract/`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Final, Literal, Protocol

import msgspec

from controllers.log.draft import Draft
from scheduler_core.framework.registry import PluginRegistry

Verb = Literal["ADDED", "MODIFIED", "DELETED"]

ADDED: Final = "ADDED"
MODIFIED: Final = "MODIFIED"
DELETED: Final = "DELETED"


class Gone(Exception):
    """The wanted revision is compacted: list again."""


class Fenced(Exception):
    """The writer's fencing epoch is not the session's any more: another owner has taken over. Let go and stop."""


class RevisionConflict(Exception):
    """A compare-and-swap found another revision than expected."""


class ObjectTooLarge(Exception):
    """A document has more bytes than one object may have."""

    def __init__(self, size: int) -> None:
        super().__init__(f"{size} bytes")
        self.size = size


class Stored:
    """One current object: its key, the revision that last wrote it, and the JSON document.

    `object` is what was encoded where the writer is at hand, else decoded on first use. It is shared: never change it,
    copy it (`copy_object`).
    """

    __slots__ = ("_object", "data", "name", "namespace", "resource", "revision", "uid")

    def __init__(
        self,
        resource: str,
        namespace: str,
        name: str,
        uid: str,
        revision: int,
        data: bytes,
        document: dict[str, Any] | None = None,
    ) -> None:
        self.resource = resource
        self.namespace = namespace
        self.name = name
        self.uid = uid
        self.revision = revision
        self.data = data
        self._object = document

    @property
    def known(self) -> dict[str, Any] | None:
        """Return the document if it need not be decoded first."""
        return self._object

    @property
    def object(self) -> dict[str, Any]:
        """Return the decoded document; shared, read-only by convention."""
        if self._object is None:
            self._object = msgspec.json.decode(self.data)
        return self._object

    @property
    def size(self) -> int:
        """Return how many bytes the document has."""
        return len(self.data)

    def packed(self) -> Stored:
        """Return this object without its document, which takes many times the room of its bytes."""
        return Stored(self.resource, self.namespace, self.name, self.uid, self.revision, self.data)

    def shown_as(self, data: bytes) -> Stored:
        """Return another form of this object, as a subresource shows it."""
        return Stored(self.resource, self.namespace, self.name, self.uid, self.revision, data)


class Event(Stored):
    """One row of the log. For DELETED, `data` is the last state carrying the deletion's resourceVersion."""

    __slots__ = ("_previous", "actor", "now_ms", "previous_data", "previous_revision", "read", "verb")

    def __init__(
        self,
        resource: str,
        namespace: str,
        name: str,
        uid: str,
        revision: int,
        data: bytes,
        *,
        verb: Verb,
        now_ms: int,
        actor: str,
        previous_revision: int = 0,
        previous_data: bytes | None = None,
        read: int = 0,
        document: dict[str, Any] | None = None,
    ) -> None:
        # As `Stored` does, whose call would be a third of this.
        self.resource = resource
        self.namespace = namespace
        self.name = name
        self.uid = uid
        self.revision = revision
        self.data = data
        self._object = document
        self.verb: Verb = verb
        self.now_ms = now_ms
        self.actor = actor
        self.previous_revision = previous_revision
        self.previous_data = previous_data
        self.read = read
        self._previous: dict[str, Any] | None = None

    @property
    def previous(self) -> dict[str, Any] | None:
        """Return the decoded state before this event (None when added); needed to leave a selector as DELETED."""
        if self._previous is None and self.previous_data is not None:
            self._previous = msgspec.json.decode(self.previous_data)
        return self._previous


def copy_object(document: dict[str, Any]) -> dict[str, Any]:
    """Return a deep copy, by way of JSON (faster than copy.deepcopy)."""
    copied: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(document))
    return copied


class Transaction(Protocol):
    """One write transaction: it sees its own writes, takes revisions in order, and commits whole or not at all.

    Independent operations inside it have their own results: the registry catches an operation's refusal before it has
    put anything, so a conflict in one does not fail the others.
    """

    now_ms: int
    """Simulated time that rows of this transaction are stamped with; never before the log's last row."""

    actor: str
    """Who writes: `user:<slug>` for people, a component's identity for the engine. May change between operations."""

    read: int
    """The newest revision that the engine had read when it decided what it writes here; 0 for writes from elsewhere.
    Kept with every row (`Event.read`): with it a session can be run again from its log."""

    plugins: PluginRegistry | None
    """The store's."""

    others_wait: Callable[[], bool]
    """Whether it should end, with more to write: it has been open for so long that others should have their turn."""

    @property
    def revision(self) -> int:
        """Return the last revision taken, inside this transaction or before it."""

    def get(self, resource: str, namespace: str, name: str) -> Stored | None:
        """Return the object as this transaction sees it."""

    def list(self, resource: str, namespace: str | None = None) -> Sequence[Stored]:
        """Return objects in order of (namespace, name), own writes included."""

    def holds(self, resource: str) -> bool:
        """Return whether there is any object of a resource, own writes included."""

    def put(
        self, resource: str, namespace: str, name: str, document: dict[str, Any] | Draft, *, expected: int | None = None
    ) -> Stored:
        """Write the whole document under the next revision and set its `metadata.resourceVersion`.

        `expected` 0: must not exist. `expected` n: must be at revision n. None: whatever is there.
        `metadata.uid` must be set.

        Raises:
            RevisionConflict: the expectation does not hold; nothing was written.
            ObjectTooLarge: it has more bytes than OBJECT_BYTES_MAX; nothing was written.
        """

    def delete(
        self,
        resource: str,
        namespace: str,
        name: str,
        *,
        expected: int | None = None,
        document: dict[str, Any] | Draft | None = None,
    ) -> Stored:
        """Remove the object; the DELETED row holds `document` (or the last state) at the deletion's revision.

        Raises:
            RevisionConflict: it is not there, or not at `expected`.
        """

    def trace(self, uid: str, attempt: int, envelope: dict[str, Any], blob: bytes) -> None:
        """Keep a scheduling trace beside the log, at this transaction's revision; the same (uid, attempt) replaces."""


class Store(Protocol):
    """One session's log and objects. Reads are consistent at one revision each."""

    seed: int
    epoch_ms: int
    """Unix milliseconds of simulated time 0: wire timestamps are this plus simulated time."""
    scope: Hashable
    """Names the session among all that a process reads; no other session has or had it."""
    branch: str
    """What a fork mixes into the uids and names that its engine draws; empty in a session that is none."""
    plugins: PluginRegistry | None
    """Scheduler plugins that are installed beside the in-tree ones: the session's configuration may name them."""

    @property
    def revision(self) -> int:
        """Return the newest committed revision."""

    @property
    def compacted(self) -> int:
        """Return the revision up to which history is dropped; events(after) needs after ≥ this."""

    @property
    def horizon_ms(self) -> int:
        """Return the newest simulated time in the log or committed by the owner."""

    def ms_at(self, revision: int) -> int:
        """Return the simulated time of a kept revision.

        Raises:
            Gone: that revision is compacted.
        """

    def get(self, resource: str, namespace: str, name: str) -> Stored | None:
        """Return the current object."""

    def list(self, resource: str, namespace: str | None = None) -> tuple[Sequence[Stored], int]:
        """Return (objects in order of (namespace, name), the revision at which they were read)."""

    def holds(self, resource: str) -> bool:
        """Return whether there is any object of a resource now."""

    def list_at(self, resource: str, revision: int, namespace: str | None = None) -> Sequence[Stored]:
        """Return the objects as of a kept revision.

        Raises:
            Gone: that revision is compacted.
        """

    def lists_at(
        self, resources: Collection[str], revision: int, known: Container[int] = ()
    ) -> Mapping[str, Sequence[Stored]]:
        """Return the objects of several resources as of a kept revision; those written at a revision in `known` may
        come without uid and data: whoever asks has them.

        Raises:
            Gone: that revision is compacted.
        """

    def events(self, after: int, limit: int = 1000) -> Sequence[Event]:
        """Return rows with revision > after, in order, at most `limit`.

        Raises:
            Gone: rows after `after` are compacted.
        """

    def transaction(
        self, actor: str, *, now_ms: int | None = None, fence: int | None = None
    ) -> AbstractContextManager[Transaction]:
        """Open a write transaction.

        `now_ms` None (a person's write) is stamped max(last row, horizon); the owner's is its simulated time, which
        also becomes the horizon. `fence` is the owner's epoch.

        Raises:
            Fenced: on entry or commit, the epoch is not the session's.
        """

    def compact(self, revision: int) -> None:
        """Drop history up to `revision` (events at or before it; current objects stay)."""

    def traces(self, uid: str, limit: int = 50) -> Sequence[tuple[dict[str, Any], bytes]]:
        """Return (envelope, blob) of a pod's traces, newest first."""

    def newest_traces(self, limit: int) -> Sequence[tuple[dict[str, Any], bytes]]:
        """Return (envelope, blob) of the traces of all pods, newest first: of one revision by (uid, attempt)."""

    def trace(self, uid: str, attempt: int) -> tuple[dict[str, Any], bytes] | None:
        """Return (envelope, blob) of one attempt's trace, None where there is none."""
