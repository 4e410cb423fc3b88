"""What one student may keep in a session, in objects and bytes, and how many bytes they may write a second.

Counted over their namespace, whoever made the objects: what a Deployment asks for counts as if it were there. Refused
as a ResourceQuota refuses, with 403. The count is read from the database at most every COUNTED_SECONDS in each web
process and moved on with every write in between.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from clustersim.classroom import limits
from clustersim.classroom.auth import Principal
from clustersim.store import SqlStore
from controllers.kinds.core.pod.kind import KIND as POD
from controllers.kinds.table import TABLE, find_resource
from controllers.log.draft import Draft
from controllers.log.store import Stored
from controllers.registry.kind import Kind
from scheduler_core.api.document import FrozenDocument
from scheduler_core.api.errors import forbidden

STUDENT_OBJECTS_MAX: Final = 500
"""Objects of one student's namespace, those included that their workloads ask for; more are refused with 403."""

STUDENT_BYTES_MAX: Final = 4 * 1024 * 1024
"""Bytes of all objects of one student's namespace; more are refused with 403."""

COUNTED_SECONDS: Final = 5.0
"""How long a count is believed: what others wrote meanwhile, the controllers above all, is seen after this."""

_REMEMBERED: Final = 4_096
_QUOTA: Final = "student"


@dataclass(slots=True)
class _Kept:
    """What a namespace holds, as counted at `at` and moved on since."""

    objects: int
    size: int
    at: float


_kept: OrderedDict[tuple[int, str], _Kept] = OrderedDict()
_lock: Final = threading.Lock()


def spend(
    store: SqlStore,
    principal: Principal,
    resource: str,
    name: str,
    old: Stored | None,
    new: Draft,
    *,
    dry_run: bool = False,
) -> None:
    """Count one write of a student.

    Raises:
        ApiError: 403, the namespace would hold too much; 429, too many bytes a second.
    """
    size = new.size
    limits.spend(limits.STUDENT_BYTES, principal.participant_id, size)
    objects = _asked_for(resource, new.object) - (0 if old is None else _asked_for(resource, old.object))
    grown = size - (0 if old is None else old.size)
    with _lock:
        kept = _counted(store, principal.namespace)
        _refuse(resource, name, "count/objects", objects, kept.objects, STUDENT_OBJECTS_MAX)
        _refuse(resource, name, "bytes", grown, kept.size, STUDENT_BYTES_MAX)
        if not dry_run:
            kept.objects += objects
            kept.size += grown


def _refuse(resource: str, name: str, what: str, asked: int, used: int, most: int) -> None:
    # As quotas: what does not grow is never refused, however much there is.
    if asked > 0 and used + asked > most:
        why = f"exceeded quota: {_QUOTA}, requested: {what}={asked}, used: {what}={used}, limited: {what}={most}"
        raise forbidden(resource, name, why)


def _counted(store: SqlStore, namespace: str) -> _Kept:
    key, now = (store.session_id, namespace), time.monotonic()
    kept = _kept.get(key)
    if kept is None or now - kept.at > COUNTED_SECONDS:
        usage = store.usage(namespace)
        kinds = {resource: TABLE.of(store).find_resource(resource) for resource in usage}
        asked = sum(_asked_in(store, kind, namespace) for kind in kinds.values() if kind is not None)
        passing = {resource for resource, kind in kinds.items() if kind is not None and kind.passing}
        pods = usage.get(POD.resource, (0, 0))[0]
        others = sum(usage[resource][0] for resource in usage if resource not in passing) - pods
        kept = _kept[key] = _Kept(others + max(pods, asked), sum(size for _, size in usage.values()), now)
        while len(_kept) > _REMEMBERED:
            _kept.popitem(last=False)
    _kept.move_to_end(key)
    return kept


def _asked_in(store: SqlStore, kind: Kind, namespace: str) -> int:
    """Return the pods that a namespace's workloads of one kind ask for; those of an owner are asked for by it."""
    if kind.replicas is None:
        return 0
    return sum(
        kind.replicas(stored.object)
        for stored in store.list(kind.resource, namespace)[0]
        if not stored.object["metadata"].get("ownerReferences")
    )


def _asked_for(resource: str, document: FrozenDocument) -> int:
    kind = find_resource(resource)
    replicas = kind.replicas if kind is not None else None
    return 1 + (replicas(document) if replicas is not None else 0)
