"""Rolls a Deployment's ReplicaSets from the old template to the new one.

Source: k8s.io/kubernetes/pkg/controller/deployment (deployment_controller.go, sync.go, rolling.go, recreate.go).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, ClassVar

from controllers.deployment import sets as rs
from controllers.deployment import status as progress
from controllers.deployment.rollback import roll_back, wanted_revision
from controllers.deployment.rollout import RESOURCE, SETS, Rollout, Steps, ensure_new, renew, status_update
from controllers.kit.manager import Reconcile, Setup, Work, key_of, must, split_key
from controllers.kit.ownership import claim, index_ownership, requirements_of
from controllers.kit.pods import controller_of
from controllers.log.operations import Delete, Operation, Patch, Result
from scheduler_core.api.document import Document, condition, has_ended


class DeploymentController:
    """Reconciles Deployments, by key."""

    NAME: ClassVar[str] = "deployment"
    RESOURCES: ClassVar[tuple[str, ...]] = (RESOURCE, SETS, "pods")

    def __init__(self, setup: Setup) -> None:
        """Index sets and pods by owner and listen to all three kinds."""
        self._deployments = setup.informers[RESOURCE]
        self._sets = setup.informers[SETS]
        self._pods = setup.informers["pods"]
        self._queue = setup.queue
        index_ownership(self._sets)
        index_ownership(self._pods)
        self._deployments.add_index("namespace", lambda document: [document["metadata"]["namespace"]])
        self._sets.add_index("uid", lambda document: [document["metadata"]["uid"]])
        self._deployments.add_handler(self._deployment_changed)
        self._sets.add_handler(self._set_changed)
        self._pods.add_handler(self._pod_changed, reads=())

    # -- what makes work ----------------------------------------------------------------------------------------

    def _deployment_changed(self, old: Document | None, new: Document | None) -> None:
        document = new or old
        assert document is not None, "a change has a state before or after"
        self._queue.add(key_of(document))

    def _set_changed(self, old: Document | None, new: Document | None) -> None:
        for document in (old, new):
            if document is None:
                continue
            reference = controller_of(document)
            if reference is None:
                for candidate in self._deployments.indexed("namespace", document["metadata"]["namespace"]):
                    self._queue.add(key_of(candidate))
            elif reference.get("kind") == "Deployment":
                self._queue.add(f"{document['metadata']['namespace']}/{reference['name']}")

    def _pod_changed(self, old: Document | None, new: Document | None) -> None:
        """A pod that goes matters to Recreate alone: it waits for the last one."""
        if new is not None or old is None:
            return
        reference = controller_of(old)
        owners = self._sets.indexed("uid", reference["uid"]) if reference is not None else []
        for owner in owners:
            above = controller_of(owner)
            if above is None:
                continue
            deployment = self._deployments.get(owner["metadata"]["namespace"], above["name"])
            if deployment is not None and _is_recreate(deployment):
                self._queue.add(key_of(deployment))

    # -- reconciliation -----------------------------------------------------------------------------------------

    def reconcile(self, key: str, work: Work) -> Reconcile:
        """Move the Deployment one step further."""
        deployment = self._deployments.get(*split_key(key))
        if deployment is None:
            return
        requirements = requirements_of(deployment["spec"].get("selector"))
        if not requirements:
            text = "This deployment is selecting all pods. A non-empty selector is required."
            work.event(deployment, "Deployment", "SelectingAll", text, event_type="Warning")
            status = dict(deployment.get("status") or {})
            generation = deployment["metadata"].get("generation", 1)
            if status.get("observedGeneration", 0) < generation:
                yield [status_update(deployment, {**status, "observedGeneration": generation})]
            return
        mine, adoptions, orphans = claim(deployment, requirements, self._sets)
        if adoptions:
            results = yield adoptions
            taken = {result.object["metadata"]["uid"] for result in results if result.object is not None}
            mine = mine + [orphan for orphan in orphans if orphan["metadata"]["uid"] in taken]
        rollout = Rollout(deployment, mine, work)
        rollout.surge, rollout.unavailable = rs.surge_and_unavailable(deployment)
        rollout.new = rs.find_new(deployment, mine)
        if "deletionTimestamp" in deployment["metadata"]:
            yield from self._write_status(rollout, progress.counted_status, key)
            return
        yield from self._check_paused(rollout)
        paused = bool(rollout.deployment["spec"].get("paused"))
        revision = None if paused else wanted_revision(rollout.deployment)
        if revision is not None:
            yield from roll_back(rollout, revision, self._sets)
        elif paused or _is_scaling(rollout):
            _tell(rollout)
            yield from self._scale_all(rollout)
            if paused:
                yield from self._clean_up(rollout)
            yield from self._write_status(rollout, progress.counted_status, key)
        elif _is_recreate(deployment):
            yield from self._recreate(rollout, key)
        else:
            yield from self._roll(rollout, key)

    def _check_paused(self, rollout: Rollout) -> Steps:
        """Say in Progressing that the Deployment was paused or resumed."""
        deployment = rollout.deployment
        if not progress.has_deadline(deployment):
            return
        known = condition(deployment, "Progressing")
        reason = known.get("reason") if known is not None else None
        if reason == progress.TIMED_OUT:
            return
        paused = bool(deployment["spec"].get("paused"))
        if paused == (reason == progress.PAUSED):
            return
        said = (progress.PAUSED, "Deployment is paused") if paused else (progress.RESUMED, "Deployment is resumed")
        status = dict(deployment.get("status") or {})
        status["conditions"] = progress.with_condition(
            status.get("conditions") or (), "Progressing", "Unknown", *said, rollout.work.unix_ms
        )
        results = yield [status_update(deployment, status)]
        must(results[0])
        rollout.take(status)

    # -- the two ways to roll -----------------------------------------------------------------------------------

    def _roll(self, rollout: Rollout, key: str) -> Steps:
        """Take the next step of a rolling update: the new set up, or the old ones down."""
        yield from ensure_new(rollout, self._sets)
        new = rollout.new
        assert new is not None, "the newest set was made"
        wanted = rs.replicas_of(rollout.deployment)
        size = wanted
        if rs.replicas_of(new) < wanted:
            size = rs.new_set_size(rollout.deployment, rollout.sets, new, rollout.surge)
        _tell(rollout)
        if size != rs.replicas_of(new):
            yield from self._scale(rollout, [(new, size)])
        else:
            shrunk = yield from self._shrink_old(rollout)
            if not shrunk and progress.is_complete(rollout.deployment, rollout.deployment.get("status") or {}):
                yield from self._clean_up(rollout)
        yield from self._write_status(rollout, progress.rollout_status, key)

    def _shrink_old(self, rollout: Rollout) -> Generator[Sequence[Operation], Sequence[Result], bool]:
        """Shrink the old sets: pods that are not available first, then as far as availability goes."""
        new = rollout.new
        assert new is not None, "the newest set was made"
        minimum = rs.replicas_of(rollout.deployment) - rollout.unavailable
        missing = rs.replicas_of(new) - rs.status_of(new, "availableReplicas")
        spare = rs.asked_replicas(rollout.sets) - minimum - missing
        if rs.asked_replicas(rollout.old) == 0 or spare <= 0:
            return False
        ailing: list[tuple[Document, int]] = []
        for one in rs.active_sets(rollout.old):
            dropped = max(0, min(spare, rs.replicas_of(one) - rs.status_of(one, "availableReplicas")))
            spare -= dropped
            if dropped:
                ailing.append((one, rs.replicas_of(one) - dropped))
        yield from self._scale(rollout, ailing)
        room = sum(rs.status_of(one, "availableReplicas") for one in rollout.sets) - minimum
        healthy: list[tuple[Document, int]] = []
        for one in rs.active_sets(rollout.old):
            dropped = max(0, min(room, rs.replicas_of(one)))
            room -= dropped
            if dropped:
                healthy.append((one, rs.replicas_of(one) - dropped))
        yield from self._scale(rollout, healthy)
        return bool(ailing or healthy)

    def _recreate(self, rollout: Rollout, key: str) -> Steps:
        """Take everything old down, wait for its last pod, then bring the new set up."""
        shrinking = [(one, 0) for one in rs.active_sets(rollout.old)]
        _tell(rollout)
        if shrinking:
            yield from self._scale(rollout, shrinking)
        elif not self._old_pods_run(rollout):
            yield from ensure_new(rollout, self._sets)
            new = rollout.new
            wanted = rs.replicas_of(rollout.deployment)
            if new is not None and rs.replicas_of(new) != wanted:
                yield from self._scale(rollout, [(new, wanted)])
            if progress.is_complete(rollout.deployment, rollout.deployment.get("status") or {}):
                yield from self._clean_up(rollout)
        yield from self._write_status(rollout, progress.rollout_status, key)

    def _old_pods_run(self, rollout: Rollout) -> bool:
        return any(rs.status_of(one, "replicas") > 0 for one in rollout.old) or any(
            not has_ended(pod)
            for one in rollout.old
            for pod in self._pods.indexed("controller", one["metadata"]["uid"])
        )

    # -- sizes --------------------------------------------------------------------------------------------------

    def _scale_all(self, rollout: Rollout) -> Steps:
        """Follow a change of the Deployment's own size, without rolling on."""
        if rollout.new is not None:
            yield from renew(rollout, rollout.new, max(map(rs.revision_of, rollout.old), default=0) + 1)
        deployment, new = rollout.deployment, rollout.new
        wanted = rs.replicas_of(deployment)
        active = rs.active_sets(rollout.sets)
        only = active[0] if len(active) == 1 else (new or _newest(rollout.sets)) if not active else None
        if only is not None:
            yield from self._scale(rollout, [(only, wanted)])
        elif rs.is_saturated(deployment, new):
            yield from self._scale(rollout, [(one, 0) for one in rs.active_sets(rollout.old)])
        elif not _is_recreate(deployment):
            sizes = rs.proportions(deployment, active, rollout.surge)
            yield from self._scale(rollout, [(one, sizes[one["metadata"]["name"]]) for one in active], marks=True)

    def _scale(self, rollout: Rollout, sizes: Sequence[tuple[Document, int]], *, marks: bool = False) -> Steps:
        """Write new sizes, and the annotations that tell a later scaling of the Deployment.

        `marks` writes the annotations of a set too whose size stays.
        """
        annotations = rs.size_annotations(rollout.deployment, rollout.surge)
        changed: list[tuple[Document, int]] = []
        for one, size in sizes:
            present = one["metadata"].get("annotations") or {}
            if rs.replicas_of(one) != size or (marks and not annotations.items() <= present.items()):
                changed.append((one, size))
        if not changed:
            return
        results = yield [
            Patch(
                SETS,
                one["metadata"]["namespace"],
                one["metadata"]["name"],
                {
                    "metadata": {"resourceVersion": one["metadata"]["resourceVersion"], "annotations": annotations},
                    "spec": {"replicas": size},
                },
            )
            for one, size in changed
        ]
        for (one, size), result in zip(changed, results, strict=True):
            rollout.replace(must(result))
            before = rs.replicas_of(one)
            if before != size:
                verb = "up" if size > before else "down"
                text = f"Scaled {verb} replica set {one['metadata']['name']} from {before} to {size}"
                rollout.work.event(rollout.deployment, "Deployment", "ScalingReplicaSet", text)

    def _clean_up(self, rollout: Rollout) -> Steps:
        """Delete the oldest sets beyond revisionHistoryLimit."""
        limit = rollout.deployment["spec"].get("revisionHistoryLimit", 10)
        old = sorted((one for one in rollout.old if "deletionTimestamp" not in one["metadata"]), key=rs.revision_of)
        idle = [one for one in old[: max(0, len(old) - limit)] if _is_idle(one)]
        if idle:
            yield [
                Delete(SETS, one["metadata"]["namespace"], one["metadata"]["name"], uid=one["metadata"]["uid"])
                for one in idle
            ]

    def _write_status(self, rollout: Rollout, make: Any, key: str) -> Steps:
        deployment, work = rollout.deployment, rollout.work
        status = make(deployment, rollout.sets, rollout.new, work.unix_ms)
        if status != (deployment.get("status") or {}):
            results = yield [status_update(deployment, status)]
            if results[0].error is not None and results[0].error.code != 404:
                raise results[0].error
        at_ms = progress.deadline_unix_ms(deployment, status)
        stuck = progress.has_timed_out(deployment, status, work.unix_ms)
        if at_ms is not None and not stuck and not progress.is_complete(deployment, status):
            work.queue.add_at(key, work.now_ms + max(0, at_ms - work.unix_ms) + 1_000)


