"""Managed fields: which manager owns which fields of an object, and what each way of writing does to that.

As upstream keeps them (apimachinery, `util/managedfields`): whoever changes a field by an ordinary write takes it from
everybody; whoever applies one that another owns is refused, unless both say the same or it is forced.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import msgspec

from controllers.registry.fieldowners import merge, sets
from controllers.registry.fieldowners.sets import Fields
from controllers.registry.fieldowners.types import Type, type_of
from controllers.registry.gotext import quoted
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause, bad_request

Entry = dict[str, Any]
"""One manager's entry as it is told (metav1.ManagedFieldsEntry)."""

BEFORE_FIRST_APPLY: Final = "before-first-apply"
"""Who owns what was there when an object without owners is first applied to."""

ANCIENT_CHANGES: Final = "ancient-changes"
"""Who owns what the oldest of too many managers changed."""

UPDATERS_MAX: Final = 10
"""Managers that changed an object by ordinary writes; the oldest become one, as upstream's DefaultMaxUpdateManagers."""

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"

_NOT_OWNED: Final[Fields] = {
    "f:apiVersion": {},
    "f:kind": {},
    "f:metadata": {
        sets.SELF: {},
        "f:name": {},
        "f:namespace": {},
        "f:creationTimestamp": {},
        "f:selfLink": {},
        "f:uid": {},
        "f:clusterName": {},
        "f:generation": {},
        "f:managedFields": {},
        "f:resourceVersion": {},
    },
}
"""What nobody owns (stripMetaManager)."""


class Manager(NamedTuple):
    """What tells two entries apart. Whoever applies has one entry, whatever the version."""

    name: str
    operation: str
    api_version: str = ""
    subresource: str = ""

    @property
    def identifier(self) -> str:
        """Return the text by which upstream orders managers (BuildManagerIdentifier)."""
        told = {"manager": self.name, "operation": self.operation, "apiVersion": self.api_version}
        told["subresource"] = self.subresource
        return msgspec.json.encode({key: text for key, text in told.items() if text}).decode()


@dataclass(frozen=True, slots=True)
class Share:
    """What one manager owns. `time` is when it last changed something, empty: never."""

    fields: Fields
    api_version: str
    time: str = ""


Owners = dict[Manager, Share]


@dataclass(frozen=True, slots=True)
class Scope:
    """What of an object one way of writing may own.

    `part` is what a subresource writes, with `carried` of the metadata; empty: the object, without its `parts`, which
    others write.
    """

    struct: str
    api_version: str
    subresource: str = ""
    part: str = ""
    carried: tuple[str, ...] = ()
    parts: frozenset[str] = frozenset()
    owned: Type | None = None
    """What the object is, where `struct` does not say it."""

    @property
    def type(self) -> Type:
        """Return what the object is."""
        return type_of(self.struct) if self.owned is None else self.owned

    def kept(self, fields: Fields) -> Fields:
        """Return what of a set may be owned here (GetResetFields)."""
        if not self.part:
            return {key: node for key, node in fields.items() if key[2:] not in self.parts} if self.parts else fields
        kept = {key: node for key, node in fields.items() if key == f"f:{self.part}"}
        metadata = {f"f:{name}": fields.get("f:metadata", {}).get(f"f:{name}") for name in self.carried}
        metadata = {key: node for key, node in metadata.items() if node is not None}
        return {**({"f:metadata": metadata} if metadata else {}), **kept}

    def manager(self, name: str, operation: str) -> Manager:
        """Return who writes in this way."""
        version = self.api_version if operation == "Update" else ""
        return Manager(name or "unknown", operation, version, self.subresource)


def decoded(entries: Any) -> Owners | None:
    """Return the owners that entries tell of; None: they cannot be read."""
    if not isinstance(entries, list):
        return {} if entries is None else None
    owners: Owners = {}
    for entry in entries:
        good = isinstance(entry, dict) and entry.get("operation") in ("Apply", "Update") and entry.get("apiVersion")
        fields = sets.read(entry.get("fieldsV1")) if good and entry.get("fieldsType") == "FieldsV1" else None
        if fields is None:
            return None
        applies = entry["operation"] == "Apply"
        version = str(entry["apiVersion"])
        name, subresource = str(entry.get("manager", "")), str(entry.get("subresource", ""))
        manager = Manager(name, entry["operation"], "" if applies else version, subresource)
        owners[manager] = Share(fields, version, str(entry.get("time") or ""))
    return owners


