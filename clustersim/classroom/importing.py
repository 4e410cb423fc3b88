"""Applying a file of objects: each one created or brought up to date through the registry, each with its own result."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from clustersim.classroom import manifests
from clustersim.classroom.auth import STUDENT, Principal
from clustersim.classroom.batching import GROUP
from clustersim.classroom.writing import context_for, writes
from clustersim.store import SqlStore
from controllers.kinds.table import KINDS, REGISTRY, TABLE, find_kind
from controllers.log.operations import Create, Operation, Patch, PatchType
from controllers.log.store import Transaction
from controllers.registry.context import Context
from controllers.registry.kind import CLUSTERSIM_GROUP, Kind
from controllers.registry.table import Kinds
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause, bad_request, forbidden
from scheduler_core.api.said import said

IMPORTS_AT_ONCE_MAX: Final = 1
"""Files that one process reads and applies at once: reading keeps a processor busy, and other people's answers wait."""

IMPORTS_WAITING_MAX: Final = 8
"""Files that one process has in hand, those included that wait for their turn; the next one is answered 429."""

TURN_SECONDS: Final = 30.0
"""How long a file waits for its turn; then the answer is 429."""

RETRY_SECONDS: Final = 5
"""When whoever was sent away should come again."""

DEFINED_RANK: Final = 60
"""The rank of what the session may define itself, or the file: after what defines it."""

_turns: Final = threading.BoundedSemaphore(IMPORTS_AT_ONCE_MAX)
_waiting: Final = threading.BoundedSemaphore(IMPORTS_WAITING_MAX)
_encode: Final = msgspec.json.Encoder().encode

_SERVER_FIELDS: Final = (
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
)
_LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


@dataclass(frozen=True, slots=True)
class Options:
    """How a file is applied. `namespace` is for objects that name none."""

    namespace: str
    field_validation: Literal["Ignore", "Warn", "Strict"] = "Warn"
    dry_run: bool = False
    create_namespaces: bool = False


@dataclass(slots=True)
class Entry:
    """One object of the file and what became of it. The object is kept as JSON: as values it is ten times larger."""

    index: int
    data: bytes
    api_version: str
    kind: str
    name: str = ""
    namespace: str = ""
    action: str = "failed"
    error: ApiError | None = None
    warnings: Sequence[str] = ()

    @classmethod
    def of(cls, index: int, document: Document) -> Entry:
        """Return the entry of an object.

        Raises:
            ApiError: 400, it holds what JSON cannot.
        """
        metadata = _metadata(document)
        try:
            data = _encode(document)
        except (TypeError, ValueError, OverflowError) as error:
            raise bad_request(
                said(
                    "import.object",
                    "object {index} of the file cannot be written as JSON: {error}",
                    index=index + 1,
                    error=error,
                )
            ) from error
        return cls(
            index,
            data,
            _text(document, "apiVersion"),
            _text(document, "kind"),
            _text(metadata, "name"),
            _text(metadata, "namespace"),
        )

    def as_dict(self) -> Document:
        """Return the wire form of docs/session-api.md."""
        result: Document = {
            "index": self.index,
            "apiVersion": self.api_version,
            "kind": self.kind,
            "namespace": self.namespace,
            "name": self.name,
            "action": self.action,
            "warnings": list(self.warnings),
        }
        if self.error is not None:
            result["error"] = self.error.status()
        return result


@contextmanager
def turn() -> Iterator[None]:
    """Give a turn at reading and applying a file: a few have it at once, some wait for it.

    Raises:
        ApiError: 429, too many wait already, or no turn came.
    """
    message = said("import.busy", "files of others are being read; try again in a few seconds")
    busy = ApiError(429, "TooManyRequests", message, retry_after_seconds=RETRY_SECONDS)
    if not _waiting.acquire(blocking=False):
        raise busy
    try:
        if not _turns.acquire(timeout=TURN_SECONDS):
            raise busy
        try:
            yield
        finally:
            _turns.release()
    finally:
        _waiting.release()


def entries_of(data: bytes) -> list[Entry]:
    """Return the objects of a file, read one document after another.

    Raises:
        ApiError: 400 or 413, as `manifests.objects` says.
    """
    return [Entry.of(index, document) for index, document in enumerate(manifests.objects(data))]


def import_objects(store: SqlStore, principal: Principal, entries: Sequence[Entry], options: Options) -> Document:
    """Apply the objects and return the answer of `POST …/import`: results in the order of the file and their counts."""
    new_uids: dict[str, str] = {}
    ordered = sorted(entries, key=_rank)
    if options.create_namespaces:
        ordered = [*_missing_namespaces(store, ordered, options), *ordered]
    for start in range(0, len(ordered), GROUP):
        with writes(store, principal.actor) as transaction:
            for entry in ordered[start : start + GROUP]:
                _apply(transaction, entry, new_uids, context(principal, store, options), options)
    counts = dict.fromkeys(("created", "configured", "unchanged", "failed"), 0)
    for entry in entries:
        counts[entry.action] += 1
    return {"results": [entry.as_dict() for entry in entries], **counts}


def context(principal: Principal, store: SqlStore, options: Options) -> Context:
    """Return a fresh context: its warnings belong to one object."""
    return context_for(
        principal,
        store,
        field_validation=options.field_validation,
        field_manager="clustersim-import",
        dry_run=options.dry_run,
        explains=True,
    )


def default_namespace(principal: Principal) -> str:
    """Return where objects go that name no namespace."""
    return principal.namespace if principal.role == STUDENT else "default"


def _text(document: Document, field: str) -> str:
    value = document.get(field)
    return value if isinstance(value, str) else ""


