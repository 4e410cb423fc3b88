"""Deletes objects whose owners are gone; holds owners until their dependents are (foreground), or frees these (orphan).

Source: k8s.io/kubernetes/pkg/controller/garbagecollector/garbagecollector.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final

from controllers.custom.kinds import RESOURCE as DEFINITIONS
from controllers.kinds.table import KINDS, TABLE, find_kind
from controllers.kit.informer import DefinedLister, Lister
from controllers.kit.interest import OWNERS, UID, Handler
from controllers.kit.manager import Reconcile, Setup, Work, must
from controllers.log.operations import Delete, Operation, Patch, Propagation
from controllers.loop.component import DEFINED
from controllers.registry.kind import CLUSTERSIM_GROUP
from controllers.registry.table import Kinds
from scheduler_core.api.document import Document

FOREGROUND: Final = "foregroundDeletion"
ORPHAN: Final = "orphan"

WATCHED: Final = (
    *(kind.resource for kind in KINDS if kind.group != CLUSTERSIM_GROUP and not kind.passing),
    DEFINED,
)
"""Kinds that can own or be owned. Events have an end of their own, command objects none."""


def by_owner(document: Document) -> Iterable[str]:
    """Index by the uids of all owners."""
    for reference in document["metadata"].get("ownerReferences") or ():
        yield reference["uid"]


def by_uid(document: Document) -> Iterable[str]:
    """Index by uid."""
    yield document["metadata"]["uid"]


@dataclass(slots=True)
class _Owners:
    """An object's owner references, by what has become of the owner."""

    solid: list[Document] = field(default_factory=list)
    dangling: list[Document] = field(default_factory=list)
    waiting: list[Document] = field(default_factory=list)