def encoded(owners: Owners) -> list[Entry]:
    """Return what is told of owners: those who apply first, then by time."""
    entries = []
    for manager, share in sorted(owners.items(), key=_told_order):
        named = {"manager": manager.name} if manager.name else {}
        entry: Entry = {**named, "operation": manager.operation, "apiVersion": share.api_version}
        if share.time:
            entry["time"] = share.time
        entry |= {"fieldsType": "FieldsV1", "fieldsV1": sets.ordered(share.fields)}
        if manager.subresource:
            entry["subresource"] = manager.subresource
        entries.append(entry)
    return entries


def _told_order(item: tuple[Manager, Share]) -> tuple[str, ...]:
    manager, share = item
    return manager.operation, share.time, manager.name, share.api_version, manager.subresource


def is_reset(sent: Any) -> bool:
    """Return whether whoever writes asks that nobody owns anything: `[]` or `[{}]`."""
    return isinstance(sent, list) and (not sent or sent == [{}])


def updated(
    scope: Scope, old: Mapping[str, Any] | None, new: Mapping[str, Any], sent: Any, name: str, time: str
) -> Sequence[Entry] | None:
    """Return the managed fields of an object after an ordinary write; None: nobody owns anything.

    Args:
        scope: what may be owned.
        old: the object before; None: it is created.
        new: what it becomes, as it was decoded and given its defaults, before admission.
        sent: the managed fields in the request's body; None: there were none.
        name: who writes.
        time: now, as it is told.
    """
    before = None if old is None else old["metadata"].get("managedFields")
    owners = None
    if sent is not None and not scope.subresource:
        owners = {} if is_reset(sent) else (decoded(sent) or None)
    untold = owners is None
    if owners is None:
        owners = decoded(before) or {}
    if not owners and old is not None:
        # What had no owners gets some when it is first applied to.
        return None
    # What is made was an empty object of its kind before: its nulls are nobody's.
    before_it = {key: None for key, value in new.items() if value is None} if old is None else old
    differs = merge.compare(before_it, new, scope.type)
    if not (differs.added or differs.modified or differs.removed):
        # Whoever has nothing is no owner.
        return before if untold else encoded({one: share for one, share in owners.items() if share.fields}) or None
    owners = _written(owners, differs, scope, name, time)
    return encoded(_capped(owners)) or None


def _written(owners: Owners, differs: merge.Comparison, scope: Scope, name: str, time: str) -> Owners:
    """Return the owners after a write that nobody is asked about."""
    changed = scope.kept(differs.changed)
    owners = _taken(owners, changed, scope.kept(differs.removed))
    mine = sets.difference(changed, _NOT_OWNED)
    if mine:
        manager = scope.manager(name, "Update")
        previous = owners.get(manager)
        fields = mine if previous is None else sets.union(mine, previous.fields)
        owners[manager] = Share(fields, scope.api_version, time)
    return owners


def _taken(owners: Owners, changed: Fields, removed: Fields, but: Manager | None = None) -> Owners:
    """Return the owners without what was changed or removed; whoever has nothing left is no owner."""
    left: Owners = {}
    for manager, share in owners.items():
        fields = share.fields
        if manager != but:
            fields = sets.difference(sets.difference(fields, sets.intersection(fields, changed)), removed)
        if fields:
            left[manager] = share if fields is share.fields else replace(share, fields=fields)
    return left


def _capped(owners: Owners) -> Owners:
    """Return the owners, the oldest of too many updaters in one entry a version (capManagersManager)."""
    updaters = [manager for manager in owners if manager.operation == "Update"]
    count = len(updaters)
    if count <= UPDATERS_MAX:
        return owners
    updaters.sort(key=lambda manager: (owners[manager].time, manager.identifier))
    owners = dict(owners)
    first: dict[str, Manager] = {}
    for manager in updaters:
        if count <= UPDATERS_MAX:
            break
        share = owners[manager]
        if share.api_version not in first:
            first[share.api_version] = manager
            continue
        bucket = Manager(ANCIENT_CHANGES, "Update", share.api_version)
        if bucket not in owners:
            owners[bucket] = owners.pop(first[share.api_version])
        fields = sets.union(share.fields, owners[bucket].fields)
        del owners[manager]
        owners[bucket] = Share(fields, share.api_version, share.time)
        count -= 1
    return owners


