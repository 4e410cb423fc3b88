"""A session's objects as a file that can be imported again, here or by kubectl."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from clustersim import documents
from clustersim.classroom import roles
from clustersim.classroom.auth import Principal
from clustersim.classroom.manifests import OBJECTS_MAX
from clustersim.store import SqlStore
from controllers.custom.kinds import RESOURCE
from controllers.kinds.table import TABLE
from controllers.log.store import Stored
from controllers.registry.kind import CLUSTERSIM_GROUP, Kind
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError
from scheduler_core.api.said import said

_LEFT_OUT: Final = ("resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink")
"""What an importing server sets itself. Uids stay: by them owners are found again."""


def objects(store: SqlStore, principal: Principal, revision: int) -> list[bytes]:
    """Return the JSON documents of what a person may read, in the order in which they are imported.

    What is being deleted is left out.

    Raises:
        Gone: that revision is compacted.
    """
    found: list[bytes] = []
    kinds = TABLE.of_objects(store.list_at(RESOURCE, revision)).kinds
    exported = (kind for kind in kinds if kind.exported and not kind.passing and kind.group != CLUSTERSIM_GROUP)
    for kind in sorted(exported, key=lambda kind: kind.rank):
        for stored in _readable(store, principal, kind, revision):
            document = _without_server_fields(stored)
            if document is not None:
                found.append(msgspec.json.encode(document))
    return found


def as_json(found: list[bytes]) -> bytes:
    """Return a `List` of the documents."""
    return b'{"apiVersion":"v1","kind":"List","metadata":{},"items":[%b]}\n' % b",".join(found)


def as_yaml(found: list[bytes]) -> bytes:
    """Return the documents one after another.

    Raises:
        ApiError: 413, more objects than a file may have that is imported.
    """
    if len(found) > OBJECTS_MAX:
        message = said(
            "export.yamlMost",
            "{found:,} objects are more than a file of YAML may have ({objects_max:,}); ask for format=json",
            found=len(found),
            objects_max=OBJECTS_MAX,
        )
        raise ApiError(413, "RequestEntityTooLarge", message)
    return b"".join(f"---\n{documents.yaml_text(msgspec.json.decode(data))}".encode() for data in found)


def _readable(store: SqlStore, principal: Principal, kind: Kind, revision: int) -> Iterator[Stored]:
    for namespace in (None, principal.namespace):
        try:
            roles.check(principal, "list", kind.resource, namespace)
        except ApiError:
            continue
        yield from store.list_at(kind.resource, revision, namespace)
        return


def _without_server_fields(stored: Stored) -> Document | None:
    document = stored.object
    metadata = document["metadata"]
    if metadata.get("deletionTimestamp"):
        return None
    return {**document, "metadata": {name: value for name, value in metadata.items() if name not in _LEFT_OUT}}
