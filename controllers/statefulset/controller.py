"""Keeps a StatefulSet's pods: each with its ordinal, its claims and its revision.

Source: k8s.io/kubernetes/pkg/controller/statefulset (stateful_set.go, stateful_set_control.go).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from controllers.kit import history
from controllers.kit.hashing import revision_hash
from controllers.kit.manager import Reconcile, Setup, Work, key_of, must, split_key
from controllers.kit.ownership import claim, index_ownership, labels_of, requirements_of
from controllers.kit.pods import controller_of, is_available, ready_since_ms
from controllers.log.operations import Create, Delete, Operation, Result
from controllers.log.operations import Update as Put
from controllers.statefulset import identity
from controllers.statefulset.pods import CLAIMS, PodControl
from controllers.statefulset.update import Counts, Update
from scheduler_core.api.document import Document
from scheduler_core.api.selectors import Requirement, matches_all

RESOURCE: Final = "statefulsets.apps"

HASH_LABEL: Final = "controller.kubernetes.io/hash"
"""The label of a revision that carries its hash."""


@dataclass(slots=True)
class _Revisions:
    """A set's revisions in one reconciliation, oldest first."""

    known: list[Document]
    current: Document
    newest: Document
    collisions: int


class StatefulSetController:
    """Reconciles StatefulSets, by key."""

    NAME: ClassVar[str] = "statefulset"
    RESOURCES: ClassVar[tuple[str, ...]] = (RESOURCE, "pods", CLAIMS, history.RESOURCE)

    def __init__(self, setup: Setup) -> None:
        """Index pods and revisions by owner and listen to sets, pods, and claims that go."""
        self._sets = setup.informers[RESOURCE]
        self._pods = setup.informers["pods"]
        self._claims = setup.informers[CLAIMS]
        self._revisions = setup.informers[history.RESOURCE]
        self._queue = setup.queue
        index_ownership(self._pods)
        index_ownership(self._revisions)
        self._sets.add_index("namespace", lambda document: [document["metadata"]["namespace"]])
        self._sets.add_handler(self._set_changed)
        self._pods.add_handler(self._pod_changed, owned_by="StatefulSet")
        self._claims.add_handler(self._claim_changed)

    # -- what makes work ----------------------------------------------------------------------------------------

    def _set_changed(self, old: Document | None, new: Document | None) -> None:
        document = new or old
        assert document is not None, "a change has a state before or after"
        self._queue.add(key_of(document))

    def _pod_changed(self, old: Document | None, new: Document | None) -> None:
        for document in (old, new):
            reference = controller_of(document) if document is not None else None
            if document is not None and reference is not None and reference.get("kind") == "StatefulSet":
                self._queue.add(f"{document['metadata']['namespace']}/{reference['name']}")
        if new is not None and controller_of(new) is None:
            for candidate in self._sets.indexed("namespace", new["metadata"]["namespace"]):
                requirements = requirements_of(candidate["spec"].get("selector"))
                if requirements and matches_all(requirements, labels_of(new)):
                    self._queue.add(key_of(candidate))

    def _claim_changed(self, old: Document | None, new: Document | None) -> None:
        """A claim that is gone may be what a pod waits for: for a new one in its place."""
        if new is not None or old is None:
            return
        metadata = old["metadata"]
        for candidate in self._sets.indexed("namespace", metadata["namespace"]):
            name = candidate["metadata"]["name"]
            prefixes = [f"{one['metadata']['name']}-{name}-" for one in identity.claim_templates(candidate)]
            if any(metadata["name"].startswith(prefix) for prefix in prefixes):
                self._queue.add(key_of(candidate))

    # -- reconciliation -----------------------------------------------------------------------------------------

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Move the set's pods one step further, and write what there is into the status."""
        owner = self._sets.get(*split_key(key))
        if owner is None:
            return
        requirements = requirements_of(owner["spec"].get("selector"))
        if requirements is None:
            return
        adopted = yield from self._adopt_revisions(owner, requirements)
        name = owner["metadata"]["name"]
        pods, changes, orphans = claim(
            owner, requirements, self._pods, belongs=lambda pod: identity.parent_and_ordinal(pod)[0] == name
        )
        if changes:
            results = yield changes
            # As they are now: what is written to them next would meet their own adoption.
            taken = {result.object["metadata"]["uid"]: result.object for result in results if result.object is not None}
            pods = pods + [taken[one["metadata"]["uid"]] for one in orphans if one["metadata"]["uid"] in taken]
        revisions = yield from self._settle_revisions(owner, adopted)
        control = PodControl(owner, self._claims, work)
        update = Update(owner, (revisions.current, revisions.newest), pods, control)
        self._tell(owner, pods, revisions, work)
        counts, failure = yield from update.run(work.unix_ms)
        yield from self._write_status(owner, _status(owner, revisions, counts))
        yield from self._forget_revisions(owner, revisions, pods)
        if failure is not None:
            raise failure
        self._wait_for_availability(key, owner, pods, work)

    @staticmethod
    def _tell(owner: Document, pods: Sequence[Document], revisions: _Revisions, work: Work) -> None:
        newest = revisions.newest["metadata"]["name"]
        made = sum(map(identity.is_created, pods))
        updated = sum(identity.revision_of(pod) == newest for pod in pods)
        wanted = identity.wanted_of(owner)
        reason = "as asked" if made == updated == wanted else "pods to renew" if made == wanted else "pods to scale"
        work.tell(
            reason,
            desired={"spec.replicas": wanted, "revision": newest},
            actual={"pods": made, "pods of the revision": updated},
        )

    def _adopt_revisions(
        self, owner: Document, requirements: tuple[Requirement, ...]
    ) -> Generator[Sequence[Operation], Sequence[Result], list[Document]]:
        """Return the set's revisions; orphaned ones that it selects become its own. None is released."""
        mine, changes, _ = claim(owner, requirements, self._revisions, counts=lambda one: _selected(one, requirements))
        if not changes:
            return mine
        results = yield changes
        return mine + [must(result) for result in results]

    def _settle_revisions(
        self, owner: Document, known: Sequence[Document]
    ) -> Generator[Sequence[Operation], Sequence[Result], _Revisions]:
        """Find the revision of the present template, take it up again or make it."""
        revisions = history.by_revision(known)
        status = owner.get("status") or {}
        collisions: int = status.get("collisionCount", 0)
        data = history.snapshot(owner)
        equal = [one for one in revisions if one["data"] == data]
        number = revisions[-1]["revision"] + 1 if revisions else 1
        if equal and equal[-1] is revisions[-1]:
            newest = revisions[-1]
        elif equal:
            changed = {**equal[-1], "revision": number}
            metadata = equal[-1]["metadata"]
            results = yield [Put(history.RESOURCE, metadata["namespace"], metadata["name"], changed)]
            newest = must(results[0])
        else:
            newest, collisions = yield from self._create_revision(owner, number, data, collisions)
        current = next((one for one in revisions if one["metadata"]["name"] == status.get("currentRevision")), newest)
        return _Revisions(revisions, current, newest, collisions)

    def _create_revision(
        self, owner: Document, number: int, data: Document, collisions: int
    ) -> Generator[Sequence[Operation], Sequence[Result], tuple[Document, int]]:
        """Make the revision; a name that another one has already is tried again with a further count."""
        encoded = history.encoded(data)
        label = revision_hash(encoded, collisions)
        while True:
            revision = history.new_revision(owner, revision_hash(encoded, collisions), HASH_LABEL, number, data)
            revision["metadata"]["labels"][HASH_LABEL] = label
            metadata = revision["metadata"]
            results = yield [Create(history.RESOURCE, metadata["namespace"], revision)]
            error = results[0].error
            if error is None or error.reason != "AlreadyExists":
                return must(results[0]), collisions
            existing = self._revisions.get(metadata["namespace"], metadata["name"])
            if existing is None:
                raise error
            if existing["data"] == data:
                return existing, collisions
            collisions += 1

    @staticmethod
    def _forget_revisions(
        owner: Document, revisions: _Revisions, pods: Sequence[Document]
    ) -> Generator[Sequence[Operation], Sequence[Result], None]:
        """Delete the oldest revisions that nothing uses, beyond revisionHistoryLimit."""
        live = {revisions.current["metadata"]["name"], revisions.newest["metadata"]["name"]}
        live |= {identity.revision_of(pod) for pod in pods}
        unused = [one for one in revisions.known if one["metadata"]["name"] not in live]
        limit: int = owner["spec"].get("revisionHistoryLimit", 10)
        gone = unused[: max(0, len(unused) - limit)] if limit >= 0 else []
        if gone:
            yield [Delete(history.RESOURCE, one["metadata"]["namespace"], one["metadata"]["name"]) for one in gone]

    @staticmethod
    def _write_status(owner: Document, status: Document) -> Generator[Sequence[Operation], Sequence[Result], None]:
        known = owner.get("status") or {}
        told = {key: value for key, value in known.items() if key != "conditions"}
        grown = status.get("observedGeneration", 0) > known.get("observedGeneration", 0)
        same = {**told, "observedGeneration": 0} == {**status, "observedGeneration": 0}
        if same and not grown:
            return
        if "conditions" in known:
            status["conditions"] = known["conditions"]
        metadata = {"name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}
        body = {"metadata": metadata, "status": status}
        results = yield [Put(RESOURCE, owner["metadata"]["namespace"], metadata["name"], body, "status")]
        if results[0].error is not None and results[0].error.code != 404:
            raise results[0].error

    @staticmethod
    def _wait_for_availability(key: str, owner: Document, pods: Sequence[Document], work: Work) -> None:
        """Look again when the next pod that is ready has been so for long enough."""
        seconds: int = owner["spec"].get("minReadySeconds", 0)
        waiting = [
            since_ms + seconds * 1000
            for pod in pods
            if (since_ms := ready_since_ms(pod)) is not None and not is_available(pod, seconds, work.unix_ms)
        ]
        if waiting:
            work.queue.add_at(key, work.now_ms + min(waiting) - work.unix_ms)


def _selected(document: Document, requirements: tuple[Requirement, ...]) -> bool:
    return matches_all(requirements, labels_of(document))


def _status(owner: Document, revisions: _Revisions, counts: Counts) -> Document:
    """Return the status; where all pods are of the newest revision and ready, that is the current one from now on."""
    wanted = identity.wanted_of(owner)
    current, newest = revisions.current["metadata"]["name"], revisions.newest["metadata"]["name"]
    rolling = (owner["spec"].get("updateStrategy") or {}).get("type") == "RollingUpdate"
    if rolling and counts.updated == counts.ready == counts.replicas == wanted:
        counts.current, current = counts.updated, newest
    told: Document = {
        "observedGeneration": owner["metadata"].get("generation", 1),
        "readyReplicas": counts.ready,
        "currentReplicas": counts.current,
        "updatedReplicas": counts.updated,
    }
    # The wire omits counts that are 0, as upstream's encoder does; these others always stand.
    return {
        **{key: value for key, value in told.items() if value},
        "replicas": counts.replicas,
        "availableReplicas": counts.available,
        "currentRevision": current,
        "updateRevision": newest,
        "collisionCount": revisions.collisions,
    }