# Server-side apply.


def applied(
    scope: Scope, live: Mapping[str, Any] | None, config: Document, name: str, time: str, *, force: bool
) -> tuple[Document, list[Entry] | None]:
    """Return (what an object becomes when `config` is applied, its managed fields).

    What the document lacks has no defaults yet, and what was written as null is null.

    Raises:
        ApiError: 409, fields are owned by others; 500, the configuration does not fit the schema.
    """
    of = scope.type
    try:
        merge.validate(config, of)
    except merge.Untyped as error:
        raise ApiError(500, "", f"failed to create typed patch object ({title_of(config)}): {error}") from error
    shown = {key: value for key, value in (live or {}).items() if key != "metadata"}
    metadata = (live or {}).get("metadata", {})
    shown["metadata"] = {key: value for key, value in metadata.items() if key != "managedFields"}
    owners = decoded(metadata.get("managedFields")) or {}
    if not owners and live is not None:
        owners = _written({}, merge.compare({}, shown, of), scope, BEFORE_FIRST_APPLY, time)
    try:
        document, owners = _applied(scope, shown, config, owners, (name, time), force=force)
    except _Conflict as conflict:
        allowed = _allowed_by_last_applied(scope, shown) if name == "kubectl" else None
        left = conflict.without(allowed)
        if left:
            raise _refusal(left) from conflict
        document, owners = _applied(scope, shown, config, owners, (name, time), force=True)
    if name == "kubectl" and document.get("metadata", {}).get("annotations", {}).get(LAST_APPLIED):
        document = _with_last_applied(document, config)
    return document, encoded(owners) or None


def title_of(config: Mapping[str, Any]) -> str:
    """Return what upstream calls an object in errors (objectGVKNN)."""
    metadata = config.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    version, kind = str(config.get("apiVersion", "")), str(config.get("kind", ""))
    group_version = version if "/" in version else f"/{version}"
    return f"{metadata.get('namespace', '')}/{metadata.get('name', '')}; {group_version}, Kind={kind}"


class _Conflict(Exception):
    """Fields that others own."""

    def __init__(self, owned: dict[Manager, Fields]) -> None:
        super().__init__()
        self.owned = owned

    def without(self, allowed: Fields | None) -> dict[Manager, Fields]:
        """Return what is still in conflict where some fields may be taken."""
        if allowed is None:
            return self.owned
        left = {manager: sets.difference(fields, allowed) for manager, fields in self.owned.items()}
        return {manager: fields for manager, fields in left.items() if fields}


def _applied(
    scope: Scope, live: Document, config: Document, owners: Owners, who: tuple[str, str], *, force: bool
) -> tuple[Document, Owners]:
    name, time = who
    of = scope.type
    manager = scope.manager(name, "Apply")
    last = owners.get(manager)
    document = merge.merged(live, config, of)
    fields = scope.kept(merge.field_set(config, of))
    owners = {**owners, manager: Share(fields, scope.api_version, last.time if last is not None else "")}
    if last is not None and last.fields:
        document = _pruned(document, last.fields, owners, of)
    differs = merge.compare(live, document, of)
    changed, removed = scope.kept(differs.changed), scope.kept(differs.removed)
    if not force:
        owned = {other: sets.intersection(share.fields, changed) for other, share in owners.items() if other != manager}
        owned = {other: inside for other, inside in owned.items() if inside}
        if owned:
            raise _Conflict(owned)
    owners = _taken(owners, changed, removed, but=manager)
    if manager in owners:
        mine = sets.difference(owners[manager].fields, _NOT_OWNED)
        if not mine:
            del owners[manager]
        else:
            when = owners[manager].time if document == live else time
            owners[manager] = Share(mine, scope.api_version, when)
    return document, owners