class GarbageCollector:
    """Reconciles any object, by `resource|namespace|name`."""

    NAME: ClassVar[str] = "garbage-collector"
    RESOURCES: ClassVar[tuple[str, ...]] = WATCHED

    def __init__(self, setup: Setup) -> None:
        """Index every kind by owner and by uid, and listen to all of them."""
        self._queue = setup.queue
        self._listers: dict[str, Lister] = {resource: setup.informers[resource] for resource in WATCHED}
        defined = self._listers[DEFINED]
        assert isinstance(defined, DefinedLister), "it lists what is defined"
        self._defined = defined
        for resource, lister in self._listers.items():
            lister.add_index("owner", by_owner, of=(OWNERS,))
            lister.add_index("any-uid", by_uid, of=(UID,))
            lister.add_handler(self._handler(resource))

    # -- what makes work ----------------------------------------------------------------------------------------

    def _resource_of(self, watched: str, document: Document) -> str:
        return self._defined.resource_of(document) if watched == DEFINED else watched

    def _get(self, resource: str, namespace: str, name: str) -> Document | None:
        lister = self._listers.get(resource)
        return self._defined.get(f"{resource}|{namespace}", name) if lister is None else lister.get(namespace, name)

    def _handler(self, watched: str) -> Handler:
        def changed(old: Document | None, new: Document | None) -> None:
            if new is None:
                assert old is not None, "a deletion has a last state"
                self._owner_gone(old)
                return
            metadata = new["metadata"]
            references = metadata.get("ownerReferences")
            before = [] if old is None else old["metadata"].get("ownerReferences")
            ends = "deletionTimestamp" in metadata and metadata.get("finalizers")
            if references is before and old is not None and not ends:
                return
            resource = self._resource_of(watched, new)
            self._unblock(old, new)
            if ends:
                self._queue.add(_key(resource, new))
            fresh = references and (old is None or references != before)
            home = metadata.get("namespace", "")
            if fresh and not all(self._find(reference, home) is not None for reference in references):
                self._queue.add(_key(resource, new))

        return changed

    def _unblock(self, old: Document | None, new: Document) -> None:
        """Look at owners again that wait for an object which holds them up no longer."""
        before, after = ([] if one is None else one["metadata"].get("ownerReferences") or [] for one in (old, new))
        if before == after:
            return
        blocked = {reference["uid"] for reference in after if reference.get("blockOwnerDeletion")}
        for reference in before:
            if reference.get("blockOwnerDeletion") and reference["uid"] not in blocked:
                owner = self._find(reference, new["metadata"].get("namespace", ""))
                if owner is not None and _is_waiting(owner[1]):
                    self._queue.add(_key(*owner))

    def _owner_gone(self, owner: Document) -> None:
        for resource, dependent in self._dependents(owner["metadata"]["uid"]):
            self._queue.add(_key(resource, dependent))
        for reference in owner["metadata"].get("ownerReferences") or ():
            # Its own owner may be waiting for it.
            above = self._find(reference, owner["metadata"].get("namespace", ""))
            if above is not None and _is_waiting(above[1]):
                self._queue.add(_key(*above))

    def _elsewhere(self, uid: str, namespace: str) -> bool:
        """Return whether an object with this uid lives in another namespace."""
        found = (document for lister in self._listers.values() for document in lister.indexed("any-uid", uid))
        return any(document["metadata"].get("namespace", namespace) != namespace for document in found)

    def _dependents(self, uid: str) -> list[tuple[str, Document]]:
        return [
            (self._resource_of(resource, document), document)
            for resource, lister in self._listers.items()
            if lister.has_indexed("owner", uid)
            for document in lister.indexed("owner", uid)
        ]

    def _find(self, reference: Mapping[str, Any], namespace: str) -> tuple[str, Document] | None:
        """Return the owner as the caches have it."""
        kind = find_kind(reference["apiVersion"], reference["kind"])
        if kind is None:
            return self._find_defined(reference, namespace)
        if kind.resource not in self._listers:
            return None
        found = self._listers[kind.resource].get(namespace if kind.namespaced else "", reference["name"])
        if found is None or found["metadata"]["uid"] != reference["uid"]:
            return None
        return kind.resource, found

    def _find_defined(self, reference: Mapping[str, Any], namespace: str) -> tuple[str, Document] | None:
        """Return an owner of a kind that the session defines, whatever the version in which it is named."""
        group = reference["apiVersion"].partition("/")[0]
        for document in self._defined.indexed("any-uid", reference["uid"]):
            metadata = document["metadata"]
            same = document["kind"] == reference["kind"] and document["apiVersion"].partition("/")[0] == group
            if same and metadata["name"] == reference["name"] and metadata.get("namespace", namespace) == namespace:
                return self._defined.resource_of(document), document
        return None

    # -- reconciliation -----------------------------------------------------------------------------------------

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Settle one object's relation to its owners and dependents."""
        resource, namespace, name = key.split("|")
        document = self._get(resource, namespace, name)
        if document is None:
            work.tell("the object has gone", desired={}, actual={})
            return
        metadata = document["metadata"]
        finalizers = metadata.get("finalizers") or []
        if "deletionTimestamp" in metadata:
            work.tell(
                "being deleted: its dependents are settled first",
                desired={"metadata.deletionTimestamp": metadata["deletionTimestamp"]},
                actual={"metadata.finalizers": list(finalizers)},
            )
            if ORPHAN in finalizers:
                yield from self._orphan(resource, document)
            elif FOREGROUND in finalizers:
                yield from self._foreground(resource, document)
            return
        # As it is stored now: the cache may be behind, and what is deleted is to be what was judged.
        kinds = TABLE.of_objects(work.tick.list(DEFINITIONS)[0])
        kind = kinds.find_resource(resource)
        latest = None if kind is None else work.tick.get(kind.stored_resource, namespace, name)
        if kind is None or latest is None or latest.uid != metadata["uid"]:
            work.tell("the object has gone", desired={}, actual={})
            return
        document, revision = latest.object, str(latest.revision)
        references = document["metadata"].get("ownerReferences") or []
        if not references:
            work.tell("no owners: it stays", desired={"metadata.ownerReferences": 0}, actual={})
            return
        self._tell_of_strangers(resource, document, references, kinds, work)
        owners = self._classify(references, namespace, kinds, work)
        if owners is None:
            return
        operations = self._verdict(resource, document, owners, revision)
        work.tell(
            "owners are gone" if operations else "an owner is there: it stays",
            desired={"metadata.ownerReferences": len(references)},
            actual={"owners there": len(owners.solid), "owners gone": len(owners.dangling)},
        )
        for operation in operations:
            (result,) = yield [operation]
            if result.error is None or result.error.code == 404:
                continue
            if isinstance(operation, Delete) and result.error.code == 409:
                # What changed beside its owners is no reason to wait; with other owners it is judged anew.
                after = work.tick.get(kind.stored_resource, namespace, name)
                if after is None:
                    return
                owners_now = after.object["metadata"].get("ownerReferences") or []
                if after.uid == latest.uid and owners_now == references:
                    (result,) = yield [replace(operation, resource_version=None)]
            if result.error is None or result.error.code != 404:
                must(result)

    def _tell_of_strangers(
        self, resource: str, document: Document, references: list[Document], kinds: Kinds, work: Work
    ) -> None:
        """Say of an owner in another namespace that it is none."""
        namespace = document["metadata"].get("namespace", "")
        for reference in references:
            if self._find(reference, namespace) is None and self._elsewhere(reference["uid"], namespace):
                names = ("apiVersion", "kind", "name", "uid")
                version, kind, name, uid = (reference.get(field, "") for field in names)
                owner = f"[{version}/{kind}, namespace: {namespace}, name: {name}, uid: {uid}]"
                text = f'ownerRef {owner} does not exist in namespace "{namespace}"'
                own = kinds.find_resource(resource)
                assert own is not None, "what is kept is of a kind"
                metadata = {key: document["metadata"].get(key, "") for key in ("namespace", "name", "uid")}
                about = {"apiVersion": own.api_version, "metadata": metadata}
                work.event(about, own.kind, "OwnerRefInvalidNamespace", text, event_type="Warning")
                return

    def _verdict(self, resource: str, document: Document, owners: _Owners, revision: str) -> list[Operation]:
        """Return what becomes of an object with these owners: kept, freed of some, or deleted."""
        metadata = document["metadata"]
        place = (resource, metadata.get("namespace", ""), metadata["name"])
        if owners.solid:
            if not owners.dangling and not owners.waiting:
                return []
            patch = {"metadata": {"ownerReferences": owners.solid, "uid": metadata["uid"]}}
            return [Patch(*place, patch)]
        operations: list[Operation] = []
        propagation: Propagation = "Background"
        dependents = self._dependents(metadata["uid"]) if owners.waiting else []
        if dependents:
            propagation = "Foreground"
            if any(_is_waiting(dependent) for _, dependent in dependents):
                # A circle: whoever waits for this one must not be held up by it.
                free = [{**reference, "blockOwnerDeletion": False} for reference in metadata["ownerReferences"]]
                patch = {"metadata": {"ownerReferences": free, "uid": metadata["uid"]}}
                operations.append(Patch(*place, patch))
        elif ORPHAN in (metadata.get("finalizers") or []):
            propagation = "Orphan"
        elif FOREGROUND in (metadata.get("finalizers") or []):
            propagation = "Foreground"
        # After a patch that is another version than the one to be deleted: the object is judged once more.
        return [*operations, Delete(*place, metadata["uid"], revision, propagation=propagation)]

    def _classify(self, references: list[Document], namespace: str, kinds: Kinds, work: Work) -> _Owners | None:
        """Sort an object's owners; None: a namespaced owner of an object without a namespace cannot be looked for."""
        owners = _Owners()
        for reference in references:
            kind = kinds.find_kind(reference["apiVersion"], reference["kind"])
            if kind is None:
                # A kind nobody serves here cannot be looked for: such an owner is taken at its word.
                owners.solid.append(reference)
                continue
            if kind.namespaced and not namespace:
                return None
            # Asked of the store itself: an owner missing from a cache may just be new.
            home = namespace if kind.namespaced else ""
            found = work.tick.get(kind.stored_resource, home, reference["name"])
            if found is None or found.uid != reference["uid"]:
                owners.dangling.append(reference)
            elif _is_waiting(found.object):
                owners.waiting.append(reference)
            else:
                owners.solid.append(reference)
        return owners

    def _orphan(self, resource: str, owner: Document) -> Reconcile:
        """Free the dependents of their owner, then let it go."""
        uid = owner["metadata"]["uid"]
        patches: list[Operation] = []
        for kind, dependent in self._dependents(uid):
            metadata = dependent["metadata"]
            kept = [reference for reference in metadata["ownerReferences"] if reference["uid"] != uid]
            patch = {"metadata": {"ownerReferences": kept or None, "uid": metadata["uid"]}}
            patches.append(Patch(kind, metadata.get("namespace", ""), metadata["name"], patch))
        if patches:
            results = yield patches
            for result in results:
                if result.error is not None and result.error.code not in (404, 409):
                    must(result)
        yield [_without_finalizer(resource, owner, ORPHAN)]

    def _foreground(self, resource: str, owner: Document) -> Reconcile:
        """Delete the dependents; let the owner go when those that block it have gone."""
        uid = owner["metadata"]["uid"]
        dependents = self._dependents(uid)
        if not any(_blocks(dependent, uid) for _, dependent in dependents):
            yield [_without_finalizer(resource, owner, FOREGROUND)]
            return
        for kind, dependent in dependents:
            if "deletionTimestamp" not in dependent["metadata"]:
                self._queue.add(_key(kind, dependent))


def _key(resource: str, document: Document) -> str:
    metadata = document["metadata"]
    return f"{resource}|{metadata.get('namespace', '')}|{metadata['name']}"


def _is_waiting(owner: Mapping[str, Any]) -> bool:
    """Return whether the owner waits for its dependents' deletion."""
    metadata = owner["metadata"]
    return "deletionTimestamp" in metadata and FOREGROUND in (metadata.get("finalizers") or [])


def _blocks(dependent: Document, uid: str) -> bool:
    references = dependent["metadata"].get("ownerReferences") or ()
    return any(reference["uid"] == uid and reference.get("blockOwnerDeletion") for reference in references)


def _without_finalizer(resource: str, document: Document, finalizer: str) -> Patch:
    metadata = document["metadata"]
    kept = [name for name in metadata["finalizers"] if name != finalizer]
    patch = {
        "metadata": {"finalizers": kept or None, "uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]}
    }
    return Patch(resource, metadata.get("namespace", ""), metadata["name"], patch)
