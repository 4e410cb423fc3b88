"""One reconciliation of a Deployment, and the newest of its sets: found, made, numbered.

Source: k8s.io/kubernetes/pkg/controller/deployment/sync.go.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Final

from controllers.deployment import sets as rs
from controllers.deployment import status as progress
from controllers.kit.informer import Lister
from controllers.kit.manager import Work, must
from controllers.kit.pods import controller_of
from controllers.log.operations import Create, Operation, Patch, Result, Update
from scheduler_core.api.document import Document, condition
from scheduler_core.api.errors import ApiError

Steps = Generator[Sequence[Operation], Sequence[Result], None]

RESOURCE: Final = "deployments.apps"
SETS: Final = "replicasets.apps"


@dataclass(slots=True)
class Rollout:
    """One reconciliation: the Deployment and its sets, kept up with what the writes answered."""

    deployment: Document
    sets: list[Document]
    work: Work
    new: Document | None = None
    surge: int = 0
    unavailable: int = 0

    @property
    def old(self) -> list[Document]:
        """Return every set but the newest, oldest first."""
        name = self.new["metadata"]["name"] if self.new is not None else ""
        return [one for one in rs.by_creation(self.sets) if one["metadata"]["name"] != name]

    def take(self, status: Document, annotations: Document | None = None) -> None:
        """Remember what was written into the Deployment's status, and into its annotations where they are given.

        The version stays that of the cache: as upstream, a further write in the same reconciliation is a conflict, and
        the key is tried again with what is stored by then.
        """
        metadata = self.deployment["metadata"]
        if annotations is not None:
            metadata = {**metadata, "annotations": annotations}
        self.deployment = {**self.deployment, "metadata": metadata, "status": status}

    def replace(self, written: Document) -> None:
        """Take a set as a write left it."""
        name = written["metadata"]["name"]
        self.sets = [written if one["metadata"]["name"] == name else one for one in self.sets]
        if self.new is not None and self.new["metadata"]["name"] == name:
            self.new = written


def ensure_new(rollout: Rollout, known: Lister) -> Steps:
    """Find or create the set of the present template, and number the revisions."""
    deployment = rollout.deployment
    revision = max((rs.revision_of(one) for one in rollout.old), default=0) + 1
    if rollout.new is not None:
        yield from renew(rollout, rollout.new, revision)
        return
    size = rs.new_set_size(deployment, rollout.sets, None, rollout.surge)
    wanted = rs.new_set(deployment, revision, size, rollout.surge)
    results = yield [Create(SETS, deployment["metadata"]["namespace"], wanted)]
    error = results[0].error
    if error is not None:
        yield from _not_created(rollout, known, wanted, error)
        return
    created = must(results[0])
    name = created["metadata"]["name"]
    rollout.sets = [*rollout.sets, created]
    rollout.new = created
    if size > 0:
        text = f"Scaled up replica set {name} from 0 to {size}"
        rollout.work.event(deployment, "Deployment", "ScalingReplicaSet", text)
    text = f'Created new replica set "{name}"'
    yield from _note_new(rollout, str(revision), progress.CREATED, text, replaces=True)


def renew(rollout: Rollout, new: Document, revision: int) -> Steps:
    """Bring the annotations of an existing newest set up to date: after a rollback its revision grows."""
    deployment = rollout.deployment
    annotations = rs.set_annotations(deployment, new, revision, rollout.surge)
    ready_seconds = deployment["spec"].get("minReadySeconds", 0)
    stale = new["spec"].get("minReadySeconds", 0) != ready_seconds
    if annotations != (new["metadata"].get("annotations") or {}) or stale:
        patch: Document = {
            "metadata": {"resourceVersion": new["metadata"]["resourceVersion"], "annotations": annotations}
        }
        if stale:
            patch["spec"] = {"minReadySeconds": ready_seconds or None}
        results = yield [Patch(SETS, new["metadata"]["namespace"], new["metadata"]["name"], patch)]
        # The Deployment is told at the next reconciliation, which this write brings about.
        rollout.replace(must(results[0]))
        return
    number = annotations.get(rs.REVISION, "")
    text = f'Found new replica set "{new["metadata"]["name"]}"'
    yield from _note_new(rollout, number, progress.FOUND, text, replaces=False)


def _note_new(rollout: Rollout, revision: str, reason: str, text: str, *, replaces: bool) -> Steps:
    """Write the revision into the Deployment, and in Progressing that its newest set is there."""
    deployment = rollout.deployment
    status = dict(deployment.get("status") or {})
    conditions = list(status.get("conditions") or ())
    known = condition(deployment, "Progressing")
    if progress.has_deadline(deployment) and (replaces or known is None):
        conditions = progress.with_condition(conditions, "Progressing", "True", reason, text, rollout.work.unix_ms)
    annotations = deployment["metadata"].get("annotations") or {}
    if annotations.get(rs.REVISION) == revision and conditions == list(status.get("conditions") or ()):
        return
    status["conditions"] = conditions
    annotations = {**annotations, rs.REVISION: revision}
    results = yield [status_update(deployment, status, annotations)]
    must(results[0])
    rollout.take(status, annotations)


def _not_created(rollout: Rollout, known: Lister, wanted: Document, error: ApiError) -> Steps:
    """The set was refused: a hash collision is counted and tried again, anything else is said in Progressing."""
    deployment = rollout.deployment
    status = dict(deployment.get("status") or {})
    if error.reason == "AlreadyExists":
        existing = known.get(deployment["metadata"]["namespace"], wanted["metadata"]["name"])
        if existing is not None and not _is_own(deployment, existing):
            status["collisionCount"] = status.get("collisionCount", 0) + 1
            yield [status_update(deployment, status)]
        raise error
    if any(cause.reason == "NamespaceTerminating" for cause in error.causes):
        raise error
    text = f'Failed to create new replica set "{wanted["metadata"]["name"]}": {error.message}'
    rollout.work.event(deployment, "Deployment", "ReplicaSetCreateError", text, event_type="Warning")
    if progress.has_deadline(deployment):
        status["conditions"] = progress.with_condition(
            status.get("conditions") or (),
            "Progressing",
            "False",
            "ReplicaSetCreateError",
            text,
            rollout.work.unix_ms,
        )
        yield [status_update(deployment, status)]
    raise error


def _is_own(deployment: Document, existing: Document) -> bool:
    reference = controller_of(existing)
    own = reference is not None and reference["uid"] == deployment["metadata"]["uid"]
    return own and rs.template_of(existing) == rs.template_of(deployment)


def status_update(deployment: Document, status: Document, annotations: Document | None = None) -> Update:
    """Return the update of a Deployment's status, and of its annotations where they are given."""
    metadata = {key: deployment["metadata"][key] for key in ("name", "uid", "resourceVersion")}
    if annotations is not None:
        metadata["annotations"] = annotations
    body = {"metadata": metadata, "status": status}
    return Update(RESOURCE, deployment["metadata"]["namespace"], metadata["name"], body, "status")