def _rank(entry: Entry) -> int:
    """Owners before what they own, and what others refer to first."""
    kind = find_kind(entry.api_version, entry.kind)
    return kind.rank if kind is not None else DEFINED_RANK


def _missing_namespaces(store: SqlStore, entries: Sequence[Entry], options: Options) -> Iterator[Entry]:
    """Yield namespaces that objects of the file live in and neither file nor session has."""
    known = {stored.name for stored in store.list("namespaces")[0]}
    known |= {entry.name for entry in entries if entry.kind == "Namespace"}
    for entry in entries:
        kind = find_kind(entry.api_version, entry.kind)
        namespace = entry.namespace or options.namespace
        # Of what the session defines only those that say where they live: the file may define the kind itself.
        homed = bool(entry.namespace) if kind is None else kind.namespaced
        if homed and namespace not in known:
            known.add(namespace)
            yield Entry.of(-1, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})


def _metadata(document: Document) -> Document:
    metadata = document.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _apply(
    transaction: Transaction, entry: Entry, new_uids: dict[str, str], context: Context, options: Options
) -> None:
    """Write one object and note what became of it."""
    document: Document = msgspec.json.decode(entry.data)
    try:
        kind = _kind(document, TABLE.within(transaction))
        entry.namespace = (entry.namespace or options.namespace) if kind.namespaced else ""
        operation, before = _operation(transaction, kind, entry, document, new_uids)
    except ApiError as error:
        entry.error = error
        return
    result = REGISTRY.attempt(transaction, operation, context)
    entry.warnings = tuple(context.warnings)
    if result.error is not None:
        entry.error = result.error
        return
    assert result.object is not None
    written = result.object["metadata"]
    entry.name = written["name"]
    old_uid = _text(_metadata(document), "uid")
    if old_uid:
        new_uids[old_uid] = written["uid"]
    if before is None:
        entry.action = "created"
    else:
        same = written.get("resourceVersion") == before["metadata"].get("resourceVersion") and not options.dry_run
        entry.action = "unchanged" if same or result.object == before else "configured"


def _kind(document: Document, kinds: Kinds) -> Kind:
    api_version, name = _text(document, "apiVersion"), _text(document, "kind")
    if not api_version or not name:
        missing = [field for field in ("apiVersion", "kind") if not _text(document, field)]
        raise bad_request(
            said("import.lacks", "the object has no {known}; write what it is", known=" and no ".join(missing)),
            [Cause(field, "Required value", "FieldValueRequired") for field in missing],
        )
    kind = kinds.find_kind(api_version, name)
    if kind is None:
        raise ApiError(
            404,
            "NotFound",
            f'no matches for kind "{name}" in version "{api_version}": {_instead(name)}',
            kind=name,
            group=api_version.partition("/")[0] if "/" in api_version else "",
        )
    if kind.group == CLUSTERSIM_GROUP:
        raise forbidden(
            kind.resource,
            _text(_metadata(document), "name"),
            said(
                "import.engine",
                "the page and the session API command the engine (clock, faults, scheduler); leave it out of the file",
            ),
        )
    return kind


def _instead(name: str) -> str:
    """Return what to do about an apiVersion and kind that is not served, by what is served under that name."""
    served = [kind.api_version for kind in KINDS if kind.kind == name and kind.group != CLUSTERSIM_GROUP]
    if served:
        return f"this cluster serves {name} as {' and '.join(served)}; write that as its apiVersion"
    return f"this cluster has no {name}; leave it out"


def _operation(
    transaction: Transaction, kind: Kind, entry: Entry, given: Document, new_uids: dict[str, str]
) -> tuple[Operation, Document | None]:
    """Return what to ask of the registry, and the object as it is now."""
    document = _cleaned(given, entry.namespace if kind.namespaced else "", new_uids)
    stored = transaction.get(kind.stored_resource, entry.namespace, entry.name) if entry.name else None
    if stored is None:
        return Create(kind.resource, entry.namespace, document), None
    if kind.subresource("status") is not None:
        document.pop("status", None)
    way: PatchType = "strategic" if kind.strategic else "merge"
    return Patch(kind.resource, entry.namespace, entry.name, document, way), stored.object


def _cleaned(document: Document, namespace: str, new_uids: dict[str, str]) -> Document:
    """Return the object as a person would have written it: without what servers set."""
    if not isinstance(document.get("metadata", {}), dict):
        return dict(document)  # the schema names the field
    metadata = {name: value for name, value in _metadata(document).items() if name not in _SERVER_FIELDS}
    if namespace:
        metadata["namespace"] = namespace
    else:
        metadata.pop("namespace", None)
    annotations = metadata.get("annotations")
    if isinstance(annotations, dict) and _LAST_APPLIED in annotations:
        metadata["annotations"] = {name: text for name, text in annotations.items() if name != _LAST_APPLIED}
    owners = metadata.pop("ownerReferences", None)
    if isinstance(owners, list):
        # An owner that did not come along has another uid here, and the collector would take its orphans away.
        known = [
            {**owner, "uid": new_uids[owner["uid"]]}
            for owner in owners
            if isinstance(owner, dict) and isinstance(owner.get("uid"), str) and owner["uid"] in new_uids
        ]
        if known:
            metadata["ownerReferences"] = known
    spec = document.get("spec")
    reference = spec.get("claimRef") if isinstance(spec, dict) else None
    if isinstance(spec, dict) and isinstance(reference, dict):
        # The claim has another uid here: by its name the volume is kept for it.
        kept = {name: value for name, value in reference.items() if name not in _SERVER_FIELDS}
        document = {**document, "spec": {**spec, "claimRef": kept}}
    return {**document, "metadata": metadata}
