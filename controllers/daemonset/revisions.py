"""A DaemonSet's revisions: the present one, and those before it.

Source: `constructHistory`, `cleanupHistory`, `snapshot`, k8s.io/kubernetes/pkg/controller/daemon/update.go.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from controllers.kit import history
from controllers.kit.hashing import template_hash
from controllers.kit.informer import Lister
from controllers.kit.manager import must
from controllers.kit.ownership import claim
from controllers.log.operations import Create, Delete, Operation, Patch, Result, Update
from scheduler_core.api.document import Document
from scheduler_core.api.selectors import Requirement


@dataclass(frozen=True, slots=True)
class Revisions:
    """The revision of the present template, and the others."""

    current: Document
    old: list[Document]


Settling = Generator[Sequence[Operation], Sequence[Result], Revisions]
Single = Generator[Sequence[Operation], Sequence[Result], Document]


def settle_revisions(
    owner: Document, requirements: tuple[Requirement, ...], known: Lister, pods: Sequence[Document]
) -> Settling:
    """Find the revision of the present template, take it up again or make it."""
    mine, changes, orphans = claim(owner, requirements, known)
    if changes:
        results = yield changes
        taken = {result.object["metadata"]["uid"] for result in results if result.object is not None}
        mine = mine + [orphan for orphan in orphans if orphan["metadata"]["uid"] in taken]
    data = history.snapshot(owner)
    old: list[Document] = []
    same: list[Document] = []
    for revision in mine:
        if history.POD_HASH not in (revision["metadata"].get("labels") or {}):
            revision = yield from _labelled(revision)
        (same if revision["data"] == data else old).append(revision)
    number = max((revision["revision"] for revision in old), default=0) + 1
    if not same:
        current = yield from _created(owner, number, data, known)
        return Revisions(current, old)
    current = same[0] if len(same) == 1 else (yield from _single(same, pods))
    if current["revision"] < number:
        metadata = current["metadata"]
        changed = {**current, "revision": number}
        results = yield [Update(history.RESOURCE, metadata["namespace"], metadata["name"], changed)]
        current = must(results[0])
    return Revisions(current, old)


def unused_revisions(owner: Document, revisions: Revisions, pods: Sequence[Document]) -> list[Document]:
    """Return the oldest revisions beyond revisionHistoryLimit that no pod is of."""
    limit: int = owner["spec"].get("revisionHistoryLimit", 10)
    live = {(pod["metadata"].get("labels") or {}).get(history.POD_HASH) for pod in pods}
    unused = [
        one
        for one in history.by_revision(revisions.old)
        if (one["metadata"].get("labels") or {}).get(history.POD_HASH) not in live
    ]
    return unused[: max(0, len(revisions.old) - limit)]


def _labelled(revision: Document) -> Single:
    metadata = revision["metadata"]
    patch = {"metadata": {"uid": metadata["uid"], "labels": {history.POD_HASH: metadata["name"]}}}
    results = yield [Patch(history.RESOURCE, metadata["namespace"], metadata["name"], patch)]
    return must(results[0])


def _created(owner: Document, number: int, data: Document, known: Lister) -> Single:
    """Make the revision; where its name is another template's, the collision is counted and all is tried again."""
    status = owner.get("status") or {}
    code = template_hash(owner["spec"].get("template") or {}, status.get("collisionCount"))
    revision = history.new_revision(owner, code, history.POD_HASH, number, data)
    metadata = revision["metadata"]
    results = yield [Create(history.RESOURCE, metadata["namespace"], revision)]
    error = results[0].error
    if error is None or error.reason != "AlreadyExists":
        return must(results[0])
    existing = known.get(metadata["namespace"], metadata["name"])
    if existing is None:
        raise error
    if existing["data"] == data:
        return existing
    body = {
        "metadata": {"name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]},
        "status": {**status, "collisionCount": status.get("collisionCount", 0) + 1},
    }
    yield [Update("daemonsets.apps", metadata["namespace"], owner["metadata"]["name"], body, "status")]
    raise error


def _single(same: Sequence[Document], pods: Sequence[Document]) -> Single:
    """Keep the newest of several revisions of one template; pods of the others count as of it."""
    kept = history.by_revision(same)[-1]
    code = kept["metadata"]["labels"][history.POD_HASH]
    operations: list[Operation] = []
    for pod in pods:
        metadata = pod["metadata"]
        if (metadata.get("labels") or {}).get(history.POD_HASH) != code:
            patch = {"metadata": {"labels": {history.POD_HASH: code}}}
            operations.append(Patch("pods", metadata["namespace"], metadata["name"], patch))
    for revision in same:
        if revision is not kept:
            operations.append(Delete(history.RESOURCE, revision["metadata"]["namespace"], revision["metadata"]["name"]))
    results = yield operations
    for result in results:
        if result.error is not None:
            raise result.error
    return kept
