"""Takes back what somebody did lately: by ordinary writes forward, through the registry, in the teacher's name.

What they made is deleted, what they deleted is made again, and of what they changed each field goes back that nobody
has changed since. What components made of it goes as components let it go. What cannot be taken back is told with why.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from clustersim.classroom.auth import ACTOR_LENGTH, Principal
from clustersim.classroom.models import Participant
from clustersim.classroom.polls.sealing import seal_of
from clustersim.classroom.writing import context_for, writes
from clustersim.store import SqlStore, history
from clustersim.store.history import Key, LogRow
from clustersim.store.sessions import real_ms
from controllers.kinds.table import REGISTRY, TABLE
from controllers.log.operations import Create, Delete, Operation, Update
from controllers.log.store import ADDED, DELETED, Stored, copy_object
from controllers.registry.table import Kinds
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError

MINUTES: Final = 5
"""How far back is taken, where nobody says: real minutes, as the class felt them."""

MINUTES_MAX: Final = 60
OBJECTS_MAX: Final = 300
"""Objects of one person's that are taken back at once; of more, those that they touched last."""

_SERVERS: Final = frozenset(
    (
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "managedFields",
        "selfLink",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    )
)
"""What the server writes into the metadata of every object: none of it is a person's."""

_FILLED_IN: Final = {
    "pods": ("spec", "nodeName"),
    "persistentvolumes": ("spec", "claimRef"),
    "persistentvolumeclaims": ("spec", "volumeName"),
}
"""What components fill in besides: made again with it, the object would be half bound."""


class _Left(Exception):
    """It stays as it is: why."""


LAST: Final = 99
"""The rank of what nobody defines any more."""


def undo(store: SqlStore, teacher: Principal, person: Participant, minutes: float) -> Document:
    """Take back what a person wrote in the last so many real minutes; return what was done and what was left."""
    actor = f"user:{person.slug}"[:ACTOR_LENGTH]
    rows = history.rows_by(store, actor, real_ms() - round(minutes * 60_000))
    by_key: dict[Key, list[LogRow]] = {}
    for row in reversed(rows):
        by_key.setdefault(row.key, []).insert(0, row)
    seal = seal_of(store)
    undone: list[Document] = []
    left: list[Document] = []
    # Owners are made before what refers to them; what was touched last goes first otherwise.
    kinds = TABLE.of(store)
    for key in sorted(list(by_key)[:OBJECTS_MAX], key=lambda key: _rank(kinds, key[0])):
        told = {"resource": key[0], "object": f"{key[1]}/{key[2]}" if key[1] else key[2]}
        try:
            if seal.concerns(*key) and seal.hides_pod(f"{key[1]}/{key[2]}"):
                raise _Left("a poll asks about it: reveal it first")
            did = _undo_one(store, teacher, key, by_key[key])
        except _Left as why:
            left.append({**told, "why": str(why)})
        except ApiError as error:
            left.append({**told, "why": error.message})
        else:
            if did:
                undone.append({**told, "did": did})
    return {"minutes": minutes, "undone": undone, "left": left}


def _rank(kinds: Kinds, resource: str) -> int:
    kind = kinds.find_resource(resource)
    return LAST if kind is None else kind.rank


def _undo_one(store: SqlStore, teacher: Principal, key: Key, rows: Sequence[LogRow]) -> str:
    documents = store.rows(sorted({row.revision for row in rows} | {row.previous_revision for row in rows}))
    known = {revision: msgspec.json.decode(data) for revision, (_, data) in documents.items()}
    with writes(store, teacher.actor) as transaction:
        way = _way_back(key, rows, known, transaction.get(*key))
        if way is None:
            return ""
        operation, did = way
        REGISTRY.apply(transaction, operation, context_for(teacher, store, commands=True))
    return did


def _way_back(
    key: Key, rows: Sequence[LogRow], known: Mapping[int, Document], now: Stored | None
) -> tuple[Operation, str] | None:
    """Return what takes an object back to before the rows, and what that is called; None: it is there already."""
    first = rows[0]
    if first.verb == ADDED:
        if now is None:
            return None
        if now.uid not in {known[row.revision]["metadata"]["uid"] for row in rows if row.revision in known}:
            raise _Left("another object has its name by now")
        if now.object["metadata"].get("deletionTimestamp"):
            return None
        return Delete(*key, uid=now.uid, propagation="Background"), "deleted"
    before = known.get(first.previous_revision)
    if before is None:
        raise _Left("the log no longer reaches back to what it was")
    if now is None:
        if not any(row.verb == DELETED or _is_leaving(known.get(row.revision)) for row in rows):
            raise _Left("somebody else has deleted it since")
        owner = _controller(before)
        if owner:
            raise _Left(f"its {owner} makes another one")
        return Create(key[0], key[1], _made_again(key[0], before)), "made again"
    if now.uid != before["metadata"]["uid"]:
        raise _Left("another object has its name by now")
    if _is_leaving(now.object):
        raise _Left("it is being deleted: try again when it is gone")
    target = _reverted(now.object, rows, known)
    if target == now.object:
        raise _Left("others have changed the same fields since")
    return Update(*key, target), "changed back"


def _is_leaving(document: Document | None) -> bool:
    return bool(document and document["metadata"].get("deletionTimestamp"))


def _controller(document: Document) -> str:
    owners: Iterable[Mapping[str, Any]] = document["metadata"].get("ownerReferences") or ()
    return next((f"{owner['kind']} {owner['name']}" for owner in owners if owner.get("controller")), "")


def _made_again(resource: str, before: Document) -> Document:
    document = copy_object(before)
    document.pop("status", None)
    document["metadata"] = {name: value for name, value in document["metadata"].items() if name not in _SERVERS}
    part, field = _FILLED_IN.get(resource, ("", ""))
    if part in document:
        document[part].pop(field, None)
    return document


def _reverted(now: Document, rows: Sequence[LogRow], known: Mapping[int, Document]) -> Document:
    """Return the object with each change of the rows taken back, the newest first, where it still stands."""
    target = copy_object(now)
    for row in reversed(rows):
        was, became = known.get(row.previous_revision), known.get(row.revision)
        if was is None or became is None:
            raise _Left("the log no longer reaches back to what it was")
        _revert(target, _persons(was), _persons(became))
    return target


def _persons(document: Document) -> Document:
    """Return what a person writes of an object."""
    kept = {name: value for name, value in document.items() if name not in ("status", "apiVersion", "kind")}
    kept["metadata"] = {name: value for name, value in document["metadata"].items() if name not in _SERVERS}
    return kept


def _revert(target: Document, was: Document, became: Document) -> None:
    for name in was.keys() | became.keys():
        old, new, value = was.get(name), became.get(name), target.get(name)
        if old == new:
            continue
        if isinstance(old, dict) and isinstance(new, dict) and isinstance(value, dict):
            _revert(value, old, new)
        elif value == new:
            if name in was:
                target[name] = old
            else:
                target.pop(name, None)