def _tell(rollout: Rollout) -> None:
    """Say for the panel what is asked for and what there is."""
    wanted = rs.replicas_of(rollout.deployment)
    new = rs.replicas_of(rollout.new) if rollout.new is not None else 0
    old = rs.asked_replicas(rollout.old)
    reason = "as asked" if new == wanted and not old else "to roll on" if old else "to scale"
    rollout.work.tell(
        reason,
        desired={"spec.replicas": wanted, "maxSurge": rollout.surge, "maxUnavailable": rollout.unavailable},
        actual={"newest set": new, "older sets": old},
    )


def _is_recreate(deployment: Document) -> bool:
    return bool((deployment["spec"].get("strategy") or {}).get("type") == "Recreate")


def _is_scaling(rollout: Rollout) -> bool:
    """Return whether the Deployment's size was changed since its sets were last sized."""
    wanted = str(rs.replicas_of(rollout.deployment))
    for one in rs.active_sets(rollout.sets):
        desired = (one["metadata"].get("annotations") or {}).get(rs.DESIRED_REPLICAS)
        if desired is not None and desired != wanted:
            return True
    return False


def _is_idle(one: Document) -> bool:
    settled = one["metadata"].get("generation", 1) <= rs.status_of(one, "observedGeneration")
    return rs.status_of(one, "replicas") == 0 and rs.replicas_of(one) == 0 and settled


def _newest(sets: Sequence[Document]) -> Document | None:
    ordered = rs.by_creation(sets)
    return ordered[-1] if ordered else None