def _pruned(document: Document, last: Fields, owners: Owners, of: Type) -> Document:
    """Return a document without what its applier gave up and nobody else owns (merge.Updater.prune)."""
    last = merge.with_named(last, of)
    pruned = merge.without(document, last, of) or {}
    owned: Fields = {}
    for share in owners.values():
        owned = sets.union(owned, share.fields)
    there = merge.with_named(merge.field_set(document, of), of)
    left = merge.with_named(merge.field_set(pruned, of), of)
    gone = sets.difference(there, sets.union(left, merge.with_named(owned, of)))
    pruned = merge.without(document, gone, of) or {}
    # What the applier did not own before stays.
    left = merge.with_named(merge.field_set(pruned, of), of)
    gone = sets.intersection(sets.difference(there, left), last)
    return merge.without(document, gone, of) or {}


def _refusal(owned: Mapping[Manager, Fields]) -> ApiError:
    """Return the 409 that names who owns what."""
    listed = sorted(owned.items(), key=lambda item: item[0].identifier)
    found = [(manager, path) for manager, fields in listed for path in sets.paths(fields)]
    causes = [Cause(path, f"conflict with {_printed(manager)}", "FieldManagerConflict") for manager, path in found]
    if len(found) == 1:
        why = f"1 conflict: conflict with {_printed(found[0][0])}: {found[0][1]}"
        return ApiError(409, "Conflict", f"Apply failed with {why}", causes)
    lines = []
    for manager, fields in listed:
        lines += [f"conflicts with {_printed(manager)}:", *(f"- {path}" for path in sets.paths(fields))]
    return ApiError(409, "Conflict", f"Apply failed with {len(found)} conflicts: " + "\n".join(lines), causes)


def _printed(manager: Manager) -> str:
    text = quoted(manager.name)
    if manager.subresource:
        text += f" with subresource {quoted(manager.subresource)}"
    return f"{text} using {manager.api_version}" if manager.operation == "Update" else text


def check_object(config: Mapping[str, Any], api_version: str, kind: str) -> None:
    """Refuse to apply what is another kind, or tells of managers itself.

    Raises:
        ApiError: 400.
    """
    version, given = config.get("apiVersion"), config.get("kind")
    given = given if isinstance(given, str) else ""
    if not isinstance(version, str) or version.count("/") > 1:
        # What is no version says nothing of a kind either.
        version, given = "", "" if isinstance(version, str) else given
    if (version, given) != (api_version, kind):
        shown = version if "/" in version else f"/{version}"
        raise bad_request(f"invalid object type: {shown}, Kind={given}")
    metadata = config.get("metadata")
    if isinstance(metadata, dict) and metadata.get("managedFields") is not None:
        raise bad_request("metadata.managedFields must be nil")


# kubectl apply of two kinds: what it applied on the client's side may be taken over without force.


def _allowed_by_last_applied(scope: Scope, live: Document) -> Fields | None:
    """Return the fields that kubectl applied itself before, as far as they are still so (lastAppliedManager)."""
    written = live["metadata"].get("annotations", {}).get(LAST_APPLIED)
    try:
        last = msgspec.json.decode(written or "")
        if not isinstance(last, dict) or last.get("apiVersion") != scope.api_version:
            return None
        merge.validate(last, scope.type)
    except (msgspec.DecodeError, merge.Untyped):
        return None
    differs = merge.compare(last, live, scope.type)
    fields: Fields = merge.field_set(last, scope.type)
    for gone in (differs.modified, differs.added, differs.removed):
        fields = sets.difference(fields, gone)
    return fields


def _with_last_applied(document: Document, config: Mapping[str, Any]) -> Document:
    """Return a document whose annotation says what kubectl applied last, for clients that apply themselves."""
    metadata = dict(config.get("metadata") or {})
    if isinstance(metadata.get("annotations"), dict):
        metadata["annotations"] = {key: text for key, text in metadata["annotations"].items() if key != LAST_APPLIED}
    text = msgspec.json.encode({**config, "metadata": metadata}, order="sorted").decode() + "\n"
    annotations = {**document["metadata"]["annotations"], LAST_APPLIED: text}
    return {**document, "metadata": {**document["metadata"], "annotations": annotations}}
